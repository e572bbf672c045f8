"""What every read-out looks at first: which outputs are real, and whether they can be read."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mamba_edu._checks import check_floats, check_mask, check_shapes
from mamba_edu.tokens import check_rows, locate_rank


def resolve_mask(
    outputs: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "batch length"] | None
) -> Bool[Tensor, "batch length"]:
    """Refuse outputs and masks that cannot be read, and return the mask, of True if none is given.

    Raises:
        TypeError: for outputs that are no floats, or a mask that is not boolean.
        ValueError: if shapes disagree or a row has no real token.
    """
    check_floats(outputs=outputs)
    check_shapes(outputs=(outputs, "batch length d_model"))
    if mask is None:
        mask = torch.ones(outputs.shape[:2], dtype=torch.bool, device=outputs.device)
    check_mask(mask, outputs=outputs)
    check_rows(mask)
    return mask


def split_cls(
    outputs: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "batch length"] | None
) -> tuple[Float[Tensor, "batch d_model"], Bool[Tensor, "batch length"]]:
    """Take the output at each row's last real token, CLS, apart from the content before it.

    Returns:
        The output at CLS, and the mask of the content: the real tokens without CLS.

    Raises: as resolve_mask, and a ValueError if a row has no real token beside CLS.
    """
    real = resolve_mask(outputs, mask)
    count = real.sum(1)
    if (count < 2).any():
        raise ValueError(
            f"every row must have a real token before CLS; row {int((count < 2).nonzero()[0])} has "
            f"CLS alone"
        )
    column = locate_rank(real, count - 1)
    rows = torch.arange(len(outputs), device=outputs.device)
    return outputs[rows, column], real & (real.cumsum(1) < count[:, None])


def pick_outputs(
    outputs: Float[Tensor, "batch length d_model"],
    real: Bool[Tensor, "batch length"],
    rank: Int[Tensor, " batch"],
) -> Float[Tensor, "batch d_model"]:
    """Pick from each row the output at its real token of the given rank, counted from 0."""
    rows = torch.arange(len(outputs), device=outputs.device)
    return outputs[rows, locate_rank(real, rank)]


def check_fit(outputs: Float[Tensor, "batch length d_model"], weight: Tensor) -> None:
    """Refuse outputs of another type or width than a read-out's own weights.

    Args:
        outputs: what is to be read.
        weight: a parameter whose last axis is d_model.

    Raises:
        TypeError: for another type: both must be rounded alike.
        ValueError: for another width.
    """
    check_floats(outputs=outputs)
    if outputs.dtype != weight.dtype:
        raise TypeError(
            f"outputs must be {weight.dtype}, as the read-out's parameters are; they are "
            f"{outputs.dtype}"
        )
    if outputs.shape[-1] != weight.shape[-1]:
        raise ValueError(
            f"outputs must have d_model = {weight.shape[-1]} channels, as the read-out was made "
            f"for; their shape is {tuple(outputs.shape)}"
        )
