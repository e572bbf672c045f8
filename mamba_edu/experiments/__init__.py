"""A grid of runs becomes a table, a row for each run; stopped anywhere, it goes on from there."""

from mamba_edu.experiments.block_parts import average_losses, run_small, start_small
from mamba_edu.experiments.cls_position import run_cls, train_cls
from mamba_edu.experiments.pairs import pair_results
from mamba_edu.experiments.shipped import SWEEPS, load_results
from mamba_edu.experiments.sweeping import Sweep, run_sweep
from mamba_edu.experiments.tables import read_table, write_table

__all__ = [
    "SWEEPS",
    "Sweep",
    "average_losses",
    "load_results",
    "pair_results",
    "read_table",
    "run_cls",
    "run_small",
    "run_sweep",
    "start_small",
    "train_cls",
    "write_table",
]
