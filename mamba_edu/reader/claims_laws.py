"""Claims about the laws by which a needle's signal fades, decided by the table `signals`."""

import math
from collections.abc import Mapping
from typing import Any

from mamba_edu.reader.claim import claim_signal

Signals = Mapping[str, Any]  # a row of the table


def measure_slope(row: Signals, start: int, end: int) -> float:
    """Measure how steeply the signal falls between two lengths, both axes logarithmic."""
    first, last = (max(row[f"margin_{length}"], 1e-6) for length in (start, end))
    return math.log(last / first) / math.log(end / start)


def measure_left(row: Signals, length: int) -> float:
    """Measure which share of its signal at 128 tokens is left at a length."""
    return row[f"margin_{length}"] / row["margin_128"]


def compare_steps(row: Signals) -> float:
    """Measure how many times as far the clock goes at a needle as at filler."""
    return row["delta_needle"] / row["delta_filler"]


LAW_CLAIMS = (
    claim_signal(
        "n09.power",
        "From 1,024 to 8,192 tokens the slope of the mean's signal is between -1.5 and -0.5.",
        "mean",
        lambda row: 0.5 - abs(measure_slope(row, 1024, 8192) + 1),
        unit="inside these bounds",
    ),
    claim_signal(
        "n09.cut_off",
        "From 1,024 to 2,048 tokens the signal at CLS falls faster than 1/length.",
        "cls_last",
        lambda row: -1 - measure_slope(row, 1024, 2048),
        margin=0.5,
        unit="steeper",
    ),
    claim_signal(
        "n09.gone",
        "At 4,096 tokens CLS has hardly any of its signal at 128 left.",
        "cls_last",
        lambda row: 0.1 - measure_left(row, 4096),
        margin=0.05,
        unit="below a tenth",
    ),
    claim_signal(
        "n09.flat",
        "At 8,192 tokens the maximum has most of its signal at 128 left.",
        "max",
        lambda row: measure_left(row, 8192) - 0.5,
    ),
    claim_signal(
        "n09.constant",
        "At 8,192 tokens CLS gives one class more than half of all answers.",
        "cls_last",
        lambda row: row["share_8192"] - 0.5,
    ),
    claim_signal(
        "n09.confident",
        "At 8,192 tokens CLS is sure of its answers: their mean probability is above one half.",
        "cls_last",
        lambda row: row["sure_8192"] - 0.5,
    ),
    claim_signal(
        "n09.no_noise",
        "What drowns the needle is no noise: that is less than twice as large at 8,192 as at 128.",
        "cls_last",
        lambda row: 2 - row["noise_8192"] / row["noise_128"],
        margin=0.5,
        unit="times below two",
    ),
    claim_signal(
        "n09.selective",
        "Read at CLS, the clock goes at least twice as far at a needle as at filler.",
        "cls_last",
        lambda row: compare_steps(row) - 2,
        margin=0.5,
        unit="times more than two",
    ),
    claim_signal(
        "n09.unselective",
        "Read by a maximum, it does not: a needle's step is less than twice that of filler.",
        "max",
        lambda row: 2 - compare_steps(row),
        margin=0.5,
        unit="times below two",
    ),
)
