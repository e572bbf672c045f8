"""Notebook 03: questions, checks and solutions about kernels, matrices and what they must miss."""

import torch
from torch import Tensor

from mamba_edu.discretize import discretize_zoh
from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.linear import (
    build_matrix,
    fit_linear_filter,
    impulse_response,
    start_s4d_lin,
    start_s4d_real,
)
from mamba_edu.reader import Question, nearest
from mamba_edu.tasks import sample_last_marked


def answer_matrix_pattern() -> tuple[int, str]:
    """Build a matrix of two states and see what stays the same along it."""
    a_bar = torch.tensor([[0.9, -0.5]], dtype=torch.float64)
    matrix = build_matrix(impulse_response(a_bar, a_bar, a_bar, 12))[0]
    diagonals = all(torch.diagonal(matrix, -k).std(correction=0) < 1e-12 for k in range(12))
    columns = bool(matrix.std(dim=0).max() < 1e-12)
    index = 1 if diagonals else 2 if columns else 0
    return index, f"Along each of the {len(matrix)} diagonals the numbers agree to 1e-12."


MATRIX_PATTERN = Question(
    key="n03.matrix_pattern",
    asks="Column s holds the output's answer to a pulse at token s. In a system whose clock is "
    "fixed, the columns are",
    choices=(
        "all different",
        "the same answer, each one step later",
        "all the same",
    ),
    answer=answer_matrix_pattern,
    surprised="the system does not know what time it is, so a later pulse gets the same answer, "
    "later.",
)


def weigh_bump(A: Tensor, delta: float) -> tuple[float, float]:
    """Weigh states with rates A to answer with a bump thirty steps late.

    Returns:
        The share of the bump that is missed, and the largest weight.
    """
    k = torch.arange(100, dtype=torch.float64)
    bump = torch.exp(-(((k - 30) / 5) ** 2) / 2)
    A_bar, B_bar = discretize_zoh(torch.tensor(delta, dtype=torch.float64), A, torch.ones_like(A))
    answers = A_bar ** k[:, None] * B_bar
    columns = torch.cat([answers.real, answers.imag], 1) if answers.is_complex() else answers
    weights = torch.linalg.lstsq(columns, bump[:, None], driver="gelsd").solution
    miss = (columns @ weights - bump[:, None]).norm() / bump.norm()
    return miss.item(), weights.abs().max().item()


def answer_which_start() -> tuple[int, str]:
    """Weigh eight turning states and compare with the leaks."""
    miss, weight = weigh_bump(start_s4d_lin(1, 8)[0], 0.02)
    before = weigh_bump(start_s4d_real(1, 16)[0], 0.05)[0]
    index = 2 if weight > 1e6 else 0 if miss < 1.5 * before else 1
    return index, f"They miss by {miss:.0%}, and the largest weight is {weight:.0f}."


WHICH_START = Question(
    key="n03.which_start",
    asks="Eight turning states (S4D-lin) are weighed to answer with the same late bump. They",
    choices=(
        "do it as well, with small weights",
        "do it much worse, with small weights",
        "need weights of a million too",
    ),
    answer=answer_which_start,
    surprised="a sum of waves can be small early and large late without big numbers that cancel.",
)


def answer_fixed_limit() -> tuple[int, str]:
    """Fit the best filter to values handed where they are marked."""
    values, marks, target = sample_last_marked(1, 20_000, 0.2, seed=7)
    share = float(fit_linear_filter((values * marks)[..., None], target, 30).error_share)
    return nearest(share, (0.02, 0.45, 0.9)), f"It misses {share:.0%} of the variance."


FIXED_LIMIT = Question(
    key="n03.fixed_limit",
    asks="Marks come with probability 0.2. Handed only the marked values, how much of the target's "
    "variance does the best fixed linear filter miss?",
    choices=("almost nothing", "not quite half", "almost all"),
    answer=answer_fixed_limit,
    surprised="it cannot tell 'marked just now' from 'marked long ago', so each new value only "
    "pushes the old ones back a little.",
)


def solve_pulse_answer(a_bar: float, b_bar: float, c: float, length: int) -> Tensor:
    """Compute the answer of one state to a pulse at step 0, (length,)."""
    return c * b_bar * a_bar ** torch.arange(length, dtype=torch.float64)


PULSE_ANSWER = Exercise(
    notebook="n03",
    solve=solve_pulse_answer,
    cases={
        "a state that halves": {"a_bar": 0.5, "b_bar": 3.0, "c": 2.0, "length": 4},
        "one whose sign alternates": {"a_bar": -0.9, "b_bar": 1.0, "c": 0.5, "length": 7},
    },
    mistakes=(
        Mistake(
            lambda a_bar, b_bar, c, length: (
                c * b_bar * a_bar ** torch.arange(1, length + 1, dtype=torch.float64)
            ),
            "off by one: the state after reading the pulse has not decayed yet.",
        ),
        Mistake(
            lambda a_bar, b_bar, c, length: c * a_bar ** torch.arange(length, dtype=torch.float64),
            "the pulse is written with b_bar; it is missing.",
        ),
        Mistake(
            lambda a_bar, b_bar, c, length: (
                b_bar * (c * a_bar) ** torch.arange(length, dtype=torch.float64)
            ),
            "c reads once, at the end; it is not part of every step.",
        ),
    ),
)


def check_pulse_answer(student) -> None:
    """Check `pulse_answer`."""
    run_check(PULSE_ANSWER, student)


def solve_to_matrix(kernel: Tensor) -> Tensor:
    """Build the matrix (length, length) of the causal convolution with a kernel (length,)."""
    t = torch.arange(len(kernel))
    distance = t[:, None] - t
    return torch.where(distance >= 0, kernel[distance.clamp(min=0)], 0)


TO_MATRIX = Exercise(
    notebook="n03",
    solve=solve_to_matrix,
    cases={
        "a kernel of three": {"kernel": torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)},
        "a kernel of five": {"kernel": torch.tensor([1.0, -1, 0.5, 0, 2], dtype=torch.float64)},
    },
    mistakes=(
        Mistake(
            lambda kernel: solve_to_matrix(kernel).T,
            "transposed: every moment sees the future instead of the past.",
        ),
        Mistake(
            lambda kernel: torch.stack([kernel.roll(s) for s in range(len(kernel))], dim=1),
            "the kernel wraps round: the end of the signal leaks into its beginning.",
        ),
        Mistake(
            lambda kernel: kernel[
                (torch.arange(len(kernel))[:, None] - torch.arange(len(kernel))).abs()
            ],
            "symmetric: distances to the future count too; mask them.",
        ),
    ),
)


def check_to_matrix(student) -> None:
    """Check `to_matrix`."""
    run_check(TO_MATRIX, student)


def solve_raw_missed(p: float) -> float:
    """Compute the share of the variance that the best fixed filter on raw values misses."""
    return 1 - p / (2 - p)


RAW_MISSED = Exercise(
    notebook="n03",
    solve=solve_raw_missed,
    cases={"p = 0.2": {"p": 0.2}, "p = 0.9": {"p": 0.9}, "every token marked": {"p": 1.0}},
    mistakes=(
        Mistake(
            lambda p: (1 - p) / (2 - p),
            "this is the filter that is handed the marked values; a raw value has variance 1.",
        ),
        Mistake(lambda p: p / (2 - p), "this is the explained share; the missed one is the rest."),
        Mistake(
            lambda p: 1 - p * p,
            "the weights reach back over all earlier tokens, not only the last one.",
        ),
        Mistake(
            lambda p: 1 - p,
            "p is the newest value's weight; it explains p squared, and older values add theirs.",
        ),
    ),
)


def check_raw_missed(student) -> None:
    """Check `raw_missed`."""
    run_check(RAW_MISSED, student)
