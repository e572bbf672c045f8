"""Walking through chunks side by side. States here are (chunk, batch, d_state, d_inner)."""

from itertools import pairwise

import torch
from torch import Tensor
from torch.nn.functional import pad


def fold(tokens: Tensor, chunk: int) -> Tensor:
    """Fold (batch, length, ...) to (token of the chunk, chunk, batch, ...), ending in zeros.

    A token of zeros takes a step of no time: it leaves the state as it is, to the last bit.
    """
    tokens = pad(tokens, (0, 0, 0, -tokens.shape[1] % chunk))
    return tokens.unflatten(1, (-1, chunk)).permute(2, 1, 0, 3).contiguous()


def unfold(segments: list[Tensor], length: int) -> Tensor:
    """Undo fold for tokens that were computed segment by segment."""
    tokens = torch.cat(segments, dim=1).permute(2, 1, 0, 3)
    return tokens.flatten(1, 2)[:, :length]


def multiply_rates(delta: Tensor, A: Tensor) -> Tensor:
    """Compute delta A for each number of state: (..., d_state, d_inner)."""
    return delta[..., None, :] * A


def walk(
    keep: list[Tensor], write: list[Tensor], whole: Tensor, start: Tensor, order: int = 1
) -> Tensor:
    """Run h -> keep h + write through all chunks at once, and put each state where its write was.

    Args:
        keep, write: one tensor a token of the chunk.
        whole: the product of keep over each chunk.
        start: the state before the first chunk.
        order: 1, or -1 to begin with the last token of the last chunk.

    Returns:
        The state before each chunk, in the order of walking.
    """
    steps = list(zip(keep, write, strict=True))[::order]
    h = before = _hand_on(steps, whole, start, order)
    for keep_t, write_t in steps:
        h = write_t.addcmul_(keep_t, h)
    return before


def _hand_on(
    steps: list[tuple[Tensor, Tensor]], whole: Tensor, start: Tensor, order: int
) -> Tensor:
    """Compute the state before each chunk from what each would make of an empty one."""
    chunks = range(len(whole))[::order]
    before = torch.empty_like(whole)
    before[chunks[0]] = start
    if len(chunks) == 1:
        return before
    end = torch.zeros_like(whole)
    for keep_t, write_t in steps:
        end = torch.addcmul(write_t, keep_t, end)
    for m, following in pairwise(chunks):
        torch.addcmul(end[m], whole[m], before[m], out=before[following])
    return before
