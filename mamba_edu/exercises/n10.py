"""Notebook 10: questions, checks and solutions about which of the usual cures work."""

import math

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.exercises.trials10 import find_dense_overflow, list_starts
from mamba_edu.reader import CLAIMS, Question, judge, nearest

SIZES = (8, 64)
TASKS = ("needle", "majority", "order")


def answer_size() -> tuple[int, str]:
    """Run a small and a large dense matrix until their states overflow."""
    small, large = (sum(find_dense_overflow(size, s) for s in range(10)) / 10 for size in SIZES)
    told = f"On average over ten draws, 8 by 8 lasts {small:.0f} tokens and 64 by 64 {large:.0f}."
    return nearest(large / small, (1 / 2, 1, 2)), told


SIZE = Question(
    key="n10.size",
    asks="A whole matrix A, drawn by torch.randn, multiplies the state at each token. One is 8 by "
    "8, another 64 by 64. Which state is too large for single precision first?",
    choices=(
        "the larger one, in about half as many tokens",
        "both alike: their entries are as large",
        "the smaller one, in about half as many tokens",
    ),
    answer=answer_size,
    surprised="each new state adds up as many terms as the matrix has columns, so it grows by "
    "about the root of their number at each token.",
)


def answer_start() -> tuple[int, str]:
    """Look up from which start of CLS the first gradients are largest."""
    largest = list_starts()
    names = ("CLS 10 randn, no clip", "CLS mean, pretrained, no clip", "CLS zeros, no clip")
    worst = max(names, key=largest.get)
    told = ", ".join(f"{name.split(', no')[0]} {largest[name]:.3g}" for name in names)
    return names.index(worst), f"Largest norm in the first ten steps, mean of five seeds: {told}."


START = Question(
    key="n10.start",
    asks="Where CLS starts, it is said, decides whether training is stable. From which of three "
    "starts are the first gradients by far the largest?",
    choices=(
        "random numbers, ten times a standard normal",
        "the mean of pretrained embeddings",
        "zeros",
    ),
    answer=answer_start,
    surprised="a norm divides each token by its own size, so a small token is pushed a long way by "
    "a small change, and nothing is smaller than zeros.",
)


def answer_saves() -> tuple[int, str]:
    """Judge on which of three tasks light attention at CLS holds at 8,192 tokens."""
    claims = [CLAIMS[f"n10.attention_{task}"] for task in TASKS]
    words = [judge(claim, claim.rows()).word for claim in claims]
    n_held = sum(word == "holds" for word in words)
    told = ", ".join(f"{task} {word}" for task, word in zip(TASKS, words, strict=True))
    return nearest(n_held, (3, 2, 1)), f"Five seeds each, {n_held} of 3 hold: {told}."


SAVES = Question(
    key="n10.saves",
    asks="CLS at the end may now attend to the outputs of all tokens. Trained on up to 128 tokens, "
    "which does it solve at 8,192: needle, majority, order (which of two tokens came first)?",
    choices=("all three", "needle and majority", "needle alone"),
    answer=answer_saves,
    surprised="attention picks among outputs, and which of two came first stands in no output of "
    "one of them unless the state carried the other there.",
)


def solve_tell_overflow(A: Tensor) -> float:
    """Tell by the law after how many tokens h = A h + x overflows; inf if it never does."""
    rho = torch.linalg.eigvals(A).abs().max().item()
    largest = math.log(torch.finfo(torch.float32).max)
    return largest / math.log(rho) if rho > 1 else math.inf


def make_matrix(size: int, scale: float = 1.0) -> Tensor:
    """Make a dense matrix of random numbers, always the same."""
    rng = torch.Generator().manual_seed(size)
    return scale * torch.randn(size, size, generator=rng, dtype=torch.float64)


def tell_by(rho: Tensor | float) -> float:
    """Apply the law to any size above 1, in whatever way it was found."""
    return math.log(torch.finfo(torch.float32).max) / math.log(rho) if rho > 1 else math.inf


TELL_OVERFLOW = Exercise(
    notebook="n10",
    solve=solve_tell_overflow,
    cases={
        "8 by 8 of standard normal numbers": {"A": make_matrix(8)},
        "one large entry, and nothing grows": {
            "A": torch.tensor([[0.5, 9.0], [0.0, 0.25]], dtype=torch.float64)
        },
        "a quarter turn that doubles": {
            "A": torch.tensor([[0.0, -2.0], [2.0, 0.0]], dtype=torch.float64)
        },
        "the identity, whose eigenvalues are 1": {"A": torch.eye(2, dtype=torch.float64)},
    },
    mistakes=(
        Mistake(
            lambda A: tell_by(A.abs().max()),
            "the code as it was: the largest entry is the growth of a diagonal A only; a whole "
            "matrix grows by its largest eigenvalue.",
        ),
        Mistake(
            lambda A: tell_by(torch.linalg.matrix_norm(A, 2)),
            "this norm bounds one step; the growth of many is the size of the largest eigenvalue.",
        ),
        Mistake(
            lambda A: tell_by(torch.linalg.eigvals(A).real.max()),
            "a complex eigenvalue grows by its size, .abs(), not by its real part.",
        ),
        Mistake(
            lambda A: (  # of tensors: what neither grows nor shrinks is no division by 0
                math.log(torch.finfo(torch.float32).max) / torch.linalg.eigvals(A).abs().max().log()
            ).item(),
            "what shrinks at each step never overflows; a negative number of tokens is no answer.",
        ),
    ),
    tolerance=1e-6,  # eigenvalues differ a little from one linear algebra library to another
)


def check_tell_overflow(student) -> None:
    """Check `tell_overflow`."""
    run_check(TELL_OVERFLOW, student)


def solve_clip_gradient(gradient: Tensor, limit: float) -> Tensor:
    """Shorten a gradient to at most limit; one that is not finite becomes zeros: no step."""
    size = gradient.norm()
    if not size.isfinite():
        return torch.zeros_like(gradient)
    return gradient * (limit / size.clamp(min=limit))


CLIP_GRADIENT = Exercise(
    notebook="n10",
    solve=solve_clip_gradient,
    cases={
        "longer than the limit": {"gradient": torch.tensor([3.0, -4.0, 12.0]), "limit": 2.0},
        "shorter than the limit": {"gradient": torch.tensor([0.3, -0.4]), "limit": 2.0},
        "all zeros": {"gradient": torch.zeros(3), "limit": 1.0},
        "one entry infinite": {"gradient": torch.tensor([1.0, math.inf, 2.0]), "limit": 1.0},
        "one entry no number": {"gradient": torch.tensor([1.0, math.nan]), "limit": 1.0},
    },
    mistakes=(
        Mistake(
            lambda gradient, limit: gradient * limit / gradient.norm(),
            "the code as it was: what is shorter than the limit is made longer.",
        ),
        Mistake(
            lambda gradient, limit: gradient.clamp(-limit, limit),
            "entry by entry the direction changes; all entries are to shrink by the same factor.",
        ),
        Mistake(
            lambda gradient, limit: (
                gradient * (limit / gradient.norm().clamp(min=1e-30)).clamp(max=1)
            ),
            "infinity times 0 is NaN: a size that is not finite must be caught before.",
        ),
        Mistake(
            lambda gradient, limit: (
                lambda finite: finite * (limit / finite.norm().clamp(min=1e-30)).clamp(max=1)
            )(gradient.nan_to_num(0, 0, 0)),
            "the entries that are left point nowhere that was asked for: skip the whole step.",
        ),
    ),
    tolerance=1e-6,  # single precision
)


def check_clip_gradient(student) -> None:
    """Check `clip_gradient`."""
    run_check(CLIP_GRADIENT, student)


def solve_first_step(gradient: Tensor, lr: float, eps: float = 1e-8) -> Tensor:
    """Compute the first step of Adam, which starts its averages at 0 and then corrects for that."""
    return -lr * gradient / (gradient.abs() + eps)


FIRST_STEP = Exercise(
    notebook="n10",
    solve=solve_first_step,
    cases={
        "a gradient of 300 beside one of 0.3": {
            "gradient": torch.tensor([300.0, -0.3, 0.001], dtype=torch.float64),
            "lr": 0.01,
        },
        "one entry is 0": {
            "gradient": torch.tensor([0.0, -2.0], dtype=torch.float64),
            "lr": 0.1,
        },
        "one as small as eps": {
            "gradient": torch.tensor([1e-8, 5.0], dtype=torch.float64),
            "lr": 0.1,
        },
    },
    mistakes=(
        Mistake(
            lambda gradient, lr, eps=1e-8: -lr * gradient,
            "that is plain gradient descent; Adam divides by the root of the averaged square.",
        ),
        Mistake(
            lambda gradient, lr, eps=1e-8: -lr * gradient / (gradient.norm() + eps),
            "Adam divides each entry by its own size, not all by the norm.",
        ),
        Mistake(
            lambda gradient, lr, eps=1e-8: lr * gradient / (gradient.abs() + eps),
            "a minus is missing: a step goes against the gradient.",
        ),
        Mistake(
            lambda gradient, lr, eps=1e-8: (
                -lr * 0.1 * gradient / ((0.001 * gradient**2).sqrt() + eps)
            ),
            "both averages start at 0 and are corrected: 0.1 g / (1 - 0.9) = g, and so the square.",
        ),
    ),
)


def check_first_step(student) -> None:
    """Check `first_step`."""
    run_check(FIRST_STEP, student)
