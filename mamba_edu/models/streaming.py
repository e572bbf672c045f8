"""How a classifier reads a stream: piece by piece, with what a read-out needs of all before."""

from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mamba_edu.layers import MambaState
from mamba_edu.readout import ReadCLS, ReadLast, ReadMax, ReadMean

# How a read-out of all before, one of a piece and the piece's share of the tokens become one.
JOINS: dict[type, Callable[[Tensor, Tensor, Tensor], Tensor]] = {
    ReadLast: lambda before, piece, share: piece,
    ReadMax: lambda before, piece, share: torch.maximum(before, piece),
    ReadMean: torch.lerp,
}


class StreamState(NamedTuple):
    """What a classifier carries from one part of a stream to the next.

    Fields:
        blocks: one state a layer, before CLS.
        n_real: (batch,), the real tokens so far.
        read: (batch, d_model), the read-out of them; 0 where it reads CLS, which comes at the end.
    """

    blocks: list[MambaState]
    n_real: Int[Tensor, " batch"]
    read: Float[Tensor, "batch d_model"]


def read_piece(
    model: nn.Module, inputs: Tensor, mask: Tensor | None, state: StreamState | None
) -> StreamState:
    """Run the blocks over a piece, and join its read-out to the one of all before."""
    tokens = model.tokens.embed_content(inputs, mask)
    given, n_before, before = state or (None, 0, tokens.new_zeros(len(tokens), tokens.shape[2]))
    [(outputs, blocks)] = model.blocks.stream([tokens], [mask], given)
    real = torch.ones_like(tokens[..., 0], dtype=torch.bool) if mask is None else mask
    n_new = real.sum(1)
    state = StreamState(blocks, n_before + n_new, before)
    join, rows = JOINS.get(type(model.readout)), n_new > 0
    if join is None or not rows.any():
        return state
    new = model.readout(outputs[rows], real[rows])
    share = n_new[rows, None].to(new.dtype) / state.n_real[rows, None]
    joined = join(before[rows], new, share)
    is_first = (state.n_real == n_new)[rows, None]
    return state._replace(read=before.index_put((rows,), torch.where(is_first, new, joined)))


def read_end(model: nn.Module, state: StreamState) -> Tensor:
    """Read one vector a row, behind a CLS token where that is what is read."""
    if type(model.readout) in JOINS:
        return state.read
    cls = model.tokens.cls_token.expand(len(state.read), 1, -1)
    outputs, blocks = model.blocks(cls, None, state.blocks, return_state=True)
    return model.readout(outputs, None, blocks)


def refuse_whole_readers(readout: object) -> None:
    """Refuse what cannot be read as the tokens come."""
    position = getattr(readout, "cls_position", None)
    has_heading = getattr(readout, "heading", False)  # the mean of tokens that are still to come
    is_plain_cls = type(readout) is ReadCLS and position == "last" and not has_heading
    if type(readout) in JOINS or is_plain_cls:
        return
    given = type(readout).__name__ + (f"({position!r})" if position else "")
    given += " behind a heading" if has_heading else ""
    raise ValueError(
        'a stream must be read as it comes: by ReadCLS("last"), ReadLast, ReadMax or ReadMean; '
        f"the read-out is {given}"
    )
