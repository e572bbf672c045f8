"""What stands around the selective scan: norm, convolution, gate, residual, and a healthy start."""

from mamba_edu.layers.block import MambaBlock, MambaState
from mamba_edu.layers.convolution import convolve_depthwise
from mamba_edu.layers.norm import RMSNorm
from mamba_edu.layers.parts import take_out
from mamba_edu.layers.pretrained import load_pretrained
from mamba_edu.layers.reference import load_reference
from mamba_edu.layers.stack import MambaStack, ResidualBlock
from mamba_edu.layers.start import (
    StepProjection,
    check_health,
    draw_steps,
    invert_softplus,
    start_rates,
)
from mamba_edu.layers.stream import cut_stream, stream_pieces

__all__ = [
    "MambaBlock",
    "MambaStack",
    "MambaState",
    "RMSNorm",
    "ResidualBlock",
    "StepProjection",
    "check_health",
    "convolve_depthwise",
    "cut_stream",
    "draw_steps",
    "invert_softplus",
    "load_pretrained",
    "load_reference",
    "start_rates",
    "stream_pieces",
    "take_out",
]
