"""The claims of notebook 09, about what a state forgets; margins were set before the runs."""

import math
from collections.abc import Callable, Mapping

from mamba_edu.reader import Claim

Signals = Mapping[str, float]  # a row of the table "signals"


def make_claim(
    key: str, says: str, measure: Callable, margin: float = 0.2, unit: str = "of the sequences"
) -> Claim:
    """Make a claim of this notebook, with its margin."""
    return Claim(f"n09.{key}", says, measure, margin, unit)


def measure_slope(row: Signals, start: int, end: int) -> float:
    """Measure how steeply the signal falls between two lengths, both axes logarithmic."""
    first, last = (max(row[f"margin_{length}"], 1e-6) for length in (start, end))
    return math.log(last / first) / math.log(end / start)


def compare_steps(row: Signals) -> float:
    """Measure how many times as far the clock goes at a needle as at filler."""
    return row["delta_needle"] / row["delta_filler"]


POWER = make_claim(
    "power",
    "From 1,024 to 8,192 tokens the slope of the mean's signal is between -1.5 and -0.5.",
    lambda row: 0.5 - abs(measure_slope(row, 1024, 8192) + 1),
    unit="inside these bounds",
)
CUT_OFF = make_claim(
    "cut_off",
    "From 1,024 to 2,048 tokens the signal at CLS falls faster than 1/length.",
    lambda row: -1 - measure_slope(row, 1024, 2048),
    margin=0.5,
    unit="steeper",
)
GONE = make_claim(
    "gone",
    "At 4,096 tokens CLS has hardly any of its signal at 128 left.",
    lambda row: 0.1 - row["margin_4096"] / row["margin_128"],
    margin=0.05,
    unit="below a tenth",
)
FLAT = make_claim(
    "flat",
    "At 8,192 tokens the maximum has most of its signal at 128 left.",
    lambda row: row["margin_8192"] / row["margin_128"] - 0.5,
    unit="above half",
)
CONSTANT = make_claim(
    "constant",
    "At 8,192 tokens CLS gives one class more than half of all answers.",
    lambda row: row["share_8192"] - 0.5,
    unit="above half",
)
CONFIDENT = make_claim(
    "confident",
    "It is sure of them: their mean probability is above one half.",
    lambda row: row["sure_8192"] - 0.5,
    unit="above half",
)
NO_NOISE = make_claim(
    "no_noise",
    "What drowns the needle is no noise: that is less than twice as large at 8,192 as at 128.",
    lambda row: 2 - row["noise_8192"] / row["noise_128"],
    margin=0.5,
    unit="times below two",
)
SELECTIVE = make_claim(
    "selective",
    "Read at CLS, the clock goes at least twice as far at a needle as at filler.",
    lambda row: compare_steps(row) - 2,
    margin=0.5,
    unit="times more than two",
)
UNSELECTIVE = make_claim(
    "unselective",
    "Read by a maximum, it does not: a needle's step is less than twice that of filler.",
    lambda row: 2 - compare_steps(row),
    margin=0.5,
    unit="times below two",
)
NOT_FOR_EVER = make_claim(
    "not_for_ever",
    "Even so, at 8,192 tokens it has lost more than half of the sequences it had at 128.",
    lambda row: 0.5 - row["far"] / row["near"],
    unit="below half",
)
VOTES = make_claim(
    "votes",
    "Majority looks remembered: at 8,192 tokens CLS is right more often than a guess.",
    lambda row: row["right"] - 0.5,
)
EARLY = make_claim(
    "early",
    "Where early votes decide, it is wrong more often than a guess.",
    lambda row: 0.5 - row["right"],
)
BLIND_FRONT = make_claim(
    "blind_front",
    "Among 512 tokens CLS finds more needles in the last eighth than in the first.",
    lambda row: row["depth_8"] / row["n_depth_8"] - row["depth_1"] / row["n_depth_1"],
)
