"""Notebook 09: questions, checks and solutions about what a state forgets."""

import math
from statistics import median

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.experiments import load_results, pair_results
from mamba_edu.probes import measure_survival
from mamba_edu.reader import Question, nearest

SOLVED = 0.8  # of the sequences


def answer_four_times() -> tuple[int, str]:
    """Compute what is left after 500 and after 2,000 tokens of a step that halves in 500."""
    delta = torch.full((1, 2001, 1), math.log(2) / 500, dtype=torch.float64)
    left = measure_survival(delta, -torch.ones(1, 1, dtype=torch.float64), 0)[0, :, 0, 0]
    half, less = left[500].item(), left[2000].item()
    told = f"After 500 tokens {half:.2f} is left, after 2,000 {less:.4f}."
    return nearest(less, (1 / 8, 1 / 16, 1 / 2)), told


FOUR_TIMES = Question(
    key="n09.four_times",
    asks="A state has lost half of a needle after 500 tokens of filler. How much of the needle is "
    "left after 2,000?",
    choices=("an eighth: half of it, then a quarter of that", "a sixteenth", "still half"),
    answer=answer_four_times,
    surprised="every 500 tokens take half of what is there, and 2,000 are four times 500.",
)


def answer_order() -> tuple[int, str]:
    """Look up which share of its signal at 128 tokens each read-out has at 8,192."""
    named = ("cls_last", "mean", "max")
    kept = {name: list_kept(f"needle, {name}", 8192) for name in named}
    middle = {name: median(shares) for name, shares in kept.items()}
    best_first = sorted(named, key=middle.get, reverse=True)
    orders = (["cls_last", "mean", "max"], ["max", "mean", "cls_last"])
    right = orders.index(best_first) if best_first in orders else 2
    told = ", ".join(f"{name} {share:.3f}" for name, share in middle.items())
    told += f"; the best seed of CLS keeps {max(kept['cls_last']):.3f}"
    return right, f"Of its signal at 128 tokens the median seed keeps, at 8,192: {told}."


def list_kept(setting: str, length: int) -> list[float]:
    """List which share of its signal at 128 tokens each seed has at a length."""
    rows = [row for row in load_results("signals") if row["setting"] == setting]
    return [row[f"margin_{length}"] / row["margin_128"] for row in rows]


ORDER = Question(
    key="n09.order",
    asks="Three models find a needle among 128 tokens: by CLS at the end, by the mean of all "
    "outputs, by their maximum. At 8,192 tokens, which keeps most of the needle's signal, "
    "in the median seed, and which least?",
    choices=(
        "CLS most, then the mean, then the maximum",
        "the maximum most, then the mean, then CLS",
        "neither of these orders",
    ),
    answer=answer_order,
    surprised="a mean divides by the length, a state decays with it, and a maximum does not count "
    "what it passes over.",
)


def answer_lost() -> tuple[int, str]:
    """Look up how CLS answers at 8,192 tokens: one class or all, sure or not."""
    rows = [row for row in load_results("signals") if row["setting"] == "needle, cls_last"]
    share, sure = (sum(row[f"{k}_8192"] for row in rows) / len(rows) for k in ("share", "sure"))
    right = 2 if share > 0.5 and sure > 0.5 else 1 if sure > 0.5 else 0
    return right, (
        f"Over all seeds its most frequent answer has {share:.2f} of the answers, and the mean "
        f"probability of what it answers is {sure:.2f}."
    )


LOST = Question(
    key="n09.lost",
    asks="At 8,192 tokens CLS is right about as often as a guess, one time in eight. How does it "
    "answer?",
    choices=(
        "all classes come, and it is unsure of each",
        "all classes come, and it is sure of each",
        "nearly always the same class, and it is sure",
    ),
    answer=answer_lost,
    surprised="an accuracy near chance does not say that a model guesses: what is left without a "
    "needle is a fixed preference.",
)


def answer_no_state() -> tuple[int, str]:
    """Look up which tasks the maximum solves at 128 tokens when nothing is read from the state."""
    tasks = ("needle", "trigger", "order", "far_trigger")
    right = {}
    for task in tasks:
        rows = pair_results("readouts", 128, bare=f"{task}, max, no SSM")
        right[task] = sum(row["bare"] for row in rows) / len(rows)
    solved = {task for task in tasks if right[task] >= SOLVED}
    told = ", ".join(f"{task} {share:.2f}" for task, share in right.items())
    apart = [len(solved ^ set(tasks[:n_first])) for n_first in (0, 2, 4)]
    return apart.index(min(apart)), f"Right at 128 tokens, over all seeds: {told}."


NO_STATE = Question(
    key="n09.no_state",
    asks="Take the state out, y = D x, and train the model that reads a maximum. Which does it "
    "still solve: needle, trigger (the value right behind it), order (of two tokens), far trigger "
    "(seven tokens behind)?",
    choices=(
        "none: without a state nothing is remembered",
        "needle and trigger",
        "all four: the convolution remembers in its place",
    ),
    answer=answer_no_state,
    surprised="the convolution sees four tokens, and a maximum over all places needs no memory to "
    "find the one that counts.",
)


def solve_find_horizon(half_life: float, share: float) -> float:
    """Compute after how many tokens only this share of what was written is left."""
    return half_life * math.log2(1 / share)


FIND_HORIZON = Exercise(
    notebook="n09",
    solve=solve_find_horizon,
    cases={
        "a half-life of 30 tokens, a tenth left": {"half_life": 30.0, "share": 0.1},
        "600 tokens, one half left": {"half_life": 600.0, "share": 0.5},
        "150 tokens, a hundredth left": {"half_life": 150.0, "share": 0.01},
    },
    mistakes=(
        Mistake(
            lambda half_life, share: half_life * math.log(1 / share),
            "with the natural logarithm half_life would be the time to 1/e; it is the time to 1/2.",
        ),
        Mistake(
            lambda half_life, share: half_life * (1 - share) / 0.5,
            "a straight line: but each half-life takes half of what is there, not of the start.",
        ),
        Mistake(
            lambda half_life, share: half_life * math.log2(share),
            "a minus is missing: the share is below 1 and its logarithm below 0.",
        ),
    ),
)


def check_find_horizon(student) -> None:
    """Check `find_horizon`."""
    run_check(FIND_HORIZON, student)


def solve_survive_to_end(delta: Tensor, A: Tensor, s: int) -> Tensor:
    """Compute which share of what token s wrote each state still holds at the end."""
    return torch.exp(A * delta[:, s + 1 :].sum(1)[..., None])


def survive_by_clock(delta: Tensor, A: Tensor, s: int) -> Tensor:
    """Subtract two clocks, as the exercise's code does: the bug that is to be found."""
    clock = delta.cumsum(1)
    return torch.exp(A * (clock[:, -1] - clock[:, s - 1])[..., None])


def make_clock(length: int) -> dict[str, Tensor]:
    """Make small steps and rates that are all different."""
    rng = torch.Generator().manual_seed(length)
    delta = torch.rand(2, length, 3, generator=rng, dtype=torch.float64)
    return {"delta": delta, "A": -torch.rand(3, 4, generator=rng, dtype=torch.float64)}


SURVIVE_TO_END = Exercise(
    notebook="n09",
    solve=solve_survive_to_end,
    cases={
        "the first token of 5": make_clock(5) | {"s": 0},
        "token 2 of 7": make_clock(7) | {"s": 2},
        "the last token of 4": make_clock(4) | {"s": 3},
    },
    mistakes=(
        Mistake(
            survive_by_clock,
            "this is the code as it was: token s is written after the state has decayed, so its "
            "own step does not count; and clock[:, -1] is the last one, not 0.",
        ),
        Mistake(
            lambda delta, A, s: torch.exp(A * delta[:, s:].sum(1)[..., None]),
            "token s is written after the state has decayed: its own step does not count.",
        ),
        Mistake(
            lambda delta, A, s: torch.exp(A * delta[:, s + 1 : -1].sum(1)[..., None]),
            "the last token's step counts: the state is read after it.",
        ),
    ),
)


def check_survive_to_end(student) -> None:
    """Check `survive_to_end`."""
    run_check(SURVIVE_TO_END, student)


def solve_describe_answers(logits: Tensor) -> tuple[float, float]:
    """Compute the share of the most frequent answer, and the mean certainty of the answers."""
    share = logits.argmax(1).bincount().max() / len(logits)
    return float(share), float(logits.softmax(1).amax(1).mean())


def make_logits(n_sequences: int, bias: float) -> Tensor:
    """Make logits of five classes, the first ahead by a bias."""
    rng = torch.Generator().manual_seed(n_sequences)
    logits = 2 * torch.randn(n_sequences, 5, generator=rng, dtype=torch.float64)
    return logits + bias * torch.tensor([1.0, 0, 0, 0, 0])


DESCRIBE_ANSWERS = Exercise(
    notebook="n09",
    solve=solve_describe_answers,
    cases={
        "nine answers, a favourite": {"logits": make_logits(9, 2.0)},
        "forty answers, none preferred": {"logits": make_logits(40, 0.0)},
        "seven answers, always the same": {"logits": make_logits(7, 30.0)},
    },
    mistakes=(
        Mistake(
            lambda logits: (
                solve_describe_answers(logits)[0],
                float(logits.softmax(1).mean(0).max()),
            ),
            "how sure it is of each answer comes first, their mean after that.",
        ),
        Mistake(
            lambda logits: (solve_describe_answers(logits)[0], float(logits.amax(1).mean())),
            "a logit is no probability: the softmax is missing.",
        ),
    ),
    tolerance=1e-6,  # a share of integers is divided in single precision
)


def check_describe_answers(student) -> None:
    """Check `describe_answers`."""
    run_check(DESCRIBE_ANSWERS, student)
