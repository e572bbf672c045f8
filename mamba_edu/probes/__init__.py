"""What goes on inside: the true hidden state, how long it remembers, and what reaches it."""

from mamba_edu.probes.attention import measure_hidden_attention
from mamba_edu.probes.blocks import BlockSignals, read_block
from mamba_edu.probes.groups import Steps, group_steps, mark_tokens
from mamba_edu.probes.halves import apply_halves
from mamba_edu.probes.influence import measure_influence, open_classifier
from mamba_edu.probes.margins import Constancy, measure_constancy, measure_margins
from mamba_edu.probes.memory import (
    measure_half_lives,
    measure_state_norms,
    measure_survival_share,
)
from mamba_edu.probes.numbers import count_written
from mamba_edu.probes.race import (
    LANES,
    Combination,
    find_states,
    plan_chunked,
    plan_sequential,
    plan_tree,
    race_scans,
    run_plan,
)
from mamba_edu.probes.scales import SCALES, Trace, trace_scales
from mamba_edu.probes.states import (
    measure_survival,
    rank_channels,
    rank_openings,
    rank_states,
    trace_scan,
)

__all__ = [
    "LANES",
    "SCALES",
    "BlockSignals",
    "Combination",
    "Constancy",
    "Steps",
    "Trace",
    "apply_halves",
    "count_written",
    "find_states",
    "group_steps",
    "mark_tokens",
    "measure_constancy",
    "measure_half_lives",
    "measure_hidden_attention",
    "measure_influence",
    "measure_margins",
    "measure_state_norms",
    "measure_survival",
    "measure_survival_share",
    "open_classifier",
    "plan_chunked",
    "plan_sequential",
    "plan_tree",
    "race_scans",
    "rank_channels",
    "rank_openings",
    "rank_states",
    "read_block",
    "run_plan",
    "trace_scales",
    "trace_scan",
]
