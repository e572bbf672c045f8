"""Whether a table says what a run made today says."""

from collections.abc import Sequence

from mamba_edu.experiments.counts import find_count, list_counts
from mamba_edu.experiments.intervals import predict_interval
from mamba_edu.experiments.tables import Row, list_pairs

N_APART = 2  # sequences; another processor rounds otherwise, and a margin near 0 changes sides


def find_changes(old: Row, new: Row) -> list[str]:
    """List the counts of a run that the same run, made again, does not repeat.

    Two counts agree if they are at most two sequences apart. What only one of the two was asked is
    passed over: a run near chance may stop one length earlier.

    Args:
        old, new: rows of the same setting and seed.

    Returns:
        A sentence for each.

    Raises:
        ValueError: if the rows are of different runs.
    """
    runs = [(row["setting"], row["seed"]) for row in (old, new)]
    if runs[0] != runs[1]:
        raise ValueError(f"rows must be of the same run; they are of {runs[0]} and {runs[1]}")
    found = [{name or "all": pair for name, pair in list_counts(row).items()} for row in (old, new)]
    for each, row in zip(found, (old, new), strict=True):
        others = [pair for pair in list_pairs(row) if not pair[0].startswith("right")]
        each |= {ours: (row[ours], row[of]) for ours, of in others if row[of]}
    return [
        f"{name}: {found[0][name][0]} of {found[0][name][1]} in the table, now {right} of {of}"
        for name, (right, of) in found[1].items()
        if name in found[0]
        and (abs(right - found[0][name][0]) > N_APART or of != found[0][name][1])
    ]


def find_strays(rows: Sequence[Row], new: Row) -> list[str]:
    """List the lengths at which one more seed lies where the seeds of a table do not lead.

    Args:
        rows: of one setting, a seed each; at least two.
        new: of the same setting, with another seed.

    Returns:
        A sentence for each length outside the prediction interval of 99 %.

    Raises:
        ValueError: if there are not two rows.
    """
    strays = []
    for length, (right, of) in list_counts(new).items():
        low, high = predict_interval([find_count(row, length) for row in rows], of)
        if not low <= right / of <= high:
            where = f"length {length}" if length else "accuracy"
            strays.append(f"{where}: {right / of:.3f} of {of}, outside {low:.3f} to {high:.3f}")
    return strays
