"""The scan in chunks: few tokens one after the other, many chunks side by side, own backward."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from mamba_edu.scan._walk import fold, multiply_rates, unfold, walk

CHUNK = 16  # tokens of a chunk, walked one after the other
WIDTH = 2**15  # numbers of state stepped at once: enough to outweigh a call, few enough for a cache


def scan_chunked(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch d_inner d_state"],
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Run the recurrence in chunks, in time and memory that grow with the length and no faster.

    A first walk through all chunks of a segment at once, each from an empty state, tells what each
    would hand on; then the states between chunks follow one by one; a second walk starts from
    them. One state a segment is kept, and backward walks each segment again, last one first.
    It cannot be differentiated twice; the loop and the parallel scan can.

    Args: as selective_scan, which has checked them; the state is not optional here.
    Returns: y and the state after the last token.

    Source: our own. Gu & Dao 2023 (arXiv:2312.00752), Section 3.3.2, also recompute the states in
    the backward pass.
    """
    if not x.numel():
        return 0 * x, state
    return ChunkedScan.apply(x, delta, A, B, C, state)


class ChunkedScan(torch.autograd.Function):
    """The chunked scan and its gradient. Inside, the state comes first: (.., d_state, d_inner)."""

    @staticmethod
    def forward(ctx, x, delta, A, B, C, state):
        h = state.mT.contiguous()
        starts, y = [], []
        for x_s, delta_s, B_s, C_s in split_segments(A, x, delta, B, C):
            starts.append(h)
            _, states, _ = trace_segment(x_s, delta_s, A.mT, B_s, h)
            y.append(read(states, C_s))
            h = states[-1, -1].clone()  # a view would keep all states of the segment
        ctx.save_for_backward(x, delta, A, B, C, torch.stack(starts))
        return unfold(y, x.shape[1]), h.mT.contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y, grad_state):
        x, delta, A, B, C, starts = ctx.saved_tensors
        segments = split_segments(A, x, delta, B, C, grad_y)
        grad_h, grad_A = grad_state.mT.contiguous(), torch.zeros_like(A.mT)
        grads = []
        for start, segment in zip(reversed(starts), reversed(segments), strict=True):
            *grad_tokens, add_A, grad_h = reverse_segment(*segment, A.mT, start, grad_h)
            grads.insert(0, grad_tokens)
            grad_A += add_A
        grad_x, grad_delta, grad_B, grad_C = (
            unfold(v, x.shape[1]) for v in zip(*grads, strict=True)
        )
        return grad_x, grad_delta, grad_A.mT, grad_B, grad_C, grad_h.mT


def split_segments(A: Tensor, *tokens: Tensor) -> list[tuple[Tensor, ...]]:
    """Fold a sequence into chunks, and group as many as make up the width that is stepped at once.

    Returns:
        For each segment its part of every tensor: (token of the chunk, chunk, batch, ...).
    """
    n_chunks = max(1, WIDTH // max(1, len(tokens[0]) * A.numel()))
    folded = [fold(v, CHUNK).split(n_chunks, dim=1) for v in tokens]
    return list(zip(*folded, strict=True))


def trace_segment(
    x: Tensor, delta: Tensor, A: Tensor, B: Tensor, start: Tensor
) -> tuple[Tensor, Tensor, Tensor]:
    """Walk through one segment: what each token keeps, the states after it, those before chunks."""
    keep = multiply_rates(delta, A).exp_()
    states = (delta * x)[..., None, :] * B[..., None]
    whole = multiply_rates(delta.sum(0), A).exp_()
    before = walk(list(keep), list(states), whole, start)
    return keep, states, before


def read(states: Tensor, weights: Tensor) -> Tensor:
    """Sum the states over d_state, each with its token's weight."""
    return (weights[..., None, :] @ states).squeeze(-2)


def reverse_segment(
    x: Tensor,
    delta: Tensor,
    B: Tensor,
    C: Tensor,
    grad_y: Tensor,
    A: Tensor,
    start: Tensor,
    grad_last: Tensor,
) -> tuple[Tensor, ...]:
    """Compute a segment's gradients: to x, delta, B, C, A and to the state before it.

        grad_h[t] = C[t] grad_y[t] + exp(delta[t+1] A) grad_h[t+1]

    is a scan that walks back in time.
    """
    keep, states, before = trace_segment(x, delta, A, B, start)
    grad_C = (states @ grad_y[..., None]).squeeze(-1)

    grad_h = C[..., None] * grad_y[..., None, :]
    # At its last token a chunk takes the step of the next chunk's first one; a segment takes none,
    # for grad_last has that step in it.
    after = torch.cat([keep[0, 1:], torch.ones_like(keep[0, :1])])
    elapsed = delta[1:].sum(0) + torch.cat([delta[0, 1:], torch.zeros_like(delta[0, :1])])
    whole = multiply_rates(elapsed, A).exp_()
    walk([*keep[1:], after], list(grad_h), whole, grad_last, order=-1)
    grad_start = keep[0, 0] * grad_h[0, 0]

    grad_write = read(grad_h, B)  # to delta x
    grad_B = (grad_h @ (delta * x)[..., None]).squeeze(-1)
    grad_z = keep.mul_(grad_h)  # to delta A: grad_h[t] keep[t] h[t-1]
    grad_z[0] *= before
    grad_z[1:] *= states[:-1]
    grad_A = (grad_z * delta[..., None, :]).sum((0, 1, 2))
    grad_delta = grad_z.mul_(A).sum(-2) + x * grad_write
    return delta * grad_write, grad_delta, grad_B, grad_C, grad_A, grad_start
