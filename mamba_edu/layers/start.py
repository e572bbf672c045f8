"""How a Mamba block starts, whether it still stands so, and what keeps an init from undoing it.

A block forgets at the rate delta A. Both are parameters that a general-purpose init destroys:
with dt_proj.bias at 0 every step is ln 2 long, and the slowest state halves at each token.
"""

import math
from collections.abc import Callable, Iterator

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from mamba_edu._checks import check_counts, check_interval
from mamba_edu.steps import softplus_step

SHORTEST, LONGEST = 1e-4, 0.1  # the step sizes that a fresh block may have
FAR, HALVINGS, NEAR = 40.0, 80, 0.01  # raw steps to look among, how often, and how near is right


class StepProjection(nn.Module):
    """Map delta_rank numbers to the raw step size of each channel: delta_raw = W low + bias.

    It is no nn.Linear, so that an init which walks through those does not find it. The names in
    the state dict are the same.

    Args:
        delta_rank: how many numbers x_proj makes of a token for its step sizes.
        d_inner: the number of channels.
        delta_range: shortest and longest step size at the start.
        step_rule: what makes steps of the raw ones; the bias starts where it gives such steps.

    Raises:
        ValueError: if the rule gives no such steps: every channel would stand still, or run.

    Source: the official code of Gu & Dao 2023 (arXiv:2312.00752), mamba_simple.py.
    """

    def __init__(
        self,
        delta_rank: int,
        d_inner: int,
        delta_range: tuple[float, float],
        step_rule: Callable[[Tensor], Tensor] = softplus_step,
    ):
        super().__init__()
        check_counts(1, delta_rank=delta_rank, d_inner=d_inner)
        weight = torch.empty(d_inner, delta_rank).uniform_(-1, 1) / math.sqrt(delta_rank)
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(invert_rule(step_rule, draw_steps(d_inner, delta_range)))

    def forward(
        self, low: Float[Tensor, "batch length delta_rank"]
    ) -> Float[Tensor, "batch length d_inner"]:
        """Project the few numbers to all channels."""
        return F.linear(low, self.weight, self.bias)


def draw_steps(
    d_inner: int, delta_range: tuple[float, float] = (1e-3, 0.1)
) -> Float[Tensor, " d_inner"]:
    """Draw step sizes whose logarithms are uniform, from torch's global generator.

    Raises:
        TypeError: if a bound is not a number.
        ValueError: if a bound is not above 0, or they are swapped.
    """
    check_counts(1, d_inner=d_inner)
    low, high = delta_range
    check_interval(**{"delta_range[0]": low, "delta_range[1]": high})
    if low > high:
        raise ValueError(f"delta_range must be (shortest, longest); it is {delta_range}")
    return torch.empty(d_inner).uniform_(math.log(low), math.log(high)).exp()


def invert_softplus(delta: Float[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Find the number whose softplus is delta: log(exp(delta) - 1), for any delta above 0."""
    return delta + torch.log(-torch.expm1(-delta))


@torch.no_grad()
def invert_rule(
    step_rule: Callable[[Tensor], Tensor], delta: Float[Tensor, " d_inner"]
) -> Float[Tensor, " d_inner"]:
    """Find the raw steps of which a rule makes delta, by halving what they lie between.

    Args:
        step_rule: a rule that does not fall: a larger raw step gives no smaller step.
        delta: step sizes above 0.

    Raises:
        ValueError: if it comes within 1 % of one of them nowhere between -40 and 40.
    """
    if step_rule is softplus_step:
        return invert_softplus(delta)
    low, high = (torch.full_like(delta, edge, dtype=torch.float64) for edge in (-FAR, FAR))
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        is_low = step_rule(middle) < delta
        low, high = torch.where(is_low, middle, low), torch.where(is_low, high, middle)
    found = step_rule(high)
    if not ((found - delta).abs() <= NEAR * delta).all():
        raise ValueError(
            f"step_rule must be able to make steps of {delta.min():.3g} to {delta.max():.3g}, "
            f"which the block is to start with; the nearest are {found.min():.3g} to "
            f"{found.max():.3g}"
        )
    return high.to(delta.dtype)


def start_rates(d_inner: int, d_state: int) -> Float[Tensor, "d_inner d_state"]:
    """Start A_log at log(1 .. d_state) in every channel, the S4D-real rates A = -exp(A_log)."""
    check_counts(1, d_inner=d_inner, d_state=d_state)
    return torch.arange(1, d_state + 1).float().log().repeat(d_inner, 1)


def check_health(model: nn.Module) -> list[str]:
    """Find the layers whose step sizes or rates are not those of a fresh Mamba.

    A fresh block has 1e-4 <= softplus(dt_proj.bias) <= 0.1 in every channel and
    A_log = log(1 .. d_state). Training moves both, so ask before it.

    Args:
        model: any module with Mamba blocks in it, ours or another's: a block is what has a
            dt_proj and an A_log.

    Returns:
        One line per finding, which names the layer; an empty list if all is well.

    Raises:
        ValueError: if there is no Mamba block: nothing would have been checked.
    """
    blocks = list(_walk_blocks(model))
    if not blocks:
        raise ValueError(
            f"model must hold a Mamba block, a module with dt_proj and A_log; this "
            f"{type(model).__name__} holds none"
        )
    return [
        f"{name}: {finding}" if name else finding
        for name, block in blocks
        for finding in (_judge_steps(block.dt_proj.bias), _judge_rates(block.A_log))
        if finding
    ]


def apply_alive(self: nn.Module, fn: Callable[[nn.Module], None]) -> nn.Module:
    """Apply fn to every module as nn.Module.apply does, but let it kill no step and no rate.

    Where fn leaves a dt_proj.bias or an A_log that check_health complains of, what stood there
    before is put back. To change them all the same, change them directly.

    Args:
        self: the module; a class takes this function as its `apply`.
        fn: called on every module inside, then on the module itself.

    Returns:
        The module.
    """
    blocks = [block for _, block in _walk_blocks(self)]
    before = [
        (block.dt_proj.bias.detach().clone(), block.A_log.detach().clone()) for block in blocks
    ]
    nn.Module.apply(self, fn)
    for block, (bias, A_log) in zip(blocks, before, strict=True):
        _put_back(block, bias, A_log)
    return self


def _walk_blocks(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Go through the Mamba blocks with their names."""
    for name, module in model.named_modules():
        bias = getattr(getattr(module, "dt_proj", None), "bias", None)
        if isinstance(bias, Tensor) and isinstance(getattr(module, "A_log", None), Tensor):
            yield name, module


@torch.no_grad()
def _put_back(block: nn.Module, bias: Tensor, A_log: Tensor) -> None:
    """Put back what is no longer that of a fresh block."""
    if _judge_steps(block.dt_proj.bias):
        block.dt_proj.bias.copy_(bias)
    if _judge_rates(block.A_log):
        block.A_log.copy_(A_log)


def _judge_steps(bias: Tensor) -> str:
    """Say what is wrong with the step sizes, or nothing."""
    delta = F.softplus(bias.detach().double())
    slack = 1 + _allow_rounding(bias.dtype)
    is_alive = (delta >= SHORTEST / slack) & (delta <= LONGEST * slack)
    if is_alive.all():
        return ""
    return (
        f"softplus(dt_proj.bias) must be within {SHORTEST:g} to {LONGEST:g}; it spans "
        f"{delta.min():.3g} to {delta.max():.3g}, outside in {int((~is_alive).sum())} of "
        f"{delta.numel()} channels"
    )


def _judge_rates(A_log: Tensor) -> str:
    """Say what is wrong with the rates, or nothing."""
    right = torch.arange(1, A_log.shape[1] + 1, device=A_log.device).double().log()
    is_right = (A_log.detach().double() - right).abs() <= _allow_rounding(A_log.dtype)
    if is_right.all():
        return ""
    d, n = (~is_right).nonzero()[0].tolist()
    return (
        f"A_log must be log(1 .. {len(right)}); it is not in {int((~is_right).sum())} of "
        f"{is_right.numel()} places, the first at channel {d}, state {n}: {A_log[d, n]:.3g}, not "
        f"{right[n]:.3g}"
    )


def _allow_rounding(dtype: torch.dtype) -> float:
    """Allow for a number of up to 10 in size that was rounded to float32 and then to dtype."""
    return 16 * max(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps)
