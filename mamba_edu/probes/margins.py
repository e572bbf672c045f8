"""What reaches the logits: the right class's margin, and whether a model only repeats itself."""

from collections.abc import Iterator
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mamba_edu._checks import check_finite
from mamba_edu.tasks import Batch
from mamba_edu.training._model import mark_right, read_logits, use_mode

N_TOKENS = 2**16  # that are run at once


class Constancy(NamedTuple):
    """What a model answers to a batch, whatever the sequences say.

    Fields:
        answer: its most frequent class.
        share: how often that is the answer, 0 to 1.
        confidence: the mean probability of whatever it answers, 1/n_classes to 1.
        accuracy: how often it is right.
    """

    answer: int
    share: float
    confidence: float
    accuracy: float


def measure_margins(
    model: nn.Module, batch: Batch, bare: Batch | None = None
) -> Float[Tensor, " batch"]:
    """Measure how far the right class's logit stands above the best wrong one's.

        margin = logits[target] - max over the other classes

    With `bare`, the same sequences without what gives the class away, it is the signal: how much
    of the margin is owed to that, whatever bias the model has.

        signal = margin(batch) - margin(bare)

    `measure_margins(model, *sample_needle_pair(64, length, seed=0))` is a needle's at one tenth
    of the length.

    Args:
        model: from inputs and a mask to logits. It is run as for use, and put back.
        batch: the sequences and their classes.
        bare: as many sequences of the same classes.

    Returns:
        One number for each sequence, above 0 where a margin is right.

    Raises:
        TypeError: for anything but a Batch.
        ValueError: if the logits do not fit, there is one class only, or the targets of both
            batches are not the same.
    """
    margins = _subtract_best(_collect_logits(model, batch), batch)
    if bare is None:
        return margins
    others = _subtract_best(_collect_logits(model, bare), bare)
    if not torch.equal(batch.target, bare.target):
        raise ValueError(
            "bare must hold the same sequences as batch, without what gives their class away; "
            "its targets are others"
        )
    return margins - others


def measure_constancy(model: nn.Module, batch: Batch) -> Constancy:
    """Measure whether a model answers one class to everything, and how sure it is of it.

    An accuracy near chance has two causes that look alike: a model that does not know, and one
    that has lost the evidence and confidently answers what its bias says. The first spreads its
    answers or its probability, the second neither.

    Args:
        model: from inputs and a mask to logits. It is run as for use, and put back.
        batch: sequences of all classes alike.

    Returns:
        The most frequent answer, its share, the mean probability of what is answered, accuracy.

    Raises:
        TypeError: for anything but a Batch.
        ValueError: if the logits do not fit or are not finite, or the batch is empty.
    """
    logits = _collect_logits(model, batch)
    if not len(logits):
        raise ValueError("batch must hold at least one sequence; it is empty")
    check_finite(logits=logits)
    counts = logits.argmax(1).bincount(minlength=logits.shape[1])
    answer = int(counts.argmax())
    confidence = logits.softmax(1).amax(1).mean()
    right = mark_right(logits, batch.target).double().mean()
    return Constancy(answer, int(counts[answer]) / len(logits), float(confidence), float(right))


def _collect_logits(model: nn.Module, batch: Batch) -> Tensor:
    """Run the model on a batch in float64 logits, some sequences at a time."""
    with use_mode(model, is_training=False), torch.no_grad():
        return torch.cat([read_logits(model, part) for part in _cut(batch)]).double()


def _cut(batch: Batch) -> Iterator[Batch]:
    """Cut a batch into parts of not too many tokens; an empty one is a part of its own."""
    if not isinstance(batch, Batch):
        raise TypeError(f"sequences must come as a Batch; their type is {type(batch).__name__}")
    n_rows = max(1, N_TOKENS // max(1, batch.inputs.shape[1]))
    for rows in torch.arange(len(batch.target)).split(n_rows):
        yield batch.take(rows)


def _subtract_best(logits: Tensor, batch: Batch) -> Tensor:
    """Subtract the best wrong logit from the right one."""
    if logits.shape[1] < 2:
        raise ValueError("model must tell at least 2 classes apart; it has logits for 1")
    target = batch.target[:, None]
    wrong = logits.scatter(1, target, -torch.inf).amax(1)
    return logits.gather(1, target)[:, 0] - wrong
