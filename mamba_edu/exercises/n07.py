"""Notebook 07: questions, claims, checks and solutions about what a CLS token can see."""

import math

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.exercises.trials07 import N_CONTENT, N_TOKENS, count_seen, find_overflow
from mamba_edu.experiments import list_depths, load_results
from mamba_edu.reader import Question, nearest
from mamba_edu.tasks import LANGUAGES, load_names

BOTH_WAYS = "needle, cls_first, both ways"


def answer_front() -> tuple[int, str]:
    """Count what a trained CLS sees from the front."""
    seen = count_seen("first")
    evidence = f"From the front it sees {seen} of {N_CONTENT}; from the end {count_seen('last')}."
    return nearest(seen, (N_CONTENT, 3, 0)), evidence


FRONT = Question(
    key="n07.front",
    asks="CLS stands before twelve tokens, as in BERT, in a causal model that is trained to tell "
    "the first of them. On how many of the twelve does the output at CLS then depend?",
    choices=("on all of them", "on the few that the convolution reaches", "on none"),
    answer=answer_front,
    surprised="in a causal model each token sees earlier ones only, the convolution too, and "
    "nothing is earlier than the first place.",
)


def answer_bound() -> tuple[int, str]:
    """Count how long ten such states last."""
    lasted = [find_overflow(seed) for seed in range(10)]
    evidence = f"Of ten draws the first breaks at token {min(lasted)}, the last at {max(lasted)}."
    return nearest(sum(lasted) / 10, (70, 700, N_TOKENS)), evidence


BOUND = Question(
    key="n07.bound",
    asks="The recipe draws A by torch.randn, here 512 factors, and multiplies the state by it at "
    "each token. After how many tokens is a state too large for single precision?",
    choices=("fewer than 100", "about 700", "never: the factors are 0 on average"),
    answer=answer_bound,
    surprised="the largest of 512 factors is near 3, and 3 multiplied by itself 80 times has 39 "
    "digits; the average helps nobody.",
)


def average_accuracy(setting: str) -> float:
    """Average a setting's accuracy over the seeds of the table that comes with the course."""
    rows = [row for row in load_results("cls_position") if row["setting"] == setting]
    return sum(row["accuracy"] for row in rows) / len(rows)


def answer_blind() -> tuple[int, str]:
    """Compare the measured accuracy of a blind model with two ways of guessing."""
    target = load_names("test").target
    lots, share = 1 / len(LANGUAGES), int(target.bincount().max()) / len(target)
    mean = average_accuracy("names, CLS first")
    return nearest(mean, (lots, share, 0.5)), (
        f"Over all seeds it is right {mean:.2f} of the time; lots would give {lots:.2f}, and the "
        f"most frequent language makes up {share:.2f} of the names."
    )


BLIND = Question(
    key="n07.blind",
    asks="CLS stands in front, and the model is trained to tell the language of a name, one of "
    "twelve. How often will it be right on new names?",
    choices=(
        "one time in twelve, as when drawing lots",
        "as often as the most frequent language comes",
        "about half of the time",
    ),
    answer=answer_blind,
    surprised="a blind model still learns how frequent each class is, and its loss falls while it "
    "does.",
)


def answer_depth() -> tuple[int, str]:
    """Look up where a CLS in front that reads both ways misses needles among 512 tokens."""
    rows = [row for row in load_results("readouts") if row["setting"] == BOTH_WAYS]
    ends = [[list_depths(row)[eighth] for row in rows] for eighth in (0, 7)]
    front, back = (sum(right for right, _ in end) / sum(of for _, of in end) for end in ends)
    evidence = f"It finds {front:.2f} of those in the first eighth, {back:.2f} in the last."
    return nearest(front - back, (-0.4, 0.4, 0.0)), evidence


DEPTH = Question(
    key="n07.depth",
    asks="Mamba blocks read both ways, CLS stands in front, and 128 tokens were the longest in "
    "training. Among 512, which needles does CLS miss?",
    choices=("those in front, next to it", "those at the back", "as many here as there"),
    answer=answer_depth,
    surprised="CLS sees the back through a state that reads from the end, and over hundreds of "
    "tokens that state lets go: the distance counts, not the side.",
)


def solve_can_see(cls_index: int, length: int, is_causal: bool) -> Tensor:
    """Mark the columns, CLS's own included, that can change the output at column cls_index."""
    columns = torch.arange(length)
    return columns <= cls_index if is_causal else columns >= 0


CAN_SEE = Exercise(
    notebook="n07",
    solve=solve_can_see,
    cases={
        "CLS at column 2 of 7, causal": {"cls_index": 2, "length": 7, "is_causal": True},
        "the same, seeing both ways": {"cls_index": 2, "length": 7, "is_causal": False},
        "CLS in front, causal": {"cls_index": 0, "length": 4, "is_causal": True},
        "CLS at the end, causal": {"cls_index": 4, "length": 5, "is_causal": True},
    },
    mistakes=(
        Mistake(
            lambda cls_index, length, is_causal: torch.arange(length) >= cls_index,
            "the wrong way round: a causal model looks back, not ahead.",
        ),
        Mistake(
            lambda cls_index, length, is_causal: torch.arange(length) < cls_index,
            "CLS sees itself too, whichever way the model looks.",
        ),
        Mistake(
            lambda cls_index, length, is_causal: torch.ones(length, dtype=torch.bool),
            "so it is in a model that is not causal; a causal one sees earlier columns only.",
        ),
        Mistake(
            lambda cls_index, length, is_causal: torch.arange(length) <= cls_index,
            "right for a causal model; one that is not causal sees everything, from any place.",
        ),
    ),
)


def check_can_see(student) -> None:
    """Check `can_see`."""
    run_check(CAN_SEE, student)


def solve_read_middle(outputs: Tensor) -> Tensor:
    """Read CLS where n content tokens leave n // 2 before it; CLS is among the outputs."""
    n_content = outputs.shape[1] - 1
    return outputs[:, n_content // 2]


def count_up(batch: int, length: int) -> Tensor:
    """Make outputs that say in which row, column and channel they stand."""
    row, column, channel = torch.meshgrid(*map(torch.arange, (batch, length, 3)), indexing="ij")
    return (100 * row + column + 0.1 * channel).double()


READ_MIDDLE = Exercise(
    notebook="n07",
    solve=solve_read_middle,
    cases={
        "7 content tokens": {"outputs": count_up(2, 8)},
        "8 content tokens": {"outputs": count_up(2, 9)},
        "12 content tokens": {"outputs": count_up(3, 13)},
        "1 content token": {"outputs": count_up(1, 2)},
    },
    mistakes=(
        Mistake(
            lambda outputs: outputs[:, min(4, outputs.shape[1] - 1)],
            "a constant is right for one length; derive the place from the shape.",
        ),
        Mistake(
            lambda outputs: outputs[:, outputs.shape[1] // 2 - 1],
            "one too early: CLS has n // 2 tokens before it, and columns count from 0.",
        ),
        Mistake(
            lambda outputs: outputs[:, -1],
            "this is the last output; CLS stands in the middle.",
        ),
    ),
)


def check_read_middle(student) -> None:
    """Check `read_middle`."""
    run_check(READ_MIDDLE, student)


def solve_blind_loss(counts: Tensor) -> float:
    """Compute the lowest mean cross entropy of a model that gives every input the same answer."""
    p = counts.double() / counts.sum()
    return float(torch.special.entr(p).sum())


BLIND_LOSS = Exercise(
    notebook="n07",
    solve=solve_blind_loss,
    cases={
        "classes that come 1, 2 and 5 times": {"counts": torch.tensor([1, 2, 5])},
        "four classes alike": {"counts": torch.tensor([7, 7, 7, 7])},
        "a class that never comes": {"counts": torch.tensor([3, 0, 1])},
    },
    mistakes=(
        Mistake(
            lambda counts: math.log(len(counts)),
            "so it is when all classes are alike; a frequent class makes guessing easier.",
        ),
        Mistake(
            lambda counts: -math.log(counts.max() / counts.sum()),
            "the loss of the most frequent class alone; the others are paid for too.",
        ),
        Mistake(
            lambda counts: (
                float(torch.special.entr(counts.double() / counts.sum()).sum()) / math.log(2)
            ),
            "in bits; cross entropy is in natural logarithms.",
        ),
        Mistake(
            lambda counts: float(-(lambda p: p * p.log())(counts.double() / counts.sum()).sum()),
            "a class that never comes costs nothing: 0 times ln 0 is 0 here, not NaN.",
        ),
    ),
    tolerance=1e-6,  # integers divide into single precision
)


def check_blind_loss(student) -> None:
    """Check `blind_loss`."""
    run_check(BLIND_LOSS, student)
