"""What the rows of a table come to, setting by setting and length by length."""

from collections.abc import Sequence
from typing import NamedTuple

from mamba_edu.experiments.counts import find_count, list_counts
from mamba_edu.experiments.intervals import bootstrap_interval
from mamba_edu.experiments.tables import Row


class Summary(NamedTuple):
    """One setting at one length.

    Fields:
        setting: its name.
        length: as text; "" where the table says none.
        accuracy: the mean over seeds.
        low, high: its interval of 95 %, over seeds and then over sequences.
        n_seeds: how many seeds.
        n_stopped: how many of them had stopped at chance before this length; each counts with
            what it had at its last.
    """

    setting: str
    length: str
    accuracy: float
    low: float
    high: float
    n_seeds: int
    n_stopped: int


def summarize(rows: Sequence[Row]) -> list[Summary]:
    """Sum the rows of a table up.

    Returns:
        A Summary for each setting and each length that at least one of its seeds was asked at, in
        the order of the table.
    """
    summaries = []
    for setting in dict.fromkeys(row["setting"] for row in rows):
        own = [row for row in rows if row["setting"] == setting]
        asked = [list_counts(row) for row in own]
        for length in max(asked, key=len):
            counts = [find_count(row, length) for row in own]
            mean = sum(right / of for right, of in counts) / len(counts)
            stopped = sum(length not in each for each in asked)
            interval = bootstrap_interval(counts)
            summaries.append(Summary(setting, length, mean, *interval, len(own), stopped))
    return summaries
