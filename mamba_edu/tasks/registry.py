"""Every task with what a model must know of it."""

from functools import partial
from typing import NamedTuple

from mamba_edu.tasks.batch import Sampler
from mamba_edu.tasks.digits import N_PIXELS, sample_digits, sample_diluted_digits
from mamba_edu.tasks.names import LANGUAGES, N_BYTES, sample_names
from mamba_edu.tasks.relations import sample_needles, sample_order
from mamba_edu.tasks.synthetic import (
    N_SYMBOLS,
    N_VALUES,
    sample_far_trigger,
    sample_needle,
    sample_trigger,
)
from mamba_edu.tasks.votes import sample_early_majority, sample_majority


class Task(NamedTuple):
    """A task, as a model meets it.

    Fields:
        sample: a function (batch, length, seed) that draws what is trained on.
        n_classes: how many answers there are.
        n_symbols: how many ids its tokens have; None where they are numbers.
        d_in: how many numbers a token is; None where it is an id.
        chance: the accuracy of always giving the most frequent answer.
        shortest: the least length that it can be sampled at.
        sample_test: the same for what is tested on. Synthetic tasks never end: theirs is `sample`,
            and another seed draws other sequences.
    """

    sample: Sampler
    n_classes: int
    n_symbols: int | None
    d_in: int | None
    chance: float
    shortest: int
    sample_test: Sampler


def _make_synthetic(sample: Sampler, n_classes: int, shortest: int) -> Task:
    """Make the entry of a task of ids."""
    return Task(sample, n_classes, N_SYMBOLS, None, 1 / n_classes, shortest, sample)


def _make_real(sample: Sampler, n_classes: int, *rest: object) -> Task:
    """Make the entry of a task that has a training set and a test set."""
    return Task(sample, n_classes, *rest, partial(sample, split="test"))


TASKS: dict[str, Task] = {
    "needle": _make_synthetic(sample_needle, N_VALUES, 1),
    "trigger": _make_synthetic(sample_trigger, N_VALUES, 9),
    "far_trigger": _make_synthetic(sample_far_trigger, N_VALUES, 9),
    "majority": _make_synthetic(sample_majority, 2, 5),
    "early_majority": _make_synthetic(sample_early_majority, 2, 5),
    "order": _make_synthetic(sample_order, 2, 2),
    "needles": _make_synthetic(sample_needles, N_VALUES, 9),
    "diluted_digits": _make_real(sample_diluted_digits, 10, None, 2, 0.10, N_PIXELS),
    "digits": _make_real(sample_digits, 10, None, 1, 0.10, N_PIXELS),
    "names": _make_real(sample_names, len(LANGUAGES), 256, None, 0.12, N_BYTES),
}
