"""What reaches CLS: how its output depends on each token, wherever it stands."""

import copy
from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float, Shaped
from torch import Tensor

from mamba_edu._checks import check_alike, check_counts, check_real, check_shapes
from mamba_edu.layers import MambaStack
from mamba_edu.models import SequenceClassifier

Blocks = Callable[[Tensor], Tensor]  # (batch, length, d_model) to the same, each row by itself


def measure_influence(
    blocks: Blocks,
    tokens: Float[Tensor, "length d_model"],
    cls_token: Float[Tensor, " d_model"],
    positions: Sequence[int] | None = None,
) -> Float[Tensor, "n_positions length"]:
    """Measure how strongly each token reaches the output at CLS, for CLS at several places.

        influence[p, s] = || d output[CLS] / d tokens[s] ||_F,  CLS behind the first p tokens

    The norm is of the whole Jacobian, d_model by d_model numbers: it is 0 only if each of them is.
    The gradient of one sum of outputs would also be 0 where its terms cancel. A token that CLS is
    not connected with gets exactly 0, with no rounding; sizes below the smallest double do too.

    Args:
        blocks: from tokens (batch, length, d_model) to outputs of the same shape, each row by
            itself, such as a MambaStack. It is neither trained nor changed.
        tokens: one sequence without CLS, in the precision that the blocks run in.
        cls_token: the vector that is put in.
        positions: how many tokens stand before CLS, each 0 to length; all of these if not given.

    Returns:
        Sizes of at least 0, one row for each position; NaN where a gradient is no number.

    Raises:
        TypeError: for anything but float32 or float64 tensors, or a position that is no int.
        ValueError: if shapes disagree, there is no token or no such position, or the blocks
            change the shape.

    Source: the gradient map of Simonyan et al. 2013 (arXiv:1312.6034), Section 3, with the norm of
    a Jacobian for the gradient of one class.
    """
    check_real(tokens=tokens, cls_token=cls_token)
    check_alike(tokens=tokens, cls_token=cls_token)
    check_shapes(tokens=(tokens, "length d_model"), cls_token=(cls_token, "d_model"))
    check_counts(1, **{"the number of tokens": len(tokens)})
    positions = range(len(tokens) + 1) if positions is None else positions
    for position in positions:
        check_counts(0, position=position)
        if position > len(tokens):
            raise ValueError(f"position must be 0 to {len(tokens)}; it is {position}")
    return torch.stack([_measure_row(blocks, tokens, cls_token, p) for p in positions])


def open_classifier(
    model: SequenceClassifier, inputs: Shaped[Tensor, "length *d_in"]
) -> tuple[MambaStack, Float[Tensor, "length d_model"], Float[Tensor, " d_model"]]:
    """Take a classifier with a CLS token apart, in float64, for measure_influence.

    Args:
        model: as it is; a copy is taken.
        inputs: one sequence of its own inputs.

    Returns:
        Its blocks, the embedded tokens without CLS, and the CLS token.

    Raises:
        TypeError: for another kind of model, or inputs that it refuses.
        ValueError: if it has no CLS token, or refuses the inputs.
    """
    if not isinstance(model, SequenceClassifier):
        raise TypeError(f"model must be a SequenceClassifier; it is a {type(model).__name__}")
    if model.tokens.cls_position is None:
        raise ValueError("model must have a CLS token, as with readout=ReadCLS('last')")
    with torch.no_grad():
        model.tokens(inputs[None])  # refuses what does not fit
        twin = copy.deepcopy(model).double().eval()
        inputs = inputs.double() if inputs.is_floating_point() else inputs
        tokens = twin.tokens.embed(inputs)
    return twin.blocks, tokens, twin.tokens.cls_token.detach()


def _measure_row(blocks: Blocks, tokens: Tensor, cls_token: Tensor, position: int) -> Tensor:
    """Measure one row: copy k of the sequence answers for channel k, so one pass back is enough."""
    d_model = len(cls_token)
    copies = tokens.detach().repeat(d_model, 1, 1).requires_grad_()
    cls_tokens = cls_token.detach().expand(d_model, 1, -1)
    with torch.enable_grad():
        parts = [copies[:, :position], cls_tokens, copies[:, position:]]
        outputs = blocks(torch.cat(parts, dim=1))
        if outputs.shape != (d_model, len(tokens) + 1, d_model):
            raise ValueError(
                f"blocks must keep the shape {(d_model, len(tokens) + 1, d_model)}; they returned "
                f"{tuple(outputs.shape)}"
            )
        total = outputs[:, position].diagonal().sum() + 0 * copies.sum()
        [gradient] = torch.autograd.grad(total, copies)
    return _measure_size(gradient)


def _measure_size(gradient: Tensor) -> Tensor:
    """Compute each token's norm; the largest part is taken out, so that no square underflows."""
    largest = gradient.abs().amax((0, 2))
    scale = torch.where(largest > 0, largest, 1)[:, None]
    return largest * (gradient / scale).square().sum((0, 2)).sqrt()
