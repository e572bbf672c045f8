"""An explorer of what happens inside a trained block."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import read_block
from mamba_edu.tokens import add_cls
from mamba_edu.widgets.explorer import StateExplorer
from mamba_edu.widgets.sequence import read_kinds, read_labels

CAPTION = (
    "**Do:** compare the bars of needle and filler, then set the step size to 4×. **See:** the "
    "model has learned when to move its clock; on a faster one the needle fades sooner."
)


def explore_block(
    model: MambaBlock | SequenceClassifier,
    inputs: Tensor,
    mask: Tensor | None = None,
    layer: int = 0,
    n_needles: int | None = None,
    *,
    title: str = "Inside a trained layer: the true hidden state",
    caption: str = CAPTION,
    kinds: Sequence[str] | None = None,
    labels: Sequence[str] | None = None,
    **view: Any,
) -> StateExplorer:
    """Explore the scan inside a trained block: the x, delta, B and C that it really reads.

    Args:
        model: a block, or a classifier made of blocks.
        inputs: one sequence: tokens (length, d_model) for a block, a classifier's own inputs
            (length, ...) without CLS.
        mask: (length,), True on real tokens; all are if not given.
        layer: which of the classifier's blocks.
        n_needles: ids below it are needles and all others filler, as in sample_needle; all are
            plain inputs if not given.
        title, caption: its words.
        kinds, labels: of each input, instead of those that follow from the ids. CLS gets its own.
        view: further keyword arguments of StateExplorer.

    Raises:
        TypeError: if the inputs are no tensor, or as read_block and StateExplorer.
        ValueError: as read_block and StateExplorer.
    """
    if not isinstance(inputs, Tensor) or not inputs.ndim or not len(inputs):
        raise TypeError(f"inputs must be a tensor of one sequence, not empty; got {inputs!r:.60}")
    read = read_block(model, inputs[None], None if mask is None else mask[None], layer)
    signals = {name: getattr(read, name)[0] for name in ("x", "delta", "B", "C")}
    kinds = name_inputs(inputs, n_needles) if kinds is None else kinds
    names = read_kinds(kinds, len(inputs))
    texts = write_labels(inputs, names) if labels is None else read_labels(labels, len(inputs))
    words = {"title": title, "caption": caption} | place_cls(model, inputs, mask, names, texts)
    return StateExplorer(**signals, A=read.A, skip=read.skip, **words, **view)


def place_cls(
    model: MambaBlock | SequenceClassifier,
    inputs: Tensor,
    mask: Tensor | None,
    kinds: list[str],
    labels: list[str],
) -> dict[str, list[str]]:
    """Name padding and CLS among the kinds and labels of the inputs."""
    if mask is not None:
        pairs = zip(kinds, mask.tolist(), strict=True)
        kinds = [kind if is_real else "padding" for kind, is_real in pairs]
    place = find_cls(model, inputs, mask)
    if place is not None:
        kinds, labels = (
            [*before[:place], name, *before[place:]]
            for before, name in ((kinds, "cls"), (labels, "CLS"))
        )
    return {"kinds": kinds, "labels": labels}


def name_inputs(inputs: Tensor, n_needles: int | None) -> list[str]:
    """Name the kind of each input: ids below n_needles are needles."""
    if n_needles is None or inputs.ndim > 1:
        return ["input"] * len(inputs)
    return ["needle" if number < n_needles else "filler" for number in inputs.tolist()]


def write_labels(inputs: Tensor, kinds: list[str]) -> list[str]:
    """Write each id, and that it is a needle; a token of several numbers has no short text."""
    if inputs.ndim > 1:
        return [""] * len(inputs)
    pairs = zip(inputs.tolist(), kinds, strict=True)
    return [f"needle {number}" if kind == "needle" else str(number) for number, kind in pairs]


def find_cls(
    model: MambaBlock | SequenceClassifier, inputs: Tensor, mask: Tensor | None
) -> int | None:
    """Find where a classifier puts CLS into a sequence; nothing, if it puts none."""
    position = getattr(getattr(model, "tokens", None), "cls_position", None)
    if position is None:
        return None
    empty = torch.zeros(1, len(inputs), 1)
    batch_mask = None if mask is None else mask[None]
    _, _, cls_index = add_cls(empty, torch.zeros(1), position, batch_mask)
    return int(cls_index)
