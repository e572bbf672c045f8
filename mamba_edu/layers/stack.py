"""Blocks one above the other, each adding to what came before."""

import math
from collections.abc import Iterable, Iterator, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_flags
from mamba_edu.layers.block import MambaBlock, MambaState
from mamba_edu.layers.convolution import hide_padding
from mamba_edu.layers.norm import RMSNorm
from mamba_edu.layers.start import apply_alive
from mamba_edu.layers.stream import cut_stream, stream_pieces


class ResidualBlock(nn.Module):
    """Add a Mamba block's answer to the tokens: tokens + mixer(norm(tokens)).

    The norm stands before the block, so that the sum itself is never squeezed: gradients pass
    it untouched from the last layer to the first.

    A bidirectional one has a second mixer that reads from the end, and adds both answers:

        tokens + mixer(norm(tokens)) + flip(mixer_back(flip(norm(tokens))))

    Args:
        d_model: channels of a token.
        bidirectional: whether there is a second mixer.
        block: keyword arguments of MambaBlock.

    Raises:
        TypeError: if bidirectional is neither True nor False.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.4; the names are those of transformers'
    MambaBlock. The second direction is that of Zhu et al. 2024 (arXiv:2401.09417), Vision Mamba,
    Algorithm 1, where both directions share their projections and gate, and only convolution and
    scan are doubled; here the second mixer is a whole block of its own.
    """

    apply = apply_alive

    def __init__(self, d_model: int, bidirectional: bool = False, **block: object):
        super().__init__()
        check_flags(bidirectional=bidirectional)
        self.norm = RMSNorm(d_model)
        self.mixer = MambaBlock(d_model, **block)
        self.mixer_back = MambaBlock(d_model, **block) if bidirectional else None

    def forward(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: MambaState | None = None,
        return_state: bool = False,
    ) -> (
        Float[Tensor, "batch length d_model"]
        | tuple[Float[Tensor, "batch length d_model"], MambaState]
    ):
        """Run as MambaBlock does. Padding comes out as 0.

        Raises: as MambaBlock.forward, and a ValueError if a bidirectional block is handed a state
        or asked for one.
        """
        tokens = hide_padding(tokens, mask)
        normed = self.norm(tokens)
        if self.mixer_back is not None:
            refuse_pieces(state is not None or return_state)
            return tokens + self.mixer(normed, mask) + self._read_back(normed, mask)
        y, state = self.mixer(normed, mask, state, return_state=True)
        y = tokens + y
        return (y, state) if return_state else y

    def step(
        self, token: Float[Tensor, "batch d_model"], state: MambaState | None = None
    ) -> tuple[Float[Tensor, "batch d_model"], MambaState]:
        """Run over one token, as MambaBlock does; a ValueError if the block is bidirectional."""
        refuse_pieces(self.mixer_back is not None)
        y, state = self.mixer.step(self.norm(token), state)
        return token + y, state

    def _read_back(self, normed: Tensor, mask: Tensor | None) -> Tensor:
        """Read from the end: the padding is passed over there too, wherever it stands."""
        mask = None if mask is None else mask.flip(1)
        return self.mixer_back(normed.flip(1), mask).flip(1)


class MambaStack(nn.Module):
    """Run n_layers residual blocks and a last norm.

    Args:
        d_model: channels of a token.
        n_layers: how many blocks.
        bidirectional: whether each has a second mixer that reads from the end.
        block: keyword arguments of MambaBlock.

    Source: Gu & Dao 2023 (arXiv:2312.00752), and mixer_seq_simple.py of their code, which also
    starts out_proj smaller, by the root of how many answers are added up. The names are theirs.
    """

    apply = apply_alive

    def __init__(
        self, d_model: int, n_layers: int = 1, bidirectional: bool = False, **block: object
    ):
        super().__init__()
        check_counts(1, n_layers=n_layers)
        self.layers = nn.ModuleList(
            ResidualBlock(d_model, bidirectional, **block) for _ in range(n_layers)
        )
        self.norm_f = RMSNorm(d_model)
        self.is_bidirectional = bidirectional
        mixers = [module for module in self.modules() if isinstance(module, MambaBlock)]
        with torch.no_grad():
            for mixer in mixers:
                mixer.out_proj.weight /= math.sqrt(len(mixers))

    def forward(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: Sequence[MambaState] | None = None,
        return_state: bool = False,
    ) -> (
        Float[Tensor, "batch length d_model"]
        | tuple[Float[Tensor, "batch length d_model"], list[MambaState]]
    ):
        """Run all layers over a sequence, or over the next piece of one.

        Args: as MambaBlock.forward; state is a list with one entry per layer.
        Returns: the tokens after the last norm, 0 on padding, or (tokens, states).
        Raises: as MambaBlock.forward, and a ValueError for too few or too many states, or if a
        bidirectional stack is handed states or asked for them.
        """
        if self.is_bidirectional:
            refuse_pieces(state is not None or return_state)
            for layer in self.layers:
                tokens = layer(tokens, mask)
            return self.norm_f(tokens)
        states = self._list_states(state)
        for number, layer in enumerate(self.layers):
            tokens, states[number] = layer(tokens, mask, states[number], return_state=True)
        y = self.norm_f(tokens)
        return (y, states) if return_state else y

    def step(
        self, token: Float[Tensor, "batch d_model"], state: Sequence[MambaState] | None = None
    ) -> tuple[Float[Tensor, "batch d_model"], list[MambaState]]:
        """Run all layers over one token: (token, states); a ValueError if they read both ways."""
        y, states = self(token[:, None], state=state, return_state=True)
        return y[:, 0], states

    def stream(
        self,
        tokens: Float[Tensor, "batch length d_model"] | Iterable[Tensor],
        mask: Bool[Tensor, "batch length"] | Iterable[Tensor | None] | None = None,
        state: Sequence[MambaState] | None = None,
        piece: int = 2048,
    ) -> Iterator[tuple[Float[Tensor, "batch n_tokens d_model"], list[MambaState]]]:
        """Run over a sequence of any length, in memory that does not grow with it.

        The outputs are those of the whole sequence at once, wherever it is cut. No gradients.

        Args:
            tokens: one long tensor, which is cut, or an iterable of pieces (batch, n, d_model).
            mask: True on real tokens; all are if not given. For pieces, an iterable of masks.
            state: as forward takes it; also one that a stream handed out, to resume it there.
            piece: tokens of a piece that is cut.

        Returns:
            An iterator over (outputs, states) of each piece; it runs as it is asked.

        Raises: as forward and cut_stream, and a ValueError if the stack is bidirectional.
        """
        refuse_pieces(self.is_bidirectional)
        return stream_pieces(self, cut_stream(tokens, mask, piece), state)

    def _list_states(self, state: Sequence[MambaState] | None) -> list[MambaState | None]:
        """List one state per layer, None where a layer starts afresh."""
        if state is None:
            return [None] * len(self.layers)
        if len(state) != len(self.layers):
            raise ValueError(
                f"state must hold one entry for each of the {len(self.layers)} layers; it holds "
                f"{len(state)}"
            )
        return list(state)


def refuse_pieces(is_piece: bool) -> None:
    """Refuse to run what reads from the end over a piece of a sequence.

    Raises:
        ValueError: if it is a piece.
    """
    if is_piece:
        raise ValueError(
            "a bidirectional block must be given the whole sequence at once: it reads from the "
            "end too, so it takes no state, returns none and has no step(). Build it with "
            "bidirectional=False to run piece by piece"
        )
