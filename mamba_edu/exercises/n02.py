"""Notebook 02: questions, checks and solutions about steps, long, uneven and vanishing."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mamba_edu.discretize import discretize_euler, discretize_zoh
from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.reader import Question, nearest


def answer_long_step() -> tuple[int, str]:
    """Step Euler's rule at delta A = -1.6 and watch sign and size."""
    one = torch.ones((), dtype=torch.float64)
    a_bar = discretize_euler(one, -1.6 * one, one)[0]
    path = a_bar ** torch.arange(6)
    flips, grows = bool((path[1:] * path[:-1] < 0).all()), bool(path[-1].abs() > 1)
    told = ", ".join(f"{value:.2f}" for value in path.tolist())
    return (2 if grows else 1 if flips else 0), f"The states are {told}."


LONG_STEP = Question(
    key="n02.long_step",
    asks="Euler's rule takes long steps: delta A = -1.6. The true state falls smoothly to 0. "
    "What do Euler's states do?",
    choices=("fall smoothly too", "change sign at every step and shrink", "grow without end"),
    answer=answer_long_step,
    surprised="Euler multiplies by 1 + delta A at each step, and here that is negative.",
)


def count_tokens_to_half(delta: float, A: float = -1.0) -> float:
    """Count the tokens until half is left, by the exact decay of one step."""
    a_bar = discretize_zoh(*(torch.tensor(v, dtype=torch.float64) for v in (delta, A, 1.0)))[0]
    return math.log(0.5) / math.log(a_bar.item())


def answer_half_step() -> tuple[int, str]:
    """Halve the step and compare the half-lives, counted in tokens."""
    before, after = count_tokens_to_half(0.1), count_tokens_to_half(0.05)
    told = f"With step 0.1 half is left after {before:.1f} tokens, with 0.05 after {after:.1f}."
    return nearest(after / before, (0.5, 1.0, 2.0)), told


HALF_STEP = Question(
    key="n02.half_step",
    asks="Every token now takes half as long a step as before. "
    "How long does the state remember, counted in tokens?",
    choices=("half as long", "the same", "twice as long"),
    answer=answer_half_step,
    surprised="less time passes at each token, so each token makes the state forget less.",
)


def answer_near_zero() -> tuple[int, str]:
    """Evaluate the printed quotient in single precision, one millionth below zero."""
    delta, A = torch.tensor(0.01), torch.tensor(-1e-6)
    value = ((torch.exp(delta * A) - 1) / A).item()
    index = 2 if math.isnan(value) else nearest(value, (0.01, 0.0))
    return index, f"Computed in single precision it is {value + 0.0:g}."


NEAR_ZERO = Question(
    key="n02.near_zero",
    asks="With delta = 0.01 and A = -0.000001 the right value is 0.01. What does "
    "(exp(delta A) - 1) / A give in single precision?",
    choices=("0.01, to seven digits", "0", "NaN"),
    answer=answer_near_zero,
    surprised="exp of so small a number rounds to exactly 1, and 1 - 1 is 0.",
)


def solve_tokens_to_half(A: float, delta: float) -> float:
    """Count the tokens, not rounded, after which half of the state is left."""
    return math.log(2) / (-A * delta)


TOKENS_TO_HALF = Exercise(
    notebook="n02",
    solve=solve_tokens_to_half,
    cases={
        "A = -1, delta = 0.1": {"A": -1.0, "delta": 0.1},
        "A = -16, delta = 0.001": {"A": -16.0, "delta": 0.001},
    },
    mistakes=(
        Mistake(
            lambda A, delta: math.log(2) / -A,
            "this is the half-life in time; one token lasts delta.",
        ),
        Mistake(
            lambda A, delta: math.log(2) * delta / -A,
            "a longer step means fewer tokens: divide by delta.",
        ),
        Mistake(
            lambda A, delta: 1 / (-A * delta),
            "this is the time constant, to 1/e; one half comes sooner.",
        ),
        Mistake(
            lambda A, delta: math.log(2) / (A * delta),
            "a minus is missing: A is negative, the number of tokens is not.",
        ),
    ),
)


def check_tokens_to_half(student) -> None:
    """Check `tokens_to_half`."""
    run_check(TOKENS_TO_HALF, student)


def solve_from_average(a_bar: float) -> tuple[float, float]:
    """Find (A, B) whose zero-order hold with step 1 is h = a_bar h + (1 - a_bar) x."""
    A = math.log(a_bar)
    return A, -A


FROM_AVERAGE = Exercise(
    notebook="n02",
    solve=solve_from_average,
    cases={"the average that keeps 0.9": {"a_bar": 0.9}, "that keeps 0.5": {"a_bar": 0.5}},
    mistakes=(
        Mistake(
            lambda a_bar: (math.log(a_bar), 1 - a_bar),
            "this B is right for one step already taken; the zero-order hold multiplies it by "
            "(a_bar - 1) / A once more.",
        ),
        Mistake(
            lambda a_bar: (a_bar - 1, 1 - a_bar),
            "this inverts Euler's rule; the zero-order hold has a_bar = exp(A).",
        ),
        Mistake(
            lambda a_bar: (math.log(a_bar), math.log(a_bar)),
            "B has the wrong sign: the bucket would fill downwards.",
        ),
        Mistake(
            lambda a_bar: (math.log(a_bar), 1.0),
            "with B = 1 a constant input fills the bucket to -1 / A, not to its own level.",
        ),
    ),
)


def check_from_average(student) -> None:
    """Check `from_average`."""
    run_check(FROM_AVERAGE, student)


def solve_safe_gain(z: Tensor) -> Tensor:
    """Compute (exp(z) - 1) / z element by element, right at 0 in value and gradient."""
    is_small = z.abs() < 0.01
    small = torch.where(is_small, z, 0)
    other = torch.where(is_small, 1, z)  # never 0, so no branch makes a NaN
    series = 1 + small / 2 + small**2 / 6 + small**3 / 24 + small**4 / 120 + small**5 / 720
    return torch.where(is_small, series, torch.expm1(other) / other)


def observe_gradient(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
    """Turn a function of z into one that returns its values, then its gradients."""

    def value_and_gradient(z: Tensor) -> Tensor:
        z = z.requires_grad_()
        value = function(z)
        if not isinstance(value, Tensor) or value.shape != z.shape:
            return value
        if not value.requires_grad:  # cut off from z
            return torch.cat([value, torch.full_like(value, math.nan)])
        return torch.cat([value, torch.autograd.grad(value.sum(), z)[0]]).detach()

    return value_and_gradient


SAFE_GAIN = Exercise(
    notebook="n02",
    solve=solve_safe_gain,
    observe=observe_gradient,
    cases={
        "z = -1, far from 0 (value, then gradient)": {"z": torch.tensor([-1.0]).double()},
        "z = 0 (value, then gradient)": {"z": torch.tensor([0.0]).double()},
        "z = -7e-10 and 0 together (values, then gradients)": {
            "z": torch.tensor([-7e-10, 0.0]).double()
        },
        "z = -3e-9 (value, then gradient)": {"z": torch.tensor([-3e-9]).double()},
        "z = -0.09, where five terms are too few": {"z": torch.tensor([-0.09]).double()},
        "z = -16, where a power series is too short": {"z": torch.tensor([-16.0]).double()},
    },
    mistakes=(
        Mistake(
            lambda z: (torch.exp(z) - 1) / z,
            "0 / 0 at z = 0, and near it the difference loses its digits.",
        ),
        Mistake(
            lambda z: torch.where(z == 0, torch.ones_like(z), torch.expm1(z) / z),
            "the value is right, but 0 / 0 was still computed and then replaced, by where() or "
            "nan_to_num; the gradient passes through it all the same: NaN times 0 is NaN.",
        ),
        Mistake(
            lambda z: torch.where(
                z == 0, torch.ones_like(z), torch.expm1(z) / torch.where(z == 0, 1, z)
            ),
            "no NaN any more, but a constant has gradient 0; the limit has gradient 1/2.",
        ),
        Mistake(
            lambda z: torch.where(
                z == 0, 1 + z / 2, (torch.exp(z) - 1) / torch.where(z == 0, torch.ones_like(z), z)
            ),
            "right at 0 itself, but beside it exp(z) - 1 has lost its digits.",
        ),
        Mistake(
            lambda z: torch.where(z == 0, 1 + z / 2, torch.expm1(z) / torch.where(z == 0, 1, z)),
            "the value is right, but near 0 its gradient subtracts two huge numbers and loses its "
            "digits; use the series for all small z, not only at 0.",
        ),
        Mistake(
            lambda z: solve_safe_gain(z).detach(),
            "the values are right, but no gradient flows back to z: keep it in torch, without "
            ".item(), .detach() or numpy.",
        ),
    ),
)


def check_safe_gain(student) -> None:
    """Check `safe_gain`, its value and its gradient."""
    run_check(SAFE_GAIN, student)
