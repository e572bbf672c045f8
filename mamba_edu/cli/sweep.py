"""Measure what the course shows: run its grids and store their tables."""

from pathlib import Path

from mamba_edu.experiments import SWEEPS, run_sweep
from mamba_edu.experiments.shipped import RESULTS
from mamba_edu.experiments.tables import FIRST, Row


def sweep_grids(names: list[str], jobs: int, fresh: bool, folder: Path = RESULTS) -> int:
    """Run the named grids, or all; what their tables hold already is not run again.

    Returns:
        0 when every table is whole, 2 if a name is unknown.
    """
    unknown = [name for name in names if name not in SWEEPS]
    if unknown:
        print(f"There is no grid {unknown[0]!r}; there are: {', '.join(sorted(SWEEPS))}")
        return 2
    for name in names or SWEEPS:
        rows = run_sweep(SWEEPS[name], folder / f"{name}.csv", jobs, fresh, tell_run)
        print(f"{name}: {len(rows)} runs, in {folder.name}/{name}.csv")
    return 0


def tell_run(row: Row, left: int) -> None:
    """Print what a run measured, how long it took and how many are left."""
    measured = ", ".join(f"{name} {row[name]:.4g}" for name in row if name not in FIRST)
    seconds = f"{row['cpu_seconds']:.0f} s of CPU"
    print(
        f"  {row['setting']}, seed {row['seed']}: {measured} ({seconds}); {left} left", flush=True
    )
