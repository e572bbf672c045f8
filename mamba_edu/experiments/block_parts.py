"""The small model with a part taken out, another start, or another order of lengths."""

import itertools
import math
from collections.abc import Sequence

import torch

from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.layers import take_out
from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import N_FILLERS, sample_needle, sample_trigger
from mamba_edu.training import Step, evaluate, train

SAMPLERS = {"needle": sample_needle, "trigger": sample_trigger}
N_CLASSES, LENGTH, LONG, N_SEQUENCES, N_WINDOWS = 8, 128, 512, 256, 16
PARTS = ("conv", "selection", "state", "skip", "gate", "norm")
MORE_STEPS = 1200
OURS, DEAD = (1e-3, 3e-2), (math.log(2),) * 2  # softplus(0) = ln 2
FROM_TEN = (10, 16, 32, 64, 128)  # nine of ten tokens are values or the trigger
LENGTHS = {
    "short to long": (16, 32, 64, 128),
    "long only": (128,),
    "long to short": (128, 64, 32, 16),
    "short only": (16,),
}


def start_small(
    part: str | None = None, delta_range: tuple[float, float] = OURS, seed: int = 0
) -> SequenceClassifier:
    """Start the small model of one layer that the course tries out on tasks of ids.

    Args:
        part: what is taken out of its block, as in take_out; None for nothing.
        delta_range: shortest and longest step size at the start.
        seed: of its start; random numbers elsewhere stay as they were.

    Raises:
        ValueError: for another part, or bounds that are swapped or not above 0.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        n_symbols = N_CLASSES + 1 + N_FILLERS
        model = SequenceClassifier(N_CLASSES, n_symbols=n_symbols, delta_range=delta_range)
    return model if part is None else take_out(model, part)


def run_small(
    task: str,
    part: str | None = None,
    lengths: Sequence[int] = LENGTHS["short to long"],
    steps: int = 400,
    delta_range: tuple[float, float] = OURS,
    seed: int = 0,
) -> dict[str, int | float]:
    """Train the small model by the course's own recipe, and count what it gets right.

    Args:
        task: "needle" or "trigger".
        part, delta_range: as in start_small.
        lengths: the curriculum.
        steps: of training, at least 16.
        seed: of the start, of what is shown and of what is asked.

    Returns:
        accuracy at length 128 with n_sequences; accuracy_512, of as many sequences of that length;
        loss_1 to loss_16, the mean loss in each sixteenth of the training.

    Raises:
        ValueError: for another task or part, or a number that is out of range.
    """
    if task not in SAMPLERS:
        raise ValueError(f"task must be one of {sorted(SAMPLERS)}; it is {task!r}")
    if steps < N_WINDOWS:
        raise ValueError(f"steps must be at least {N_WINDOWS}; it is {steps}")
    model, sample = start_small(part, delta_range, seed), SAMPLERS[task]
    history = train(model, sample, lengths, steps, seed=seed)
    here, far = (evaluate(model, sample(N_SEQUENCES, n, seed)) for n in (LENGTH, LONG))
    return {**here._asdict(), f"accuracy_{LONG}": far.accuracy, **average_losses(history)}


def average_losses(history: Sequence[Step]) -> dict[str, float]:
    """Average the loss over each sixteenth of a training."""
    edges = [window * len(history) // N_WINDOWS for window in range(N_WINDOWS + 1)]
    parts = [history[a:b] for a, b in itertools.pairwise(edges)]
    means = [sum(step.loss for step in part) / len(part) for part in parts]
    return {f"loss_{n}": round(mean, 4) for n, mean in enumerate(means, start=1)}


BLOCK_PARTS = Sweep(
    run_small,
    {
        f"{task}, {'no ' + part if part else 'whole block'}": {
            "task": task,
            **({"part": part} if part else {}),
            **({"lengths": FROM_TEN} if task == "trigger" else {}),
        }
        for task in SAMPLERS
        for part in (None, *PARTS)
    }
    | {  # is it that it cannot, or that 400 steps are too few?
        f"trigger, no conv, {MORE_STEPS} steps": {
            "task": "trigger",
            "part": "conv",
            "lengths": FROM_TEN,
            "steps": MORE_STEPS,
        }
    }
    | {"trigger, whole block, from 16 tokens": {"task": "trigger"}},
)
STEP_STARTS = Sweep(
    run_small,
    {
        f"steps {name}": {"task": "needle", "delta_range": delta_range}
        for name, delta_range in {
            "as ours": OURS,
            "ten times shorter": (1e-4, 3e-3),
            "all ln 2": DEAD,
            "3 to 10": (3.0, 10.0),
        }.items()
    },
)
CURRICULUM = Sweep(
    run_small,
    {name: {"task": "needle", "lengths": lengths} for name, lengths in LENGTHS.items()},
)
