"""One way to train a classifier of sequences: from short ones to long ones."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import nn
from torch.nn.functional import cross_entropy

from mamba_edu._checks import check_counts, check_interval
from mamba_edu.tasks import Batch
from mamba_edu.training._model import mark_right, read_logits, use_mode

WEIGHT_DECAY = 0.01
WARM_UP = 50  # steps
LEAST_RATE = 0.05  # of the largest, at the last step


class Step(NamedTuple):
    """One step of training: what it saw, and how the model did on it before it learned from it."""

    step: int
    length: int
    n_sequences: int
    loss: float
    accuracy: float


def train(
    model: nn.Module,
    sample: Callable[[int, int, int], Batch],
    lengths: Sequence[int] = (16, 32, 64, 128),
    steps: int = 400,
    batch: int = 16,
    lr: float = 1e-2,
    seed: int = 0,
    clip: float | None = 1.0,
    progress: bool = False,
) -> list[Step]:
    """Train a model in place by AdamW, on short sequences first, an equal part of the steps each.

    Each step draws sequences and lowers the cross entropy of their classes. Among many tokens, the
    one that counts leaves next to no trace in the gradient of an untrained model; among few it
    does, and what the model learned on few carries over.

    Args:
        model: any module whose forward(inputs, mask) returns logits (batch, n_classes).
        sample: a task, called as sample(batch, length, seed); draw_from(data) for a fixed set.
        lengths: the curriculum, in order; (64,) for sequences of one length.
        steps: how many in all, at least one for each length.
        batch: sequences in a step.
        lr: the largest rate of learning; schedule_rate says how much of it a step takes.
        seed: of the sequences and of what is random in the model. Together with the model's start
            it fixes the outcome; random numbers elsewhere stay as they were.
        clip: the largest norm of the gradient; None for no limit.
        progress: show a bar. Off unless asked, because stored outputs hold no times.

    Returns:
        A Step for each step. They end early at a loss that is not finite: no step mends that.

    Raises:
        TypeError: if an argument is of the wrong kind, or sample returns no Batch.
        ValueError: if a number is out of range, the model has nothing to train, or its logits do
            not fit the classes.

    Source: Loshchilov & Hutter 2019 (arXiv:1711.05101) for AdamW; Bengio et al. 2009, Curriculum
    Learning, for going from easy to hard.
    """
    _check_plan(model, lengths, steps, batch, clip, lr)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, weight_decay=WEIGHT_DECAY, fused=True)
    with use_mode(model, is_training=True), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        drawn = _draw_batches(sample, lengths, steps, batch, seed)
        rates = [lr * schedule_rate(step, steps) for step in range(steps)]
        walk = _walk(model, optimizer, zip(rates, drawn, strict=True), clip)
        return list(_show_progress(walk, steps) if progress else walk)


def schedule_rate(step: int, steps: int) -> float:
    """Say which share of the largest rate of learning a step takes: a ramp up, then a cosine down.

    The ramp lasts 50 steps, since AdamW's first averages rest on few gradients; the cosine ends at
    0.05 with the last step.

    Source: Loshchilov & Hutter 2017 (arXiv:1608.03983), without their restarts.
    """
    ramp = min(1.0, (step + 1) / WARM_UP)
    fallen = max(0, step + 1 - WARM_UP) / max(1, steps - WARM_UP)
    return ramp * (LEAST_RATE + (1 - LEAST_RATE) * (1 + math.cos(math.pi * fallen)) / 2)


def _check_plan(
    model: nn.Module,
    lengths: Sequence[int],
    steps: int,
    batch: int,
    clip: float | None,
    lr: float,
) -> None:
    """Refuse what train cannot run."""
    if not isinstance(model, nn.Module):
        raise TypeError(f"model must be a torch.nn.Module; its type is {type(model).__name__}")
    if not any(weight.requires_grad for weight in model.parameters()):
        raise ValueError("model must have parameters that require a gradient; it has none")
    if not isinstance(lengths, tuple | list) or not lengths:
        raise ValueError(f"lengths must list at least one length; it is {lengths!r}")
    for length in lengths:
        check_counts(1, length=length)
    check_counts(1, batch=batch)
    check_counts(len(lengths), steps=steps)
    check_interval(lr=lr, **({} if clip is None else {"clip": clip}))


def _draw_batches(
    sample: Callable[[int, int, int], Batch],
    lengths: Sequence[int],
    steps: int,
    batch: int,
    seed: int,
) -> Iterator[tuple[int, Batch]]:
    """Draw a batch for each step, with its length.

    Their seeds are large random numbers, so that a test set with a seed of the reader's own choice
    is never one of the batches that were trained on.
    """
    rng = torch.Generator().manual_seed(seed)
    for step in range(steps):
        length = lengths[step * len(lengths) // steps]
        own_seed = int(torch.randint(2**32, 2**62, (), generator=rng))
        yield length, sample(batch, length, own_seed)


def _walk(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    plan: Iterable[tuple[float, tuple[int, Batch]]],
    clip: float | None,
) -> Iterator[Step]:
    """Take a step at each rate on each batch, up to the first loss that is not finite."""
    for step, (rate, (length, drawn)) in enumerate(plan):
        logits = read_logits(model, drawn)
        loss = cross_entropy(logits, drawn.target)
        accuracy = mark_right(logits, drawn.target).double().mean()
        yield Step(step, length, len(drawn.target), loss.item(), accuracy.item())
        if not loss.isfinite():
            return
        optimizer.param_groups[0]["lr"] = rate
        optimizer.zero_grad()
        loss.backward()
        if clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()


def _show_progress(walk: Iterator[Step], steps: int) -> Iterator[Step]:
    """Show a bar beside the steps; it goes away at the end."""
    from tqdm.auto import tqdm  # here, so that the maths imports without tqdm

    bar = tqdm(walk, total=steps, desc="training", unit="step", leave=False)
    for step in bar:
        bar.set_postfix(length=step.length, loss=f"{step.loss:.2f}", refresh=False)
        yield step
