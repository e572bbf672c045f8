"""Where the CLS token stands, and where it must not."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mamba_edu._checks import check_mask, check_shapes
from mamba_edu.tokens.masks import check_rows, locate_rank

POSITIONS = ("first", "middle", "last")  # where one CLS token can stand
PLACES = (*POSITIONS, "both")  # and two of them: one in front, one at the end


class BlindReadout(ValueError):
    """A CLS token that stands where it can see nothing of the sequence."""


def refuse_blindness(position: str | None, is_causal: bool, allow_blind: bool = False) -> None:
    """Refuse a CLS token that can see nothing: in front, where every token sees earlier ones only.

    Args:
        position: "first", "middle", "last", or "both" for one at either end; None for no CLS token.
        is_causal: whether a token sees itself and earlier ones only.
        allow_blind: let it stand there all the same, to show that it is blind.

    Raises:
        ValueError: for another position.
        BlindReadout: for the first position in a causal model.
    """
    if position is not None and position not in PLACES:
        raise ValueError(f"cls_position must be one of {PLACES} or None; it is {position!r}")
    if position == "first" and is_causal and not allow_blind:
        raise BlindReadout(
            "cls_position is 'first' in a causal model: CLS would see none of the tokens behind "
            "it, and the logits would be the same for any input. Allowed: 'middle', which sees "
            "the first half, 'last', which sees all, or allow_blind=True to watch it fail"
        )


def add_cls(
    tokens: Float[Tensor, "batch length d_model"],
    cls_token: Float[Tensor, " d_model"],
    position: str,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> tuple[
    Float[Tensor, "batch length_with_cls d_model"],
    Bool[Tensor, "batch length_with_cls"] | None,
    Int[Tensor, " batch"],
]:
    """Put the CLS token into each sequence.

    "first" is column 0 and "last" the column after all others. "middle" leaves n // 2 of a row's n
    real tokens before it, so it stands in each row where that row's own length says.

    Args:
        tokens: the sequences.
        cls_token: the vector, the same for all rows.
        position: "first", "middle" or "last".
        mask: True on real tokens; all are if not given.

    Returns:
        The longer sequences, their mask (None if none was given) and cls_index, the column of CLS
        in each row.

    Raises:
        TypeError: for a mask that is not boolean.
        ValueError: if shapes disagree, a row has no real token or the position is another.

    Source: the middle is Zhu et al. 2024 (arXiv:2401.09417), Vision Mamba; theirs is one column
    for all rows. Vim4Path#4 and HiddenMambaAttn#20 tell of that column kept at another length.
    """
    if position not in POSITIONS:
        raise ValueError(f"position must be one of {POSITIONS}; it is {position!r}")
    check_shapes(tokens=(tokens, "batch length d_model"), cls_token=(cls_token, "d_model"))
    real = torch.ones(tokens.shape[:2], dtype=torch.bool, device=tokens.device)
    if mask is not None:
        check_mask(mask, tokens=tokens)
        real = mask
    check_rows(real)

    cls_index = _place(real, position)
    tokens = _insert(tokens, cls_token.expand(len(tokens), 1, -1), cls_index)
    if mask is not None:
        mask = _insert(mask, mask.new_ones(len(mask), 1), cls_index)
    return tokens, mask, cls_index


def _place(real: Tensor, position: str) -> Tensor:
    """Find the column that CLS takes in each row."""
    batch, length = real.shape
    if position == "middle":
        return locate_rank(real, real.sum(1) // 2)
    return torch.full((batch,), 0 if position == "first" else length, device=real.device)


def _insert(rows: Tensor, new: Tensor, index: Tensor) -> Tensor:
    """Insert one column into each row, before the row's own index."""
    length = rows.shape[1]
    column = torch.arange(length + 1, device=rows.device)
    source = column - (column > index[:, None]).long()
    source = torch.where(column == index[:, None], length, source)
    row = torch.arange(len(rows), device=rows.device)[:, None]
    return torch.cat([rows, new], dim=1)[row, source]
