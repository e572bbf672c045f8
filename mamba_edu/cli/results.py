"""Read the tables that the course shows, and run some of their rows again."""

import random
from itertools import groupby
from pathlib import Path

from mamba_edu.cli.sweep import choose_grids, describe_row
from mamba_edu.experiments import (
    SWEEPS,
    Summary,
    find_changes,
    find_strays,
    read_table,
    summarize,
    write_jobs,
)
from mamba_edu.experiments.shipped import RESULTS
from mamba_edu.experiments.tables import Row
from mamba_edu.experiments.workers import make_row

FIRST_NEW = 1_000  # seeds from here on are in no grid
N_NEW = 1_000_000


def summarize_tables(names: list[str], only: str = "", folder: Path = RESULTS) -> int:
    """Print accuracy, interval and seeds for each setting (task and read-out) and length.

    Returns:
        0; 2 if a name is unknown or no setting of any holds the word.
    """
    chosen = choose_grids(names, only)
    for name in chosen:
        print(f"{name}: mean over seeds [95 % interval, over seeds and then over sequences]")
        rows = [row for row in read_table(folder / f"{name}.csv") if only in row["setting"]]
        for setting, group in groupby(summarize(rows), key=lambda each: each.setting):
            lines = list(group)
            print(f"  {setting} ({lines[0].n_seeds} seeds)")
            print("\n".join(map(write_summary, lines)))
    return 0 if chosen else 2


def write_summary(each: Summary) -> str:
    """Write one length of a setting on one line."""
    length = f"{each.length:>7}  " if each.length else ""
    stopped = f"  {each.n_stopped} stopped before" if each.n_stopped else ""
    return f"    {length}{each.accuracy:.3f} [{each.low:.3f}, {each.high:.3f}]{stopped}"


def print_jobs() -> int:
    """Print which read-out does which job, as the README holds it.

    Returns:
        0.
    """
    print(write_jobs())
    return 0


def verify_tables(names: list[str], only: str = "", n_runs: int = 2, folder: Path = RESULTS) -> int:
    """Run some rows of each table again, and as many settings with a seed that is in no table.

    Returns:
        0 if each row came out as it stands, to two sequences; 1 if one did not; 2 if a name is
        unknown or no setting of any holds the word. A new seed that lies elsewhere is a warning.

    Raises:
        ValueError: if n_runs is below 1.
    """
    if n_runs < 1:
        raise ValueError(f"--runs must be at least 1; it is {n_runs}")
    chosen, n_changed = choose_grids(names, only), 0
    for name in chosen:
        rows = [row for row in read_table(folder / f"{name}.csv") if only in row["setting"]]
        for old in random.sample(rows, min(n_runs, len(rows))):
            n_changed += repeat_run(name, old)
        settings = sorted({row["setting"] for row in rows})
        for setting in random.sample(settings, min(n_runs, len(settings))):
            try_seed(name, [row for row in rows if row["setting"] == setting])
    if n_changed:
        print(f"{n_changed} runs did not come out as they stand in the tables.")
    return 2 if not chosen else int(n_changed > 0)


def repeat_run(name: str, old: Row) -> bool:
    """Make a run of a table again, say what came of it, and tell whether it changed."""
    new = make_again(name, old["setting"], old["seed"])
    changes = find_changes(old, new)
    word = "CHANGED" if changes else "as it stands"
    print(f"  {name}, same seed: {old['setting']}, seed {old['seed']}: {word}", flush=True)
    print("".join(f"    {change}\n" for change in changes), end="")
    return bool(changes)


def try_seed(name: str, rows: list[Row]) -> None:
    """Run a setting with a seed that is in no table, and say whether the table leads there."""
    setting = rows[0]["setting"]
    new = make_again(name, setting, FIRST_NEW + random.randrange(N_NEW))
    strays = find_strays(rows, new)
    word = "WARNING, elsewhere" if strays else f"where it should be ({describe_row(new)})"
    print(f"  {name}, new seed: {setting}, seed {new['seed']}: {word}", flush=True)
    print("".join(f"    {stray}\n" for stray in strays), end="")


def make_again(name: str, setting: str, seed: int) -> Row:
    """Make one run of a grid, whatever its table holds."""
    sweep = SWEEPS[name]
    if setting not in sweep.settings:
        raise ValueError(f"{name}.csv holds {setting!r}, which is not in the grid: sweep it afresh")
    return make_row(sweep.run, sweep.settings[setting], setting, seed)
