"""What training and evaluation ask of a model: a mode, logits that fit, what is right."""

import contextlib
from collections.abc import Iterator

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from mamba_edu.tasks import Batch


@contextlib.contextmanager
def use_mode(model: nn.Module, is_training: bool) -> Iterator[None]:
    """Put a model in the mode for training or for use, and back again."""
    was_training = model.training
    model.train(is_training)
    try:
        yield
    finally:
        model.train(was_training)


def read_logits(model: nn.Module, drawn: Batch) -> Float[Tensor, "batch n_classes"]:
    """Run the model on a batch, refusing logits that do not fit its classes."""
    if not isinstance(drawn, Batch):
        raise TypeError(f"sequences must come as a Batch; their type is {type(drawn).__name__}")
    logits = model(drawn.inputs, drawn.mask)
    n_sequences = len(drawn.target)
    if not isinstance(logits, Tensor) or logits.ndim != 2 or len(logits) != n_sequences:
        given = tuple(logits.shape) if isinstance(logits, Tensor) else type(logits).__name__
        raise ValueError(
            f"model must return logits ({n_sequences}, n_classes), a row for each sequence; it "
            f"returned {given}"
        )
    if n_sequences and not 0 <= drawn.target.min() <= drawn.target.max() < logits.shape[1]:
        raise ValueError(
            f"target must count classes from 0 to {logits.shape[1] - 1}, as the logits do; it runs "
            f"from {drawn.target.min()} to {drawn.target.max()}"
        )
    return logits


def mark_right(
    logits: Float[Tensor, "batch n_classes"], target: Int[Tensor, " batch"]
) -> Bool[Tensor, " batch"]:
    """Mark the sequences whose largest logit is the class's own; a logit of NaN is never right."""
    return (logits.argmax(1) == target) & logits.isfinite().all(1)
