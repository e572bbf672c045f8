"""A grid of runs becomes a table, a row for each run; stopped anywhere, it goes on from there."""

from mamba_edu.experiments.block_parts import average_losses, run_small, start_small
from mamba_edu.experiments.cls_position import run_cls, train_cls
from mamba_edu.experiments.counts import find_count, list_counts, list_depths
from mamba_edu.experiments.intervals import bootstrap_interval, pool_interval, predict_interval
from mamba_edu.experiments.jobs import JOBS, tabulate_jobs, write_jobs
from mamba_edu.experiments.million import count_right, run_million
from mamba_edu.experiments.pairs import pair_results
from mamba_edu.experiments.readouts import run_readout, start_readout
from mamba_edu.experiments.recipe import describe_course, run_recipe
from mamba_edu.experiments.recipe_parts import (
    FixedRecurrence,
    pretrain_embedding,
    sample_text,
    start_cls,
)
from mamba_edu.experiments.shipped import SWEEPS, load_results
from mamba_edu.experiments.signals import (
    measure_answers,
    measure_clock,
    measure_signals,
    run_signal,
)
from mamba_edu.experiments.star import run_star, unfold_star
from mamba_edu.experiments.summary import Summary, summarize
from mamba_edu.experiments.sweeping import Sweep, estimate_minutes, run_sweep
from mamba_edu.experiments.tables import read_table, write_table
from mamba_edu.experiments.taus import name_counts, run_taus, share_snapped
from mamba_edu.experiments.verify import find_changes, find_strays

__all__ = [
    "JOBS",
    "SWEEPS",
    "FixedRecurrence",
    "Summary",
    "Sweep",
    "average_losses",
    "bootstrap_interval",
    "count_right",
    "describe_course",
    "estimate_minutes",
    "find_changes",
    "find_count",
    "find_strays",
    "list_counts",
    "list_depths",
    "load_results",
    "measure_answers",
    "measure_clock",
    "measure_signals",
    "name_counts",
    "pair_results",
    "pool_interval",
    "predict_interval",
    "pretrain_embedding",
    "read_table",
    "run_cls",
    "run_million",
    "run_readout",
    "run_recipe",
    "run_signal",
    "run_small",
    "run_star",
    "run_sweep",
    "run_taus",
    "sample_text",
    "share_snapped",
    "start_cls",
    "start_readout",
    "start_small",
    "summarize",
    "tabulate_jobs",
    "train_cls",
    "unfold_star",
    "write_jobs",
    "write_table",
]
