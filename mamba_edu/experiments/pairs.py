"""Settings of a shipped table side by side, seed by seed."""

from mamba_edu.experiments.counts import find_count
from mamba_edu.experiments.shipped import load_results
from mamba_edu.experiments.star import unfold_star
from mamba_edu.experiments.tables import Row


def pair_results(
    table: str, measure: str | int = "accuracy", /, **settings: str
) -> list[dict[str, int | float]]:
    """Set what several settings of a shipped table measured side by side, a row for each seed.

    Args:
        table: as load_results takes it. A setting of the star ends in the way it was used.
        measure: the column that is taken; or a length, for the share of sequences that is right
            there. A run that had stopped at chance counts with its last share.
        settings: the name of a column to come -> a setting of the table.

    Returns:
        A row for each seed, with its "seed" and each column.

    Raises:
        ValueError: if the table lacks a setting, the column, or a seed in one of the settings.
    """
    rows = load_results(table)
    rows = unfold_star(rows) if table == "star" else rows
    columns = {}
    for name, setting in settings.items():
        found = [row for row in rows if row["setting"] == setting]
        column = f"right_{measure}" if isinstance(measure, int) else measure
        if not found or column not in found[0]:
            what = repr(setting) if not found else f"the column {column!r}"
            raise ValueError(f"{table} must have {what}; it has no such")
        columns[name] = {row["seed"]: _measure(row, measure) for row in found}
    seeds = [set(column) for column in columns.values()]
    if any(own != seeds[0] for own in seeds):
        raise ValueError(f"{table} must have the same seeds in each of {list(settings.values())}")
    return [
        {"seed": seed, **{name: column[seed] for name, column in columns.items()}}
        for seed in sorted(set().union(*seeds))
    ]


def _measure(row: Row, measure: str | int) -> float:
    """Take a column, or the share of sequences that is right at a length."""
    if isinstance(measure, str):
        return row[measure]
    right, of = find_count(row, measure)
    return right / of
