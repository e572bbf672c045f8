"""Which tokens are real and which are padding."""

from collections.abc import Sequence

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from mamba_edu._checks import check_counts

SIDES = ("right", "left")


def make_mask(
    lengths: Sequence[int] | Int[Tensor, " batch"], length: int | None = None, side: str = "right"
) -> Bool[Tensor, "batch length"]:
    """Make the mask of sequences of several lengths that are padded to one.

    Args:
        lengths: how many real tokens each row has, at least 1.
        length: what all are padded to; the longest if not given.
        side: where the padding stands, "right" or "left" of the real tokens.

    Returns:
        True on real tokens, False on padding.

    Raises:
        TypeError: if a length is not an int.
        ValueError: if a row has no token or more than `length`, or the side is another.
    """
    lengths = lengths.tolist() if isinstance(lengths, Tensor) else lengths
    for row, n_real in enumerate(lengths):
        check_counts(1, **{f"lengths[{row}]": n_real})
    length = max(lengths, default=0) if length is None else length
    check_counts(max(lengths, default=0), length=length)
    if side not in SIDES:
        raise ValueError(f"side must be one of {SIDES}; it is {side!r}")
    column = torch.arange(length)
    n_real = torch.tensor(lengths, dtype=torch.int64)[:, None]
    return column < n_real if side == "right" else column >= length - n_real


def check_rows(mask: Bool[Tensor, "batch length"]) -> None:
    """Refuse sequences that are all padding.

    Raises:
        ValueError: with the first such row and how many there are.
    """
    is_empty = ~mask.any(dim=1)
    if is_empty.any():
        raise ValueError(
            f"every row must have at least one real token; mask is False throughout row "
            f"{int(is_empty.nonzero()[0])} ({int(is_empty.sum())} of {len(mask)} rows)"
        )


def locate_rank(
    mask: Bool[Tensor, "batch length"], rank: Int[Tensor, " batch"]
) -> Int[Tensor, " batch"]:
    """Find the column in which each row's real token of the given rank stands, counted from 0."""
    return (mask.cumsum(1) <= rank[:, None]).sum(1)
