"""The arguments of a selective scan, checked in one place."""

import torch
from torch import Tensor

from mamba_edu._checks import HALF, check_alike, check_floats, check_rates, check_shapes

AXES = {
    "x": "batch length d_inner",
    "delta": "batch length d_inner",
    "A": "d_inner d_state",
    "B": "batch length d_state",
    "C": "batch length d_state",
    "skip": "d_inner",
    "gate": "batch length d_inner",
    "state": "batch d_inner d_state",
}
OPTIONAL = {"skip", "gate", "state"}


def raise_precision(**tensors: Tensor | None) -> dict[str, Tensor | None]:
    """Refuse what does not make up one scan, and raise half precision to single.

    Raises:
        TypeError: for a non-tensor, an integer or complex tensor, or double precision mixed with
            another.
        ValueError: if axes or sizes disagree, or devices differ.
    """
    given = {k: v for k, v in tensors.items() if v is not None or k not in OPTIONAL}
    check_floats(**given)
    raised = {k: v.float() if v.dtype in HALF else v for k, v in given.items()}
    check_alike(**raised)
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in given.items()})
    return tensors | raised


def check_shrinking(delta: Tensor, A: Tensor) -> None:
    """Refuse a state that would grow. NaN is refused in A alone: elsewhere it stays visible.

    Raises:
        ValueError: if a step runs backwards, or a rate is positive or not finite.
    """
    check_rates(A)
    if (delta < 0).any():
        smallest = torch.where(delta < 0, delta, 0).min()
        index = tuple((delta == smallest).nonzero()[0].tolist())
        raise ValueError(
            f"delta must be at least 0, a step cannot run backwards; the smallest is "
            f"{smallest:.3g} at index {index}"
        )
