"""A classifier of sequences: tokens, blocks, a read-out and a head."""

from collections.abc import Callable, Iterable

import torch
from jaxtyping import Bool, Float, Int, Shaped
from torch import Tensor, nn

from mamba_edu._checks import check_counts
from mamba_edu.layers import MambaStack, cut_stream
from mamba_edu.layers.stack import refuse_pieces
from mamba_edu.layers.start import apply_alive
from mamba_edu.models._parts import build_head, build_tokens, run_afresh
from mamba_edu.models.streaming import StreamState, read_end, read_piece, refuse_whole_readers
from mamba_edu.readout import make_readout
from mamba_edu.tokens import batch_documents, check_rows, unpack


class SequenceClassifier(nn.Module):
    """Read a sequence and say which class it is of.

        logits = head(readout(blocks(tokens(inputs))))

    Args:
        n_classes: how many classes there are.
        n_symbols: how many ids there are, for sequences of ids.
        d_in: numbers per token, for sequences of real values. Give this or n_symbols.
        readout: from the outputs to one vector, or its name in READOUTS; "cls_last" if not given.
            What it reads is put among the tokens: CLS, registers, a heading.
        d_model: channels of a token.
        n_layers: how many Mamba blocks.
        d_state: numbers that each inner channel remembers by.
        delta_range: shortest and longest step size at the start.
        allow_blind: let CLS stand where it sees nothing.
        bidirectional: whether each block has a second mixer that reads from the end. Then CLS
            sees all from any place, and the read-out is handed no state. Nor is one whose blocks
            start afresh at each register.
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
        readout: Callable[..., Tensor] | str | None = None,
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
        block |= {"d_state": d_state, "delta_range": delta_range}
        if readout is None or isinstance(readout, str):
            readout = make_readout(
                readout or "cls_last", d_model, block.get("expand", 2) * d_model, d_state
            )
        is_causal = not bidirectional
        self.tokens = build_tokens(readout, d_model, n_symbols, d_in, is_causal, allow_blind)
        self.blocks = MambaStack(d_model, n_layers, bidirectional, **block)
        self.readout, self.head = readout, build_head(readout, d_model, n_classes)

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
        """Compute the logits from tokens that are embedded already, CLS or registers among them.

        To ask how the logits depend on each token, embed, and call this on what you may
        differentiate by.
        """
        if getattr(self.readout, "restarts", False):
            outputs, mask = run_afresh(self.blocks, tokens, mask, self.readout)
            return self.head(self.readout(outputs, mask, None))
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
            TypeError: as forward and cut_stream, or if the state is no StreamState.
            ValueError: as forward and cut_stream; if the blocks are bidirectional, the read-out
                needs the whole sequence, or there is no piece.
        """
        refuse_pieces(self.blocks.is_bidirectional)
        refuse_whole_readers(self.readout)
        if not isinstance(state, StreamState | None):
            raise TypeError(f"state must be a StreamState; its type is {type(state).__name__}")
        for part, own in cut_stream(inputs, mask, piece):
            state = read_piece(self, part, own, state)
        if state is None:
            raise ValueError("a stream must have at least one piece; inputs yields none")
        check_rows(state.n_real[:, None] > 0)
        logits = self.head(read_end(self, state))
        return (logits, state) if return_state else logits
