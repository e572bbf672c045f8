"""The threshold of a snap, chosen where the model was trained: no long sequence is looked at."""

from collections.abc import Iterable, Sequence
from functools import partial

from torch import nn

from mamba_edu._checks import check_interval
from mamba_edu.steps import apply_step_rule, snap
from mamba_edu.tasks import Batch
from mamba_edu.training.judging import evaluate

TAUS = (0.003, 0.01, 0.03, 0.1, 0.3)
ROUNDING = 1e-9  # of a difference of two shares


def choose_tau(
    model: nn.Module,
    batches: Batch | Iterable[Batch],
    taus: Sequence[float] = TAUS,
    allowed: float = 0.0,
) -> float:
    """Choose the largest threshold up to which snapping costs a trained model nothing, or little.

    From the smallest on, each is tried on sequences of the length that the model was trained at;
    the first that loses more of them than is allowed ends the search. It does not go on beyond a
    loss: the accuracy may come back at a larger threshold by luck.

    Args:
        model: a trained classifier with Mamba blocks; it is left as it was.
        batches: sequences of the training length that neither training nor test has seen, a few
            hundred of them.
        taus: thresholds above 0, in rising order.
        allowed: the share of the sequences that may be lost, from 0, not one, to below 1. What is
            lost here is the price of what is won on longer ones.

    Returns:
        The threshold; 0, snap nothing, if even the smallest costs something.

    Raises:
        TypeError: as apply_step_rule and evaluate, or for a threshold that is no number.
        ValueError: as those, or if the thresholds do not rise from above 0, or the share is out
            of range.

    Source: our own.
    """
    check_interval(**{f"taus[{n}]": tau for n, tau in enumerate(taus)})
    if list(taus) != sorted(set(taus)):
        raise ValueError(f"taus must rise; they are {tuple(taus)}")
    if not 0 <= allowed < 1:
        raise ValueError(f"allowed must be a share from 0 to below 1; it is {allowed}")
    batches = [batches] if isinstance(batches, Batch) else list(batches)
    before, chosen = evaluate(model, batches).accuracy, 0.0
    for tau in taus:
        with apply_step_rule(model, partial(snap, tau=tau)):
            after = evaluate(model, batches).accuracy
        if before - after > allowed + ROUNDING:
            break
        chosen = tau
    return chosen
