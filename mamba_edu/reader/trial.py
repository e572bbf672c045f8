"""A claim, its rule fixed beforehand, and the word that the measured rows earn."""

import html
import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from IPython.display import display

from mamba_edu.reader.claim import Claim, require_claim
from mamba_edu.reader.claims import CLAIMS

ENOUGH_SEEDS = 5
INK = "#212121"  # on each ground below; front ends' own colours are too pale in a dark theme
GROUNDS = {"success": "#c8e6c9", "danger": "#ffcdd2", "warning": "#ffe0b2"}


class Verdict(NamedTuple):
    """The word, and what it rests on: how many seeds, and the least and largest measure."""

    word: str
    n_seeds: int
    least: float
    largest: float


def require_rows(rows: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Refuse rows that are no mappings, or do not say from which seed they come."""
    rows = list(rows) if isinstance(rows, Iterable) else [rows]
    for i, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise TypeError(f"rows must be mappings, such as dicts; row {i} is {row!r}")
        if not isinstance(row.get("seed"), numbers.Integral):
            raise ValueError(f"every row must have a whole number as its 'seed'; row {i} is {row}")
    return rows


def measure_row(claim: Claim, row: Mapping[str, Any]) -> float:
    """Measure one row, or say which row cannot be measured and why."""
    try:
        measure = float(claim.measure(row))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{claim.key} needs other columns; seed {row['seed']} has {sorted(row)} and gives "
            f"{error!r}"
        ) from error
    if not math.isfinite(measure):
        raise ValueError(f"the measure must be finite; seed {row['seed']} gives {measure}")
    return measure


def judge(claim: Claim, rows: Iterable[Mapping[str, Any]]) -> Verdict:
    """Decide a claim from its rows, by the rule that was fixed before they were measured.

    holds: every row's measure is at least the margin; fails: every one is at most minus the
    margin; depends: anything else; too few seeds: fewer than five different seeds.

    Args:
        claim: what is judged.
        rows: one per run, each with its "seed" and what the claim measures.

    Raises:
        TypeError: if `claim` is no `Claim`, its measure no function, its unit no text, or a row
            no mapping.
        ValueError: if the claim's words are missing, the margin is not above 0, a row lacks its
            seed or what is measured, or its measure is not a finite number.
    """
    require_claim(claim)
    rows = require_rows(rows)
    measures = [round(measure_row(claim, row), 9) for row in rows]  # 1 - 0.8 is 0.2 here
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


def find_rows(claim: Claim) -> Iterable[Mapping[str, Any]]:
    """Fetch the rows of the shipped tables that decide a claim.

    Raises:
        ValueError: for a claim whose rows a notebook makes.
    """
    if claim.rows is None:
        raise ValueError(f"{claim.key} must be given rows; no table that ships holds them")
    return claim.rows()


def write_spread(found: Verdict, margin: float) -> str:
    """Write the least and largest measure to two digits; to more if that would cross the margin."""
    ends = found.least, found.largest
    sides = [(end >= margin, end <= -margin) for end in ends]
    for digits in range(2, 9):
        least, largest = (round(end, digits) + 0.0 for end in ends)
        if sides == [(end >= margin, end <= -margin) for end in (least, largest)]:
            break
    return f"from {least:.{digits}f} to {largest:.{digits}f}"


def verdict(claim: Claim | str, rows: Iterable[Mapping[str, Any]] | None = None) -> None:
    """Show a claim with the word that its rows earn, its margin and its spread over seeds.

    Args:
        claim: a claim, or the key of one in the table of claims.
        rows: as judge takes them; those of the shipped tables if not given.

    Raises:
        ValueError: for a key that is not in the table, or as judge and find_rows.
    """
    if isinstance(claim, str):
        if claim not in CLAIMS:
            raise ValueError(f"claim must be one of {sorted(CLAIMS)}; it is {claim!r}")
        claim = CLAIMS[claim]
    require_claim(claim)
    found = judge(claim, find_rows(claim) if rows is None else rows)
    unit = f" {claim.unit}" if claim.unit else ""
    spread = f"{write_spread(found, claim.margin)}{unit}"
    rests = f"{found.n_seeds} seeds, {spread}; margin fixed beforehand: {claim.margin:g}{unit}"
    if not found.n_seeds:
        rests = "no rows"
    judged = f"<b>Verdict: {found.word}</b> ({html.escape(rests)})"
    kind = {"holds": "success", "fails": "danger"}.get(found.word, "warning")
    style = f"color: {INK}; background-color: {GROUNDS[kind]}"
    box = f'<div class="alert alert-block alert-{kind}" style="{style}">'
    page = f"{box}{html.escape(claim.says)}<br>{judged}</div>"
    plain = f"{claim.says}\nVerdict: {found.word} ({rests})"
    display({"text/html": page, "text/plain": plain}, raw=True)
