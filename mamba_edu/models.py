"""A classifier of sequences: tokens, blocks, a read-out and a head."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from mamba_edu._checks import check_counts
from mamba_edu.layers import MambaStack, MambaState, cut_pieces
from mamba_edu.layers.stack import refuse_pieces
from mamba_edu.layers.start import apply_alive
from mamba_edu.readout import ReadCLS, ReadLast, ReadMax, ReadMean
from mamba_edu.tokens import TokenEmbedding, batch_documents, check_rows, unpack

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


class SequenceClassifier(nn.Module):
    """Read a sequence and say which class it is of.

        logits = head(readout(blocks(tokens(inputs))))

    Args:
        n_classes: how many classes there are.
        n_symbols: how many ids there are, for sequences of ids.
        d_in: numbers per token, for sequences of real values. Give this or n_symbols.
        readout: from the outputs to one vector; ReadCLS("last") if not given. Where it reads CLS,
            a CLS token is put.
        d_model: channels of a token.
        n_layers: how many Mamba blocks.
        d_state: numbers that each inner channel remembers by.
        delta_range: shortest and longest step size at the start.
        allow_blind: let CLS stand where it sees nothing.
        bidirectional: whether each block has a second mixer that reads from the end. Then CLS
            sees all from any place, and the read-out is handed no state.
        block: further keyword arguments of MambaBlock.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is too small, or both or neither of n_symbols and d_in are given.
        BlindReadout: if CLS would stand first where the blocks are causal: it would see nothing.
    """

    apply = apply_alive

    def __init__(
        self,
        n_classes: int,
        n_symbols: int | None = None,
        d_in: int | None = None,
        readout: Callable[..., Tensor] | None = None,
        d_model: int = 32,
        n_layers: int = 1,
        d_state: int = 8,
        delta_range: tuple[float, float] = (1e-3, 3e-2),
        allow_blind: bool = False,
        bidirectional: bool = False,
        **block: object,
    ):
        super().__init__()
        check_counts(1, n_classes=n_classes)
        readout = ReadCLS("last") if readout is None else readout
        position = getattr(readout, "cls_position", None)
        self.tokens = TokenEmbedding(
            d_model, n_symbols, d_in, position, not bidirectional, allow_blind
        )
        block |= {"d_state": d_state, "delta_range": delta_range}
        self.blocks = MambaStack(d_model, n_layers, bidirectional, **block)
        self.readout = readout
        self.head = nn.Linear(d_model, n_classes)

    def forward(
        self,
        inputs: Shaped[Tensor, "batch length *d_in"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch n_classes"]:
        """Compute the logits of each sequence.

        Args:
            inputs: (batch, length) ids or (batch, length, d_in) numbers; on padding anything.
            mask: True on real tokens; all are if not given.

        Raises:
            TypeError: for inputs or a mask of another type.
            ValueError: if shapes disagree, an id is out of range or a row has no real token.
        """
        return self.classify(*self.tokens(inputs, mask))

    def classify(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch n_classes"]:
        """Compute the logits from tokens that are embedded already, CLS among them.

        To ask how the logits depend on each token, embed, and call this on what you may
        differentiate by.
        """
        has_state = not self.blocks.is_bidirectional
        answer = self.blocks(tokens, mask, return_state=has_state)
        outputs, state = answer if has_state else (answer, None)
        return self.head(self.readout(outputs, mask, state))

    def classify_packed(
        self,
        packed: Shaped[Tensor, "batch length *d_in"],
        segment: Int[Tensor, "batch length"],
    ) -> Float[Tensor, "n_documents n_classes"]:
        """Compute the logits of each document in packed rows, as if it were given alone.

        Each has a row, and a CLS token, of its own: none sees another.

        Args:
            packed: the inputs, as pack lays them.
            segment: the number of each token's document, or -1 on padding.

        Raises: as forward, unpack and batch_documents.
        """
        logits: dict[int, Tensor] = {}
        for numbers, rows, mask in batch_documents(unpack(packed, segment)):
            logits |= dict(zip(numbers, self(rows, mask), strict=True))
        return torch.stack([logits[k] for k in range(len(logits))])

    @torch.no_grad()
    def stream(
        self,
        inputs: Shaped[Tensor, "batch length *d_in"] | Iterable[Tensor],
        mask: Bool[Tensor, "batch length"] | Iterable[Tensor | None] | None = None,
        state: StreamState | None = None,
        piece: int = 2048,
        return_state: bool = False,
    ) -> Float[Tensor, "batch n_classes"] | tuple[Float[Tensor, "batch n_classes"], StreamState]:
        """Compute the logits of sequences of any length, in memory that does not grow with it.

        They are those of the whole sequence at once, wherever it is cut. No gradients. CLS is put
        once, at the end, and is not in the state: a stream may be resumed behind its content.

        Args:
            inputs: one long tensor, as forward takes it, or an iterable of pieces of one.
            mask: True on real tokens; all are if not given. For pieces, an iterable of masks.
            state: what an earlier stream left behind; a fresh start if not given.
            piece: tokens of a piece that is cut.
            return_state: whether to return what this stream leaves behind too.

        Raises:
            TypeError: as forward and cut_pieces, or if the state is no StreamState.
            ValueError: as forward and cut_pieces; if the blocks are bidirectional, the read-out
                needs the whole sequence, or there is no piece.
        """
        refuse_pieces(self.blocks.is_bidirectional)
        _refuse_whole_readers(self.readout)
        if not isinstance(state, StreamState | None):
            raise TypeError(f"state must be a StreamState; its type is {type(state).__name__}")
        for part, own in cut_pieces(inputs, mask, piece):
            state = self._read_piece(part, own, state)
        if state is None:
            raise ValueError("a stream must have at least one piece; inputs yields none")
        check_rows(state.n_real[:, None] > 0)
        logits = self.head(self._read_end(state))
        return (logits, state) if return_state else logits

    def _read_piece(
        self, inputs: Tensor, mask: Tensor | None, state: StreamState | None
    ) -> StreamState:
        """Run the blocks over a piece, and join its read-out to the one of all before."""
        tokens = self.tokens.embed_content(inputs, mask)
        given, n_before, before = state or (None, 0, tokens.new_zeros(len(tokens), tokens.shape[2]))
        [(outputs, blocks)] = self.blocks.stream([tokens], [mask], given)
        real = torch.ones_like(tokens[..., 0], dtype=torch.bool) if mask is None else mask
        n_new = real.sum(1)
        state = StreamState(blocks, n_before + n_new, before)
        join, rows = JOINS.get(type(self.readout)), n_new > 0
        if join is None or not rows.any():
            return state
        new = self.readout(outputs[rows], real[rows])
        share = n_new[rows, None].to(new.dtype) / state.n_real[rows, None]
        joined = join(before[rows], new, share)
        is_first = (state.n_real == n_new)[rows, None]
        return state._replace(read=before.index_put((rows,), torch.where(is_first, new, joined)))

    def _read_end(self, state: StreamState) -> Tensor:
        """Read one vector a row, behind a CLS token where that is what is read."""
        if type(self.readout) in JOINS:
            return state.read
        cls = self.tokens.cls_token.expand(len(state.read), 1, -1)
        outputs, blocks = self.blocks(cls, None, state.blocks, return_state=True)
        return self.readout(outputs, None, blocks)


def _refuse_whole_readers(readout: object) -> None:
    """Refuse what cannot be read as the tokens come."""
    position = getattr(readout, "cls_position", None)
    if type(readout) in JOINS or (type(readout) is ReadCLS and position == "last"):
        return
    given = type(readout).__name__ + (f"({position!r})" if position else "")
    raise ValueError(
        'a stream must be read as it comes: by ReadCLS("last"), ReadLast, ReadMax or ReadMean; '
        f"the read-out is {given}"
    )
