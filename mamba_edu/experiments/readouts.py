"""Every read-out on every task it is for: the grid behind notebooks 07 to 09."""

import math
from collections.abc import Callable, Iterator, Sequence

import torch
from jaxtyping import Bool
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.experiments.block_parts import N_WINDOWS, OURS, average_losses
from mamba_edu.layers import take_out
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import make_readout
from mamba_edu.steps import softplus_step
from mamba_edu.tasks import TASKS, Batch, Task
from mamba_edu.training import mark_sequences, train

D_MODEL, D_INNER = 32, 64
LENGTHS = (16, 32, 64, 128)  # of training
TESTED = {128: 256, 256: 256, 512: 256, 2048: 256, 8192: 128, 32768: 32}  # length -> sequences
N_EIGHTHS, DEPTHS_AT = 8, 512
PIECE = 2**16  # tokens that are read at once: what they need stays far below 1 GB
N_ERRORS = 3  # standard errors from chance


def start_readout(
    task: str,
    readout: str,
    seed: int = 0,
    n_layers: int = 1,
    d_state: int = 8,
    bidirectional: bool = False,
    part: str | None = None,
    step_rule: Callable[[Tensor], Tensor] = softplus_step,
) -> SequenceClassifier:
    """Start the small model of the course for a task, with a read-out.

    Args:
        task: one of TASKS.
        readout: one of READOUTS.
        seed: of its start; random numbers elsewhere stay as they were.
        n_layers, d_state, bidirectional: as SequenceClassifier takes them.
        part: what is taken out of its blocks, as in take_out; None for nothing.
        step_rule: as MambaBlock takes it.

    Raises:
        ValueError: for another task, read-out or part, or a size that is out of range.
    """
    if task not in TASKS:
        raise ValueError(f"task must be one of {sorted(TASKS)}; it is {task!r}")
    sizes = TASKS[task].n_classes, TASKS[task].n_symbols, TASKS[task].d_in
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        read = make_readout(readout, D_MODEL, D_INNER, d_state)
        more = {"allow_blind": True, "bidirectional": bidirectional, "step_rule": step_rule}
        model = SequenceClassifier(*sizes, read, D_MODEL, n_layers, d_state, OURS, **more)
    return model if part is None else take_out(model, part)


def run_readout(
    task: str,
    readout: str,
    seed: int = 0,
    steps: int = 400,
    lengths: Sequence[int] = LENGTHS,
    batch: int = 16,
    lr: float = 1e-2,
    **model: object,
) -> dict[str, int | float]:
    """Train a read-out on a task, short sequences first, and count what it gets right, ever longer.

    Args:
        task, readout, seed: as in start_readout; the seed is that of the training and of the test
            sequences too.
        steps: of training, at least 16.
        lengths: of training; those that are too short for the task are left out, and its shortest
            is put in their place.
        batch, lr: as train takes them.
        model: further keywords of start_readout.

    Returns:
        right_L of n_L sequences for each length L of TESTED, n_L = 0 where it was not asked;
        depth_1 to depth_8 of n_depth_1 to n_depth_8, by where the needle lay among 512 tokens,
        all 0 but on the needle task; parameters, how many were trained; loss_1 to loss_16, the
        mean loss in each sixteenth of the training.

    Raises:
        ValueError: for another task, read-out or part, or a number that is out of range.
    """
    check_counts(N_WINDOWS, steps=steps)
    classifier, plan = start_readout(task, readout, seed, **model), TASKS[task]
    lengths = fit_lengths(lengths, plan.shortest)
    history = train(classifier, plan.sample, lengths, steps, batch, lr, seed)
    counts = {f"{kind}_{length}": 0 for length in TESTED for kind in ("right", "n")}
    depths = count_depths(torch.zeros(0, 1), torch.zeros(0, dtype=torch.bool))
    for length, drawn, marks in walk_lengths(classifier, plan, lengths[-1], seed):
        counts |= {f"right_{length}": int(marks.sum()), f"n_{length}": len(marks)}
        if task == "needle" and length == DEPTHS_AT:
            depths = count_depths(drawn.inputs < plan.n_classes, marks)
    trained = sum(weight.numel() for weight in classifier.parameters() if weight.requires_grad)
    return counts | depths | {"parameters": trained} | average_losses(history)


def fit_lengths(lengths: Sequence[int], shortest: int) -> tuple[int, ...]:
    """Replace the lengths that are too short for a task by its shortest, once."""
    fitting = tuple(length for length in lengths if length >= shortest)
    return fitting if len(fitting) == len(lengths) else (shortest, *fitting)


def walk_lengths(
    model: torch.nn.Module, task: Task, trained_to: int, seed: int
) -> Iterator[tuple[int, Batch, Bool[Tensor, " batch"]]]:
    """Test a model on longer and longer sequences, up to two lengths in a row at chance.

    Args:
        model: a classifier.
        task: what it was trained on.
        trained_to: its longest training length; if that is 256, so is the first that is tested.
        seed: of the test sequences.

    Returns:
        The length, the sequences, and which of them are right, one length at a time.
    """
    lost, other = 0, 128 if trained_to == 256 else 256  # one of them is enough
    for length, n_sequences in TESTED.items():
        if length == other:
            continue
        drawn = task.sample_test(n_sequences, length, seed)
        marks = mark_pieces(model, drawn)
        yield length, drawn, marks
        lost = lost + 1 if is_chance(int(marks.sum()), n_sequences, task.chance) else 0
        if lost == 2:
            return


def mark_pieces(model: torch.nn.Module, drawn: Batch) -> Bool[Tensor, " batch"]:
    """Mark what a model gets right, a few sequences at a time: so many tokens as memory is for."""
    rows = torch.arange(len(drawn.target)).split(max(1, PIECE // drawn.inputs.shape[1]))
    return mark_sequences(model, (drawn.take(piece) for piece in rows))


def is_chance(right: int, n_sequences: int, chance: float) -> bool:
    """Tell whether so many right are no more than three standard errors away from guessing."""
    error = math.sqrt(chance * (1 - chance) / n_sequences)
    return abs(right / n_sequences - chance) <= N_ERRORS * error


def count_depths(
    is_needle: Bool[Tensor, "batch length"], marks: Bool[Tensor, " batch"]
) -> dict[str, int]:
    """Count what is right in each eighth of the depth, by where the first needle of a row lies.

    Returns:
        depth_1, right with the needle in the first eighth, of n_depth_1; and so on to the eighth.
    """
    eighth = is_needle.int().argmax(1) * N_EIGHTHS // is_needle.shape[1]
    right, of = (torch.bincount(eighth[rows], minlength=N_EIGHTHS) for rows in (marks, marks >= 0))
    return {
        f"{name}_{n + 1}": int(counts[n])
        for n in range(N_EIGHTHS)
        for name, counts in (("depth", right), ("n_depth", of))
    }
