"""The Mamba block: a short convolution, a selective scan and a gate between two projections."""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import silu

from mamba_edu._checks import HALF, check_counts, check_floats, check_shapes
from mamba_edu.layers.convolution import convolve_depthwise, hide_padding
from mamba_edu.layers.start import StepProjection, apply_alive, start_rates
from mamba_edu.scan import selective_scan
from mamba_edu.steps import softplus_step


class MambaState(NamedTuple):
    """What a block carries from one piece of a sequence to the next.

    Fields:
        tail: (batch, d_conv - 1, d_inner), the last real inputs of the convolution.
        h: (batch, d_inner, d_state), the state of the scan.
    """

    tail: Float[Tensor, "batch d_tail d_inner"]
    h: Float[Tensor, "batch d_inner d_state"]


class MambaBlock(nn.Module):
    """Mix the tokens of a sequence, each with those before it.

        x, gate = in_proj(tokens)
        x = silu(conv1d(x))
        low, B, C = x_proj(x);  delta = step_rule(dt_proj(low));  A = -exp(A_log)
        y = out_proj(selective_scan(x, delta, A, B, C, D, gate))

    Parameters have the names and shapes of the official code, so that a state dict of its Mamba,
    or of MambaMixer in transformers, loads as it is. conv1d is kept for its names and its start;
    convolve_depthwise does its work. No residual and no norm: see ResidualBlock.

    Args:
        d_model: channels of a token.
        d_state: numbers that each inner channel remembers by.
        d_conv: taps of the convolution; 1 looks at the token itself only.
        expand: d_inner = expand d_model.
        delta_rank: numbers that a token's step sizes are made of; "auto" is d_model/16, up.
        delta_range: shortest and longest step size at the start.
        bias: whether in_proj and out_proj have one.
        conv_bias: whether the convolution has one.
        step_rule: from the raw step size to one of at least 0, not falling; such as
            partial(dead_zone_step, width=0.05).
        method: how to scan, as in selective_scan.

    Raises:
        TypeError: if a size is not an int or a bound not a number.
        ValueError: if a size or bound is out of range, or step_rule can make no step in
            delta_range.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Figure 3, and mamba_simple.py of their code. Theirs
    takes no mask; a step size is theirs for softplus_step only.
    """

    apply = apply_alive

    def __init__(
        self,
        d_model: int,
        d_state: int = 16,
        d_conv: int = 4,
        expand: int = 2,
        delta_rank: int | str = "auto",
        delta_range: tuple[float, float] = (1e-3, 0.1),
        bias: bool = False,
        conv_bias: bool = True,
        step_rule: Callable[[Tensor], Tensor] = softplus_step,
        method: str = "auto",
    ):
        super().__init__()
        check_counts(1, d_model=d_model, d_state=d_state, d_conv=d_conv, expand=expand)
        d_inner = expand * d_model
        delta_rank = math.ceil(d_model / 16) if delta_rank == "auto" else delta_rank
        self.in_proj = nn.Linear(d_model, 2 * d_inner, bias=bias)
        self.conv1d = nn.Conv1d(d_inner, d_inner, d_conv, groups=d_inner, bias=conv_bias)
        self.dt_proj = StepProjection(delta_rank, d_inner, delta_range, step_rule)
        self.x_proj = nn.Linear(d_inner, delta_rank + 2 * d_state, bias=False)
        self.A_log = nn.Parameter(start_rates(d_inner, d_state))
        self.D = nn.Parameter(torch.ones(d_inner))
        self.out_proj = nn.Linear(d_inner, d_model, bias=bias)
        self.step_rule, self.method = step_rule, method

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
        """Run the block over a sequence, or over the next piece of one.

        Args:
            tokens: the sequence.
            mask: True on real tokens; all are if not given. Padding may stand anywhere and hold
                anything: real tokens come out as if it were not there.
            state: what the piece before left behind; a fresh start if not given.
            return_state: whether to return what this piece leaves behind too.

        Returns:
            The mixed tokens, 0 on padding, or (tokens, state).

        Raises:
            TypeError: for tokens of another type than the parameters, a mask that is not boolean
                or a state that is no MambaState.
            ValueError: if shapes disagree.
        """
        self._check(tokens, state)
        x, gate, tail = self.look_back(tokens, mask, state)
        delta, B, C = self.select(x)
        A, h = self.compute_rates(), None if state is None else state.h
        y, h = selective_scan(x, delta, A, B, C, self.D, gate, h, mask, self.method, True)
        y = hide_padding(self.out_proj(y), mask)
        return (y, MambaState(tail, h)) if return_state else y

    def step(
        self, token: Float[Tensor, "batch d_model"], state: MambaState | None = None
    ) -> tuple[Float[Tensor, "batch d_model"], MambaState]:
        """Run the block over one token: a sequence of length 1.

        Returns:
            The mixed token, and the state to hand to the next step. The state given is not changed.
        """
        y, state = self(token[:, None], state=state, return_state=True)
        return y[:, 0], state

    def select(
        self, x: Float[Tensor, "batch length d_inner"]
    ) -> tuple[
        Float[Tensor, "batch length d_inner"],
        Float[Tensor, "batch length d_state"],
        Float[Tensor, "batch length d_state"],
    ]:
        """Compute what each token chooses from what the convolution says: delta, B and C."""
        d_state = self.A_log.shape[1]
        low, B, C = self.x_proj(x).tensor_split([-2 * d_state, -d_state], dim=-1)
        return self.step_rule(self.dt_proj(low)), B, C

    def compute_rates(self) -> Float[Tensor, "d_inner d_state"]:
        """Compute A = -exp(A_log), in float32 at least: half precision would round the rates."""
        return -torch.exp(self.A_log.float() if self.A_log.dtype in HALF else self.A_log)

    def look_back(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: MambaState | None = None,
    ) -> tuple[
        Float[Tensor, "batch length d_inner"],
        Float[Tensor, "batch length d_inner"],
        Float[Tensor, "batch d_tail d_inner"],
    ]:
        """Project and convolve, with padding hidden before and after: x, gate and the tail."""
        x, gate = self.in_proj(hide_padding(tokens, mask)).chunk(2, dim=-1)
        tail = None if state is None else state.tail
        weight, bias = self.conv1d.weight[:, 0], self.conv1d.bias
        x, tail = convolve_depthwise(x, weight, bias, tail, mask)
        return silu(x), gate, tail

    def _check(self, tokens: Tensor, state: MambaState | None) -> None:
        """Refuse what the block cannot run on."""
        check_floats(tokens=tokens)
        weight = self.in_proj.weight
        if tokens.dtype != weight.dtype:
            raise TypeError(
                f"tokens must be {weight.dtype}, as the block's parameters are; they are "
                f"{tokens.dtype}"
            )
        own = {
            "in_proj.weight": (weight, "2*d_inner d_model"),
            "A_log": (self.A_log, "d_inner d_state"),
        }
        given = {"tokens": (tokens, "batch length d_model")}
        if state is not None:
            _check_state(state)
            given["state.h"] = (state.h, "batch d_inner d_state")
        check_shapes(**own, **given)


def _check_state(state: object) -> None:
    """Refuse what another kind of layer left behind, such as a whole stack's list."""
    if not isinstance(state, MambaState):
        raise TypeError(
            f"state must be a MambaState, one for each block; its type is {type(state).__name__}"
        )
    check_floats(**{"state.tail": state.tail, "state.h": state.h})
