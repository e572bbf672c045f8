"""The grids whose tables come with the course, in mamba_edu/results."""

from functools import lru_cache
from pathlib import Path

from mamba_edu.experiments.block_parts import BLOCK_PARTS, CURRICULUM, STEP_STARTS
from mamba_edu.experiments.cls_position import CLS_POSITION
from mamba_edu.experiments.million import MILLION_GRID
from mamba_edu.experiments.readout_grids import HARD_GRID, LONG_GRID, READOUT_GRID, SCALE_GRID
from mamba_edu.experiments.recipe import RECIPE
from mamba_edu.experiments.signals import SIGNALS
from mamba_edu.experiments.star import STAR
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.experiments.tables import Row, read_table
from mamba_edu.experiments.taus import TAU_GRID

RESULTS = Path(__file__).parents[1] / "results"
SWEEPS: dict[str, Sweep] = {
    "block_parts": BLOCK_PARTS,
    "cls_position": CLS_POSITION,
    "curriculum": CURRICULUM,
    "hard_tasks": HARD_GRID,
    "long": LONG_GRID,
    "million": MILLION_GRID,
    "readouts": READOUT_GRID,
    "recipe": RECIPE,
    "scale": SCALE_GRID,
    "signals": SIGNALS,
    "star": STAR,
    "step_starts": STEP_STARTS,
    "taus": TAU_GRID,
}


def load_results(name: str) -> list[Row]:
    """Load a table that comes with the course: a row for each run, of each setting and seed.

    Raises:
        ValueError: for a name that is none of `SWEEPS`, or a broken line, with its number.
        FileNotFoundError: if the table is missing, with the command that makes it.
    """
    if name not in SWEEPS:
        raise ValueError(f"name must be one of {sorted(SWEEPS)}; it is {name!r}")
    path = RESULTS / f"{name}.csv"
    version = path.stat().st_mtime_ns if path.exists() else 0
    return [dict(row) for row in _read_once(path, version)]


@lru_cache
def _read_once(path: Path, version: int) -> list[Row]:
    """Read a table unless it was read: a notebook asks for each some twenty times."""
    return read_table(path)
