"""Rules for the step size: from the raw number a network computes to a delta the scan can take."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import softplus

from mamba_edu._checks import HALF, check_floats, check_mask, check_shapes


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
