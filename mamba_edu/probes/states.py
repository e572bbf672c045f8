"""The hidden state after every token, and how much of what was written is still there."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Inexact, Int
from torch import Tensor

from mamba_edu._checks import (
    check_alike,
    check_clock,
    check_counts,
    check_numbers,
    check_rates,
    check_real,
    check_shapes,
)

AXES = {
    "x": "batch length d_inner",
    "delta": "batch length d_inner",
    "A": "d_inner d_state",
    "B": "batch length d_state",
    "C": "batch length d_state",
    "state": "batch d_inner d_state",
}


def trace_scan(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Inexact[Tensor, "d_inner d_state"],
    B: Inexact[Tensor, "batch length d_state"],
    C: Inexact[Tensor, "batch length d_state"] | None = None,
    state: Inexact[Tensor, "batch d_inner d_state"] | None = None,
    rule: Callable[..., tuple[Tensor, Tensor]] | None = None,
) -> Inexact[Tensor, "batch length d_inner d_state"]:
    """Follow the hidden state of a scan through a sequence.

        h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] x[t],  t = 0 .. length-1,  h[-1] = state

    Args:
        x: the input signal. NaN and infinities in x, delta or B stay visible, from their token on.
        delta: step sizes, at least 0.
        A: rates with real parts of at most 0.
        B: how strongly each token writes to the state.
        C: how each token reads it. No state hangs on it; it may be given so that the arguments of
            selective_scan can be passed on as they are.
        state: the state before the first token; zero if not given.
        rule: another way to discretize, such as discretize_zoh; Mamba's own if not given. These
            refuse step sizes that are not finite.

    Returns:
        The state after each token, equal to what selective_scan carries; complex if A, B or the
        given state is.

    Raises:
        TypeError: for anything but float32 or float64 tensors (A, B, C and state also complex).
        ValueError: if shapes disagree, a step runs backwards, a rate is positive or not finite.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Algorithm 2, with every state kept.
    """
    _check_trace(x=x, delta=delta, A=A, B=B, C=C, state=state)
    if rule is None:
        keep = torch.exp(delta[..., None] * A)
        write = (delta * x)[..., None] * B[:, :, None]
    else:
        keep, write = rule(delta[..., None], A, B[:, :, None])
        write = write * x[..., None]
    h = write.new_zeros(len(write), *A.shape) if state is None else state
    states = []
    for keep_t, write_t in zip(keep.unbind(1), write.unbind(1), strict=True):
        h = keep_t * h + write_t
        states.append(h)
    return torch.stack(states, dim=1) if states else write


def measure_survival(
    delta: Float[Tensor, "batch length d_inner"], A: Float[Tensor, "d_inner d_state"], s: int
) -> Float[Tensor, "batch length d_inner d_state"]:
    """Measure which share of what token s wrote to the state is still in it, at every token.

        survival[t] = exp(A (clock[t] - clock[s])) for t >= s, 0 before
        clock[t] = delta[0] + .. + delta[t]

    It is 1 at s itself: the token is written after the state has decayed.

    Args:
        delta: step sizes, at least 0.
        A: decay rates, at most 0.
        s: the token, counted from 0.

    Returns:
        Shares from 0 to 1, for each state.

    Raises:
        TypeError: for anything but float32 or float64 tensors, or an s that is no int.
        ValueError: if shapes disagree, a step runs backwards, a rate is positive, or there is no
            token s.

    Source: the recurrence itself, unrolled: Gu & Dao 2023 (arXiv:2312.00752), Algorithm 2.
    """
    check_real(delta=delta, A=A)
    check_shapes(delta=(delta, AXES["delta"]), A=(A, AXES["A"]))
    check_clock(delta, A)
    _check_token(s, delta.shape[1])
    since = delta[:, s + 1 :].cumsum(1)  # not clock minus clock: both may be large
    passed = torch.cat([torch.zeros_like(delta[:, s : s + 1]), since], dim=1)
    before = torch.zeros(*delta[:, :s].shape, A.shape[1], dtype=A.dtype, device=A.device)
    return torch.cat([before, torch.exp(passed[..., None] * A)], dim=1)


def rank_channels(
    delta: Float[Tensor, "batch length d_inner"], A: Float[Tensor, "d_inner d_state"], n: int
) -> Int[Tensor, " n_kept"]:
    """Rank the channels by how well their slowest state survives a whole sequence.

    Compared is the logarithm, max_n A[n] sum_t delta[t], averaged over the sequences: the survival
    itself would be 0 in many channels of a long one.

    Args:
        delta: step sizes, at least 0.
        A: decay rates, at most 0.
        n: how many to name, at least 1.

    Returns:
        The numbers of the n best channels (all, if there are fewer), the best one first and the
        lower number first among equals; channels with a step that is not finite come last.

    Raises:
        TypeError: for anything but float32 or float64 tensors, or an n that is no int.
        ValueError: if shapes disagree, a step runs backwards, a rate is positive or n is below 1.
    """
    check_real(delta=delta, A=A)
    check_shapes(delta=(delta, AXES["delta"]), A=(A, AXES["A"]))
    check_clock(delta, A)
    check_counts(1, n=n)
    left = (A.amax(1) * delta.sum(1)).mean(0)
    left = torch.where(left.isfinite(), left, -torch.inf)
    return torch.argsort(left, descending=True, stable=True)[:n]


def rank_openings(delta: Float[Tensor, "batch length d_inner"], s: int) -> Int[Tensor, " d_inner"]:
    """Rank the channels by how much wider they step at token s than they do on average.

    Args:
        delta: step sizes, at least 0.
        s: the token, counted from 0.

    Returns:
        The numbers of all channels, the one that opens widest first and the lower number first
        among equals; channels whose steps are all 0 or not finite come last.

    Raises:
        TypeError: for anything but a float32 or float64 tensor, or an s that is no int.
        ValueError: if delta has other axes or there is no token s.
    """
    check_real(delta=delta)
    check_shapes(delta=(delta, AXES["delta"]))
    _check_token(s, delta.shape[1])
    ratio = (delta[:, s] / delta.mean(1)).mean(0)
    ratio = torch.where(ratio.isfinite(), ratio, -torch.inf)
    return torch.argsort(ratio, descending=True, stable=True)


def rank_states(A: Float[Tensor, "d_inner d_state"], n: int) -> Int[Tensor, " n_kept"]:
    """Rank the states by how slowly they decay, averaged over the channels.

    Args:
        A: decay rates, at most 0.
        n: how many to name, at least 1.

    Returns:
        The numbers of the n slowest states (all, if there are fewer), in ascending order.

    Raises:
        TypeError: for anything but a float32 or float64 tensor, or an n that is no int.
        ValueError: if a rate is positive or not finite, or n is below 1.
    """
    check_real(A=A)
    check_shapes(A=(A, AXES["A"]))
    check_rates(A)
    check_counts(1, n=n)
    return torch.argsort(A.mean(0), descending=True, stable=True)[:n].sort().values


def _check_trace(**tensors: Tensor | None) -> None:
    """Refuse what does not make up one scan."""
    given = {k: v for k, v in tensors.items() if v is not None or k not in ("C", "state")}
    check_real(x=given["x"], delta=given["delta"])
    check_numbers(**given)
    check_alike(**given)
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in given.items()})
    check_clock(given["delta"], given["A"])


def _check_token(s: int, length: int) -> None:
    """Refuse what is no token of the sequence."""
    check_counts(0, s=s)
    if s >= length:
        raise ValueError(f"s must be a token, 0 to {length - 1}; it is {s}")
