"""Run every setting with every seed, keep each result at once, and take up work left undone."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from mamba_edu._checks import check_counts, check_interval
from mamba_edu.experiments.locks import hold_table
from mamba_edu.experiments.tables import Row, read_table, write_table
from mamba_edu.experiments.workers import Run, make_rows, write_plan


class Sweep(NamedTuple):
    """A grid of runs.

    Fields:
        run: called as run(seed=seed, **keywords of a setting); returns what it measured, numbers
            by name, such as accuracy and n_sequences, or right_128 and n_128.
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
    only: str = "",
    minutes: float | None = None,
    dask: str | None = None,
) -> list[Row]:
    """Make those runs of a grid that its table lacks, and add each to the table as it ends.

    Stopped anywhere, the next call goes on: what is in the table is not run again, and a run that
    had not ended leaves no trace. One call at a time may write to a table.

    Args:
        sweep: the grid.
        path: its table, a CSV file.
        jobs: how many runs at a time, each in a process of its own with one thread.
        fresh: forget what the table holds of the settings that are asked for, and start over.
        tell: called after each run with its row and how many are left.
        only: a word; only settings that hold it are asked for.
        minutes, dask: as make_rows takes them.

    Returns:
        The rows that are asked for in the order of the grid, whatever the order in which the runs
        ended; all of them, unless `minutes` was too short.

    Raises:
        TypeError: if jobs is not an int.
        ValueError: if jobs is below 1, minutes not above 0, no setting holds the word, the table
            is broken, or it holds runs that are not of this grid or were made with other keywords;
            fresh=True forgets them.
        BlockingIOError: if another process writes to the table.
    """
    check_counts(1, jobs=jobs)
    if minutes is not None:
        check_interval(minutes=minutes)
    asked = list_runs(sweep, only)
    forget = asked if fresh else ()
    rows = collect_rows(sweep, path, forget)
    if any(run not in rows for run in asked):
        with hold_table(path):
            rows = collect_rows(sweep, path, forget)  # again: another may have written meanwhile
            left = [run for run in asked if run not in rows]
            made = make_rows(sweep.run, sweep.settings, left, jobs, minutes, dask)
            _keep_rows(list_runs(sweep), rows, made, path, len(left), tell)
    return [rows[run] for run in asked if run in rows]


def list_runs(sweep: Sweep, only: str = "") -> list[Run]:
    """List the runs of a grid, setting by setting, of those settings that hold a word.

    Raises:
        ValueError: if no setting holds it.
    """
    settings = [setting for setting in sweep.settings if only in setting]
    if not settings:
        raise ValueError(f"only must be in one of {list(sweep.settings)}; it is {only!r}")
    return [(setting, seed) for setting in settings for seed in sweep.seeds]


def collect_rows(sweep: Sweep, path: Path, forget: Collection[Run] = ()) -> dict[Run, Row]:
    """Read a table, index its rows by their run, and refuse those that this grid would not make.

    Args:
        sweep, path: as run_sweep takes them.
        forget: runs whose rows are passed over; if they are all of the grid, so is all else.

    Returns:
        The rows; none if there is no table yet.

    Raises:
        ValueError: if the table is broken, or a run is not in the grid or has another plan.
    """
    if not path.exists() or set(forget) == set(list_runs(sweep)):
        return {}
    rows = {(row["setting"], row["seed"]): row for row in read_table(path)}
    rows = {run: row for run, row in rows.items() if run not in forget}
    for (setting, seed), row in rows.items():
        if setting not in sweep.settings or seed not in sweep.seeds:
            raise ValueError(f"the table holds {setting!r}, seed {seed}, which is not in the grid")
        plan = write_plan(sweep.settings[setting])
        if row["plan"] != plan:
            raise ValueError(
                f"the table's {setting!r}, seed {seed}, was made with {row['plan']!r}; the grid "
                f"now says {plan!r}: start afresh"
            )
    return rows


def _keep_rows(
    grid: Sequence[Run],
    rows: dict[Run, Row],
    made: Iterable[Row],
    path: Path,
    left: int,
    tell: Callable[[Row, int], None] | None,
) -> None:
    """Write the table anew with each row that comes, in the order of the grid."""
    for row in made:
        rows[row["setting"], row["seed"]] = row
        write_table(path, [rows[run] for run in grid if run in rows])
        left -= 1
        if tell is not None:
            tell(row, left)


def estimate_minutes(sweep: Sweep, path: Path, only: str = "") -> tuple[list[Run], float | None]:
    """Say what would be run, and how long it would take on one core.

    A run is taken to last as long as those of its setting that are in the table did on average, or
    as all of them if there is none of its setting.

    Returns:
        The runs that are left, and their minutes of CPU; None if the table has no row to tell by.
    """
    rows = collect_rows(sweep, path)
    left = [run for run in list_runs(sweep, only) if run not in rows]
    if not rows:
        return left, None
    spent: dict[str, list[float]] = {}
    for (setting, _), row in rows.items():
        spent.setdefault(setting, []).append(row["cpu_seconds"])
    every = [seconds for each in spent.values() for seconds in each]
    likely = [spent.get(setting, every) for setting, _ in left]
    return left, sum(sum(each) / len(each) for each in likely) / 60
