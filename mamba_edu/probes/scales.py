"""One sequence, its clock slowed down or sped up: the states at several scales of delta."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from mamba_edu._checks import check_counts, check_interval, check_shapes
from mamba_edu.probes.states import trace_scan

SCALES = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 10.0)
WIDTH = 2**15  # numbers of state in a piece: few enough for a cache


class Trace(NamedTuple):
    """States and outputs of a window of one sequence, at several scales of its step sizes.

    Fields:
        states: after each token; complex if the rates are.
        outputs: what is read from them, with the skip term and without a gate.
    """

    states: Inexact[Tensor, "scale length d_inner d_state"]
    outputs: Float[Tensor, "scale length d_inner"]


def trace_scales(
    x: Float[Tensor, "length d_inner"],
    delta: Float[Tensor, "length d_inner"],
    A: Inexact[Tensor, "d_inner d_state"],
    B: Inexact[Tensor, "length d_state"],
    C: Inexact[Tensor, "length d_state"],
    skip: Float[Tensor, " d_inner"] | None = None,
    scales: Sequence[float] = SCALES,
    window: tuple[int, int] | None = None,
    rule: Callable[..., tuple[Tensor, Tensor]] | None = None,
) -> Trace:
    """Trace one sequence with its step sizes multiplied by each scale.

        h[t] = exp(scale delta[t] A) h[t-1] + scale delta[t] B[t] x[t]
        y[t] = Re( C[t] . h[t] ) + skip x[t]

    Args:
        x, delta, A, B, C, skip: as in selective_scan, without the axis of sequences.
        scales: what the step sizes are multiplied by.
        window: the tokens (first, end) that are kept, end not among them; all if not given. The
            window is entered with the state that all tokens before it leave behind.
        rule: as in trace_scan.

    Returns:
        The states and outputs of the window.

    Raises:
        TypeError: as trace_scan, and for a scale that is no number.
        ValueError: as trace_scan, for a scale that is not above 0 or a window that is none.
    """
    first, end = _check_plan(x, C, skip, scales, window)
    state = None
    piece = max(1, WIDTH // max(1, len(scales) * A.numel()))
    with _use_one_thread():
        for start in range(0, first, piece):
            part = slice(start, min(start + piece, first))
            state = _trace_part(x, delta, A, B, scales, part, state, rule)[:, -1]
        states = _trace_part(x, delta, A, B, scales, slice(first, end), state, rule)
    outputs = (states * C[first:end, None]).sum(-1).real
    return Trace(states, outputs if skip is None else outputs + skip * x[first:end])


def _check_plan(
    x: Tensor,
    C: Tensor,
    skip: Tensor | None,
    scales: Sequence[float],
    window: tuple[int, int] | None,
) -> tuple[int, int]:
    """Refuse what trace_scan will not see, and return the window's ends."""
    skips = {} if skip is None else {"skip": (skip, "d_inner")}
    check_shapes(x=(x, "length d_inner"), C=(C, "length d_state"), **skips)
    for number, scale in enumerate(scales):
        check_interval(**{f"scales[{number}]": scale})
    first, end = (0, len(x)) if window is None else window
    check_counts(0, **{"window[0]": first})
    check_counts(first, **{"window[1]": end})
    if end > len(x):
        raise ValueError(f"window must end at {len(x)} tokens or before; it ends at {end}")
    return first, end


@contextlib.contextmanager
def _use_one_thread() -> Iterator[None]:
    """Keep torch on one thread: a token is so little work that several wait for one another."""
    n_threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(n_threads)


def _trace_part(
    x: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    scales: Sequence[float],
    part: slice,
    state: Tensor | None,
    rule: Callable[..., tuple[Tensor, Tensor]] | None,
) -> Tensor:
    """Trace a part of the sequence at all scales, one row each."""
    factors = torch.tensor(scales, dtype=delta.dtype)[:, None, None]
    rows = (len(scales), -1, -1)
    x_rows, B_rows = (v[part].expand(rows) for v in (x, B))
    return trace_scan(x_rows, factors * delta[part], A, B_rows, state=state, rule=rule)
