"""Blocks one above the other, each adding to what came before."""

import math
from collections.abc import Sequence

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts
from mamba_edu.layers.block import MambaBlock, MambaState
from mamba_edu.layers.convolution import hide_padding
from mamba_edu.layers.norm import RMSNorm
from mamba_edu.layers.start import apply_alive


class ResidualBlock(nn.Module):
    """Add a Mamba block's answer to the tokens: tokens + mixer(norm(tokens)).

    The norm stands before the block, so that the sum itself is never squeezed: gradients pass
    it untouched from the last layer to the first.

    Args:
        d_model: channels of a token.
        block: keyword arguments of MambaBlock.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.4; the names are those of transformers'
    MambaBlock.
    """

    apply = apply_alive

    def __init__(self, d_model: int, **block: object):
        super().__init__()
        self.norm = RMSNorm(d_model)
        self.mixer = MambaBlock(d_model, **block)

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
        """Run as MambaBlock does. Padding comes out as 0."""
        tokens = hide_padding(tokens, mask)
        y, state = self.mixer(self.norm(tokens), mask, state, return_state=True)
        y = tokens + y
        return (y, state) if return_state else y

    def step(
        self, token: Float[Tensor, "batch d_model"], state: MambaState | None = None
    ) -> tuple[Float[Tensor, "batch d_model"], MambaState]:
        """Run over one token, as MambaBlock does."""
        y, state = self.mixer.step(self.norm(token), state)
        return token + y, state


class MambaStack(nn.Module):
    """Run n_layers residual blocks and a last norm.

    Args:
        d_model: channels of a token.
        n_layers: how many blocks.
        block: keyword arguments of MambaBlock.

    Source: Gu & Dao 2023 (arXiv:2312.00752), and mixer_seq_simple.py of their code, which also
    starts out_proj smaller by sqrt(n_layers). The names are theirs.
    """

    apply = apply_alive

    def __init__(self, d_model: int, n_layers: int = 1, **block: object):
        super().__init__()
        check_counts(1, n_layers=n_layers)
        self.layers = nn.ModuleList(ResidualBlock(d_model, **block) for _ in range(n_layers))
        self.norm_f = RMSNorm(d_model)
        with torch.no_grad():
            for layer in self.layers:
                layer.mixer.out_proj.weight /= math.sqrt(n_layers)

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
        Raises: as MambaBlock.forward, and a ValueError for too few or too many states.
        """
        states = self._list_states(state)
        for number, layer in enumerate(self.layers):
            tokens, states[number] = layer(tokens, mask, states[number], return_state=True)
        y = self.norm_f(tokens)
        return (y, states) if return_state else y

    def step(
        self, token: Float[Tensor, "batch d_model"], state: Sequence[MambaState] | None = None
    ) -> tuple[Float[Tensor, "batch d_model"], list[MambaState]]:
        """Run all layers over one token: (token, states)."""
        y, states = self(token[:, None], state=state, return_state=True)
        return y[:, 0], states

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
