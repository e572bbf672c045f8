"""Notebook 06: questions, claims, checks and solutions about the block and how it starts."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import softplus

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.experiments import pair_results
from mamba_edu.reader import Question, nearest


def answer_spare_part() -> tuple[int, str]:
    """Look up how each of the three does in its worst seed."""
    parts = ("conv", "gate", "state")
    rows = pair_results("block_parts", **{part: f"trigger, no {part}" for part in parts})
    worst = [min(row[part] for row in rows) for part in parts]
    told = ", ".join(map("{:.2f}".format, worst))
    return worst.index(max(worst)), f"The worst of five seeds gets, in this order, {told} right."


SPARE_PART = Question(
    key="n06.spare_part",
    asks="Three Mambas learn the trigger task, each with one part taken out. Which of them learns "
    "it all the same?",
    choices=(
        "the one without its convolution",
        "the one without its gate",
        "the one without its state: nothing of it is read",
    ),
    answer=answer_spare_part,
    surprised="the convolution is the only part that lets a token know its neighbour before it "
    "chooses its step; a gate only dampens what was already computed.",
)


def answer_dead_clock() -> tuple[int, str]:
    """Compute the half-life, in tokens, of the slowest state when every bias is 0."""
    step = softplus(torch.zeros((), dtype=torch.float64)).item()
    half = math.log(2) / step
    told = f"The step is softplus(0) = {step:.3f}, and exp(-{step:.3f}) = {math.exp(-step):.2f}."
    return nearest(half, (1.0, 7.0, 70.0)), f"{told} Half is gone after {half:.0f} token."


DEAD_CLOCK = Question(
    key="n06.dead_clock",
    asks="A general-purpose init sets every bias to 0, dt_proj.bias too. The slowest states have "
    "the rate A = -1. After how many tokens have they lost half of a value?",
    choices=("1 token", "about 7 tokens", "about 70 tokens"),
    answer=answer_dead_clock,
    surprised="a bias of 0 is no small step: softplus(0) is ln 2, and that is just long enough to "
    "halve a state at every token.",
)


def answer_long_only() -> tuple[int, str]:
    """Look up what the needle task's five seeds came to, with and without short sequences."""
    rows = pair_results("curriculum", mixed="short to long", long="long only")
    long, mixed = (sum(row[name] for row in rows) / len(rows) for name in ("long", "mixed"))
    right = nearest(long, (1.1, mixed, 1 / 8))
    return (
        right,
        f"Over five seeds it gets {long:.2f} right, and {mixed:.2f} with short ones first.",
    )


LONG_ONLY = Question(
    key="n06.long_only",
    asks="To find a needle among 128 tokens, one Mamba trains 100 steps each on 16, 32, 64 and 128 "
    "tokens; another takes all 400 on 128 and sees twice as many. How good is the other?",
    choices=("better", "as good", "no better than guessing"),
    answer=answer_long_only,
    surprised="it meets what it is tested on, but one needle among 128 tokens leaves too faint a "
    "trace in an untrained model to start from.",
)


def solve_count_memory(d_model: int, expand: int, d_state: int, d_conv: int, n_layers: int) -> int:
    """Count the numbers that a stack carries from one token to the next, for one sequence."""
    d_inner = expand * d_model
    return n_layers * d_inner * (d_state + d_conv - 1)


COUNT_MEMORY = Exercise(
    notebook="n06",
    solve=solve_count_memory,
    cases={
        "a small stack": {"d_model": 6, "expand": 2, "d_state": 5, "d_conv": 4, "n_layers": 3},
        "one layer, one tap": {"d_model": 8, "expand": 1, "d_state": 4, "d_conv": 1, "n_layers": 1},
    },
    mistakes=(
        Mistake(
            lambda **sizes: solve_count_memory(**sizes | {"d_conv": sizes["d_conv"] + 1}),
            "the token itself is new: of d_conv inputs only d_conv - 1 are carried.",
        ),
        Mistake(
            lambda **sizes: solve_count_memory(**sizes | {"d_conv": 1}),
            "the convolution remembers too: its last inputs are part of what is carried.",
        ),
        Mistake(
            lambda **sizes: solve_count_memory(**sizes | {"expand": 1}),
            "conv and scan run on d_inner = expand * d_model channels.",
        ),
        Mistake(
            lambda **sizes: solve_count_memory(**sizes | {"n_layers": 1}),
            "every layer carries its own.",
        ),
    ),
)


def check_count_memory(student) -> None:
    """Check `count_memory`."""
    run_check(COUNT_MEMORY, student)


def solve_find_dead(bias: Tensor, n_tokens: int) -> Tensor:
    """Tell which channels' slowest states, A = -1, lose half of a value within n_tokens."""
    half_life = math.log(2) / softplus(bias)
    return half_life <= n_tokens


FIND_DEAD = Exercise(
    notebook="n06",
    solve=solve_find_dead,
    cases={
        "biases from -10 to 3, four tokens": {
            "bias": torch.linspace(-10, 3, 40, dtype=torch.float64),
            "n_tokens": 4,
        },
        "all biases 0, two tokens": {"bias": torch.zeros(3).double(), "n_tokens": 2},
    },
    mistakes=(
        Mistake(
            lambda bias, n_tokens: math.log(2) / bias.exp() <= n_tokens,
            "the step is softplus(bias); exp(bias) is that only for short steps.",
        ),
        Mistake(
            lambda bias, n_tokens: 1 / softplus(bias) <= n_tokens,
            "1 / step is the time to 1/e; half is gone sooner, after ln 2 / step.",
        ),
        Mistake(
            lambda bias, n_tokens: ~solve_find_dead(bias, n_tokens),
            "the other way round: this marks the channels that are alive.",
        ),
    ),
)


def check_find_dead(student) -> None:
    """Check `find_dead`."""
    run_check(FIND_DEAD, student)


def solve_step_conv(tail: Tensor, x: Tensor, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
    """Convolve one token, (d_inner), behind the tail; return its output and the next tail."""
    seen = torch.cat([tail, x[None]])
    return (seen * weight.T).sum(0) + bias, seen[1:]


def walk_conv(step: Callable) -> Callable[..., Tensor]:
    """Make a function that steps through a whole signal and lists outputs, then the last tail."""

    def walk(signal: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        tail, outputs = signal.new_zeros(weight.shape[1] - 1, signal.shape[1]), []
        for x in signal:
            y, tail = step(tail, x, weight, bias)
            outputs.append(y)
        return torch.cat([torch.stack(outputs), tail])

    return walk


def _make_signal(length: int, d_inner: int, d_conv: int) -> dict[str, Tensor]:
    """Make a small signal and taps that are all different."""
    rng = torch.Generator().manual_seed(length)
    shapes = {"signal": (length, d_inner), "weight": (d_inner, d_conv), "bias": (d_inner,)}
    return {k: torch.randn(s, generator=rng, dtype=torch.float64) for k, s in shapes.items()}


STEP_CONV = Exercise(
    notebook="n06",
    solve=solve_step_conv,
    cases={
        "7 tokens, 3 channels, 4 taps": _make_signal(7, 3, 4),
        "1 token, 2 channels, 3 taps": _make_signal(1, 2, 3),
        "5 tokens, 2 channels, 1 tap": _make_signal(5, 2, 1),
    },
    mistakes=(
        Mistake(
            lambda tail, x, weight, bias: (solve_step_conv(tail, x, weight, bias)[0], tail),
            "the tail must move on: drop its oldest input, append the token.",
        ),
        Mistake(
            lambda tail, x, weight, bias: solve_step_conv(tail, x, weight.flip(1), bias),
            "the last tap weighs the token itself, the first one the oldest.",
        ),
        Mistake(
            lambda tail, x, weight, bias: (
                (torch.cat([x[None], tail]) * weight.T).sum(0) + bias,
                torch.cat([x[None], tail])[:-1],
            ),
            "the token comes behind the tail, not before it.",
        ),
        Mistake(
            lambda tail, x, weight, bias: solve_step_conv(tail, x, weight, 0 * bias),
            "the bias is missing.",
        ),
    ),
    observe=walk_conv,
)


def check_step_conv(student) -> None:
    """Check `step_conv`."""
    run_check(STEP_CONV, student)
