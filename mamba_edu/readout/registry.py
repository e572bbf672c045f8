"""All read-outs by their names, as tables and checkpoints call them."""

from collections.abc import Callable

from torch import nn

from mamba_edu._checks import check_counts
from mamba_edu.readout.cls import ReadCLS
from mamba_edu.readout.content import ReadAttention, ReadCLSAndMax, ReadLengthMix
from mamba_edu.readout.pools import ReadGated, ReadLast, ReadMax, ReadMean
from mamba_edu.readout.registers import ReadHierarchy, ReadRegisters
from mamba_edu.readout.state import ReadState

READOUTS: dict[str, Callable[[int, int, int], nn.Module]] = {
    "cls_first": lambda *sizes: ReadCLS("first"),
    "cls_middle": lambda *sizes: ReadCLS("middle"),
    "cls_last": lambda *sizes: ReadCLS("last"),
    "cls_both": lambda *sizes: ReadCLS("both"),
    "last": lambda *sizes: ReadLast(),
    "state": ReadState,
    "mean": lambda *sizes: ReadMean(),
    "max": lambda *sizes: ReadMax(),
    "attention": lambda d_model, d_inner, d_state: ReadAttention(d_model),
    "gated": lambda d_model, d_inner, d_state: ReadGated(d_model),
    "length_mix": lambda *sizes: ReadLengthMix(),
    "registers_last": lambda d_model, d_inner, d_state: ReadRegisters(d_model, "last"),
    "registers_mean": lambda d_model, d_inner, d_state: ReadRegisters(d_model, "mean"),
    "registers_max": lambda d_model, d_inner, d_state: ReadRegisters(d_model, "max"),
    "registers_concat": lambda d_model, d_inner, d_state: ReadRegisters(d_model, "concat"),
    "hierarchy_max": lambda d_model, d_inner, d_state: ReadRegisters(d_model, "max", True),
    "hierarchy_mamba": ReadHierarchy,
    "heading_average": lambda *sizes: ReadCLS("last", heading=True),
    "cls_and_max": lambda d_model, d_inner, d_state: ReadCLSAndMax(d_model),
}


def make_readout(name: str, d_model: int, d_inner: int, d_state: int) -> nn.Module:
    """Make the read-out of this name, for a backbone of these sizes.

    Args:
        name: one of READOUTS.
        d_model: channels of an output.
        d_inner: channels of the hidden state.
        d_state: numbers in each of them.

    Raises:
        TypeError: if a size is not an int.
        ValueError: for another name, or a size below 1.
    """
    if name not in READOUTS:
        raise ValueError(f"readout must be one of {sorted(READOUTS)}; it is {name!r}")
    check_counts(1, d_model=d_model, d_inner=d_inner, d_state=d_state)
    return READOUTS[name](d_model, d_inner, d_state)
