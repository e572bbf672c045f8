"""How far the mean over all seeds may lie from the mean over the few that were run."""

import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from mamba_edu._checks import check_counts

Count = tuple[int, int]  # right, of how many


def bootstrap_interval(
    counts: Sequence[Count], level: float = 0.95, n_draws: int = 10_000, seed: int = 0
) -> tuple[float, float]:
    """Bootstrap the mean accuracy over seeds, then over sequences.

    A draw takes as many seeds as there are, with replacement, and of each its sequences, with
    replacement. Few seeds spread too little among themselves: the interval is as much wider than
    the draws' own percentiles as a t interval is wider than a normal one. It is never narrower
    than if all sequences were of one seed, so that all right of many is not taken for certainty.

    Args:
        counts: for each seed, how many sequences were right and how many there were.
        level: how often such intervals hold the mean over all seeds.
        n_draws: how many draws.
        seed: of the draws.

    Returns:
        The lower and the upper end; 0 and 1 for a single seed, which says nothing of others.

    Raises:
        ValueError: if there is no seed, a count is impossible or the level is out of range.

    Source: Efron & Tibshirani 1993, An Introduction to the Bootstrap, Chapter 8; Hesterberg 2015
    (arXiv:1411.5279), Section 4, for the expanded percentiles.
    """
    right, of = _read_counts(counts, level)
    n_seeds = len(right)
    if n_seeds == 1:
        return 0.0, 1.0
    rng = np.random.default_rng(seed)
    picked = rng.integers(n_seeds, size=(n_draws, n_seeds))
    drawn = rng.binomial(of[picked], (right / of)[picked]) / of[picked]
    wide = math.sqrt(n_seeds / (n_seeds - 1)) * invert_t(level, n_seeds - 1)
    tail = NormalDist().cdf(-wide)
    low, high = np.quantile(drawn.mean(1), [tail, 1 - tail])
    least, largest = pool_interval(counts, level)
    return float(min(low, least)), float(max(high, largest))


def pool_interval(counts: Sequence[Count], level: float = 0.95) -> tuple[float, float]:
    """Compute the interval as if all sequences had been classified by one model.

    It is too narrow as soon as seeds differ: what it leaves out is what the next seed will do.

    Args and errors as in bootstrap_interval.

    Source: Wilson 1927, Probable Inference, JASA 22, for one share of n independent trials.
    """
    right, of = _read_counts(counts, level)
    n = int(of.sum())
    share, z = int(right.sum()) / n, NormalDist().inv_cdf((1 + level) / 2)
    middle = share + z * z / (2 * n)
    reach = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    low, high = ((middle + sign * reach) / (1 + z * z / n) for sign in (-1, 1))
    return max(0.0, low), min(1.0, high)


def predict_interval(
    counts: Sequence[Count], n_sequences: int, level: float = 0.99
) -> tuple[float, float]:
    """Predict the accuracy of one more seed from those that were run.

        mean -+ t * s * sqrt(1 + 1/n_seeds)

    The spread s is the one between the seeds, but at least what chance among the new run's
    sequences makes, with one more right and one more wrong than were counted.

    Args:
        counts, level: as in bootstrap_interval; at least two seeds.
        n_sequences: how many sequences the new run is asked.

    Returns:
        The lower and the upper end, from 0 to 1.

    Raises:
        TypeError: if n_sequences is not an int.
        ValueError: if there are not two seeds, or as in bootstrap_interval.
    """
    check_counts(1, n_sequences=n_sequences)
    right, of = _read_counts(counts, level)
    n_seeds = len(right)
    if n_seeds < 2:
        raise ValueError("counts must be of at least two seeds; there is one")
    shares = right / of
    likely = (right.sum() + 1) / (of.sum() + 2)
    spread = max(shares.std(ddof=1), math.sqrt(likely * (1 - likely) / n_sequences))
    reach = invert_t(level, n_seeds - 1) * spread * math.sqrt(1 + 1 / n_seeds)
    return max(0.0, float(shares.mean() - reach)), min(1.0, float(shares.mean() + reach))


def invert_t(level: float, n_free: int) -> float:
    """Find how far from 0 a t distribution keeps so much of itself, by five terms of a series.

    Args:
        level: how much, between 0 and 1.
        n_free: degrees of freedom; within 1 % for 4 or more at 0.99, too small for less than 3.

    Source: Abramowitz & Stegun 1964, Handbook of Mathematical Functions, 26.7.5.
    """
    z, v = NormalDist().inv_cdf((1 + level) / 2), n_free
    return (
        z
        + (z**3 + z) / (4 * v)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * v**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * v**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * v**4)
    )


def _read_counts(counts: Sequence[Count], level: float) -> tuple[np.ndarray, np.ndarray]:
    """Refuse counts that cannot be, and split them into what was right and of how many."""
    if not 0 < level < 1:
        raise ValueError(f"level must be between 0 and 1; it is {level}")
    if not counts:
        raise ValueError("counts must be of at least one seed; there is none")
    for right, of in counts:
        if not 0 <= right <= of or of < 1:
            raise ValueError(
                f"counts must be some of at least one sequence; one is {right} of {of}"
            )
    right, of = np.array(counts, dtype=np.int64).T
    return right, of
