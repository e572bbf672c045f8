"""Tasks whose answer is known by construction, at any length."""

import torch
from jaxtyping import Float
from torch import Tensor

from mamba_edu._checks import check_counts, check_flags
from mamba_edu.tasks.batch import Batch

N_FILLERS = 24  # kinds of token that say nothing
N_VALUES = 8  # kinds of token that say something
N_SYMBOLS = N_VALUES + 1 + N_FILLERS  # a trigger between them: one model fits every task of ids


def sample_last_marked(
    batch: int, length: int, p: float, seed: int
) -> tuple[
    Float[Tensor, "batch length"], Float[Tensor, "batch length"], Float[Tensor, "batch length"]
]:
    """Sample the task of keeping the last marked value.

    Each token carries a value from a standard normal and is marked with probability p. The target
    at every token is the value of the last marked token up to and with it; 0 before the first.

    What grows with the length: nothing; the last mark is about 1/p tokens back at any length.
    Floor: 0, by an if. The best fixed linear filter misses (1 - p)/(2 - p) of the variance when
    it is handed value times mark, and 1 - p/(2 - p) when it sees the values alone.

    Args:
        batch, length: how many sequences, and how long.
        p: probability of a mark, above 0 and at most 1.
        seed: of the generator; the same seed gives the same task.

    Returns:
        values, marks (0 or 1) and target, float64.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if p or a size is out of range.
    """
    check_counts(0, batch=batch, length=length)
    if not 0 < p <= 1:
        raise ValueError(f"p must be above 0 and at most 1; it is {p}")
    rng = torch.Generator().manual_seed(seed)
    values = torch.randn(batch, length, generator=rng, dtype=torch.float64)
    marks = torch.rand(batch, length, generator=rng, dtype=torch.float64) < p
    where = torch.where(marks, torch.arange(length), -1).cummax(dim=1).values
    target = torch.where(where >= 0, values.gather(1, where.clamp(min=0)), 0)
    return values, marks.double(), target


def sample_needle(
    batch: int, length: int, seed: int, n_classes: int = 8, depth: float | None = None
) -> Batch:
    """Sample the task of finding the one token that says something.

    One token of each sequence, the needle, is an id below n_classes, and that id is the class.
    All other tokens are filler, drawn from the N_FILLERS ids above and equal in chance, whatever
    the class is.

    What grows with the length: the filler, and with it how far back the needle lies, length/2 on
    average. What does not: there is one needle, and it is as easy to tell from filler.
    Chance: 1/n_classes.

    Args:
        batch, length: how many sequences, and how long; a sequence has at least the needle.
        seed: of the generator; the same seed gives the same task.
        n_classes: how many needles there are, all equal in chance; at least 2.
        depth: where the needle lies, from 0, the first token, to 1, the last; None for anywhere.

    Returns:
        inputs (batch, length), ids below n_classes + N_FILLERS; target, the classes; no mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size or the depth is out of range.
    """
    return sample_needle_pair(batch, length, seed, n_classes, depth)[0]


def sample_needle_pair(
    batch: int, length: int, seed: int, n_classes: int = N_VALUES, depth: float | None = 0.1
) -> tuple[Batch, Batch]:
    """Sample needle sequences and the same filler without the needle.

    What a model says of both differs by what reaches it of the needle: see measure_margins.

    What grows with the length, and chance: as in sample_needle. Without the needle nothing says
    the class, and chance is all there is.

    Args:
        batch, length, seed, n_classes, depth: as in sample_needle.

    Returns:
        The batch that sample_needle draws, and one of the same filler with a filler for the
        needle; its target is the class of the needle that was not put.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size or the depth is out of range.
    """
    check_counts(0, batch=batch)
    check_counts(1, length=length)
    check_counts(2, n_classes=n_classes)
    if depth is not None and not 0 <= depth <= 1:
        raise ValueError(f"depth must be from 0 to 1, or None for anywhere; it is {depth}")
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(n_classes, (batch,), generator=rng)
    inputs = torch.randint(n_classes, n_classes + N_FILLERS, (batch, length), generator=rng)
    anywhere = torch.randint(length, (batch, 1), generator=rng)
    place = anywhere if depth is None else torch.full_like(anywhere, round(depth * (length - 1)))
    return Batch(inputs.scatter(1, place, target[:, None]), target), Batch(inputs, target)


def sample_trigger(
    batch: int, length: int, seed: int, n_classes: int = 8, distance: int = 1
) -> Batch:
    """Sample the task of naming the value that a trigger points at.

    Each id below n_classes, a value, stands once in every sequence. The id n_classes, the trigger,
    stands once too, and the value `distance` tokens behind it is the class. All other tokens are
    filler, drawn from the N_FILLERS ids above and equal in chance. Which values are there says
    nothing, since all are; only where they stand does.

    What grows with the length: the filler. What does not: there is one trigger and the same
    n_classes - 1 values that are not meant, and it is as near to the one that is.
    Chance: 1/n_classes.

    Args:
        batch, length: how many sequences, and how long; all values and the trigger must fit, and
            the trigger with what it points at.
        seed: of the generator; the same seed gives the same task.
        n_classes: how many values there are, all equal in chance; at least 2.
        distance: how many tokens behind the trigger its value stands; at least 1.

    Returns:
        inputs (batch, length), ids up to n_classes + N_FILLERS; target, the classes; no mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
    """
    check_counts(0, batch=batch)
    check_counts(2, n_classes=n_classes)
    check_counts(1, distance=distance)
    check_counts(max(n_classes, distance) + 1, length=length)
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(n_classes, (batch, 1), generator=rng)
    inputs = torch.randint(n_classes + 1, n_classes + 1 + N_FILLERS, (batch, length), generator=rng)
    place = torch.randint(length - distance, (batch, 1), generator=rng)
    order = torch.rand(batch, length, generator=rng)
    order = order.scatter(1, torch.cat([place, place + distance], 1), 2.0)  # taken: these come last
    others = (target + torch.arange(1, n_classes)) % n_classes
    inputs = inputs.scatter(1, order.argsort(1)[:, : n_classes - 1], others)
    inputs = inputs.scatter(1, place, n_classes).scatter(1, place + distance, target)
    return Batch(inputs, target[:, 0])


def sample_far_trigger(
    batch: int,
    length: int,
    seed: int,
    n_classes: int = N_VALUES,
    distance: int = 7,
    d_conv: int = 4,
    n_layers: int = 1,
    bidirectional: bool = False,
) -> Batch:
    """Sample the trigger task with a distance that no convolution of the model spans.

    All is as in sample_trigger, but no window of the model's convolutions holds both the trigger
    and its value, so that something has to be carried from one to the other. In n_layers causal
    layers a window is n_layers (d_conv - 1) tokens and the one it ends at; where each layer reads
    from both ends, it is twice as many and the one in its middle.

    What grows with the length: the filler. What does not: there is one trigger and the same
    n_classes - 1 values that are not meant, and it is as near to the one that is.
    Chance: 1/n_classes. Windows alone do hardly better: they can rule out the values near the
    trigger and those among the first `distance` tokens, 1/n_classes (1 + O(distance/length)).

    Args:
        batch, length, seed, n_classes: as in sample_trigger.
        distance: how many tokens behind the trigger its value stands.
        d_conv, n_layers, bidirectional: of the model that is to be tried.

    Returns:
        As sample_trigger.

    Raises:
        TypeError: if a size is not an int, or bidirectional neither True nor False.
        ValueError: if a size is out of range, or the convolutions reach from value to trigger.
    """
    check_counts(1, d_conv=d_conv, n_layers=n_layers, distance=distance)
    check_flags(bidirectional=bidirectional)
    reach = n_layers * (d_conv - 1) * (2 if bidirectional else 1)
    if distance <= reach:
        raise ValueError(
            f"distance must be more than {reach}, or the convolutions alone reach from the value "
            f"to its trigger; it is {distance}"
        )
    return sample_trigger(batch, length, seed, n_classes, distance)
