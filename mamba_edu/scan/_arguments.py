"""The arguments of a selective scan, checked in one place."""

import torch
from torch import Tensor

from mamba_edu._checks import HALF, check_alike, check_clock, check_floats, check_mask, check_shapes

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
TOKENS = {"x", "delta", "B", "C", "gate"}  # what padding may fill with anything
OPTIONAL = {"skip", "gate", "state"}
last_words = ["no scan has run yet"]  # what explain() says


def prepare_scan(mask: Tensor | None, **tensors: Tensor | None) -> dict[str, Tensor | None]:
    """Refuse what does not make up one scan, and make up what was left out.

    Returns:
        The tensors by name, half precision raised to single, padding set to 0, a state of zeros if
        none was given; skip and gate may still be None.

    Raises:
        TypeError: for a non-tensor, an integer or complex tensor, double precision mixed with
            another, or a mask that is not bool.
        ValueError: if axes or sizes disagree, devices differ, or the state would grow.
    """
    given = {k: v for k, v in tensors.items() if v is not None or k not in OPTIONAL}
    check_floats(**given)
    raised = {k: v.float() if v.dtype in HALF else v for k, v in given.items()}
    check_alike(**raised)
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in given.items()})
    if mask is not None:
        check_mask(mask, x=tensors["x"])
    ready = tensors | {k: silence(v, mask) if k in TOKENS else v for k, v in raised.items()}
    check_clock(ready["delta"], ready["A"])
    if ready["state"] is None:
        ready["state"] = ready["x"].new_zeros(len(ready["x"]), *ready["A"].shape)
    return ready


def silence(tensor: Tensor, mask: Tensor | None) -> Tensor:
    """Put 0 where a token is padding; a product would keep its NaN, in value or gradient."""
    return tensor if mask is None else torch.where(mask[..., None], tensor, 0)
