"""A claim, its rule fixed beforehand, and the word that the measured rows earn."""

import html
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from IPython.display import display

ENOUGH_SEEDS = 5


class Claim(NamedTuple):
    """A sentence that can be wrong.

    Fields:
        key: its name in the tables.
        says: the claim, one sentence.
        measure: row -> a number that is positive when the row speaks for the claim.
        margin: how far from 0 that number must lie to count, in its own unit; fixed beforehand.
        unit: the words behind the number.
    """

    key: str
    says: str
    measure: Callable[[Mapping[str, Any]], float]
    margin: float
    unit: str = ""


class Verdict(NamedTuple):
    """The word, and what it rests on: how many seeds, and the least and largest measure."""

    word: str
    n_seeds: int
    least: float
    largest: float


def judge(claim: Claim, rows: Iterable[Mapping[str, Any]]) -> Verdict:
    """Decide a claim from its rows, by the rule that was fixed before they were measured.

    holds: every row's measure is at least the margin; fails: every one is at most minus the
    margin; depends: anything else; too few seeds: fewer than five different seeds.

    Args:
        claim: what is judged.
        rows: one per run, each with its "seed" and what the claim measures.

    Raises:
        ValueError: if a row has no seed, or its measure is not a finite number.
    """
    rows = list(rows)
    missing = [i for i, row in enumerate(rows) if "seed" not in row]
    if missing:
        raise ValueError(f"every row must name its 'seed'; rows {missing} have none")
    measures = [float(claim.measure(row)) for row in rows]
    for row, measure in zip(rows, measures, strict=True):
        if not abs(measure) < float("inf"):
            raise ValueError(f"the measure must be finite; seed {row['seed']} gives {measure}")
    n_seeds = len({row["seed"] for row in rows})
    if n_seeds < ENOUGH_SEEDS:
        word = "too few seeds"
    elif min(measures) >= claim.margin:
        word = "holds"
    elif max(measures) <= -claim.margin:
        word = "fails"
    else:
        word = "depends"
    return Verdict(word, n_seeds, min(measures, default=0.0), max(measures, default=0.0))


def verdict(claim: Claim, rows: Iterable[Mapping[str, Any]]) -> None:
    """Show a claim with the word that its rows earn, its margin and its spread over seeds."""
    found = judge(claim, rows)
    unit = f" {claim.unit}" if claim.unit else ""
    spread = f"from {found.least:.2f} to {found.largest:.2f}{unit}"
    rests = f"{found.n_seeds} seeds, {spread}; margin fixed beforehand: {claim.margin:g}{unit}"
    if not found.n_seeds:
        rests = "no rows"
    judged = f"<b>Verdict: {found.word}</b> ({html.escape(rests)})"
    kind = {"holds": "success", "fails": "danger"}.get(found.word, "warning")
    page = (
        f'<div class="alert alert-block alert-{kind}">{html.escape(claim.says)}<br>{judged}</div>'
    )
    plain = f"{claim.says}\nVerdict: {found.word} ({rests})"
    display({"text/html": page, "text/plain": plain}, raw=True)
