"""The rules themselves: from the raw number a network computes to a delta the scan can take."""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import softplus

from mamba_edu._checks import HALF, check_counts, check_floats, check_mask, check_shapes


def softplus_step(delta_raw: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Compute Mamba's own step: never backwards, and never quite 0.

        delta = log(1 + exp(delta_raw))

    Far below 0 it is exp(delta_raw), far above it is delta_raw. No token can stop the clock for
    good: each one ages the state a little.

    Args:
        delta_raw: any real numbers, the bias included. NaN passes through.

    Returns:
        delta, above 0 unless it is smaller than the smallest number of its type. Half precision
        comes back as float32: the step is where a state would notice the lost digits.

    Raises:
        TypeError: for anything but a real tensor.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.2 (tau_delta). Above 20 torch takes
    delta_raw itself, an error of 2e-9 at most.
    """
    check_floats(delta_raw=delta_raw)
    return softplus(delta_raw.float() if delta_raw.dtype in HALF else delta_raw)


def dead_zone_step(
    delta_raw: Float[Tensor, "*shape"], width: float = 0.05
) -> Float[Tensor, "*shape"]:
    """Compute a step that stands still for every token that asks for a small one.

        delta = max(0, softplus(delta_raw) - width)

    A rule to train with: a network can reach 0, so it can learn which tokens not to age by. In the
    zone the gradient is 0 too, so a channel that starts inside stays there: MambaBlock starts it
    outside, at the steps of its delta_range.

    Args:
        delta_raw: any real numbers, the bias included. NaN passes through.
        width: how much is taken off a step, above or equal to 0.

    Returns:
        delta of at least 0, in the type that softplus_step gives.

    Raises:
        TypeError: for anything but a real tensor, or a width that is no number.
        ValueError: if the width is negative or not finite.

    Source: our own; a soft threshold, as Donoho 1995 shrinks wavelets by.
    """
    _check_threshold(width=width)
    return (softplus_step(delta_raw) - width).relu()


def snap(delta: Float[Tensor, "*shape"], tau: float) -> Float[Tensor, "*shape"]:
    """Stop the clock, exactly, wherever it would hardly have moved.

        delta = 0 where delta < tau, else as it was

    A rule for a model that is trained: put it on with apply_step_rule. The gradient is that of the
    function as it stands, 1 where a step is kept and 0 where it is not: nothing is passed straight
    through, so what is snapped does not learn.

    Args:
        delta: step sizes. NaN passes through.
        tau: the smallest step that is kept, above or equal to 0; at 0 nothing is changed.

    Raises:
        TypeError: for anything but a real tensor, or a tau that is no number.
        ValueError: if tau is negative or not finite.

    Source: our own; choose_tau says how large tau may be.
    """
    check_floats(delta=delta)
    _check_threshold(tau=tau)
    return torch.where(delta < tau, 0, delta)


def length_normalised(
    delta: Float[Tensor, "*shape"], length: int, trained_length: int = 128
) -> Float[Tensor, "*shape"]:
    """Slow the clock down, so that a whole sequence ages the state as one in training did.

        delta = delta trained_length / length

    Args:
        delta: step sizes.
        length: tokens of the whole sequence. It is not read off delta, which may be a piece of it.
        trained_length: tokens of the longest sequence that the model was trained on.

    Raises:
        TypeError: for anything but a real tensor, or a length that is no int.
        ValueError: if a length is below 1.

    Source: our own; the same idea for a Transformer's positions is in Chen et al. 2023
    (arXiv:2306.15595).
    """
    check_floats(delta=delta)
    check_counts(1, length=length, trained_length=trained_length)
    return delta * (trained_length / length)


def frozen_on_padding(
    delta: Float[Tensor, "batch length d_inner"], mask: Bool[Tensor, "batch length"]
) -> Float[Tensor, "batch length d_inner"]:
    """Stop the clock at padded tokens: a step of no time leaves the state as it is.

        delta[t] = 0 where mask[t] is False

    Args:
        delta: step sizes of every token. What padding holds, NaN too, is lost.
        mask: True for a real token.

    Returns:
        delta, with 0 at padding and no gradient from there.

    Raises:
        TypeError: for anything but a real tensor and a bool mask.
        ValueError: if the shapes disagree.

    Source: our own statement of what a mask must do; transformers#48256, #31540 tell of models
    whose padding moved the state.
    """
    check_floats(delta=delta)
    check_shapes(delta=(delta, "batch length d_inner"))
    check_mask(mask, delta=delta)
    return torch.where(mask[..., None], delta, 0)


def _check_threshold(**thresholds: object) -> None:
    """Refuse what is not a finite number of at least 0."""
    for name, number in thresholds.items():
        if not isinstance(number, int | float) or isinstance(number, bool):
            raise TypeError(f"{name} must be a number; its type is {type(number).__name__}")
        if not (math.isfinite(number) and number >= 0):
            raise ValueError(f"{name} must be a finite number of at least 0; it is {number}")
