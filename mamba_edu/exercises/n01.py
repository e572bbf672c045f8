"""Notebook 01: questions, checks and solutions about states that leak, turn and add up."""

import itertools
import math

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.linear import fit_decay, trace_states
from mamba_edu.reader import Question, nearest
from mamba_edu.tasks import load_recording

LISTED_TAUS = tuple(1.25**k for k in range(5, 21))  # in ms


def answer_after_one_tau() -> tuple[int, str]:
    """Step a bucket for one time constant and see what is left of 1."""
    steps = 1000
    a_bar = math.exp(-1 / steps)
    left = 1.0
    for _ in range(steps):
        left *= a_bar
    return nearest(left, (0.5, 0.37, 0.0)), f"Stepped one by one, {left:.3f} of it is left."


AFTER_ONE_TAU = Question(
    key="n01.after_one_tau",
    asks="A bucket holds 1. It leaks with time constant τ and nothing flows in. "
    "How much is left after one τ?",
    choices=("one half", "a bit more than a third", "nothing"),
    answer=answer_after_one_tau,
    surprised="τ is the time to fall to 1/e, not to one half and not to nothing; "
    "the half-life is shorter, τ times ln 2.",
)


def answer_complex_rate() -> tuple[int, str]:
    """Follow a state with a complex rate: does its size change, and does it turn?"""
    a_bar = torch.exp(torch.tensor([[-0.05 + 0.5j]], dtype=torch.complex128))
    x = torch.zeros(1, 41, 1, dtype=torch.float64)
    x[0, 0, 0] = 1
    h = trace_states(x, a_bar, torch.ones_like(a_bar))[0, :, 0, 0]
    turns = float(torch.diff(torch.angle(h)).remainder(2 * math.pi).sum()) / (2 * math.pi)
    shrinks, turning = bool(abs(h[-1]) < 0.5 * abs(h[0])), turns > 1
    evidence = f"After 40 steps its size is {abs(h[-1]):.2f} and it has turned {turns:.1f} times."
    return (2 if shrinks and turning else 1 if turning else 0), evidence


COMPLEX_RATE = Question(
    key="n01.complex_rate",
    asks="Now the rate is a complex number, A = -0.05 + 0.5i, and the state starts at 1. "
    "Where does it go?",
    choices=(
        "straight to 0, only slower",
        "round a circle of fixed size",
        "round and inward, to 0",
    ),
    answer=answer_complex_rate,
    surprised="the real part of A sets how fast the state shrinks, "
    "the imaginary part how fast it turns.",
)


def fit_every_second(taus: tuple[float, ...]) -> tuple[float, float]:
    """Fit leaky states to every second sample of the discharge's first half.

    Returns:
        The errors, in mV, on the fitted samples, and on those in between within 100 ms.
    """
    voltage = load_recording().voltage[11_000:11_500]
    t = torch.arange(len(voltage), dtype=torch.float64) / 2
    columns = torch.exp(-t[:, None] / torch.tensor(taus, dtype=torch.float64))
    columns = torch.cat([columns, torch.ones_like(t[:, None])], dim=1)
    weights = torch.linalg.lstsq(columns[::2], voltage[::2, None], driver="gelsd").solution
    squares = ((columns @ weights)[:, 0] - voltage).pow(2)
    return squares[::2].mean().sqrt().item(), squares[1:200:2].mean().sqrt().item()


def answer_two_states() -> tuple[int, str]:
    """Fit one state and the best pair, and compare what they miss with the noise."""
    voltage = load_recording().voltage[11_000:]
    noise = voltage[500:].std().item()
    one = fit_every_second((fit_decay(voltage[:500:2], 1.0).tau,))[1]
    two = min(map(fit_every_second, itertools.combinations(LISTED_TAUS, 2)))[1]
    told = f"One state misses them by {one:.2f} mV, two by {two:.2f} mV; the noise is {noise:.2f}."
    return nearest(two, (one, noise, noise / 2)), told


TWO_STATES = Question(
    key="n01.two_states",
    asks="Fit one leaky state, or a sum of two, to every second sample of the discharge. How far "
    "does the pair miss the samples in between, within the first 100 ms?",
    choices=(
        "about as far as the single state",
        "hardly more than the noise",
        "by less than the noise",
    ),
    answer=answer_two_states,
    surprised="a model can learn the curve but not the noise of samples that it has not seen, "
    "and a single rate cannot learn this curve.",
)


def solve_steps_to_half(a_bar: float) -> float:
    """Count the steps, not rounded, after which the state is half of what it was."""
    return math.log(0.5) / math.log(a_bar)


STEPS_TO_HALF = Exercise(
    notebook="n01",
    solve=solve_steps_to_half,
    cases={
        "a_bar = 0.9": {"a_bar": 0.9},
        "a_bar = 0.5, halved by every step": {"a_bar": 0.5},
        "a_bar = 0.999, a long memory": {"a_bar": 0.999},
    },
    mistakes=(
        Mistake(
            lambda a_bar: -1 / math.log(a_bar),
            "this is the time constant, to 1/e; one half comes sooner.",
        ),
        Mistake(
            lambda a_bar: 0.5 / (1 - a_bar),
            "the state loses a share of what is left, so it does not fall along a straight line.",
        ),
        Mistake(
            lambda a_bar: math.log(a_bar) / math.log(0.5),
            "the quotient is upside down: solve a_bar ** steps = 0.5 for steps.",
        ),
        Mistake(
            lambda a_bar: math.log(2) / math.log(a_bar),
            "a minus is missing: the logarithm of a_bar is negative, the steps are not.",
        ),
    ),
)


def check_steps_to_half(student) -> None:
    """Check `steps_to_half`."""
    run_check(STEPS_TO_HALF, student)


def solve_smooth(x: Tensor, half_life: float) -> Tensor:
    """Average a signal (length,) with a bucket of this half-life in steps."""
    a_bar = 0.5 ** (1 / half_life)
    h, states = torch.zeros(()).to(x), []
    for x_t in x:
        h = a_bar * h + (1 - a_bar) * x_t
        states.append(h)
    return torch.stack(states)


def smooth_with(
    x: Tensor, a_bar: float, b_bar: float | None = None, late: bool = False, start: float = 0.0
) -> Tensor:
    """Run a bucket with any weights; `late` reads the state before the token instead of after."""
    h, states = torch.as_tensor(start).to(x), []
    b_bar = 1 - a_bar if b_bar is None else b_bar
    for x_t in x:
        after = a_bar * h + b_bar * x_t
        states.append(h if late else after)
        h = after
    return torch.stack(states)


RAMP = torch.tensor([1.0, 0, 0, 2, 2, 2, 2], dtype=torch.float64)

SMOOTH = Exercise(
    notebook="n01",
    solve=solve_smooth,
    cases={
        "a step, half_life = 3": {"x": RAMP, "half_life": 3.0},
        "one pulse, half_life = 1": {"x": torch.eye(6, dtype=torch.float64)[0], "half_life": 1.0},
    },
    mistakes=(
        Mistake(
            lambda x, half_life: smooth_with(x, 0.5 ** (1 / half_life), 1.0),
            "weight the input by 1 - a_bar, or a constant input fills the bucket above its level.",
        ),
        Mistake(
            lambda x, half_life: smooth_with(x, 0.5 ** (1 / half_life), late=True),
            "this is the state before it reads the token; the course keeps the one after.",
        ),
        Mistake(
            lambda x, half_life: smooth_with(x, math.exp(-1 / half_life)),
            "half_life was taken for the time constant: after half_life steps one half is left.",
        ),
        Mistake(
            lambda x, half_life: smooth_with(x, 0.5**half_life),
            "a_bar is the half_life-th root of 0.5, not its power: 0.5 ** (1 / half_life).",
        ),
        Mistake(
            lambda x, half_life: smooth_with(x, 1 - 0.5 ** (1 / half_life)),
            "the weights are swapped: a_bar belongs to the state, 1 - a_bar to the input.",
        ),
        Mistake(
            lambda x, half_life: smooth_with(x, 0.5 ** (1 / half_life), start=x[0]),
            "the bucket starts empty, h = 0, not at the first value.",
        ),
    ),
)


def check_smooth(student) -> None:
    """Check `smooth`."""
    run_check(SMOOTH, student)


def solve_make_oscillator(period: float, half_life: float) -> complex:
    """Find the rate A of a state with this period and half-life, both in steps."""
    return complex(-math.log(2) / half_life, 2 * math.pi / period)


MAKE_OSCILLATOR = Exercise(
    notebook="n01",
    solve=solve_make_oscillator,
    cases={
        "a quarter turn a step": {"period": 4.0, "half_life": 8.0},
        "a slow turn that fades fast": {"period": 50.0, "half_life": 2.0},
    },
    mistakes=(
        Mistake(
            lambda period, half_life: complex(math.log(2) / half_life, 2 * math.pi / period),
            "the real part is positive: this state grows.",
        ),
        Mistake(
            lambda period, half_life: complex(-math.log(2) / half_life, 1 / period),
            "one turn is 2 pi in angle, not 1.",
        ),
        Mistake(
            lambda period, half_life: complex(-1 / half_life, 2 * math.pi / period),
            "half_life was taken for the time constant; they differ by ln 2.",
        ),
        Mistake(
            lambda period, half_life: complex(-math.log(2) / half_life, -2 * math.pi / period),
            "the imaginary part is negative: this state turns clockwise.",
        ),
    ),
)


def check_make_oscillator(student) -> None:
    """Check `make_oscillator`."""
    run_check(MAKE_OSCILLATOR, student)
