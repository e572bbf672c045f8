"""Notebook 11: questions, checks and solutions about clocks that can stand still."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mamba_edu.exercises import answers11 as answers
from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.reader import Question

FOR_EVER = Question(
    key="n11.for_ever",
    asks="A trained network steps every filler token by softplus(-8), and the state's rate is -1. "
    "How much of a fact is left after a million tokens?",
    choices=("nearly all", "about half", "nothing"),
    answer=answers.answer_for_ever,
    surprised="a small loss at each token is still a loss at each token, and they multiply.",
)


SMALLEST_TAU = Question(
    key="n11.smallest_tau",
    asks="After training, every step below a threshold is set to 0, as large a threshold as costs "
    "nothing at 128 tokens. For which task must it be the smallest?",
    choices=("needle: one token counts", "order: two tokens count", "majority: many votes count"),
    answer=answers.answer_smallest_tau,
    surprised="our reading: a vote is written with a small step, since each must count as much "
    "as the rest: stop small steps, and you stop the votes.",
)


SNAPPED = Question(
    key="n11.snapped",
    asks="Which of two tokens came first, 8,192 tokens on? CLS, trained on 128, is right about "
    "half the time: it guesses. The snap is put on, nothing is trained. It is right",
    choices=("about half the time: what is lost is lost", "three times in four", "nearly always"),
    answer=answers.answer_snapped,
    surprised="the network had learned to write the two tokens and to read them; only the clock "
    "between them went on.",
)


HALF = Question(
    key="n11.half",
    asks="A step does two things: the state fades, and the token is written. Snap one of them "
    "alone. Which gets nine in ten of order right over 8,192 tokens?",
    choices=(
        "the fading: what is not lost stays readable",
        "the writing: what is not written cannot disturb",
        "neither alone",
    ),
    answer=answers.answer_half,
    surprised="a state that fades no more but takes in every filler fills up, and one that takes "
    "in nothing and fades is empty.",
)


ONE_FOR_ALL = Question(
    key="n11.one_for_all",
    asks="Needle, trigger, order, majority, early majority, over 8,192 tokens, a network of one "
    "design for each. Which design gets nine in ten right in all five?",
    choices=(
        "CLS at the end, snapped",
        "attention over a clock with a dead zone, snapped",
        "neither",
    ),
    answer=answers.answer_one_design,
    surprised="attention counts among outputs, a stopped clock keeps what no output says. This "
    "holds on average: one seed is lower, and at 32,768 the mean falls too.",
)


def solve_find_raw(share: float, rate: float, n_tokens: int) -> float:
    """Compute the raw step at which this share is left after n tokens of it."""
    delta = math.log(1 / share) / (rate * n_tokens)
    return math.log(math.expm1(delta))


FIND_RAW = Exercise(
    notebook="n11",
    solve=solve_find_raw,
    cases={
        "half left after 100 tokens, rate 2": {"share": 0.5, "rate": 2.0, "n_tokens": 100},
        "nine in ten after a million, rate 1": {"share": 0.9, "rate": 1.0, "n_tokens": 1_000_000},
        "a hundredth after one, rate 3": {"share": 0.01, "rate": 3.0, "n_tokens": 1},
    },
    mistakes=(
        Mistake(
            lambda share, rate, n_tokens: math.log(1 / share) / (rate * n_tokens),
            "this is the step; asked is the raw number that softplus makes it of.",
        ),
        Mistake(
            lambda share, rate, n_tokens: math.log(math.expm1(math.log(1 / share) / n_tokens)),
            "the rate is missing: it multiplies the step in the exponent.",
        ),
        Mistake(
            lambda share, rate, n_tokens: math.log(math.log(1 / share) / (rate * n_tokens)),
            "softplus is its exponent only far below 0; the inverse is log(exp(delta) - 1).",
        ),
    ),
)


def check_find_raw(student) -> None:
    """Check `find_raw`."""
    run_check(FIND_RAW, student)


def solve_pick_tau(taus: list[float], right: list[int], n_allowed: int) -> float:
    """Pick the largest threshold before the first that loses too many; taus[0] is 0, no snap."""
    picked = taus[0]
    for tau, count in zip(taus, right, strict=True):
        if right[0] - count > n_allowed:
            break
        picked = tau
    return picked


def pick_last(taus: list[float], right: list[int], n_allowed: int) -> float:
    """Go on beyond a loss."""
    return max(t for t, count in zip(taus, right, strict=True) if right[0] - count <= n_allowed)


def pick_beside(taus: list[float], right: list[int], n_allowed: int) -> float:
    """Compare each threshold with the one before it."""
    picked = taus[0]
    for k in range(1, len(taus)):
        if right[k - 1] - right[k] > n_allowed:
            break
        picked = taus[k]
    return picked


PICK_TAU = Exercise(
    notebook="n11",
    solve=solve_pick_tau,
    cases={
        "a slow loss, then luck": {
            "taus": [0.0, 0.01, 0.03, 0.1, 0.3, 1.0],
            "right": [380, 379, 377, 375, 360, 380],
            "n_allowed": 2,
        },
        "none may be lost": {"taus": [0.0, 0.1, 0.3], "right": [9, 9, 8], "n_allowed": 0},
        "lost at once": {"taus": [0.0, 0.1], "right": [50, 20], "n_allowed": 1},
        "free to the end": {"taus": [0.0, 0.1, 0.3], "right": [5, 6, 5], "n_allowed": 0},
    },
    mistakes=(
        Mistake(pick_last, "it goes on beyond a loss: what comes back later came back by luck."),
        Mistake(pick_beside, "losses add up: each threshold is compared with no snap at all."),
        Mistake(
            lambda taus, right, n_allowed: next(
                (t for t, n in zip(taus, right, strict=True) if right[0] - n > n_allowed), taus[-1]
            ),
            "this is the threshold that loses too many; asked is the one before it.",
        ),
    ),
)


def check_pick_tau(student) -> None:
    """Check `pick_tau`."""
    run_check(PICK_TAU, student)


def solve_cut_straight(delta: Tensor, tau: float) -> Tensor:
    """Set steps below tau to exactly 0, and hand the gradient on as if nothing had been cut."""
    cut = torch.where(delta < tau, 0, delta)
    return delta + (cut - delta).detach()


def observe_slope(function: Callable[[Tensor, float], Tensor]) -> Callable[[Tensor, float], Tensor]:
    """Turn a rule into its values with their gradient below them."""

    def observed(delta: Tensor, tau: float) -> Tensor:
        delta = delta.clone().requires_grad_()
        cut = function(delta, tau)
        total = (cut * torch.arange(1, len(delta) + 1)).sum()
        slope = torch.autograd.grad(total, delta)[0] if total.requires_grad else 0 * delta
        return torch.stack([cut.detach(), slope.detach()])

    return observed


CUT_STRAIGHT = Exercise(
    notebook="n11",
    solve=solve_cut_straight,
    cases={
        "five steps, two of them small": {
            "delta": torch.tensor([0.5, 0.01, 0.2, 0.05, 1.0], dtype=torch.float64),
            "tau": 0.1,
        },
        "one step at the threshold": {
            "delta": torch.tensor([0.03, 0.1], dtype=torch.float64),
            "tau": 0.1,
        },
    },
    mistakes=(
        Mistake(
            lambda delta, tau: torch.where(delta < tau, 0, delta),
            "the values are right, and the gradient is cut with them: nothing that is 0 learns.",
        ),
        Mistake(
            lambda delta, tau: torch.where(delta < tau, 0, delta).detach(),
            "detached as a whole it hands on no gradient at all; detach the change alone.",
        ),
        Mistake(
            lambda delta, tau: delta - (torch.where(delta < tau, 0, delta) - delta).detach(),
            "a sign: to delta comes what the cut changes.",
        ),
    ),
    observe=observe_slope,
)


def check_cut_straight(student) -> None:
    """Check `cut_straight`."""
    run_check(CUT_STRAIGHT, student)
