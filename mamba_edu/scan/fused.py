"""The scan in one piece of compiled code, for a CPU: its states never leave the cache."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import silu

from mamba_edu.scan._arguments import last_words
from mamba_edu.scan._compiled import load_kernels, share_items
from mamba_edu.scan.parallel import scan_parallel

CHUNK = 32  # tokens between two states that are kept for the way back
WIDTH, LANES = 64, 16  # channels of a block, at most, and what its width is a multiple of
TWICE = "fused ran: it is to be differentiated again, so the parallel scan computed its gradient"
LOG2_E = 1.4426950408889634


def scan_fused(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch d_inner d_state"],
    skip: Float[Tensor, " d_inner"] | None = None,
    gate: Float[Tensor, "batch length d_inner"] | None = None,
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Run the recurrence, what passes by it and the gate, token by token, in compiled code.

    All states of a block of channels are stepped by one token before the next is looked at: they
    stay in the nearest cache, and of each token only its own numbers are read and its answer
    written. For the backward pass the state before every CHUNK tokens is kept; the way back walks
    each chunk again, the last one first. Rows of the batch and blocks of channels go to as many
    threads as torch.get_num_threads() says. A backward pass that is to be differentiated itself
    (create_graph=True) is left to the parallel scan.

    Args: as selective_scan, which has checked them; the state is not optional here.
    Returns: y, gated, and the state after the last token.

    Raises:
        ImportError: if numba is not there.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.3.2, who fuse the same steps and also
    recompute the states; they scan the tokens as a tree, across a GPU's lanes.
    """
    if not x.numel():
        return 0 * x, state
    given = (x, delta, A, B, C, state, skip, gate)
    if torch.is_grad_enabled() and any(v is not None and v.requires_grad for v in given):
        return _FusedScan.apply(*given)
    y, last, _ = _walk(*given, is_kept=False)
    return y, last


def find_hindrance(x: Tensor) -> str:
    """Say why the fused scan cannot run on such a tensor, or nothing if it can."""
    if x.device.type != "cpu":
        return f"the fused one needs a CPU, not {x.device.type}"
    if torch.compiler.is_compiling() or torch._C._functorch.peek_interpreter_stack() is not None:
        return "the fused one cannot be traced"
    try:
        load_kernels()
    except ImportError:
        return "numba, which the fused one needs, cannot be imported"
    return ""


class _FusedScan(torch.autograd.Function):
    """The fused scan and its gradient."""

    @staticmethod
    def forward(ctx, *given):
        y, last, starts = _walk(*given, is_kept=True)
        ctx.save_for_backward(*given, starts)
        return y, last

    @staticmethod
    def backward(ctx, grad_y, grad_state):
        *given, starts = ctx.saved_tensors
        if torch.is_grad_enabled():
            return _differentiate_twice(given, grad_y, grad_state)
        return _walk_back(*given, starts, grad_y, grad_state)


class _Layout(NamedTuple):
    """How a scan's tensors stand in memory, and how it is cut into blocks."""

    flat: tuple[np.ndarray, ...]  # of x, delta, B, C, gate and what else was asked for
    steps: np.ndarray  # of each: from row to row, from token to token
    sizes: tuple[int, ...]  # length, d_inner, d_state, channels of a block, tokens of a chunk
    n_items: int  # blocks in all rows


def _walk(x, delta, A, B, C, state, skip, gate, is_kept):
    """Run the kernel forward: y, the last state, and the states before each chunk if kept."""
    (batch, length, d_inner), d_state = x.shape, A.shape[1]
    plan = _lay_out(A, x, delta, B, C, gate)
    h = state.detach().mT.clone(memory_format=torch.contiguous_format)
    n_kept = -(-length // plan.sizes[-1]) if is_kept else 0
    starts = x.new_empty(batch, n_kept, d_state, d_inner)
    y = torch.empty(x.shape, dtype=x.dtype)
    rates, flat_skip = _flatten_rates(A), _flatten(skip, x)
    fixed = (plan.flat, plan.steps, rates, flat_skip, *map(_view, (h, starts, y)), plan.sizes)
    share_items(load_kernels()[0].scan_forward, fixed, plan.n_items, length * A.numel() * batch)
    return y, h.mT.contiguous(), starts


def _walk_back(x, delta, A, B, C, state, skip, gate, starts, grad_y, grad_state):
    """Run the kernel back: the gradients, in the order of scan_fused's arguments."""
    (batch, length, d_inner), d_state = x.shape, A.shape[1]
    plan = _lay_out(A, x, delta, B, C, gate, grad_y)
    n_blocks = plan.n_items // batch
    to_h = grad_state.mT.clone(memory_format=torch.contiguous_format)
    to_tokens = [torch.empty(v.shape if v is not None else 0, dtype=x.dtype) for v in (x, x, gate)]
    to_pairs = [x.new_empty(batch, n_blocks, length, d_state) for _ in "BC"]
    to_rates = torch.zeros(batch, d_state, d_inner, dtype=torch.float64)
    to_skip = torch.zeros(batch, d_inner, dtype=torch.float64)
    grads, sums = (tuple(map(_view, v)) for v in ((*to_tokens, *to_pairs), (to_rates, to_skip)))
    rates, flat_skip = _flatten_rates(A), _flatten(skip, x)
    fixed = (plan.flat, plan.steps, rates, flat_skip, _view(starts), _view(to_h), grads, sums)
    fixed += (plan.sizes,)
    share_items(load_kernels()[1].scan_backward, fixed, plan.n_items, length * A.numel() * batch)
    to_x, to_delta, to_gate = to_tokens
    to_B, to_C = (v.sum(1) for v in to_pairs)
    to_A, to_skip = to_rates.sum(0).mT.to(x.dtype), to_skip.sum(0).to(x.dtype)
    passed = (None if skip is None else to_skip, None if gate is None else to_gate)
    return to_x, to_delta, to_A, to_B, to_C, to_h.mT, *passed


def _differentiate_twice(given, grad_y, grad_state):
    """Compute the gradients by operations that torch can differentiate."""
    last_words[:] = [TWICE]
    x, delta, A, B, C, state, skip, gate = given
    y, last = scan_parallel(x, delta, A, B, C, state)
    y = y if skip is None else y + skip * x
    y = y if gate is None else y * silu(gate)
    wanted = [v for v in given if v is not None and v.requires_grad]
    grads = torch.autograd.grad(
        (y, last), wanted, (grad_y, grad_state), create_graph=True, materialize_grads=True
    )
    left = iter(grads)
    return tuple(next(left) if v is not None and v.requires_grad else None for v in given)


def _lay_out(A, x, *others):
    """Lay tensors of tokens flat and cut channels into blocks, one a thread at least."""
    batch, length, d_inner = x.shape
    tensors = [_settle(v) for v in (x, *others)]
    flat = tuple(_flatten(v, x) for v in tensors)
    steps = np.array([(0, 0) if v is None else v.stride()[:2] for v in tensors])
    n_blocks = max(-(-d_inner // WIDTH), -(-torch.get_num_threads() // batch))
    block = min(WIDTH, LANES * -(-d_inner // (n_blocks * LANES)))
    sizes = (length, d_inner, A.shape[1], block, min(CHUNK, length))
    return _Layout(flat, steps, sizes, batch * -(-d_inner // block))


def _settle(tensor):
    """Let channels lie side by side."""
    return tensor if tensor is None or tensor.stride(-1) == 1 else tensor.contiguous()


def _flatten(tensor, like):
    """View all the memory that a tensor's numbers lie in, without a copy; None is of no length."""
    if tensor is None or not tensor.numel():
        return _view(like.new_empty(0))
    tensor = tensor.detach()
    span = sum((n - 1) * s for n, s in zip(tensor.shape, tensor.stride(), strict=True)) + 1
    return tensor.as_strided((span,), (1,)).numpy()


def _flatten_rates(A):
    """Rates for powers of 2 in place of e, channels side by side."""
    return _view((A.detach().mT * LOG2_E).contiguous())


def _view(tensor):
    """View a tensor of our own as one row."""
    return tensor.detach().view(-1).numpy()
