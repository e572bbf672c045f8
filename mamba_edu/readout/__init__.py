"""From the outputs of any backbone to one vector per sequence.

Every read-out is called as readout(outputs, mask, state) and says what it needs: cls_position,
where a CLS token must stand for it, or None; registers_every, restarts and heading, where it has
them; and d_out, how many numbers it answers with, or None for d_model.
"""

from mamba_edu.readout.cls import ReadCLS
from mamba_edu.readout.content import ReadAttention, ReadCLSAndMax, ReadLengthMix
from mamba_edu.readout.pools import ReadGated, ReadLast, ReadMax, ReadMean
from mamba_edu.readout.real import resolve_mask
from mamba_edu.readout.registers import ReadHierarchy, ReadRegisters, take_registers
from mamba_edu.readout.registry import READOUTS, make_readout
from mamba_edu.readout.state import ReadState

__all__ = [
    "READOUTS",
    "ReadAttention",
    "ReadCLS",
    "ReadCLSAndMax",
    "ReadGated",
    "ReadHierarchy",
    "ReadLast",
    "ReadLengthMix",
    "ReadMax",
    "ReadMean",
    "ReadRegisters",
    "ReadState",
    "make_readout",
    "resolve_mask",
    "take_registers",
]
