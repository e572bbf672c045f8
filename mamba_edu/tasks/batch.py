"""Sequences with their answers: the form in which every task hands them out."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import torch
from jaxtyping import Bool, Int, Shaped
from torch import Tensor

from mamba_edu._checks import check_counts

SPLITS = ("train", "test")
TEST_SHARE = 0.22  # of each class
SPLIT_SEED = 0


class Batch(NamedTuple):
    """Sequences, the class that each belongs to, and which tokens are real.

    Fields:
        inputs: (batch, length) token ids, or (batch, length, d_in) numbers.
        target: (batch,) classes, counted from 0.
        mask: (batch, length), True where a token is real and False on padding; None without any.
    """

    inputs: Shaped[Tensor, "batch length *d_in"]
    target: Int[Tensor, " batch"]
    mask: Bool[Tensor, "batch length"] | None = None

    def take(self, rows: Int[Tensor, " rows"]) -> "Batch":
        """Take some of the sequences, in the order of `rows`."""
        mask = None if self.mask is None else self.mask[rows]
        return Batch(self.inputs[rows], self.target[rows], mask)


Sampler = Callable[[int, int, int], Batch]  # (batch, length, seed)


def draw_from(data: Batch) -> Sampler:
    """Make a function (batch, length, seed) that draws sequences from a fixed set.

    Each is drawn at random and may come more than once, so that `train` meets a set as it meets a
    task without end.

    Args:
        data: what to draw from, such as a split of the digits.

    Returns:
        The function. It raises a ValueError for any length but the set's own: a real sequence is
        not made longer by asking.

    Raises:
        ValueError: if the set is empty.
    """
    n_sequences, own_length = data.inputs.shape[:2]
    if n_sequences == 0:
        raise ValueError("data must hold at least one sequence; it is empty")

    def draw(batch: int, length: int, seed: int) -> Batch:
        check_counts(0, batch=batch)
        if length != own_length:
            raise ValueError(
                f"length must be {own_length}, that of the set's own sequences; it is {length}"
            )
        rng = torch.Generator().manual_seed(seed)
        return data.take(torch.randint(n_sequences, (batch,), generator=rng))

    return draw


@cache
def open_split(load: Callable[[str], Batch], split: str) -> Sampler:
    """Load a split once, to draw from it as draw_from does; what is drawn is a copy."""
    return draw_from(load(split))


def take_split(data: Batch, split: str) -> Batch:
    """Take the part of a set that is for training or for testing, equal in share for each class.

    Raises:
        ValueError: for another split.
    """
    if split not in SPLITS:
        raise ValueError(f"split must be one of {SPLITS}; it is {split!r}")
    rng = torch.Generator().manual_seed(SPLIT_SEED)
    is_test = torch.zeros(len(data.target), dtype=torch.bool)
    for label in data.target.unique():
        rows = (data.target == label).nonzero()[:, 0]
        order = torch.randperm(len(rows), generator=rng)
        is_test[rows[order[: round(TEST_SHARE * len(rows))]]] = True
    return data.take((is_test if split == "test" else ~is_test).nonzero()[:, 0])
