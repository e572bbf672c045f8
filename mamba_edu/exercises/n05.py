"""Notebook 05: questions, checks and solutions about scanning fast without losing digits."""

import math
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.probes import count_written, race_scans
from mamba_edu.reader import Question, nearest
from mamba_edu.scan import combine_steps, selective_scan

THREE = torch.tensor([[0.5, 0.9, 0.1], [1.0, 2.0, 3.0]], dtype=torch.float64)
RATES = -torch.arange(1.0, 17.0, dtype=torch.float64)


def answer_swapped() -> tuple[int, str]:
    """Combine three steps in order, and with the operands of every combination swapped."""
    a, b, c = (tuple(step) for step in THREE.T)
    right = combine_steps(combine_steps(a, b), c)[1].item()
    wrong = combine_steps(c, combine_steps(b, a))[1].item()
    off = abs(wrong - right) / right
    return nearest(off, (0.0, 0.02, 1.0)), f"It is {wrong:.2f} and should be {right:.2f}."


SWAPPED = Question(
    key="n05.swapped",
    asks="Three tokens keep 0.5, 0.9, 0.1 of the state and write 1, 2, 3. By mistake, a tree gives "
    "each combination its two operands in the wrong order. What is its last state?",
    choices=(
        "the right one: brackets may move",
        "wrong by so little that a plot would hide it",
        "wrong by its own size, or no number at all",
    ),
    answer=answer_swapped,
    surprised="brackets may move, operands may not: time then runs backwards, and what is "
    "numerically near is the hardest mistake to see.",
)


def answer_race() -> tuple[int, str]:
    """Count rounds and operations of the three scans."""
    lanes = race_scans(-RATES, -RATES, 4).values()
    rounds, work = [len(one) for one in lanes], [sum(map(len, one)) for one in lanes]
    found = (rounds.index(min(rounds)), work.index(max(work)))
    told = f"Loop, tree, chunks need {rounds} rounds and {work} operations."
    return [(1, 0), (2, 1), (1, 2)].index(found), told


RACE = Question(
    key="n05.race",
    asks="Sixteen tokens, chunks of four, and as many processors as anyone wants. Which scan needs "
    "the fewest rounds, and which does the most operations?",
    choices=(
        "the tree is first, the loop works most",
        "the chunks are first, the tree works most",
        "the tree is first, the chunks work most",
    ),
    answer=answer_race,
    surprised="fewer rounds are bought with more operations: the loop does the fewest of all.",
)


def divide_guarded(z: Tensor, write: Tensor) -> Tensor:
    """Scan by dividing by what has been kept so far, with the usual guard against 0."""
    kept = z.cumsum(1).exp()
    return kept * (write / (kept + 1e-12)).cumsum(1)


def answer_guard() -> tuple[int, str]:
    """Measure the guarded division against a loop in double precision."""
    rng = torch.Generator().manual_seed(5)
    x = 2 * torch.rand(1, 64, 4, generator=rng) - 1
    B, C = (torch.randn(1, 64, 16, generator=rng) for _ in range(2))
    A, delta = RATES.float().repeat(4, 1), torch.full_like(x, 0.1)
    parts = (v.double() for v in (x, delta, A, B, C))
    right = selective_scan(*parts, method="loop")
    h = divide_guarded(delta[..., None] * A, (delta * x)[..., None] * B[:, :, None])
    error = ((h * C[:, :, None]).sum(-1) - right).abs().max() / right.abs().max()
    found = nearest(math.log10(error.item()), (-6.0, -3.0, 0.0))
    return found, f"It is off by {error:.2f} of the largest output."


GUARD = Question(
    key="n05.guard",
    asks="With 1e-12 added to the divisor nothing is NaN any more. Step 0.1, rates -1 to -16, 64 "
    "tokens. How far is it off, against the largest output?",
    choices=(
        "by a millionth, as single precision must be",
        "by about a thousandth",
        "by more than a quarter",
    ),
    answer=answer_guard,
    surprised="the guard hides the fault: where the divisor is smaller than the guard, a token is "
    "divided by the guard, and its write is lost.",
)


def answer_double() -> tuple[int, str]:
    """Count what the backward pass of an indexing loop writes at a length and at its double."""
    growth = count_backward(256) / count_backward(128)
    return nearest(growth, (2, 4, 8)), f"It writes {growth:.1f} times as many numbers."


def count_backward(length: int) -> int:
    """Count the numbers written by the backward pass of a loop that indexes its tokens."""
    keep, write = (torch.rand(1, length, 1, requires_grad=True) for _ in range(2))
    h = torch.zeros(1, 1)
    for t in range(length):
        h = keep[:, t] * h + write[:, t]
    return count_written(h.backward)


DOUBLE = Question(
    key="n05.double",
    asks="The loop above takes its tokens by keep[:, t]. The sequence is made twice as long. How "
    "many times as many numbers does its backward pass write?",
    choices=("2 times", "4 times", "8 times"),
    answer=answer_double,
    surprised="each token's backward pass fills a zero tensor as long as the whole sequence, and "
    "there are twice as many tokens.",
)


def solve_tokens_until(A: Tensor, delta: float, floor: float) -> float:
    """Compute after how many tokens the fastest state keeps no more than floor."""
    return math.log(floor) / (delta * A.min().item())


TOKENS_UNTIL = Exercise(
    notebook="n05",
    solve=solve_tokens_until,
    cases={
        "rates -1 to -16, to 1e-12": {"A": RATES, "delta": 0.1, "floor": 1e-12},
        "a rate of -2, to one half": {"A": RATES[1:2], "delta": 0.5, "floor": 0.5},
    },
    mistakes=(
        Mistake(
            lambda A, delta, floor: math.log(floor) / (delta * A.max().item()),
            "this is the slowest state; the fastest one has the most negative rate.",
        ),
        Mistake(
            lambda A, delta, floor: math.log(floor) / A.min().item(),
            "this is a time; divide by the step to count tokens.",
        ),
    ),
)


def check_tokens_until(student) -> None:
    """Check `tokens_until`."""
    run_check(TOKENS_UNTIL, student)


def solve_combine_all(keep: Tensor, write: Tensor) -> tuple[Tensor, Tensor]:
    """Combine the steps of all tokens into one pair, half by half."""
    if len(keep) == 1:
        return keep[0], write[0]
    half = len(keep) // 2
    keep_1, write_1 = solve_combine_all(keep[:half], write[:half])
    keep_2, write_2 = solve_combine_all(keep[half:], write[half:])
    return keep_2 * keep_1, keep_2 * write_1 + write_2


def fold_by(rule: Callable, keep: Tensor, write: Tensor) -> tuple[Tensor, Tensor]:
    """Combine token by token by a rule (keep_1, write_1, keep_2, write_2) -> (keep, write)."""
    pair = keep[0], write[0]
    for step in zip(keep[1:], write[1:], strict=True):
        pair = rule(*pair, *step)
    return pair


COMBINE_ALL = Exercise(
    notebook="n05",
    solve=solve_combine_all,
    cases={
        "keeps 0.5, 0.9, 0.1, writes 1, 2, 3": {"keep": THREE[0], "write": THREE[1]},
        "one token": {"keep": THREE[0, :1], "write": THREE[1, :1]},
        "seven tokens": {
            "keep": torch.linspace(0.2, 0.8, 7, dtype=torch.float64),
            "write": torch.linspace(-1.0, 2.0, 7, dtype=torch.float64),
        },
    },
    mistakes=(
        Mistake(
            partial(fold_by, lambda k1, w1, k2, w2: (k1 * k2, k1 * w2 + w1)),
            "swapped: what the first half wrote must decay by the keep of the second.",
        ),
        Mistake(
            partial(fold_by, lambda k1, w1, k2, w2: (k1 * k2, w1 + w2)),
            "the first half's write does not decay at all.",
        ),
        Mistake(
            partial(fold_by, lambda k1, w1, k2, w2: (k2, k2 * w1 + w2)),
            "the keep of a stretch is the product of all its keeps.",
        ),
    ),
)


def check_combine_all(student) -> None:
    """Check `combine_all`."""
    run_check(COMBINE_ALL, student)


def solve_trace_back(keep: Tensor, grad: Tensor) -> Tensor:
    """Compute the gradient to each write from the one that each state gets when it is read."""
    carried, grads = torch.zeros_like(grad.sum()), []
    for keep_t, grad_t in zip(reversed(keep.unbind()), reversed(grad.unbind()), strict=True):
        grads.append(grad_t + carried)
        carried = keep_t * grads[-1]
    return torch.stack(grads[::-1])


TRACE_BACK = Exercise(
    notebook="n05",
    solve=solve_trace_back,
    cases={
        "keeps 0.5, 0.9, 0.1, gradients 1, 2, 3": {"keep": THREE[0], "grad": THREE[1]},
        "read once, at the end": {
            "keep": torch.linspace(0.2, 0.8, 5, dtype=torch.float64),
            "grad": torch.tensor([0.0, 0, 0, 0, 1], dtype=torch.float64),
        },
    },
    mistakes=(
        Mistake(
            lambda keep, grad: solve_trace_back(keep.roll(1), grad),
            "off by one: state t reaches state t+1 through the keep of token t+1.",
        ),
        Mistake(
            lambda keep, grad: solve_trace_back(keep.roll(-1).flip(0), grad.flip(0)).flip(0),
            "this runs forward; a state is blamed for what comes after it.",
        ),
        Mistake(
            lambda keep, grad: grad.clone(),
            "each state also lives on in the next one, and that must be carried.",
        ),
        Mistake(
            lambda keep, grad: solve_trace_back(keep, grad).flip(0),
            "found last to first; turn the list round at the end.",
        ),
    ),
)


def check_trace_back(student) -> None:
    """Check `trace_back`."""
    run_check(TRACE_BACK, student)
