"""Intervals hold what they say they hold, where a pooled binomial does not."""

import numpy as np
import pytest
from scipy import stats

from mamba_edu.experiments import bootstrap_interval, pool_interval, predict_interval
from mamba_edu.experiments.intervals import invert_t

N_SEEDS, N_SEQUENCES, N_TRIALS = 5, 256, 200


def simulate_runs(mean, spread, rng):
    """Count what models of one kind get right whose true shares differ from seed to seed."""
    size = mean * (1 - mean) / spread**2 - 1
    shares = rng.beta(mean * size, (1 - mean) * size, N_SEEDS)
    return [(int(rng.binomial(N_SEQUENCES, share)), N_SEQUENCES) for share in shares]


@pytest.mark.parametrize(("mean", "spread"), [(0.7, 0.15), (0.9, 0.06)])
def test_the_mean_over_all_seeds_is_held_where_a_pooled_interval_loses_it(mean, spread):
    rng = np.random.default_rng(3)
    held = {bootstrap_interval: 0, pool_interval: 0}
    for _ in range(N_TRIALS):
        counts = simulate_runs(mean, spread, rng)
        for interval in held:
            low, high = interval(counts)
            held[interval] += low <= mean <= high
    assert held[bootstrap_interval] / N_TRIALS >= 0.9
    assert held[pool_interval] / N_TRIALS < 0.6


def test_an_interval_is_no_wider_than_the_seeds_differ():
    """What would hold everything says nothing: here, no wider than a t interval of the means."""
    counts = simulate_runs(0.7, 0.15, np.random.default_rng(4))
    shares = [right / of for right, of in counts]
    low, high = bootstrap_interval(counts)
    reach = stats.t.ppf(0.975, N_SEEDS - 1) * stats.sem(shares)
    assert 0.5 * reach < (high - low) / 2 < 1.1 * reach
    assert low < np.mean(shares) < high


def test_more_certainty_takes_a_wider_interval():
    counts = [(180, 256), (200, 256), (150, 256)]
    widths = [np.ptp(bootstrap_interval(counts, level)) for level in (0.5, 0.8, 0.95)]
    assert widths == sorted(widths)
    assert widths[0] < widths[2]


def test_all_right_is_no_certainty_and_one_seed_none_at_all():
    low, high = bootstrap_interval([(256, 256)] * 5)
    assert 0.99 < low < 1
    assert high == 1
    assert bootstrap_interval([(256, 256)]) == (0, 1)


def test_seeds_weigh_alike_however_many_sequences_each_was_asked():
    low, high = bootstrap_interval([(0, 10), (10_000, 10_000)] * 4)
    assert low < 0.5 < high


@pytest.mark.parametrize(("right", "of"), [(3, 10), (10, 10), (0, 7), (700, 1000)])
def test_a_pooled_interval_is_wilson_s(right, of):
    wanted = stats.binomtest(right, of).proportion_ci(0.95, method="wilson")
    found = pool_interval([(right - right // 2, of - of // 2), (right // 2, of // 2)])
    assert found == pytest.approx((wanted.low, wanted.high), abs=1e-12)


def test_a_prediction_holds_the_next_seed_nearly_always():
    rng = np.random.default_rng(5)
    held = 0
    for _ in range(N_TRIALS):
        (new, _), *counts = [pair for _ in range(2) for pair in simulate_runs(0.6, 0.1, rng)][:6]
        low, high = predict_interval(counts, N_SEQUENCES)
        held += low <= new / N_SEQUENCES <= high
    assert held / N_TRIALS >= 0.97
    assert predict_interval([(120, 200), (130, 200), (125, 200)], 50, 0.5)[0] > 0.4  # no excuse


def test_a_prediction_allows_for_chance_among_the_sequences():
    """Five seeds that agree to the last sequence do not promise the same of the next."""
    low, high = predict_interval([(128, 256)] * 5, 32)
    assert low < 0.25
    assert high > 0.75
    low, high = predict_interval([(256, 256)] * 5, 256)
    assert 0.97 < low < 1
    assert high == 1


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
@pytest.mark.parametrize("n_free", [4, 9, 30])
def test_a_t_distribution_is_inverted(level, n_free):
    wanted = stats.t.ppf((1 + level) / 2, n_free)
    assert invert_t(level, n_free) == pytest.approx(wanted, rel=0.01)


@pytest.mark.parametrize(
    ("counts", "level", "says"),
    [
        ([], 0.95, "counts must be of at least one seed; there is none"),
        ([(3, 2)], 0.95, "counts must be some of at least one sequence; one is 3 of 2"),
        ([(0, 0)], 0.95, "one is 0 of 0"),
        ([(1, 2)], 1.0, r"level must be between 0 and 1; it is 1\.0"),
    ],
)
def test_counts_that_cannot_be_are_refused(counts, level, says):
    for interval in (bootstrap_interval, pool_interval):
        with pytest.raises(ValueError, match=says):
            interval(counts, level)
    with pytest.raises(ValueError, match="at least two seeds; there is one"):
        predict_interval([(1, 2)], 5)
