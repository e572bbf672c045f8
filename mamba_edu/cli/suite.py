"""Run everything that holds the course together, and say at the end what held."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mamba_edu.cli import parts
from mamba_edu.cli.parts import Counts


class Part(NamedTuple):
    """One part: its title, the seconds it may take on two cores, and what runs it."""

    title: str
    budget: int
    run: Callable[[Path], Counts]


PARTS = [
    Part("Style of code and notebooks (ruff)", 10, parts.run_ruff),
    Part("Unit tests", 120, parts.run_unit_tests),
    Part("Deliberate breaks, each to be caught", 120, parts.run_breaks),
    Part("Notebooks as stored (nbval)", 420, parts.run_nbval),
    Part("Notebooks with solutions put in", 180, parts.run_solutions),
    Part("Notebooks 01-03 on a plain CPU", 60, parts.run_plain_cpu),
    Part("In a real browser", 180, parts.run_browser),
]
DAILY = 2  # the first two need seconds; the rules on notebooks are among the unit tests


def run_suite(root: Path, quick: bool) -> int:
    """Run all parts, or with `quick` the first two, and print a table of what they found.

    A failed part does not stop the next. The last line counts: "N passed, N failed".

    Returns:
        0 if every part ran at least one test and none failed, else 1.
    """
    chosen = PARTS[:DAILY] if quick else PARTS
    rows = [(part, *time_part(part, root)) for part in chosen]
    print(f"\n{'':44} {'passed':>7} {'failed':>7} {'skipped':>7} {'s':>5}")
    for row in rows:
        print(write_row(*row))
    total = sum(seconds for *_, seconds in rows)
    print(f"All parts took {total:.0f} s.")
    passed = sum(counts.passed for _, counts, _ in rows)
    failed = sum(counts.failed for _, counts, _ in rows)
    print(f"{passed} passed, {failed} failed", flush=True)
    return 1 if failed else 0


def time_part(part: Part, root: Path) -> tuple[Counts, float]:
    """Run one part under its heading; whatever happens inside is counted, not raised."""
    print(f"\n== {part.title} ==", flush=True)
    start = time.perf_counter()
    try:
        counts = part.run(root)
    except Exception as error:
        counts = Counts(failed=1, note=f"{type(error).__name__}: {error}")
    if not (counts.passed or counts.failed or counts.note):  # a reasoned skip has its note
        counts = Counts(failed=1, note="no test ran, so nothing was tested")
    seconds = time.perf_counter() - start
    print(f"-- {counts.passed} passed, {counts.failed} failed, {seconds:.0f} s", flush=True)
    return counts, seconds


def write_row(part: Part, counts: Counts, seconds: float) -> str:
    """Write a part's line of the table, with what there is to say about it."""
    numbers = f"{counts.passed:7} {counts.failed:7} {counts.skipped:7} {seconds:5.0f}"
    late = f"budget {part.budget} s" if seconds > part.budget else ""
    notes = "; ".join(filter(None, [late, counts.note]))
    return f"{part.title:44} {numbers}" + (f"  {notes}" if notes else "")
