"""A grid of runs becomes a table, a row for each run; stopped anywhere, it goes on from there."""

from mamba_edu.experiments.cls_position import run_cls, train_cls
from mamba_edu.experiments.shipped import SWEEPS, load_results
from mamba_edu.experiments.sweeping import Sweep, run_sweep
from mamba_edu.experiments.tables import read_table, write_table

__all__ = [
    "SWEEPS",
    "Sweep",
    "load_results",
    "read_table",
    "run_cls",
    "run_sweep",
    "train_cls",
    "write_table",
]
