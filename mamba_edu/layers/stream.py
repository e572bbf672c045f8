"""A long sequence piece by piece: the answers of the whole, in memory that does not grow."""

from collections.abc import Callable, Iterable, Iterator
from itertools import repeat

import torch
from jaxtyping import Bool, Shaped
from torch import Tensor

from mamba_edu._checks import check_counts, check_mask
from mamba_edu.layers.block import MambaState

Pieces = Iterator[tuple[Tensor, Tensor | None]]
NOTHING = object()


def cut_stream(
    sequence: Shaped[Tensor, "batch length *rest"] | Iterable[Tensor],
    mask: Bool[Tensor, "batch length"] | Iterable[Tensor | None] | None = None,
    piece: int = 2048,
) -> Pieces:
    """Go through a sequence piece by piece, each with its mask; nothing is copied.

    Args:
        sequence: one long tensor, which is cut; or the pieces themselves, (batch, n, ...), of any
            n from 0 on, such as a generator reads from a file.
        mask: True on real tokens; all are if not given. A tensor for a tensor, an iterable of one
            mask or None a piece for pieces.
        piece: tokens of a piece that is cut; the last may be shorter.

    Returns:
        An iterator over (piece, mask or None). A tensor of no token is one piece.

    Raises:
        TypeError: if the sequence is neither, the masks are not given likewise, or piece is not
            an int; while it runs, if a piece is not a tensor.
        ValueError: if piece is less than 1 or the mask's shape is another; while it runs, if there
            are fewer or more masks than pieces.
    """
    check_counts(1, piece=piece)
    if isinstance(sequence, Tensor):
        _check_axes(sequence, mask)
        starts = range(0, max(sequence.shape[1], 1), piece)
        masks = repeat(None) if mask is None else (mask[:, t : t + piece] for t in starts)
        return zip((sequence[:, t : t + piece] for t in starts), masks, strict=False)
    if not isinstance(sequence, Iterable):
        raise TypeError(
            "a stream must be a torch.Tensor or an iterable of them; its type is "
            f"{type(sequence).__name__}"
        )
    if isinstance(mask, Tensor) or not isinstance(mask, Iterable | None):
        raise TypeError(
            "mask must be an iterable of one mask a piece, as the sequence comes in pieces; its "
            f"type is {type(mask).__name__}"
        )
    return _pair(sequence, mask)


def stream_pieces(
    run: Callable[..., tuple[Tensor, list[MambaState]]],
    pieces: Pieces,
    state: list[MambaState] | None = None,
) -> Iterator[tuple[Tensor, list[MambaState]]]:
    """Run over one piece after the other, without gradients.

    Args:
        run: called as run(piece, mask, state, True), such as a MambaStack.
        pieces: as cut_stream makes them.
        state: what came before left behind; a fresh start if not given.

    Returns:
        An iterator over (outputs, states) of each piece. The states hold nothing of the piece, so
        that any number of them may be kept, and a stream resumed from each.
    """
    for piece, mask in pieces:
        with torch.no_grad():  # not around the yield: it would reach the caller
            outputs, state = run(piece, mask, state, True)
        state = [MambaState(one.tail.clone(), one.h.clone()) for one in state]
        yield outputs, state


def _check_axes(sequence: Tensor, mask: object) -> None:
    """Refuse a tensor without a length, and a mask that does not fit it."""
    if sequence.ndim < 2:
        raise ValueError(
            "a stream must have the axes (batch, length, ...); its shape is "
            f"{tuple(sequence.shape)}"
        )
    if mask is not None:
        check_mask(mask, stream=sequence)


def _pair(sequence: Iterable[Tensor], mask: Iterable[Tensor | None] | None) -> Pieces:
    """Go through pieces and masks in step, refusing what is no piece."""
    masks = repeat(None) if mask is None else iter(mask)
    number = -1
    for number, piece in enumerate(sequence):
        if not isinstance(piece, Tensor):
            raise TypeError(
                f"a stream must be of torch.Tensors; piece {number} is of type "
                f"{type(piece).__name__}"
            )
        own = next(masks, NOTHING)
        if own is NOTHING:
            raise ValueError(f"mask must hold one entry a piece; there is none for piece {number}")
        yield piece, own
    if mask is not None and next(masks, NOTHING) is not NOTHING:
        raise ValueError(f"mask must hold one entry a piece; it holds more than {number + 1}")
