"""Two fits in closed form: the best fixed filter for a task, and one decay to a recording."""

import math
from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor

from mamba_edu._checks import (
    check_alike,
    check_counts,
    check_finite,
    check_interval,
    check_real,
    check_shapes,
)

SHORTEST = 1 / 30  # a decay of this many steps leaves exp(-30), nothing, of its second sample
LONGEST = 100  # a decay of this many durations is a straight line to 1 part in 800


class LinearFilter(NamedTuple):
    """A causal filter, y[t] = bias + sum_i sum_k weights[i, k] x[t - k, i], and how far it is off.

    error_share is its squared error as a share of the target's variance: 0 is perfect, 1 no
    better than the mean.
    """

    weights: Float[Tensor, "d_in n_taps"]
    bias: Float[Tensor, ""]
    error_share: Float[Tensor, ""]


class Decay(NamedTuple):
    """An exponential approach, v(t) = rest + (start - rest) exp(-t / tau)."""

    tau: float
    start: float
    rest: float


def fit_linear_filter(
    x: Float[Tensor, "batch length d_in"], target: Float[Tensor, "batch length"], n_taps: int
) -> LinearFilter:
    """Find the causal filter with n_taps that comes nearest to a target, in closed form.

        minimize  sum_t ( target[t] - bias - sum_i sum_{k < n_taps} weights[i, k] x[t - k, i] )^2

    No time-invariant linear system whose answer is over after n_taps steps can do better on these
    data, however it is trained. Only tokens that have n_taps inputs behind them are counted.

    Args:
        x: the input signals.
        target: what the filter should put out at each token.
        n_taps: how many inputs it sees, this one included; at most the length.

    Returns:
        The filter and its share of the error. weights[:, k] belongs to the input k steps ago, so
        run_convolution(x, weights) applies it.

    Raises:
        TypeError: for anything but float32 or float64 tensors of one precision, or if n_taps is
            not an int.
        ValueError: if shapes disagree, a value is not finite, there are no more tokens than
            unknowns, the target is constant, or weights are too large for the precision of x.

    Source: ordinary least squares; the finite Wiener filter of the sampled signals.
    """
    check_real(x=x, target=target)
    check_alike(x=x, target=target)
    check_shapes(x=(x, "batch length d_in"), target=(target, "batch length"))
    check_finite(x=x, target=target)
    check_counts(1, n_taps=n_taps)
    inputs, wanted = _pair_windows(x.double(), target.double(), n_taps)

    scale = wanted.abs().max()  # so that squares of a huge or tiny target stay in range
    wanted = wanted / scale
    mean_input, mean_wanted = inputs.mean(0), wanted.mean()
    inputs, wanted = inputs - mean_input, wanted - mean_wanted
    solution = _solve(inputs, wanted)
    error = (wanted - inputs @ solution).square().sum() / wanted.square().sum()
    bias = mean_wanted - mean_input @ solution
    weights = (scale * solution).to(x.dtype)
    if not weights.isfinite().all():
        raise ValueError(
            f"target must be in a unit nearer to that of x: it reaches {scale:.3g}, x "
            f"{x.abs().max():.3g}, and their quotient is too large for {x.dtype}"
        )
    weights = weights.reshape(x.shape[2], n_taps)
    return LinearFilter(weights, (scale * bias).to(x.dtype), error.to(x.dtype))


def fit_decay(signal: Float[Tensor, "length"], delta: float) -> Decay:
    """Fit one exponential approach to a sampled signal, by least squares.

        v(t) = rest + (start - rest) exp(-t / tau),  t = 0, delta, 2 delta, ...

    For a given tau the best rest and start are linear least squares, so only tau is searched: on a
    grid in log tau, again and again around its best point.

    Args:
        signal: at least 4 samples, at equal distances in time.
        delta: the time between two samples, above 0.

    Returns:
        tau in the unit of delta, start and rest in the unit of the signal. A signal may fall to its
        rest or rise to it.

    Raises:
        TypeError: for anything but a float32 or float64 tensor and a number.
        ValueError: if there are fewer than 4 samples, one is not finite, delta is not above 0, the
            signal is constant, tau overflows, or it decays too fast to be seen or does not bend
            towards a rest at all, like a straight line or a growing exponential.

    Source: Golub & Pereyra 1973, SIAM Journal on Numerical Analysis 10(2), who eliminate the linear
    unknowns in the same way ("variable projection"); they search by gradients.
    """
    check_real(signal=signal)
    check_shapes(signal=(signal, "length"))
    check_finite(signal=signal)
    check_interval(delta=delta)
    v = signal.detach().double()
    _check_varied(v)
    scale = v.abs().max()  # so that squares of a growing signal do not overflow
    steps = _search_steps(v / scale)
    _, start, rest = _project(steps, v / scale)
    tau = delta * steps.item()
    if not math.isfinite(tau):
        raise ValueError(
            f"delta must be in a unit that leaves tau finite; it is {delta:.3g}, and tau, "
            f"{steps.item():.3g} times as long, would be {tau}"
        )
    return Decay(tau, (scale * start).item(), (scale * rest).item())


def _pair_windows(x: Tensor, target: Tensor, n_taps: int) -> tuple[Tensor, Tensor]:
    """Put the last n_taps inputs of every token beside its target, one row per token."""
    batch, length, d_in = x.shape
    n_rows = batch * (length - n_taps + 1)
    n_unknowns = d_in * n_taps + 1
    if length < n_taps or n_rows <= n_unknowns:
        raise ValueError(
            f"n_taps = {n_taps} asks for {n_unknowns} unknowns; x {tuple(x.shape)} has "
            f"{max(n_rows, 0)} tokens with so many inputs behind them, and must have more"
        )
    wanted = target[:, n_taps - 1 :].flatten()
    if wanted.max() == wanted.min():
        raise ValueError(f"target must vary; it is {wanted[0]:.3g} at every token that is counted")
    windows = x.unfold(1, n_taps, 1)  # (batch, token, d_in, n_taps), oldest input first
    return windows.flip(-1).reshape(n_rows, d_in * n_taps), wanted


def _solve(inputs: Tensor, wanted: Tensor) -> Tensor:
    """Solve least squares.

    Not by the default driver on a CPU: its pivots start from whatever the memory holds, so that
    now and then an input that never changes is taken first and the fit ends at zero weights.
    """
    driver = "gelsd" if inputs.device.type == "cpu" else None
    return torch.linalg.lstsq(inputs, wanted[:, None], driver=driver).solution[:, 0]


def _check_varied(v: Tensor) -> None:
    """Refuse a signal with fewer samples than the fit could miss, or with nothing to fit."""
    if len(v) < 4:
        raise ValueError(f"signal must have at least 4 samples, for 3 unknowns; it has {len(v)}")
    if v.max() - v.min() <= 1e-12 * v.abs().max():
        raise ValueError(f"signal must vary; it is constant at {v[0]:.3g}, which has no decay")


def _search_steps(v: Tensor) -> Tensor:
    """Find the best tau, in steps, refusing one at the edge of what the samples can tell."""
    low, high = math.log(SHORTEST), math.log(LONGEST * len(v))
    for zoom in range(12):  # each narrows the range 32 times, to the last digit in the end
        grid = torch.linspace(low, high, 65, dtype=v.dtype)
        best = int(_project(grid.exp(), v)[0].argmin())
        if zoom == 0 and best == 0:
            raise ValueError(
                "signal must decay over more than one step; a drop right after its first sample "
                "fits it best: sample more finely, or begin earlier"
            )
        if zoom == 0 and best == 64:
            raise ValueError(
                "signal must bend towards a rest; it is nearer to a straight line or to growth "
                f"than to any decay within {LONGEST} times its {len(v)} samples"
            )
        low, high = grid[max(best - 1, 0)].item(), grid[min(best + 1, 64)].item()
    return grid[best : best + 1].exp()


def _project(tau: Tensor, v: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """For each tau, in steps: the squared error of the best start and rest, and these two."""
    decay = torch.exp(-torch.arange(len(v), dtype=v.dtype) / tau[:, None])
    mean_decay = decay.mean(1, keepdim=True)
    centred = decay - mean_decay
    size = (centred @ (v - v.mean())) / centred.square().sum(1)
    rest = v.mean() - size * mean_decay[:, 0]
    error = (v - rest[:, None] - size[:, None] * decay).square().sum(1)
    return error, rest + size, rest
