"""The six questions of notebook 00 once more, now with computed answers."""

import math
from collections.abc import Callable

import torch

from mamba_edu.exercises import n00, n07, n09
from mamba_edu.experiments import pair_results
from mamba_edu.layers import MambaBlock
from mamba_edu.probes import measure_half_lives, measure_survival, read_block
from mamba_edu.reader import nearest

RATE = -torch.ones(1, 1, dtype=torch.float64)


def answer_selective() -> tuple[int, str]:
    """Count how many of six tokens an untrained block gives a step and weights of their own."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        signals = read_block(MambaBlock(8), torch.randn(1, 6, 8))
    own = [len(values[0].unique(dim=0)) for values in (signals.delta, signals.B, signals.C)]
    shortest = signals.delta.min().item()
    told = f"Of 6 tokens {own[0]} have steps of their own, {own[1]} a B and {own[2]} a C"
    index = 1 if min(own) > 1 and shortest > 0 else 2 if shortest == 0 else 0
    return index, f"{told}; none is dropped, since every step is above 0."


def answer_step() -> tuple[int, str]:
    """Compare the half-life of a state with that at half the step."""
    whole, half = (
        measure_half_lives(torch.full((1, 5, 1), step, dtype=torch.float64), RATE).item()
        for step in (0.02, 0.01)
    )
    told = f"With steps of 0.02 half is gone after {whole:.1f} tokens, with 0.01 after {half:.1f}."
    return nearest(half / whole, (0.5, 2.0, 1.0)), told


def answer_forget() -> tuple[int, str]:
    """Compare what twice as much filler does to a trace with what three laws say of it."""
    delta = torch.full((1, 8001, 1), 0.001, dtype=torch.float64)
    left = measure_survival(delta, RATE, 0)[0, :, 0, 0]
    once, twice = left[4000].item(), left[8000].item()
    laws = [math.log(share) for share in (once / 2, once**2, once)]
    told = f"With steps of 0.001, {once:.4f} is left after 4,000 tokens, {twice:.6f} after 8,000"
    return nearest(math.log(twice), laws), f"{told}: its square."


def answer_failure() -> tuple[int, str]:
    """Look up how CLS answers when the needle is lost."""
    index, told = n09.answer_lost()
    return (0, 2, 1)[index], told


def answer_pool() -> tuple[int, str]:
    """Look up on which tasks the mean is right at 8,192 tokens."""
    tasks = ("needle", "majority", "order")
    rows = pair_results("readouts", 8192, **{task: f"{task}, mean" for task in tasks})
    right = {task: sum(row[task] for row in rows) / len(rows) for task in tasks}
    n_solved = sum(share >= n09.SOLVED for share in right.values())
    told = ", ".join(f"{task} {share:.2f}" for task, share in right.items())
    index = 0 if n_solved == len(tasks) else 1 if n_solved else 2
    return index, f"Right at 8,192 tokens by the mean, over all seeds: {told}."


ANSWERS: dict[str, tuple[Callable[[], tuple[int, str]], str]] = {
    "front": (n07.answer_front, n07.FRONT.surprised),
    "selective": (answer_selective, "no token is left out; each sets the clock for itself."),
    "step": (answer_step, "a clock that goes half as far needs twice the tokens to fade as much."),
    "forget": (answer_forget, "each token takes a share of what is there, and shares multiply."),
    "failure": (answer_failure, n09.LOST.surprised),
    "pool": (answer_pool, "a mean counts well, finds one token badly, and has no order."),
}
SIX = tuple(
    question._replace(
        key=question.key.replace("n00", "n09"),
        answer=ANSWERS[question.key.rpartition(".")[2]][0],
        surprised=ANSWERS[question.key.rpartition(".")[2]][1],
    )
    for question in n00.SIX
)
