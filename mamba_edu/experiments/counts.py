"""What a row of a table counted: so many right of so many, per length and per depth."""

from mamba_edu.experiments.tables import Row, list_pairs


def list_counts(row: Row) -> dict[str, tuple[int, int]]:
    """List what a row counted.

    Returns:
        The length, as text, -> (right, of how many), where any were asked; an accuracy without a
        length stands at "".
    """
    found = {ours: (row[ours], row[of]) for ours, of in list_pairs(row) if row[of]}
    counts = {n.removeprefix("right_"): pair for n, pair in found.items() if n.startswith("right")}
    if "accuracy" in row:
        shares = [name for name in row if name == "accuracy" or name.startswith("accuracy_")]
        n = row["n_sequences"]
        counts |= {s.removeprefix("accuracy").strip("_"): (round(row[s] * n), n) for s in shares}
    return counts


def find_count(row: Row, length: int | str) -> tuple[int, int]:
    """Find how many sequences of how many a run got right at a length.

    A run that stopped at chance was not asked any further: what it had at its last length counts
    for all that are longer.

    Args:
        row: of a table.
        length: "" for the accuracy of a table that says no length.

    Raises:
        ValueError: if the row says nothing of this length.
    """
    counts = list_counts(row)
    if f"right_{length}" in row:
        asked = [int(name) for name in counts if name.isdigit() and int(name) <= int(length)]
        length = max(asked, default=length)
    if str(length) not in counts:
        raise ValueError(f"the row must have counts at length {length}; it has {list(counts)}")
    return counts[str(length)]


def list_depths(row: Row) -> list[tuple[int, int]]:
    """List what a row counted by where the needle lay.

    Args:
        row: of the table of read-outs, on the needle task.

    Returns:
        (right, of how many) in each eighth of the depth, from the front to the back.

    Raises:
        ValueError: if the row says nothing of the depth.
    """
    names = sorted(name for name in row if name.startswith("depth_"))
    depths = [(row[name], row[f"n_{name}"]) for name in names]
    if not any(of for _, of in depths):
        raise ValueError(f"the row must have counts by depth; {row.get('setting')!r} has none")
    return depths
