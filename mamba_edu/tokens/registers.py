"""Tokens put among the sequence's own: registers at regular places, a heading in front."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import pad

from mamba_edu._checks import check_counts, check_mask, check_shapes
from mamba_edu.tokens.masks import check_rows


def cut_pieces(
    tokens: Float[Tensor, "batch length d_model"],
    size: int,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> tuple[
    Float[Tensor, "batch n_pieces size d_model"], Bool[Tensor, "batch n_pieces size"] | None
]:
    """Cut each sequence into pieces of `size` real tokens, counted in each row for itself.

    Padding between the real tokens is taken out; what fills up the last pieces is padding of 0.

    Args:
        tokens: the sequences.
        size: real tokens in a piece; the last piece of a row may have fewer.
        mask: True on real tokens, wherever they stand; all are if not given.

    Returns:
        The pieces and their mask, which is None if no mask was given and all pieces are full.

    Raises:
        TypeError: if the size is not an int, or the mask not boolean.
        ValueError: if the size is below 1, shapes disagree, or a row has no real token.
    """
    check_counts(1, size=size)
    check_shapes(tokens=(tokens, "batch length d_model"))
    n_more = -tokens.shape[1] % size
    if mask is not None:
        check_mask(mask, tokens=tokens)
        tokens, mask = _move_left(tokens, mask)
    elif n_more or not tokens.shape[1]:
        mask = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
    pieces = pad(tokens, (0, 0, 0, n_more)).unflatten(1, (-1, size))
    if mask is None:
        return pieces, None
    check_rows(mask)
    return pieces, pad(mask, (0, n_more)).unflatten(1, (-1, size))


def add_registers(
    tokens: Float[Tensor, "batch length d_model"],
    register: Float[Tensor, " d_model"],
    every: int,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> tuple[
    Float[Tensor, "batch length_with_registers d_model"],
    Bool[Tensor, "batch length_with_registers"] | None,
]:
    """Put a register behind every `every` real tokens of each row, and behind its last one.

    A row of n real tokens gets n / every of them, rounded up: so the last real token is a register
    whatever the length, and a token is never further than `every` from the next one.

    Args:
        tokens: the sequences.
        register: the vector, the same at all places, such as a CLS token.
        every: real tokens from one register to the next, counted in each row for itself.
        mask: True on real tokens; all are if not given.

    Returns:
        The longer sequences and their mask (None if none was given).

    Raises: as cut_pieces.

    Source: Wang et al. 2024 (arXiv:2405.14858), Mamba-R, which spreads a fixed number of learned
    registers, each a vector of its own, over the image; here their number grows with the length.
    """
    pieces, real = cut_pieces(tokens, every, mask)
    check_shapes(pieces=(pieces, "batch n_pieces size d_model"), register=(register, "d_model"))
    more = register.expand(*pieces.shape[:2], 1, -1)
    tokens_with = torch.cat([pieces, more], dim=2).flatten(1, 2)
    if mask is None:
        n_more = -tokens.shape[1] % every
        kept = tokens_with[:, : tokens_with.shape[1] - n_more - 1]
        return torch.cat([kept, tokens_with[:, -1:]], dim=1), None
    return tokens_with, torch.cat([real, real.any(2, keepdim=True)], dim=2).flatten(1, 2)


def add_heading(
    tokens: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "batch length"] | None = None
) -> tuple[
    Float[Tensor, "batch length_with_heading d_model"],
    Bool[Tensor, "batch length_with_heading"] | None,
]:
    """Put the mean of each row's real tokens in front of it, so that the first of them knows all.

    Args:
        tokens: the sequences.
        mask: True on real tokens; all are if not given.

    Returns:
        The sequences and their mask (None if none was given), both one longer.

    Raises:
        TypeError: for a mask that is not boolean.
        ValueError: if shapes disagree or a row has no real token.

    Source: Wang et al. 2024 (arXiv:2410.07599), Adventurer, "heading average".
    """
    check_shapes(tokens=(tokens, "batch length d_model"))
    real = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
    if mask is not None:
        check_mask(mask, tokens=tokens)
        real, mask = mask, pad(mask, (1, 0), value=True)
    check_rows(real)
    total = tokens.masked_fill(~real[..., None], 0).sum(1, keepdim=True)
    return torch.cat([total / real.sum(1)[:, None, None].to(total.dtype), tokens], dim=1), mask


def _move_left(tokens: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Move each row's real tokens to its left end, in their order, and put 0 on the padding."""
    column = (~mask).to(torch.uint8).argsort(dim=1, stable=True)
    tokens = tokens.gather(1, column[..., None].expand_as(tokens))
    mask = mask.gather(1, column)
    return tokens.masked_fill(~mask[..., None], 0), mask
