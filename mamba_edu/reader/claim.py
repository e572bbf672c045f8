"""A claim: a sentence that can be wrong, with the rule that decides it."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from mamba_edu.experiments import list_depths, load_results, pair_results
from mamba_edu.figures.require import is_finite, require_text, require_text_or_empty

Rows = list[dict[str, Any]]
SHARE = "of the sequences"


class Claim(NamedTuple):
    """A sentence that can be wrong.

    Fields:
        key: its name in the tables.
        says: the claim, one sentence.
        measure: row -> a number that is positive when the row speaks for the claim.
        margin: how far from 0 that number must lie to count, in its own unit; fixed beforehand.
        unit: the words behind the number.
        rows: fetches the rows of the shipped tables that decide it; None where a notebook makes
            them.
    """

    key: str
    says: str
    measure: Callable[[Mapping[str, Any]], float]
    margin: float
    unit: str = ""
    rows: Callable[[], Iterable[Mapping[str, Any]]] | None = None


def require_claim(claim: Claim) -> None:
    """Refuse a claim that no rows, or any rows, could decide."""
    if not isinstance(claim, Claim):
        raise TypeError(f"claim must be a Claim of mamba_edu.exercises; got {claim!r}")
    require_text("key", claim.key)
    require_text("says", claim.says)
    require_text_or_empty(claim.key, unit=claim.unit)
    if not callable(claim.measure):
        raise TypeError(f"measure must be a function of a row; {claim.key} has {claim.measure!r}")
    if not is_finite(claim.margin) or not claim.margin > 0:
        raise ValueError(f"margin must be a number above 0; {claim.key} has {claim.margin!r}")


def gain(row: Mapping[str, Any]) -> float:
    """Measure how many more sequences are right."""
    return row["better"] - row["worse"]


def over_half(row: Mapping[str, Any]) -> float:
    """Measure how many more than half of the sequences are right."""
    return row["right"] - 0.5


def loss(row: Mapping[str, Any]) -> float:
    """Measure how many fewer sequences are right far out than near."""
    return row["near"] - row["far"]


def kept_over_half(row: Mapping[str, Any]) -> float:
    """Measure how much more than half of what is right near is still right far out."""
    return row["far"] / row["near"] - 0.5


def claim_more(
    key: str, says: str, table: str, better: str, worse: str, at: str | int = "accuracy"
) -> Claim:
    """State that one setting of a table gets more right than another, by the course's margin.

    Args:
        key, says: as a Claim has them.
        table: as load_results takes it.
        better, worse: two settings of it.
        at: the length, or the column, at which they are compared.
    """

    def fetch() -> Rows:
        return pair_results(table, at, better=better, worse=worse)

    return Claim(key, says, gain, 0.2, SHARE, fetch)


def claim_enough(
    key: str, says: str, table: str, setting: str, at: str | int = "accuracy"
) -> Claim:
    """State that a setting gets more than half right, by the margin. Args as claim_more's."""

    def fetch() -> Rows:
        return pair_results(table, at, right=setting)

    return Claim(key, says, over_half, 0.2, "above half", fetch)


def claim_loss(key: str, says: str, table: str, setting: str, near: int, far: int) -> Claim:
    """State that a setting gets fewer right at a far length than at a near one, by the margin.

    Args:
        key, says, table: as claim_more takes them.
        setting: one of the table.
        near, far: lengths.
    """

    def fetch() -> Rows:
        lengths = {"near": near, "far": far}
        columns = {name: pair_results(table, n, right=setting) for name, n in lengths.items()}
        pairs = zip(columns["near"], columns["far"], strict=True)
        return [{"seed": a["seed"], "near": a["right"], "far": b["right"]} for a, b in pairs]

    return Claim(key, says, loss, 0.2, SHARE, fetch)


def claim_kept(*args: str | int) -> Claim:
    """State that most of what is right near is right far out. Args as claim_loss's."""
    return claim_loss(*args)._replace(measure=kept_over_half, unit="above half")


def claim_signal(
    key: str,
    says: str,
    readout: str,
    measure: Callable[[Mapping[str, Any]], float],
    margin: float = 0.2,
    unit: str = "above half",
) -> Claim:
    """State what the signals of a needle do under a read-out.

    Args:
        key, says, measure, margin, unit: as a Claim has them; rows are those of the table signals.
        readout: as its settings name it.
    """

    def fetch() -> Rows:
        return [row for row in load_results("signals") if row["setting"] == f"needle, {readout}"]

    return Claim(key, says, measure, margin, unit, fetch)


def claim_each(key: str, says: str, claims: Iterable[Claim]) -> Claim:
    """State several claims of one kind at once: each must have its margin in every row."""
    claims = list(claims)

    def fetch() -> Rows:
        return [row for claim in claims for row in claim.rows()]

    return claims[0]._replace(key=key, says=says, rows=fetch)


def reverse(claim: Claim, unit: str) -> Claim:
    """State the contrary of a claim: what speaks for it speaks against this one."""
    return claim._replace(measure=lambda row: -claim.measure(row), unit=unit)


def claim_nearer(
    key: str, says: str, setting: str, near: Sequence[int], far: Sequence[int]
) -> Claim:
    """State that more needles are found where they lie in some eighths of the depth than in others.

    Args:
        key, says: as a Claim has them.
        setting: one of the table of read-outs.
        near, far: eighths, counted from 1, the front: where more are found, and where fewer.
    """

    def fetch() -> Rows:
        rows = [row for row in load_results("readouts") if row["setting"] == setting]
        found = {row["seed"]: list_depths(row) for row in rows}
        return [
            {"seed": seed, "better": share_right(depths, near), "worse": share_right(depths, far)}
            for seed, depths in sorted(found.items())
        ]

    return Claim(key, says, gain, 0.2, SHARE, fetch)


def share_right(depths: Sequence[tuple[int, int]], eighths: Sequence[int]) -> float:
    """Measure which share is right in some eighths of the depth, counted from 1."""
    right, of = zip(*(depths[eighth - 1] for eighth in eighths), strict=True)
    return sum(right) / sum(of)
