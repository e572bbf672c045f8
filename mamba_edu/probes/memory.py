"""How long a state remembers and how full it is: half-lives, shares that survive, norms."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mamba_edu._checks import check_clock, check_interval, check_mask, check_real, check_shapes
from mamba_edu.probes._marks import check_marks
from mamba_edu.probes.states import AXES, measure_survival, trace_scan

WIDTH = 2**20  # numbers of state in a piece


def measure_half_lives(
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    chosen: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "d_inner d_state"]:
    """Measure after how many tokens such as these a state has lost half of what it held.

        half_life[d, n] = ln 2 / ( -A[d, n] mean over the chosen tokens of delta[d] )

    Args:
        delta: step sizes, at least 0.
        A: decay rates, at most 0.
        chosen: the tokens to take, such as filler alone; all if not given.

    Returns:
        Tokens, for each state of each channel; infinite where nothing is lost. A channel's memory
        is that of its slowest state, the largest of the row.

    Raises:
        TypeError: for anything but float32 or float64 tensors, or a choice that is not boolean.
        ValueError: if shapes disagree, a step runs backwards, a rate is positive, or no token is
            chosen.
    """
    _check_decay(delta, A)
    if chosen is not None:
        check_marks(delta.shape[:2], chosen=chosen)
    steps = delta.flatten(0, 1) if chosen is None else delta[chosen]
    if not len(steps):
        raise ValueError("at least one token must be chosen; none is")
    return math.log(2) / (A * steps.mean(0)[:, None]).abs()  # -0 would make it minus infinity


def measure_survival_share(
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    s: int = 0,
    threshold: float = 0.1,
) -> Float[Tensor, "batch length"]:
    """Measure in which share of all states more than a threshold is left of what token s wrote.

    Args:
        delta, A, s: as in measure_survival.
        threshold: the survival to be above, more than 0 and less than 1.

    Returns:
        The share of d_inner times d_state states at each token: 0 before s, 1 at s.

    Raises:
        TypeError: as measure_survival, and for a threshold that is no number.
        ValueError: as measure_survival, and for a threshold out of range.
    """
    check_interval(threshold=threshold)
    if threshold >= 1:
        raise ValueError(f"threshold must be below 1; it is {threshold}")
    return (measure_survival(delta, A, s) > threshold).to(A.dtype).mean((2, 3))


def measure_state_norms(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"] | None = None,
    skip: Float[Tensor, " d_inner"] | None = None,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> Float[Tensor, "batch length"]:
    """Measure the size of the whole hidden state after each token, at any length.

        norm[t] = sqrt( sum over channels and states of h[t]^2 )

    A norm that grows without end would say that noise piles up; one that levels off, that as much
    is forgotten as comes in. States are not kept: memory is that of a piece of them.

    Args:
        x, delta, A, B: as in trace_scan.
        C, skip: not used; the signals of read_block may be passed on as they are.
        mask: True on real tokens; all are if not given. Padding leaves the state as it is.

    Returns:
        Norms of at least 0.

    Raises:
        TypeError: as trace_scan, and for a mask that is not boolean.
        ValueError: as trace_scan, and if the mask's shape is another.
    """
    check_real(x=x, delta=delta, A=A, B=B)
    check_shapes(**{k: (v, AXES[k]) for k, v in {"x": x, "delta": delta, "A": A, "B": B}.items()})
    if mask is not None:
        check_mask(mask, x=x)
        x, delta, B = (torch.where(mask[..., None], v, 0) for v in (x, delta, B))
    size = max(1, WIDTH // max(1, len(x) * A.numel()))
    norms, state = [], None
    for parts in zip(*(v.split(size, dim=1) for v in (x, delta, B)), strict=True):
        states = trace_scan(parts[0], parts[1], A, parts[2], state=state)
        norms.append(states.flatten(2).norm(dim=2))
        state = states[:, -1] if states.shape[1] else state
    return torch.cat(norms, dim=1)


def _check_decay(delta: Tensor, A: Tensor) -> None:
    """Refuse steps and rates that do not make up one clock."""
    check_real(delta=delta, A=A)
    check_shapes(delta=(delta, AXES["delta"]), A=(A, AXES["A"]))
    check_clock(delta, A)
