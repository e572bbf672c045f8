"""From rates and a step size to one discrete step: four rules for h' = A h + B x.

Each rule returns the pair (A_bar, B_bar) of

    h[t] = A_bar h[t-1] + B_bar x[t]

and works element by element over shapes that broadcast together, A and B real or complex. With a
step size per token and channel, Mamba's shapes are

    discretize_zoh(delta[..., None], A, B[:, :, None, :])  ->  (batch, length, d_inner, d_state)

The rules differ in what they make of a step that is not short. Only discretize_zoh is exact, for
an input that stands still during the step.
"""

import math

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from mamba_edu._checks import (
    check_alike,
    check_broadcast,
    check_finite,
    check_numbers,
    check_rates,
    check_real,
    check_steps,
)

# The Taylor coefficients 1, 1/2, 1/6, ... of (exp(z) - 1)/z. For abs(z) < 1 twenty of them leave
# less than 1e-16 of the value, and of its first and second derivative, unsaid.
SERIES = [1 / math.factorial(k + 1) for k in range(20)]


def discretize_zoh(
    delta: Float[Tensor, "*#shape"], A: Inexact[Tensor, "*#shape"], B: Inexact[Tensor, "*#shape"]
) -> tuple[Inexact[Tensor, "*shape"], Inexact[Tensor, "*shape"]]:
    """Discretize by the zero-order hold: exact when the input stands still during the step.

        A_bar = exp(delta A)
        B_bar = (exp(delta A) - 1) / A  B,  which tends to delta B as A tends to 0

    The quotient is 0/0 at A = 0 and loses its digits near it, and so do its derivatives. For
    abs(delta A) < 1 a Taylor series stands in, so that value, gradient and second derivative are
    right to rounding everywhere: at A = 0, dB_bar/dA is delta^2/2 B.

    Args:
        delta: step sizes, at least 0, in the unit of time that A is written in.
        A: decay rates with real parts of at most 0, per unit of that time.
        B: how strongly the input writes to the state, per unit of that time. NaN passes through.

    Returns:
        A_bar, the share of the state that survives the step, and B_bar, what a unit input adds.

    Raises:
        TypeError: for anything but float32 or float64 tensors (A, B also complex) of one precision.
        ValueError: if a step runs backwards, a rate is positive, either or their product is not
            finite, or the shapes do not broadcast together.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Equation 4, for a diagonal A. Their code does not
    compute this B_bar: see discretize_mamba. The cancellation is Higham 2002, Accuracy and
    Stability of Numerical Algorithms, Section 1.14.1; we replace the quotient by its series.
    """
    z = _multiply(delta, A, B)
    A_bar = torch.exp(z)

    is_short = z.abs() < 1
    # Each branch is given harmless numbers where the other one is taken: a gradient of NaN or
    # infinity would survive being multiplied by torch.where's zero.
    z_short = torch.where(is_short, z, 0)
    series = torch.full_like(z, SERIES[-1])
    for coefficient in reversed(SERIES[:-1]):
        series = series * z_short + coefficient
    quotient = (A_bar - 1) / torch.where(is_short, -1, A)

    B_bar = torch.where(is_short, delta * series, quotient) * B
    return _share_shape(A_bar, B_bar)


def discretize_bilinear(
    delta: Float[Tensor, "*#shape"], A: Inexact[Tensor, "*#shape"], B: Inexact[Tensor, "*#shape"]
) -> tuple[Inexact[Tensor, "*shape"], Inexact[Tensor, "*shape"]]:
    """Discretize by the bilinear (trapezoidal, Tustin) rule: stable for every step, and it rings.

        A_bar = (1 + delta A/2) / (1 - delta A/2)
        B_bar = delta / (1 - delta A/2)  B

    The error of a step is of third order in delta. A_bar stays within the unit circle but turns
    negative for delta A < -2: the state then changes sign at every step, and for long steps hardly
    decays.

    Args: as discretize_zoh.
    Returns: A_bar and B_bar, as discretize_zoh.
    Raises: as discretize_zoh.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.3, for a diagonal A.
    """
    half = _multiply(delta, A, B) / 2
    # Equal to (1 + half) / (1 - half), whose gradient is a difference of large near-equal terms
    # when the step is long.
    A_bar = 2 / (1 - half) - 1
    B_bar = delta / (1 - half) * B
    return _share_shape(A_bar, B_bar)


def discretize_euler(
    delta: Float[Tensor, "*#shape"], A: Inexact[Tensor, "*#shape"], B: Inexact[Tensor, "*#shape"]
) -> tuple[Inexact[Tensor, "*shape"], Inexact[Tensor, "*shape"]]:
    """Discretize by Euler's forward rule: walk along the tangent for the whole step.

        A_bar = 1 + delta A
        B_bar = delta B

    The error of a step is of second order in delta. Steps with abs(1 + delta A) > 1, for a real
    rate delta A < -2, make the state grow without bound although A says that it decays. They are
    not refused: that they fail is a lesson.

    Args: as discretize_zoh.
    Returns: A_bar and B_bar, as discretize_zoh.
    Raises: as discretize_zoh.

    Source: Iserles 2009, A First Course in the Numerical Analysis of Differential Equations,
    Chapter 1 (the rule) and Chapter 4 (its stability), with the input held over the step.
    """
    z = _multiply(delta, A, B)
    return _share_shape(1 + z, delta * B)


def discretize_mamba(
    delta: Float[Tensor, "*#shape"], A: Inexact[Tensor, "*#shape"], B: Inexact[Tensor, "*#shape"]
) -> tuple[Inexact[Tensor, "*shape"], Inexact[Tensor, "*shape"]]:
    """Discretize as Mamba's code does: the exact decay, and Euler's rule for the input.

        A_bar = exp(delta A)
        B_bar = delta B

    Against discretize_zoh, B_bar is too large by the factor z / (1 - exp(-z)), z = -delta A: 1.05
    at 0.1 and 16 at 16. A trained model's B has made up for it, so weights from that code need
    this rule.

    Args: as discretize_zoh.
    Returns: A_bar and B_bar, as discretize_zoh.
    Raises: as discretize_zoh.

    Source: the official code of Gu & Dao 2023 (arXiv:2312.00752), selective_scan_ref in
    mamba_ssm/ops/selective_scan_interface.py; Equation 4 of the paper prints discretize_zoh.
    """
    z = _multiply(delta, A, B)
    return _share_shape(torch.exp(z), delta * B)


def _multiply(delta: Tensor, A: Tensor, B: Tensor) -> Tensor:
    """Refuse bad input, then return delta A."""
    check_real(delta=delta)
    check_numbers(A=A, B=B)
    check_alike(delta=delta, A=A, B=B)
    check_broadcast(delta=delta, A=A, B=B)
    check_steps(delta)
    check_rates(A)
    z = delta * A
    check_finite(**{"delta A": z})
    return z


def _share_shape(A_bar: Tensor, B_bar: Tensor) -> tuple[Tensor, Tensor]:
    """Expand both to their common shape; Euler's B_bar does not know the shape of A."""
    A_bar, B_bar = torch.broadcast_tensors(A_bar, B_bar)
    return A_bar, B_bar
