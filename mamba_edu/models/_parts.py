"""What the classifiers share: tokens that fit a read-out, and blocks that start afresh."""

from collections.abc import Callable

from torch import Tensor, nn

from mamba_edu.tokens import TokenEmbedding, cut_pieces


def build_tokens(
    readout: Callable[..., Tensor],
    d_model: int,
    n_symbols: int | None,
    d_in: int | None,
    is_causal: bool,
    allow_blind: bool = False,
) -> TokenEmbedding:
    """Build the embedding that puts the tokens which the read-out asks for."""
    asked = {
        name: getattr(readout, name)
        for name in ("cls_position", "registers_every", "heading")
        if getattr(readout, name, None) is not None
    }
    return TokenEmbedding(
        d_model, n_symbols, d_in, is_causal=is_causal, allow_blind=allow_blind, **asked
    )


def build_head(readout: Callable[..., Tensor], d_model: int, n_classes: int) -> nn.Linear:
    """Build a head for as many numbers as the read-out answers with."""
    d_out = getattr(readout, "d_out", None)
    return nn.Linear(d_model if d_out is None else d_out, n_classes)


def run_afresh(
    blocks: nn.Module, tokens: Tensor, mask: Tensor | None, readout: Callable[..., Tensor]
) -> tuple[Tensor, Tensor | None]:
    """Run the blocks over each chunk as a row of its own, so that nothing is carried over.

    Returns:
        The outputs, chunk behind chunk, and their mask; chunks may end in more padding than before.
    """
    pieces, real = cut_pieces(tokens, readout.registers_every + 1, mask)
    rows = None if real is None else real.flatten(0, 1)
    outputs = blocks(pieces.flatten(0, 1), rows).unflatten(0, pieces.shape[:2]).flatten(1, 2)
    return outputs, None if real is None else real.flatten(1)
