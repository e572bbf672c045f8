"""Notebook 04: questions, a claim, checks and solutions about a clock that listens."""

import math

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.reader import CLAIMS, Question, nearest
from mamba_edu.scan import selective_scan
from mamba_edu.tasks import sample_last_marked


def miss_with_steps(between: float, at_marks: float = 20.0) -> float:
    """Keep the last marked value with two hand-set step sizes; return the missed share."""
    values, marks, target = sample_last_marked(4, 400, 0.2, seed=3)
    delta = (between + (at_marks - between) * marks)[..., None]
    ones = torch.ones_like(delta)
    rate = -torch.ones(1, 1, dtype=torch.float64)
    y = selective_scan(values[..., None], delta, rate, ones / at_marks, ones)[..., 0]
    return float((y - target).pow(2).mean() / target.var())


def answer_held_step() -> tuple[int, str]:
    """Try the three step sizes between marks."""
    missed = [miss_with_steps(between) for between in (20.0, 1.0, 0.0)]
    told = ", ".join(f"{share:.2f}" for share in missed)
    return missed.index(min(missed)), f"In this order they miss {told} of the variance."


HELD_STEP = Question(
    key="n04.held_step",
    asks="At a mark the step is long, Δ = 20. Which step between the marks keeps the value?",
    choices=("as long, Δ = 20", "an ordinary one, Δ = 1", "none at all, Δ = 0"),
    answer=answer_held_step,
    surprised="a step of length zero multiplies the state by exp(0) = 1 and writes 0: "
    "for this token, time stands still.",
)


def answer_drawers() -> tuple[int, str]:
    """Weigh the sum of two drawn values as well as possible to answer for one of them."""
    rng = torch.Generator().manual_seed(1)
    values = torch.randn(20_000, 2, generator=rng, dtype=torch.float64)
    asked = torch.randint(2, (20_000,), generator=rng)
    target = values.gather(1, asked[:, None])[:, 0]
    total = values.sum(1)
    best = (total @ target) / (total @ total)
    missed = float((best * total - target).pow(2).mean() / target.var())
    return nearest(missed, (0.0, 0.5, 1.0)), f"The best it can do misses {missed:.0%}."


DRAWERS = Question(
    key="n04.drawers",
    asks="Two values are put away, one in drawer a, one in drawer b; a later token asks for one of "
    "them. Δ may choose, but B and C are the same for every token. How much must it miss?",
    choices=("nothing", "one half", "everything"),
    answer=answer_drawers,
    surprised="both values are written alike and read alike, so only their sum is known.",
)


def answer_never_zero() -> tuple[int, str]:
    """Compute what softplus leaves of a value over a thousand tokens it means to ignore."""
    delta = torch.nn.functional.softplus(torch.tensor(-5.0, dtype=torch.float64))
    left = float(torch.exp(-delta * 1000))
    return nearest(left, (1.0, 0.5, 0.0)), f"One step is {delta:.4f}; {left:.3f} of it is left."


NEVER_ZERO = Question(
    key="n04.never_zero",
    asks="A trained clock says u = -5 for filler, so Δ = softplus(-5). The rate is -1. How much of "
    "a value is left after a thousand fillers?",
    choices=("practically all", "about half", "practically nothing"),
    answer=answer_never_zero,
    surprised="softplus comes near 0 but never reaches it, and a thousand small steps add up.",
)

LISTENS = CLAIMS["n04.listens"]


def solve_choose_steps(marks: Tensor, at_marks: float) -> Tensor:
    """Choose a step size for each token: at_marks where it is marked, none elsewhere."""
    return at_marks * marks


CHOOSE_STEPS = Exercise(
    notebook="n04",
    solve=solve_choose_steps,
    cases={
        "marks 1, 0, 0, 1": {
            "marks": torch.tensor([1.0, 0, 0, 1], dtype=torch.float64),
            "at_marks": 20.0,
        },
        "no mark at all": {"marks": torch.zeros(3, dtype=torch.float64), "at_marks": 7.0},
    },
    mistakes=(
        Mistake(
            lambda marks, at_marks: at_marks * (1 - marks),
            "the other way round: this forgets at every token but the marked ones.",
        ),
        Mistake(
            lambda marks, at_marks: 1 + (at_marks - 1) * marks,
            "between marks the step must be 0: an ordinary step leaks.",
        ),
        Mistake(
            lambda marks, at_marks: marks * 1.0,
            "a step of 1 at a mark keeps a third of the old value; make it at_marks.",
        ),
    ),
)


def check_choose_steps(student) -> None:
    """Check `choose_steps`."""
    run_check(CHOOSE_STEPS, student)


def solve_step_that_keeps(A: float, share: float) -> float:
    """Find the step size after which a state with rate A keeps this share of itself."""
    return math.log(share) / A


STEP_THAT_KEEPS = Exercise(
    notebook="n04",
    solve=solve_step_that_keeps,
    cases={
        "A = -4, a tenth": {"A": -4.0, "share": 0.1},
        "A = -1, one half": {"A": -1.0, "share": 0.5},
        "A = -2, all of it": {"A": -2.0, "share": 1.0},
    },
    mistakes=(
        Mistake(
            lambda A, share: (1 - share) / -A,
            "a share of a share is lost, so the state does not fall along a straight line.",
        ),
        Mistake(
            lambda A, share: math.log(share) * A,
            "divide by the rate: a faster leak needs a shorter step.",
        ),
        Mistake(
            lambda A, share: -math.log(share) / A,
            "the sign: this step runs backwards.",
        ),
    ),
)


def check_step_that_keeps(student) -> None:
    """Check `step_that_keeps`."""
    run_check(STEP_THAT_KEEPS, student)


def solve_bias_for(delta: float) -> float:
    """Find the number whose softplus is this step size."""
    return delta + math.log(-math.expm1(-delta))


def repeat_bias_naively(delta: float) -> float:
    """Invert softplus as one would on paper; too large a step overflows."""
    return math.log(math.exp(delta) - 1) if delta < 700 else math.inf


BIAS_FOR = Exercise(
    notebook="n04",
    solve=solve_bias_for,
    cases={
        "a step of 0.1": {"delta": 0.1},
        "a step of 0.001": {"delta": 0.001},
        "a step of 1e-9, very short": {"delta": 1e-9},
        "a step of 800, very long": {"delta": 800.0},
    },
    mistakes=(
        Mistake(
            lambda delta: math.log(delta),
            "softplus is not exp; for steps that are not tiny the two differ.",
        ),
        Mistake(
            lambda delta: math.log1p(math.exp(min(delta, 700.0))),
            "this is softplus itself; the question is its inverse.",
        ),
        Mistake(
            repeat_bias_naively,
            "right on paper: exp(delta) - 1 loses its digits for short steps and overflows for "
            "long ones; take exp(delta) out of the logarithm and use expm1.",
        ),
    ),
)


def check_bias_for(student) -> None:
    """Check `bias_for`."""
    run_check(BIAS_FOR, student)
