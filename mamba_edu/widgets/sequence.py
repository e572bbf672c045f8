"""One sequence as a widget reads it: its signals in float64, and what each token is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from mamba_edu._checks import check_clock, check_shapes

KINDS = ("input", "needle", "filler", "cls", "padding")  # their order is what the front end reads
AXES = {
    "x": "length d_inner",
    "delta": "length d_inner",
    "A": "d_inner d_state",
    "B": "length d_state",
    "C": "length d_state",
    "skip": "d_inner",
}
MAY_BE_COMPLEX = {"A", "B", "C"}


class Tokens(NamedTuple):
    """The signals of one sequence, with the kind and the label of each token."""

    x: Tensor
    delta: Tensor
    A: Tensor
    B: Tensor
    C: Tensor
    skip: Tensor
    kinds: list[str]
    labels: list[str]


def read_sequence(
    signals: dict[str, Any], kinds: Sequence[str] | None, labels: Sequence[str] | None
) -> Tokens:
    """Read signals as float64 and refuse what does not make up one sequence.

    Args:
        signals: x, delta, A, B, C and skip, of whatever holds numbers; skip may be None.
        kinds: a name of KINDS for each token; all "input" if None.
        labels: a text for each token; all empty if None.

    Raises:
        TypeError: if a signal is not of numbers, or a label no text.
        ValueError: if the sequence is empty, lengths or sizes disagree, a step runs backwards, a
            rate is positive or a kind is unknown.
    """
    given = {k: v for k, v in signals.items() if v is not None or k != "skip"}
    read = {name: read_signal(name, values) for name, values in given.items()}
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in read.items()})
    for name in ("x", "A"):
        if not read[name].numel():
            axes, shape = ", ".join(AXES[name].split()), tuple(read[name].shape)
            raise ValueError(f"{name} ({axes}) must not be empty; its shape is {shape}")
    check_clock(read["delta"], read["A"])
    read.setdefault("skip", torch.zeros(read["x"].shape[1], dtype=torch.float64))
    length = len(read["x"])
    return Tokens(**read, kinds=read_kinds(kinds, length), labels=read_labels(labels, length))


def read_signal(name: str, values: Any) -> Tensor:
    """Read numbers as float64, or complex128 where the signal may be complex."""
    try:
        if isinstance(values, Tensor):
            tensor = values.detach().cpu()
        else:
            tensor = torch.from_numpy(np.array(values))
    except (TypeError, ValueError, RuntimeError):
        raise TypeError(f"{name} must hold numbers; got {values!r:.60}") from None
    if not tensor.is_complex():
        return tensor.double()
    if name not in MAY_BE_COMPLEX:
        raise TypeError(f"{name} must hold real numbers; got {tensor.dtype}")
    return tensor.to(torch.complex128)


def read_kinds(kinds: Sequence[str] | None, length: int) -> list[str]:
    """Read what each token is, or refuse a kind that has no shape of its own."""
    kinds = ["input"] * length if kinds is None else list(kinds)
    if len(kinds) != length:
        raise ValueError(f"kinds must name all {length} tokens; there are {len(kinds)}")
    unknown = [kind for kind in kinds if kind not in KINDS]
    if unknown:
        raise ValueError(f"kinds must be of {KINDS}; one is {unknown[0]!r}")
    return kinds


def read_labels(labels: Sequence[str] | None, length: int) -> list[str]:
    """Read the text of each token."""
    labels = [""] * length if labels is None else list(labels)
    if len(labels) != length:
        raise ValueError(f"labels must name all {length} tokens; there are {len(labels)}")
    for label in labels:
        if not isinstance(label, str):
            raise TypeError(f"labels must be texts; one is {label!r}")
    return labels
