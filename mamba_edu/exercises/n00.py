"""Notebook 00: how guesses, checks and verdicts work, and six questions for later."""

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.reader import CLAIMS, Question, nearest


def answer_nine_tenths() -> tuple[int, str]:
    """Keep nine tenths ten times over."""
    left = 1.0
    for _ in range(10):
        left *= 0.9
    return nearest(left, (0.0, 0.35, 0.9)), f"0.9 multiplied ten times is {left:.3f}."


NINE_TENTHS = Question(
    key="n00.nine_tenths",
    asks="A state keeps 90 % of itself at every token. How much of the first token is left "
    "after ten more?",
    choices=("nothing", "about a third", "90 %"),
    answer=answer_nine_tenths,
    surprised="each step takes a tenth of what is left, not a tenth of the start.",
)


def answer_longer_memory() -> tuple[int, str]:
    """Let noise through a short and a long memory and compare what comes out."""
    noise = torch.randn(20_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    spreads = []
    for half_life in (2, 10):
        a_bar, h, states = 0.5 ** (1 / half_life), 0.0, []
        for value in noise.tolist():
            h = a_bar * h + (1 - a_bar) * value
            states.append(h)
        spreads.append(float(torch.tensor(states).std()))
    ratio = spreads[1] / spreads[0]
    index = 0 if ratio < 0.8 else 1 if ratio < 1.25 else 2
    return index, f"It lets {ratio:.2f} times as much noise through."


LONGER_MEMORY = Question(
    key="n00.longer_memory",
    asks="Pure noise flows through a state with half-life 2, and through one with half-life 10. "
    "The longer memory lets through",
    choices=("less noise", "as much noise", "more noise"),
    answer=answer_longer_memory,
    surprised="a longer memory averages over more tokens, and noise averages out.",
)

SMOOTHER = CLAIMS["n00.smoother"]

SIX = tuple(
    Question(key=f"n00.six.{name}", asks=asks, choices=choices, answer=None)
    for name, asks, choices in (
        (
            "front",
            "A CLS token stands in front of a sequence that a Mamba reads from left to right. "
            "What can the CLS token's output depend on?",
            ("every token", "the nearest tokens", "no other token at all"),
        ),
        (
            "selective",
            "Why is Mamba called selective?",
            (
                "it attends to chosen tokens",
                "its step size and its weights depend on the token",
                "it drops unimportant tokens from the input",
            ),
        ),
        (
            "step",
            "A trained Mamba takes half as long a step at every token. How long does it remember, "
            "counted in tokens?",
            ("half as long", "twice as long", "the same"),
        ),
        (
            "forget",
            "A fact is followed by 8,000 tokens of filler. How does the trace of it in a decaying "
            "state fall with the length of the filler?",
            ("like 1 / length", "exponentially", "not at all"),
        ),
        (
            "failure",
            "The text gets too long and a Mamba classifier has lost the fact. It answers",
            ("unsure, all classes alike", "one and the same class, confidently", "at random"),
        ),
        (
            "pool",
            "You average the outputs of all tokens instead of reading a CLS token. Does that cure "
            "the forgetting?",
            ("for every task", "for some tasks and not for others", "for none"),
        ),
    )
)


def solve_share_left(keep: float, steps: int) -> float:
    """Compute which share of a token is left after some more steps."""
    return keep**steps


SHARE_LEFT = Exercise(
    notebook="n00",
    solve=solve_share_left,
    cases={
        "keep = 0.9, ten steps": {"keep": 0.9, "steps": 10},
        "keep = 0.5, one step": {"keep": 0.5, "steps": 1},
        "no step at all": {"keep": 0.3, "steps": 0},
    },
    mistakes=(
        Mistake(lambda keep, steps: keep * steps, "a share of a share is a product, not a sum."),
        Mistake(
            lambda keep, steps: 1 - steps * (1 - keep),
            "each step takes its share of what is left, not of the start.",
        ),
        Mistake(
            lambda keep, steps: keep ** (steps - 1),
            "off by one: after one step the share is keep itself.",
        ),
    ),
)


def check_share_left(student) -> None:
    """Check `share_left`."""
    run_check(SHARE_LEFT, student)


def solve_shape_of_states(x: Tensor, A: Tensor) -> tuple[int, ...]:
    """Say which shape holds the state of every channel after every token."""
    batch, length, d_inner = x.shape
    return batch, length, d_inner, A.shape[1]


SHAPE_OF_STATES = Exercise(
    notebook="n00",
    solve=solve_shape_of_states,
    cases={
        "two sequences of seven tokens": {"x": torch.zeros(2, 7, 3), "A": torch.zeros(3, 4)},
        "a single token": {"x": torch.zeros(1, 1, 5), "A": torch.zeros(5, 2)},
    },
    mistakes=(
        Mistake(
            lambda x, A: (x.shape[0], x.shape[2], x.shape[1], A.shape[1]),
            "length comes before the channels: batch, length, channel, state.",
        ),
        Mistake(
            lambda x, A: (x.shape[0], x.shape[1], A.shape[1]),
            "every channel has its own d_state numbers; the channel axis is missing.",
        ),
        Mistake(
            lambda x, A: (x.shape[0], x.shape[2], A.shape[1]),
            "this is one state; the question is the state after every token.",
        ),
    ),
)


def check_shape_of_states(student) -> None:
    """Check `shape_of_states`."""
    run_check(SHAPE_OF_STATES, student)
