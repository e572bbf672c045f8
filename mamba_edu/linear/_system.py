"""The arguments of a diagonal system, checked in one place."""

from torch import Tensor

from mamba_edu._checks import check_alike, check_finite, check_numbers, check_real, check_shapes

AXES = {
    "x": "batch length d_inner",
    "A_bar": "d_inner d_state",
    "B_bar": "d_inner d_state",
    "C": "d_inner d_state",
    "skip": "d_inner",
    "state": "batch d_inner d_state",
}
REAL = {"x", "skip"}
OPTIONAL = {"skip", "state"}


def check_system(**tensors: Tensor | None) -> None:
    """Refuse what does not make up one system; an optional argument may be None.

    NaN is refused in A_bar alone. Elsewhere it passes, to be seen where it does its harm.

    Raises:
        TypeError: for a non-tensor, an integer, half or mixed precision, a complex x or skip.
        ValueError: if axes or sizes disagree, devices differ, or A_bar is not finite.
    """
    given = {k: v for k, v in tensors.items() if v is not None or k not in OPTIONAL}
    check_real(**{name: tensor for name, tensor in given.items() if name in REAL})
    check_numbers(**given)
    check_alike(**given)
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in given.items()})
    check_finite(A_bar=given["A_bar"])
