"""Refusals that the probes share."""

import torch
from torch import Tensor


def check_marks(shape: tuple[int, ...], **named: object) -> None:
    """Refuse what is not one truth value for each token.

    Args:
        shape: (batch, length) of the tokens.
        named: the marks, by the name that the caller knows them by.

    Raises:
        TypeError: for anything but a bool tensor.
        ValueError: if the shape is another.
    """
    for name, marks in named.items():
        if not isinstance(marks, Tensor) or marks.dtype != torch.bool:
            kind = marks.dtype if isinstance(marks, Tensor) else type(marks).__name__
            raise TypeError(f"{name} must be a torch.bool tensor; it is {kind}")
        if marks.shape != shape:
            raise ValueError(
                f"{name} must have the shape (batch, length) = {tuple(shape)}; its shape is "
                f"{tuple(marks.shape)}"
            )
