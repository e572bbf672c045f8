"""Walking through chunks side by side. A state here is (chunk, batch, d_state, d_inner)."""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad


class ChunkStep(NamedTuple):
    """What one token of every chunk does to a state, in shapes that multiply with one."""

    delta: Tensor  # (chunk, batch, 1, d_inner)
    write: Tensor  # delta x, (chunk, batch, 1, d_inner)
    B: Tensor  # (chunk, batch, d_state, 1)
    C: Tensor  # (chunk, batch, d_state, 1)


def fold(tokens: Tensor, chunk: int) -> Tensor:
    """Fold (batch, length, ...) to (token of the chunk, chunk, batch, ...), ending in zeros.

    A token of zeros takes a step of no time: it leaves the state as it is, to the last bit.
    """
    tokens = pad(tokens, (0, 0, 0, -tokens.shape[1] % chunk))
    return tokens.unflatten(1, (-1, chunk)).permute(2, 1, 0, 3).contiguous()


def unfold(segments: Sequence[Tensor], length: int) -> Tensor:
    """Undo fold for tokens that were computed segment by segment."""
    tokens = torch.cat(list(segments), dim=1).permute(2, 1, 0, 3)
    return tokens.flatten(1, 2)[:, :length]


def list_steps(x: Tensor, delta: Tensor, B: Tensor, C: Tensor) -> list[ChunkStep]:
    """List the tokens of a folded segment, one step for all its chunks."""
    parts = (delta[..., None, :], (delta * x)[..., None, :], B[..., None], C[..., None])
    return [ChunkStep(*step) for step in zip(*(v.unbind(0) for v in parts), strict=True)]


def start_chunks(steps: list[ChunkStep], A: Tensor, start: Tensor) -> Tensor:
    """Compute the state before each chunk of a segment from the one before the first."""
    n_chunks = len(steps[0].delta)
    end = start.new_zeros(n_chunks, *start.shape)
    keep = torch.empty_like(end)
    for step in steps if n_chunks > 1 else []:
        torch.mul(step.delta, A, out=keep).exp_()
        end.mul_(keep).addcmul_(step.write, step.B)
    return hand_on(end, keep_whole(steps, A), start)


def run_steps(steps: list[ChunkStep], A: Tensor, before: Tensor) -> tuple[Tensor, Tensor]:
    """Walk from the states before the chunks: what each token reads, and the last states."""
    h, keep = before.clone(), torch.empty_like(before)
    y = []
    for step in steps:
        torch.mul(step.delta, A, out=keep).exp_()
        h.mul_(keep).addcmul_(step.write, step.B)
        y.append(step.C.mT @ h)
    return torch.stack(y).squeeze(-2), h


def reverse_steps(
    steps: list[ChunkStep], A: Tensor, before: Tensor, grad_y: Tensor, grad_last: Tensor
) -> tuple[list[Tensor], Tensor, Tensor]:
    """Walk back through a segment, carrying the gradient to the state.

        grad_h[t] = C[t] grad_y[t] + exp(delta[t+1] A) grad_h[t+1]

    is a scan too, whose time runs backwards.

    Returns:
        The gradients to delta A / A (summed over d_state), delta x, B and C of each token; the one
        to A; and the one to the state before the segment.
    """
    keeps, states = _trace_steps(steps, A, before)
    given = grad_y[..., None, :].unbind(0)
    grad_h = _end_chunks(steps, A, keeps, given, grad_last)
    grad_A = torch.zeros_like(grad_h)
    grads = []
    for t in reversed(range(len(steps))):
        step, h_before, h = steps[t], states[t], states[t + 1]
        grad_h.addcmul_(step.C, given[t])
        to_write, to_B, to_C = step.B.mT @ grad_h, grad_h @ step.write.mT, h @ given[t].mT
        grad_h.mul_(keeps[t])
        to_z = grad_h * h_before  # z = delta A
        grad_A.addcmul_(to_z, step.delta)
        to_delta = to_z.mul_(A).sum(-2)
        grads.append((to_delta, to_write.squeeze(-2), to_B.squeeze(-1), to_C.squeeze(-1)))
    return (
        [torch.stack(v) for v in zip(*reversed(grads), strict=True)],
        grad_A.sum((0, 1)),
        grad_h[0],
    )


def hand_on(end: Tensor, whole: Tensor, start: Tensor, order: int = 1) -> Tensor:
    """Compute the state before each chunk from what each would make of an empty one.

    Args:
        end: the state after each chunk, had it begun with zeros.
        whole: how much of a state survives each chunk.
        start: the state before the first chunk.
        order: 1, or -1 to begin with the last chunk.
    """
    chunks = range(len(end))[::order]
    before = torch.empty_like(end)
    before[chunks[0]] = start
    for m, following in pairwise(chunks):
        torch.addcmul(end[m], whole[m], before[m], out=before[following])
    return before


def keep_whole(steps: list[ChunkStep], A: Tensor) -> Tensor:
    """Compute how much of a state survives each chunk.

    The steps of one chunk are summed, all of one sign: no two clocks are subtracted.
    """
    return (sum(step.delta for step in steps) * A).exp_()


def _trace_steps(
    steps: list[ChunkStep], A: Tensor, before: Tensor
) -> tuple[list[Tensor], list[Tensor]]:
    """Walk from the states before the chunks: what every token keeps, and the states around it."""
    keeps, states = [], [before]
    for step in steps:
        keeps.append((step.delta * A).exp_())
        states.append((keeps[-1] * states[-1]).addcmul_(step.write, step.B))
    return keeps, states


def _end_chunks(
    steps: list[ChunkStep],
    A: Tensor,
    keeps: list[Tensor],
    grad_y: Sequence[Tensor],
    grad_last: Tensor,
) -> Tensor:
    """Compute the gradient to the state after each chunk, from the one after the last."""
    end = torch.zeros_like(keeps[0])
    if len(end) > 1:
        for step, keep, given in zip(
            reversed(steps), reversed(keeps), reversed(grad_y), strict=True
        ):
            end.addcmul_(step.C, given).mul_(keep)
    return hand_on(end, keep_whole(steps, A), grad_last, order=-1)
