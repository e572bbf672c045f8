"""A step does two things at once, it forgets and it writes: each under a rule of its own."""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn.functional import silu

from mamba_edu.layers import MambaBlock, MambaState
from mamba_edu.layers.convolution import hide_padding
from mamba_edu.scan import selective_scan
from mamba_edu.steps import AppliedRule

TINY = 1e-30  # a step of which exp(step A) is exactly 1, and that one can still divide by


def apply_halves(
    model: nn.Module, decay: Callable[[Tensor], Tensor], write: Callable[[Tensor], Tensor]
) -> AppliedRule:
    """Let what is forgotten and what is written obey different rules, in every block of ours.

        h[t] = exp(decay(delta[t]) A) h[t-1] + write(delta[t]) B[t] x[t]

    To see which half of a rule does the work: partial(snap, tau=tau) for one, torch.clone for the
    other. For use after training.

    Args:
        model: any module with our blocks in it.
        decay, write: rules for the step sizes, as in apply_step_rule.

    Returns:
        A handle, as apply_step_rule gives it.

    Raises:
        ValueError: if the model holds no block of ours.

    Source: our own.
    """
    blocks = [module for module in model.modules() if isinstance(module, MambaBlock)]
    if not blocks:
        raise ValueError(f"model must hold a MambaBlock; this {type(model).__name__} holds none")
    return AppliedRule([_put_on(block, decay, write) for block in blocks])


def _put_on(block: MambaBlock, decay: Callable, write: Callable) -> Callable[[], None]:
    """Give a block another forward, and say how to put back what was there."""
    before = {name: own for name, own in vars(block).items() if name == "forward"}

    def forward(
        tokens: Tensor,
        mask: Tensor | None = None,
        state: MambaState | None = None,
        return_state: bool = False,
    ) -> Tensor | tuple[Tensor, MambaState]:
        """Run the block as its own forward does, with two clocks."""
        x, gate, tail = block.look_back(tokens, mask, state)
        delta, B, C = block.select(x)
        clock, ink = decay(delta).clamp(min=TINY), write(delta)
        A, h = block.compute_rates(), None if state is None else state.h
        y, h = selective_scan(
            x * (ink / clock), clock, A, B, C, None, None, h, mask, block.method, True
        )
        y = hide_padding(block.out_proj((y + block.D * x) * silu(gate)), mask)
        return (y, MambaState(tail, h)) if return_state else y

    def take_off() -> None:
        vars(block).pop("forward", None)
        vars(block).update(before)

    block.forward = forward
    return take_off
