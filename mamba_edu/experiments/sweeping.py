"""Run every setting with every seed, keep each result at once, and take up work left undone."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch

from mamba_edu._checks import check_counts
from mamba_edu.experiments.tables import Row, read_table, write_table

Run = tuple[str, int]


class Sweep(NamedTuple):
    """A grid of runs.

    Fields:
        run: called as run(seed=seed, **keywords of a setting); returns what it measured, numbers
            by name, such as accuracy and n_sequences.
        settings: the name of each setting -> its keywords.
        seeds: every setting is run with each of them.
    """

    run: Callable[..., Mapping[str, int | float]]
    settings: Mapping[str, Mapping[str, Any]]
    seeds: Sequence[int] = (0, 1, 2, 3, 4)


def run_sweep(
    sweep: Sweep,
    path: Path,
    jobs: int = 1,
    fresh: bool = False,
    tell: Callable[[Row, int], None] | None = None,
) -> list[Row]:
    """Make those runs of a grid that its table lacks, and add each to the table as it ends.

    Stopped anywhere, the next call goes on: what is in the table is not run again, and a run that
    had not ended leaves no trace. One call at a time may write to a table.

    Args:
        sweep: the grid.
        path: its table, a CSV file.
        jobs: how many runs at a time, each in a process of its own with one thread.
        fresh: forget the table and start over.
        tell: called after each run with its row and how many are left.

    Returns:
        The rows in the order of the grid, whatever the order in which the runs ended.

    Raises:
        TypeError: if jobs is not an int.
        ValueError: if jobs is below 1, the table is broken, or it holds runs that are not of this
            grid or were made with other keywords; fresh=True forgets them.
    """
    check_counts(1, jobs=jobs)
    runs = [(setting, seed) for setting in sweep.settings for seed in sweep.seeds]
    rows = {} if fresh or not path.exists() else _collect_rows(sweep, read_table(path))
    left = [run for run in runs if run not in rows]
    for count, row in enumerate(_make_runs(sweep, left, jobs), start=1):
        rows[row["setting"], row["seed"]] = row
        write_table(path, [rows[run] for run in runs if run in rows])
        if tell is not None:
            tell(row, len(left) - count)
    return [rows[run] for run in runs]


def _collect_rows(sweep: Sweep, rows: Sequence[Row]) -> dict[Run, Row]:
    """Index the rows by their run, and refuse those that this grid would not make."""
    for row in rows:
        setting, seed = row["setting"], row["seed"]
        if setting not in sweep.settings or seed not in sweep.seeds:
            raise ValueError(f"the table holds {setting!r}, seed {seed}, which is not in the grid")
        plan = _write_plan(sweep.settings[setting])
        if row["plan"] != plan:
            raise ValueError(
                f"the table's {setting!r}, seed {seed}, was made with {row['plan']!r}; the grid "
                f"now says {plan!r}: start afresh"
            )
    return {(row["setting"], row["seed"]): row for row in rows}


def _make_runs(sweep: Sweep, runs: Sequence[Run], jobs: int) -> Iterator[Row]:
    """Make the runs, some at a time, and hand out each row as it is ready."""
    if jobs == 1:
        return (_make_row(sweep, *run) for run in runs)
    from joblib import Parallel, delayed  # here, so that the maths imports without joblib

    pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
    return pool(delayed(_make_row)(sweep, *run) for run in runs)


def _make_row(sweep: Sweep, setting: str, seed: int) -> Row:
    """Make one run on one thread, and write down how it was made and what it took."""
    threads, start = torch.get_num_threads(), time.process_time()
    torch.set_num_threads(1)  # small models: several threads wait more than they help
    try:
        measured = sweep.run(seed=seed, **sweep.settings[setting])
    finally:
        torch.set_num_threads(threads)
    return {
        "setting": setting,
        "seed": seed,
        "plan": _write_plan(sweep.settings[setting]),
        "torch": str(torch.__version__),
        "cpu_seconds": round(time.process_time() - start, 1),
        **measured,
    }


def _write_plan(keywords: Mapping[str, Any]) -> str:
    """Write the keywords of a setting on one line."""
    return " ".join(f"{name}={value}" for name, value in keywords.items())
