"""What a trained block's scan really reads: x, delta, B and C, behind its convolution."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier

DIRECTIONS = ("forward", "backward")


class BlockSignals(NamedTuple):
    """The arguments of one block's selective_scan, and which tokens are real."""

    x: Float[Tensor, "batch length d_inner"]
    delta: Float[Tensor, "batch length d_inner"]
    A: Float[Tensor, "d_inner d_state"]
    B: Float[Tensor, "batch length d_state"]
    C: Float[Tensor, "batch length d_state"]
    skip: Float[Tensor, " d_inner"]
    mask: Bool[Tensor, "batch length"] | None


def read_block(
    model: MambaBlock | SequenceClassifier,
    inputs: Shaped[Tensor, "batch length *d_in"],
    mask: Bool[Tensor, "batch length"] | None = None,
    layer: int = 0,
    direction: str | None = None,
) -> BlockSignals:
    """Read what the scan inside a trained block is given, without changing or training it.

    Args:
        model: a block, or a classifier made of blocks.
        inputs: tokens (batch, length, d_model) for a block; for a classifier its own inputs, to
            which it adds CLS.
        mask: True on real tokens; all are if not given.
        layer: which of the classifier's blocks, from 0, the first.
        direction: "forward" or "backward", for a classifier that reads both ways: which of the
            layer's two mixers. Backward, the signals stand in the order in which they are read,
            the last token first.

    Returns:
        The signals, and the mask with CLS in it. Where the mask is False, nothing is read: delta
        is 0, as selective_scan holds the state there.

    Raises:
        TypeError: for another kind of model, a layer that is no int, or as the model refuses.
        ValueError: if there is no such layer or direction, a model that reads both ways is not
            told which, its state starts afresh within a sequence, or as the model refuses.
    """
    if not isinstance(model, MambaBlock | SequenceClassifier):
        kind = type(model).__name__
        raise TypeError(f"model must be a MambaBlock or a SequenceClassifier; it is a {kind}")
    check_counts(0, layer=layer)
    n_layers = 1 if isinstance(model, MambaBlock) else len(model.blocks.layers)
    if layer >= n_layers:
        raise ValueError(f"layer must be 0 to {n_layers - 1}; it is {layer}")
    _check_direction(model, direction)
    with torch.no_grad():
        block, tokens, mask = _descend(model, inputs, mask, layer, direction == "backward")
        x, _, _ = block.look_back(tokens, mask)
        delta, B, C = block.select(x)
        if mask is not None:
            x, delta, B, C = (torch.where(mask[..., None], v, 0) for v in (x, delta, B, C))
        return BlockSignals(x, delta, block.compute_rates(), B, C, block.D, mask)


def _descend(
    model: MambaBlock | SequenceClassifier,
    inputs: Tensor,
    mask: Tensor | None,
    layer: int,
    is_backward: bool,
) -> tuple[MambaBlock, Tensor, Tensor | None]:
    """Find the block, and run what stands before it."""
    if isinstance(model, MambaBlock):
        return model, inputs, mask
    tokens, mask = model.tokens(inputs, mask)
    for before in model.blocks.layers[:layer]:
        tokens = before(tokens, mask)
    found = model.blocks.layers[layer]
    if is_backward:
        mask = None if mask is None else mask.flip(1)
        return found.mixer_back, found.norm(tokens).flip(1), mask
    return found.mixer, found.norm(tokens), mask


def _check_direction(model: MambaBlock | SequenceClassifier, direction: str | None) -> None:
    """Refuse to read one way what reads two, or in one go what starts afresh in between."""
    is_both = isinstance(model, SequenceClassifier) and model.blocks.is_bidirectional
    allowed = DIRECTIONS if is_both else (None, "forward")
    if direction not in allowed:
        ways = "both ways" if is_both else "forward only"
        raise ValueError(
            f"direction must be one of {allowed} for a model that reads {ways}; it is {direction!r}"
        )
    if getattr(getattr(model, "readout", None), "restarts", False):
        raise ValueError(
            "the model's read-out makes the state start afresh behind each register, and one scan "
            "does not say what then happens; read it piece by piece, from its blocks' own mixers"
        )
