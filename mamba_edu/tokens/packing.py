"""Several documents in one row, run so that none sees another."""

from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from mamba_edu._checks import check_counts, check_shapes
from mamba_edu.layers import MambaState
from mamba_edu.tokens.masks import make_mask

PADDING = -1  # the segment of a token that belongs to no document
FULLEST = 0.75  # of the longest of the documents that run together, the least that one has


def pack(
    documents: Sequence[Shaped[Tensor, "_n_tokens *rest"]], length: int
) -> tuple[Shaped[Tensor, "batch length *rest"], Int[Tensor, "batch length"]]:
    """Lay documents one behind the other in as few rows as come of taking them longest first.

    Args:
        documents: ids (n_tokens,) or vectors (n_tokens, channels), each of at least one token.
        length: of a row; no document may be longer.

    Returns:
        The packed rows, 0 on padding, and the segment: the number of the document that each token
        belongs to, counted as they are given, and -1 on padding.

    Raises:
        TypeError: if length is not an int or a document no tensor.
        ValueError: with the document that is empty, too long or of another kind, or if there is
            none.
    """
    check_counts(1, length=length)
    _check_documents(documents, length)
    room: list[int] = []
    rows: list[list[int]] = []
    for k in sorted(range(len(documents)), key=lambda k: -len(documents[k])):
        row = next((r for r, free in enumerate(room) if free >= len(documents[k])), len(rows))
        if row == len(rows):
            rows.append([])
            room.append(length)
        rows[row].append(k)
        room[row] -= len(documents[k])
    packed = documents[0].new_zeros(len(rows), length, *documents[0].shape[1:])
    segment = torch.full((len(rows), length), PADDING, device=packed.device)
    for row, held in enumerate(rows):
        laid = torch.cat([documents[k] for k in held])
        packed[row, : len(laid)] = laid
        segment[row, : len(laid)] = torch.cat([torch.full((len(documents[k]),), k) for k in held])
    return packed, segment


def unpack(
    packed: Shaped[Tensor, "batch length *rest"], segment: Int[Tensor, "batch length"]
) -> list[Shaped[Tensor, "_n_tokens *rest"]]:
    """Take the documents out of packed rows, in the order of their numbers.

    Args:
        packed: inputs, tokens or outputs.
        segment: the number of each token's document, or -1.

    Raises: as locate_documents, and a ValueError if the shapes disagree.
    """
    if packed.shape[:2] != segment.shape:
        raise ValueError(
            f"segment must have the shape (batch, length) = {tuple(packed.shape[:2])} of what is "
            f"packed; its shape is {tuple(segment.shape)}"
        )
    places = zip(*(v.tolist() for v in locate_documents(segment)), strict=True)
    return [packed[row, start : start + n_tokens] for row, start, n_tokens in places]


def locate_documents(
    segment: Int[Tensor, "batch length"],
) -> tuple[Int[Tensor, " n_documents"], Int[Tensor, " n_documents"], Int[Tensor, " n_documents"]]:
    """Find the row, first column and number of tokens of each document.

    Args:
        segment: the number of each token's document, 0 to n_documents - 1 over all rows, each
            in one place; -1 on padding, which may stand between documents.

    Raises:
        TypeError: if the numbers are no integers.
        ValueError: with the row, if a number is below -1, stands in two places or is left out.
    """
    _check_numbers(segment)
    before = torch.nn.functional.pad(segment[:, :-1], (1, 0), value=PADDING - 1)
    row, start = ((segment != before) & (segment != PADDING)).nonzero(as_tuple=True)
    number, order = segment[row, start].sort(stable=True)
    row, start = row[order], start[order]
    wrong = (number != torch.arange(len(number), device=number.device)).nonzero()
    if len(wrong):
        _refuse_number(int(wrong[0]), number.tolist(), row.tolist(), start.tolist())
    return row, start, segment[segment >= 0].bincount(minlength=len(number))


def run_packed(
    blocks: Callable[..., Tensor | tuple[Tensor, MambaState | list[MambaState]]],
    tokens: Float[Tensor, "batch length d_model"],
    segment: Int[Tensor, "batch length"],
    return_state: bool = False,
) -> (
    Float[Tensor, "batch length d_model"]
    | tuple[Float[Tensor, "batch length d_model"], MambaState | list[MambaState]]
):
    """Run blocks over packed rows so that each document comes out as if it ran alone.

    Each runs in a row of its own, beside others of about its length: there is no border that a
    convolution or a state could leak through.

    Args:
        blocks: a MambaBlock, ResidualBlock or MambaStack, bidirectional or not.
        tokens: the packed rows.
        segment: the number of each token's document, or -1.
        return_state: whether to return what each document leaves behind too.

    Returns:
        The packed outputs, 0 on padding, or (outputs, state). The batch of a state is the
        documents, by their numbers.

    Raises: as unpack and the blocks.
    """
    documents, options = unpack(tokens, segment), {"return_state": True} if return_state else {}
    outputs: dict[int, Tensor] = {}
    states = []
    for numbers, rows, mask in batch_documents(documents):
        answer = blocks(rows, mask, **options)
        y, state = answer if return_state else (answer, None)
        outputs |= {k: own[: len(documents[k])] for k, own in zip(numbers, y, strict=True)}
        states.append(state)
    row, start, _ = locate_documents(segment)
    order = (row * segment.shape[1] + start).argsort()
    packed = torch.zeros_like(tokens)
    packed[segment != PADDING] = torch.cat([outputs[k] for k in order.tolist()])
    if not return_state:
        return packed
    return packed, _merge(states, torch.tensor(list(outputs), device=packed.device).argsort())


def batch_documents(
    documents: Sequence[Shaped[Tensor, "_n_tokens *rest"]],
) -> Iterator[
    tuple[list[int], Shaped[Tensor, "n_rows length *rest"], Bool[Tensor, "n_rows length"] | None]
]:
    """Lay documents out as padded rows of their own, those of about the same length together.

    Args:
        documents: each of at least one token.

    Returns:
        An iterator over (numbers of the documents, their rows, the mask of the rows or None). At
        most a quarter of a row is padding.

    Raises:
        ValueError: if there is no document.
    """
    if not documents:
        raise ValueError("there must be a document to run; segment is -1 throughout")
    return _batch(documents)


def _batch(documents: Sequence[Tensor]) -> Iterator[tuple[list[int], Tensor, Tensor | None]]:
    """Take the longest documents first, and with them those that are long enough."""
    lengths = [len(document) for document in documents]
    waiting = sorted(range(len(documents)), key=lambda k: -lengths[k])
    while waiting:
        longest = lengths[waiting[0]]
        numbers = [k for k in waiting if lengths[k] >= FULLEST * longest]
        waiting = waiting[len(numbers) :]
        rows = pad_sequence([documents[k] for k in numbers], batch_first=True)
        own = [lengths[k] for k in numbers]
        yield numbers, rows, None if min(own) == longest else make_mask(own).to(rows.device)


def _merge(states: list, order: Tensor) -> MambaState | list[MambaState]:
    """Join the batches of states, of one block or of each of a stack's, in the given order."""
    if isinstance(states[0], MambaState):
        return MambaState(*(torch.cat(parts)[order] for parts in zip(*states, strict=True)))
    return [_merge(list(layer), order) for layer in zip(*states, strict=True)]


def _check_documents(documents: Sequence[Tensor], length: int) -> None:
    """Refuse what cannot be laid in rows of one length, by its number."""
    if not len(documents):
        raise ValueError("documents must hold at least one; it is empty")
    for k, document in enumerate(documents):
        if not isinstance(document, Tensor):
            raise TypeError(
                f"documents must be torch.Tensors; document {k} is of type "
                f"{type(document).__name__}"
            )
        kinds = [(tuple(one.shape[1:]), one.dtype) for one in (documents[0], document)]
        if document.ndim < 1 or kinds[0] != kinds[1]:
            raise ValueError(
                "documents must have the axes (n_tokens, ...), alike but for n_tokens; document "
                f"{k} is {tuple(document.shape)} of {document.dtype}, document 0 "
                f"{tuple(documents[0].shape)} of {documents[0].dtype}"
            )
        if not 1 <= len(document) <= length:
            raise ValueError(
                f"documents must have 1 to {length} tokens, as a row has; document {k} has "
                f"{len(document)}"
            )


def _check_numbers(segment: Tensor) -> None:
    """Refuse what are no numbers of documents."""
    if segment.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"segment must be torch.int32 or torch.int64; it is {segment.dtype}")
    check_shapes(segment=(segment, "batch length"))
    if (segment < PADDING).any():
        row, column = (segment < PADDING).nonzero()[0].tolist()
        raise ValueError(
            f"segment must be -1 for padding, or the number of a document; row {row} holds "
            f"{int(segment[row, column])} at token {column}"
        )


def _refuse_number(k: int, number: list[int], row: list[int], start: list[int]) -> None:
    """Say which document stands in two places, or which is left out."""
    if number[k] < k:
        places = " and ".join(f"row {row[i]} from token {start[i]}" for i in (k - 1, k))
        raise ValueError(
            f"segment must hold each document in one place, numbered over all rows; document "
            f"{number[k]} stands in {places}"
        )
    raise ValueError(
        f"segment must number the documents from 0 on; {k} is left out, and row {row[k]} holds "
        f"{number[k]}"
    )
