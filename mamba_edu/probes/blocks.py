"""What a trained block's scan really reads: x, delta, B and C, behind its convolution."""

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier


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
) -> BlockSignals:
    """Read what the scan inside a trained block is given, without changing or training it.

    Args:
        model: a block, or a classifier made of blocks.
        inputs: tokens (batch, length, d_model) for a block; for a classifier its own inputs, to
            which it adds CLS.
        mask: True on real tokens; all are if not given.
        layer: which of the classifier's blocks, from 0, the first.

    Returns:
        The signals, and the mask with CLS in it. Where the mask is False, nothing is read: delta
        is 0, as selective_scan holds the state there.

    Raises:
        TypeError: for another kind of model, a layer that is no int, or as the model refuses.
        ValueError: if there is no such layer, or as the model refuses.
    """
    if not isinstance(model, MambaBlock | SequenceClassifier):
        kind = type(model).__name__
        raise TypeError(f"model must be a MambaBlock or a SequenceClassifier; it is a {kind}")
    check_counts(0, layer=layer)
    n_layers = 1 if isinstance(model, MambaBlock) else len(model.blocks.layers)
    if layer >= n_layers:
        raise ValueError(f"layer must be 0 to {n_layers - 1}; it is {layer}")
    with torch.no_grad():
        block, tokens, mask = _descend(model, inputs, mask, layer)
        x, _, _ = block.look_back(tokens, mask)
        delta, B, C = block.select(x)
        if mask is not None:
            x, delta, B, C = (torch.where(mask[..., None], v, 0) for v in (x, delta, B, C))
        return BlockSignals(x, delta, block.compute_rates(), B, C, block.D, mask)


def _descend(
    model: MambaBlock | SequenceClassifier, inputs: Tensor, mask: Tensor | None, layer: int
) -> tuple[MambaBlock, Tensor, Tensor | None]:
    """Find the block, and run what stands before it."""
    if isinstance(model, MambaBlock):
        return model, inputs, mask
    tokens, mask = model.tokens(inputs, mask)
    for before in model.blocks.layers[:layer]:
        tokens = before(tokens, mask)
    found = model.blocks.layers[layer]
    return found.mixer, found.norm(tokens), mask
