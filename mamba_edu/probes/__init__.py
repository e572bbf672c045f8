"""What goes on inside: the true hidden state, how long it remembers, and what reaches it."""

from mamba_edu.probes.blocks import BlockSignals, read_block
from mamba_edu.probes.scales import SCALES, Trace, trace_scales
from mamba_edu.probes.states import (
    measure_survival,
    rank_channels,
    rank_openings,
    rank_states,
    trace_scan,
)

__all__ = [
    "SCALES",
    "BlockSignals",
    "Trace",
    "measure_survival",
    "rank_channels",
    "rank_openings",
    "rank_states",
    "read_block",
    "trace_scales",
    "trace_scan",
]
