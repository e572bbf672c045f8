"""Tasks whose answer no single token says: only how some of them stand to each other."""

import torch
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.tasks.batch import Batch
from mamba_edu.tasks.synthetic import N_FILLERS, N_VALUES

N_KEYS = 8  # names that needles can have


def sample_order(batch: int, length: int, seed: int) -> Batch:
    """Sample the task of telling which of two tokens came first.

    The ids 0 and 1 stand once each in every sequence, anywhere, and the one that comes first is
    the class. All other tokens are filler, drawn from N_FILLERS ids and equal in chance. Both are
    always there: a bag of tokens says nothing.

    What grows with the length: the filler, and with it how far the two lie apart, a third of the
    length on average, and how far back the later one lies, another third. What does not: there
    are two.
    Chance: 0.5.

    Args:
        batch, length: how many sequences, and how long; at least the two.
        seed: of the generator; the same seed gives the same task.

    Returns:
        inputs (batch, length), ids 0, 1 and 9 to 32; target, the id that comes first; no mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
    """
    check_counts(0, batch=batch)
    check_counts(2, length=length)
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(2, (batch, 1), generator=rng)
    first = N_VALUES + 1
    inputs = torch.randint(first, first + N_FILLERS, (batch, length), generator=rng)
    places = _draw_places(batch, length, 2, rng)
    return Batch(inputs.scatter(1, places, torch.cat([target, 1 - target], dim=1)), target[:, 0])


def sample_needles(
    batch: int, length: int, seed: int, n_classes: int = N_VALUES, n_needles: int = 4
) -> Batch:
    """Sample the task of keeping several needles and naming the one that is asked for.

    Each needle is two tokens: its name, one of the n_needles ids from n_classes + 1 on, and right
    behind it its value, an id below n_classes, drawn anew for each. Each name stands once, in any
    order, anywhere but at the end. The last token is one of the names again, equal in chance: the
    question. The value of that needle is the class. As the question comes last, all must be kept.
    All other tokens are filler, drawn from N_FILLERS - N_KEYS ids and equal in chance.

    What grows with the length: the filler, and with it how far back the needles lie. What does
    not: how many there are. n_needles is the load on the state, at any length.
    Chance: 1/n_classes; 1/n_needles + (1 - 1/n_needles)/n_classes for who keeps one needle and
    always answers with it.

    Args:
        batch, length: how many sequences, and how long; all needles and the question must fit.
        seed: of the generator; the same seed gives the same task.
        n_classes: how many values there are, all equal in chance; at least 2.
        n_needles: how many needles each sequence has, 1 to 8.

    Returns:
        inputs (batch, length), ids up to n_classes + N_FILLERS; target, the classes; no mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
    """
    check_counts(0, batch=batch)
    check_counts(2, n_classes=n_classes)
    check_counts(1, n_needles=n_needles)
    if n_needles > N_KEYS:
        raise ValueError(f"n_needles must be at most {N_KEYS}; it is {n_needles}")
    check_counts(2 * n_needles + 1, length=length)
    rng = torch.Generator().manual_seed(seed)
    first = n_classes + 1
    inputs = torch.randint(first + N_KEYS, first + N_FILLERS, (batch, length), generator=rng)
    names = first + torch.rand(batch, n_needles, generator=rng).argsort(1)
    values = torch.randint(n_classes, (batch, n_needles), generator=rng)
    asked = torch.randint(n_needles, (batch, 1), generator=rng)
    # Draw as if a needle were one token, then make room for its second.
    places = _draw_places(batch, length - 1 - n_needles, n_needles, rng) + torch.arange(n_needles)
    inputs = inputs.scatter(1, places, names).scatter(1, places + 1, values)
    inputs[:, -1:] = names.gather(1, asked)
    return Batch(inputs, values.gather(1, asked)[:, 0])


def _draw_places(batch: int, length: int, n_places: int, rng: torch.Generator) -> Tensor:
    """Draw for each row so many places, all different, in ascending order."""
    return torch.rand(batch, length, generator=rng).argsort(1)[:, :n_places].sort(1).values
