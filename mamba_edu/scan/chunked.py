"""The scan in chunks: few tokens one after the other, many chunks side by side, own backward."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from mamba_edu.scan._chunks import fold, list_steps, reverse_steps, run_steps, start_chunks, unfold

CHUNK = 32  # tokens of a chunk, walked one after the other
WIDTH = 2**16  # numbers of state stepped at once: enough to outweigh a call, few enough for a cache


def scan_chunked(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch d_inner d_state"],
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Run the recurrence in chunks, in a time and memory that grow as the length does.

    A segment is as many chunks as are worth stepping at once. A first walk through all of them,
    each from an empty state, tells what each would hand on; the states between chunks follow one
    by one; a second walk starts from them. Those states are all that is kept: the backward pass
    walks each segment again, the last one first. It cannot be differentiated twice; the loop and
    the parallel scan can.

    Args: as selective_scan, which has checked them; the state is not optional here.
    Returns: y and the state after the last token.

    Source: our own. Gu & Dao 2023 (arXiv:2312.00752), Section 3.3.2, also recompute the states in
    the backward pass.
    """
    if not x.numel():
        return 0 * x, state
    with _full_precision(x):
        return _ChunkedScan.apply(x, delta, A, B, C, state)


class _ChunkedScan(torch.autograd.Function):
    """The chunked scan and its gradient."""

    @staticmethod
    def forward(ctx, x, delta, A, B, C, state):
        rates, h = A.mT.contiguous(), state.mT
        starts, y = [], []
        for segment in _split_segments(A, x, delta, B, C):
            steps = list_steps(*segment)
            starts.append(start_chunks(steps, rates, h))
            y_segment, ends = run_steps(steps, rates, starts[-1])
            y.append(y_segment)
            h = ends[-1]
        ctx.save_for_backward(x, delta, A, B, C, torch.cat(starts))
        return unfold(y, x.shape[1]), h.mT.contiguous()

    @staticmethod
    @once_differentiable
    def backward(ctx, grad_y, grad_state):
        with _full_precision(grad_y):
            return _reverse(*ctx.saved_tensors, grad_y, grad_state)


def _reverse(x, delta, A, B, C, starts, grad_y, grad_state):
    """Walk back through all segments: the gradients, in the order of forward's arguments."""
    segments = _split_segments(A, x, delta, B, C, grad_y)
    starts = starts.split(segments[0][0].shape[1])
    rates, grad_h, grad_A = A.mT.contiguous(), grad_state.mT, torch.zeros_like(A.mT)
    grads = []
    for (*tokens, given), start in zip(reversed(segments), reversed(starts), strict=True):
        steps = list_steps(*tokens)
        of_tokens, of_A, grad_h = reverse_steps(steps, rates, start, given, grad_h)
        grads.append(of_tokens)
        grad_A += of_A
    length = x.shape[1]
    to_delta, to_write, to_B, to_C = (unfold(v, length) for v in zip(*reversed(grads), strict=True))
    return delta * to_write, to_delta + x * to_write, grad_A.mT, to_B, to_C, grad_h.mT


def _full_precision(tensor: Tensor) -> torch.autocast:
    """Keep autocast from reading the state in half precision, which it does to products."""
    return torch.autocast(tensor.device.type, enabled=False)


def _split_segments(A: Tensor, *tokens: Tensor) -> list[tuple[Tensor, ...]]:
    """Fold a sequence into chunks, and group as many as make up the width that is stepped at once.

    Returns:
        For each segment its part of every tensor: (token of the chunk, chunk, batch, ...).
    """
    batch, length, _ = tokens[0].shape
    n_chunks = max(1, WIDTH // max(1, batch * A.numel()))
    folded = [fold(v, min(CHUNK, length)).split(n_chunks, dim=1) for v in tokens]
    return list(zip(*folded, strict=True))
