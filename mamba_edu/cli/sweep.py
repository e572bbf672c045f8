"""Measure what the course shows: run its grids and store their tables."""

import time
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from mamba_edu.experiments import SWEEPS, estimate_minutes, list_counts, run_sweep
from mamba_edu.experiments.shipped import RESULTS
from mamba_edu.experiments.sweeping import list_runs
from mamba_edu.experiments.tables import Row


def sweep_grids(
    names: list[str],
    jobs: int = 1,
    fresh: bool = False,
    folder: Path = RESULTS,
    only: str = "",
    minutes: float | None = None,
    dask: str | None = None,
) -> int:
    """Run the named grids, or all; what their tables hold already is not run again.

    Returns:
        0 when all went well, whether a table is whole or the minutes are over; 2 if a name is
        unknown or no setting of any holds the word.
    """
    chosen = choose_grids(names, only)
    end = None if minutes is None else time.monotonic() + 60 * minutes
    for name in chosen:
        left = None if end is None else max((end - time.monotonic()) / 60, 1e-9)
        path, n_asked = folder / f"{name}.csv", len(list_runs(SWEEPS[name], only))
        with tqdm(total=n_asked, desc=name, unit="run", disable=None, leave=False) as bar:
            tell = make_teller(bar)
            rows = run_sweep(SWEEPS[name], path, jobs, fresh, tell, only, left, dask)
        what = f"{len(rows)} of {n_asked} runs" if len(rows) < n_asked else f"{n_asked} runs"
        print(f"{name}: {what}, in {folder.name}/{name}.csv")
    return 0 if chosen else 2


def list_left(names: list[str], only: str, jobs: int, folder: Path = RESULTS) -> int:
    """Print the runs that a sweep would make, and how long it would take; run nothing.

    Returns:
        0; 2 if a name is unknown or no setting of any holds the word.
    """
    chosen = choose_grids(names, only)
    for name in chosen:
        left, minutes = estimate_minutes(SWEEPS[name], folder / f"{name}.csv", only)
        for setting, seed in left:
            print(f"  {setting}, seed {seed}")
        time_needed = "no row yet tells how long they take"
        if minutes is not None:
            time_needed = f"about {minutes / jobs:.1f} minutes, {jobs} at a time"
        print(f"{name}: {len(left)} runs left; {time_needed}")
    return 0 if chosen else 2


def choose_grids(names: list[str], only: str = "") -> list[str]:
    """Choose the grids that are named, or all, and of those the ones that have such a setting.

    Returns:
        Their names; none, after a word on it, if a name is unknown or there is no such setting.
    """
    unknown = [name for name in names if name not in SWEEPS]
    if unknown:
        print(f"There is no grid {unknown[0]!r}; there are: {', '.join(sorted(SWEEPS))}")
        return []
    names = list(names or SWEEPS)
    chosen = [name for name in names if any(only in setting for setting in SWEEPS[name].settings)]
    if not chosen:
        print(f"No setting of {', '.join(names)} holds {only!r}; --dry-run lists what there is")
    return chosen


def make_teller(bar: tqdm) -> Callable[[Row, int], None]:
    """Make what is called after each run: it prints a line and moves the bar."""

    def tell_run(row: Row, left: int) -> None:
        if bar.n == 0:
            bar.initial = bar.n = bar.total - left - 1  # what was there before is not our speed
        bar.update()
        seconds = f"{row['cpu_seconds']:.0f} s of CPU"
        run = f"{row['setting']}, seed {row['seed']}"
        line = f"  {run}: {describe_row(row)} ({seconds}); {left} left"
        bar.write(line)

    return tell_run


def describe_row(row: Row) -> str:
    """Say what share of how many sequences a run got right, at each length that was asked."""
    shares = [
        f"{right / of:.3g} of {of}{' at ' + length if length else ''}"
        for length, (right, of) in list_counts(row).items()
    ]
    return ", ".join(shares) or "nothing counted"
