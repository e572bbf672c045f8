"""A Mamba with a part missing, to see what the part was there for."""

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from mamba_edu.layers.block import MambaBlock
from mamba_edu.layers.stack import ResidualBlock

OPEN = 1.2784645427610738  # silu of it is 1


def take_out(model: nn.Module, part: str) -> nn.Module:
    """Take a part out of every Mamba block, in place, so that training cannot put it back.

        conv       each token looks at itself alone
        selection  delta, B and C are learned, but the same for every token
        state      nothing is read from it: y = D x
        skip       D = 0
        gate       stands open: silu(gate) = 1
        norm       tokens enter the block as large as they are

    Args:
        model: any module with our blocks in it; for the norm, with ResidualBlocks.
        part: one of these names.

    Returns:
        The model. Names of parameters stay, but for the norm's.

    Raises:
        ValueError: for another part, or a model that does not have it.
    """
    if part not in _WAYS:
        raise ValueError(f"part must be one of {sorted(_WAYS)}; it is {part!r}")
    owner, way = _WAYS[part]
    found = [module for module in model.modules() if isinstance(module, owner)]
    if not found:
        raise ValueError(
            f"model must hold a {owner.__name__}, which has the {part}; this "
            f"{type(model).__name__} holds none"
        )
    for module in found:
        way(module)
    return model


@torch.no_grad()
def _blind_conv(block: MambaBlock) -> None:
    """Let the last tap weigh the token itself by 1, and nothing else count."""
    block.conv1d.weight.zero_()[..., -1] = 1
    if block.conv1d.bias is not None:
        block.conv1d.bias.zero_()
    block.conv1d.requires_grad_(False)


def _stop_listening(block: MambaBlock) -> None:
    """Answer every token as if it were made of ones."""
    block.x_proj.register_forward_hook(
        lambda x_proj, given, _: linear(torch.ones_like(given[0]), x_proj.weight)
    )


def _stop_reading(block: MambaBlock) -> None:
    """Set C to 0, whatever the token."""
    d_state = block.A_log.shape[1]

    def forget_C(_: nn.Module, __: tuple, told: Tensor) -> Tensor:
        return torch.cat([told[..., :-d_state], torch.zeros_like(told[..., -d_state:])], dim=-1)

    block.x_proj.register_forward_hook(forget_C)


@torch.no_grad()
def _close_skip(block: MambaBlock) -> None:
    """Let nothing pass by the state."""
    block.D.zero_().requires_grad_(False)


def _open_gate(block: MambaBlock) -> None:
    """Set the gate where it multiplies by 1, whatever the token."""

    def open_gate(_: nn.Module, __: tuple, told: Tensor) -> Tensor:
        x, gate = told.chunk(2, dim=-1)
        return torch.cat([x, torch.full_like(gate, OPEN)], dim=-1)

    block.in_proj.register_forward_hook(open_gate)


def _drop_norm(layer: ResidualBlock) -> None:
    """Hand the tokens on as they are."""
    layer.norm = nn.Identity()


_WAYS = {
    "conv": (MambaBlock, _blind_conv),
    "selection": (MambaBlock, _stop_listening),
    "state": (MambaBlock, _stop_reading),
    "skip": (MambaBlock, _close_skip),
    "gate": (MambaBlock, _open_gate),
    "norm": (ResidualBlock, _drop_norm),
}
