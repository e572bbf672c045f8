"""Answers to notebook 11 as readers write them, and a word of what each must earn."""

import math

from mamba_edu.exercises import n11


def choose_best(taus, right, n_allowed):
    """Take the last that is good, wherever it stands."""
    good = [tau for tau, count in zip(taus, right, strict=True) if count >= right[0] - n_allowed]
    return good[-1]


def choose_stepwise(taus, right, n_allowed):
    """Compare neighbours."""
    best = taus[0]
    for k, tau in enumerate(taus[1:], start=1):
        if right[k] < right[k - 1] - n_allowed:
            return best
        best = tau
    return best


def choose_one_too_far(taus, right, n_allowed):
    """Return what ended the search."""
    for tau, count in zip(taus, right, strict=True):
        if count < right[0] - n_allowed:
            return tau
    return taus[-1]


SLIPS = {
    n11.check_find_raw: [
        (lambda share, rate, n_tokens: -math.log(share) / n_tokens / rate, "this is the step"),
        (
            lambda share, rate, n_tokens: math.log(share ** (-1 / n_tokens) - 1),
            "the rate is missing",
        ),
        (
            lambda share, rate, n_tokens: math.log(-math.log(share)) - math.log(rate * n_tokens),
            "softplus is its exponent only far below 0",
        ),
    ],
    n11.check_pick_tau: [
        (choose_best, "goes on beyond a loss"),
        (choose_stepwise, "losses add up"),
        (choose_one_too_far, "the one before it"),
    ],
    n11.check_cut_straight: [
        (lambda delta, tau: delta * (delta >= tau), "the gradient is cut with them"),
        (lambda delta, tau: (delta * (delta >= tau)).detach(), "no gradient at all"),
        (lambda delta, tau: delta + (delta * (delta < tau)).detach(), "a sign"),
    ],
}
