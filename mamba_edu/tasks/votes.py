"""Tasks of counting: every token says a little, and only all of them together say the answer."""

import torch
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.tasks.batch import Batch
from mamba_edu.tasks.synthetic import N_FILLERS, N_VALUES

N_VOTES = 5  # among each 16 tokens: 3 for the class and 2 against it
EVERY = 16
WINNING = 3
EARLY_FOR = 0.425  # of all votes: for the class and in the first half, 85 % of its votes
EARLY_AGAINST = 0.075


def sample_majority(batch: int, length: int, seed: int) -> Batch:
    """Sample the task of telling which of two kinds of token there are more of.

    The ids 0 and 1 are votes, five among each 16 tokens, and 60 % of them are for the class. They
    stand anywhere. All other tokens are filler, drawn from N_FILLERS ids and equal in chance.

    What grows with the length: votes for the class, votes against it and filler, all alike. What
    does not: their shares, so that there is never a tie, and a part of a long sequence says
    nearly all.
    Chance: 0.5. Who counts n tokens alone errs in about Phi(-0.2 sqrt(5 n/16)) of the sequences:
    one in 40 for 300 of many.

    Args:
        batch, length: how many sequences, and how long; at least 5 tokens. Of a length that is no
            multiple of 16, what is left over brings no vote.
        seed: of the generator; the same seed gives the same task.

    Returns:
        inputs (batch, length), ids 0, 1 and 9 to 32; target, the id of the more frequent vote; no
        mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
    """
    n_for, n_against = _count_votes(batch, length)
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(2, (batch,), generator=rng)
    return Batch(_deal_votes(target, length, n_for, n_against, rng), target)


def sample_early_majority(batch: int, length: int, seed: int) -> Batch:
    """Sample the task of telling the majority where the recent majority is the wrong one.

    All is as in sample_majority, but of the votes in the first half 85 % are for the class, and
    of those in the second half 35 %: together 60 %. Shares are rounded where votes are few; the
    second half always speaks for the other class.

    What grows with the length: the votes and the filler, and with them how far back the half lies
    that decides. What does not: the shares.
    Chance: 0.5. Who counts the last half alone is wrong every time, and so falls below chance; who
    counts the first half alone is always right.

    Args:
        batch, length, seed: as in sample_majority. The first half of an odd length is the shorter.

    Returns:
        As sample_majority.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
    """
    n_for, n_against = _count_votes(batch, length)
    n_votes = n_for + n_against
    early_for, early_against = round(EARLY_FOR * n_votes), round(EARLY_AGAINST * n_votes)
    rng = torch.Generator().manual_seed(seed)
    target = torch.randint(2, (batch,), generator=rng)
    half = length // 2
    early = _deal_votes(target, half, early_for, early_against, rng)
    late = _deal_votes(target, length - half, n_for - early_for, n_against - early_against, rng)
    return Batch(torch.cat([early, late], dim=1), target)


def _count_votes(batch: int, length: int) -> tuple[int, int]:
    """Refuse sizes that hold no vote, and count the votes for the class and against it."""
    check_counts(0, batch=batch)
    check_counts(N_VOTES, length=length)
    times = max(1, length // EVERY)
    return WINNING * times, (N_VOTES - WINNING) * times


def _deal_votes(
    target: Tensor, length: int, n_for: int, n_against: int, rng: torch.Generator
) -> Tensor:
    """Deal so many votes out to random places among filler, each row in an order of its own."""
    first = N_VALUES + 1
    filler = torch.randint(first, first + N_FILLERS, (len(target), length), generator=rng)
    order = torch.rand(len(target), length, generator=rng).argsort(1)
    votes = filler.scatter(1, order[:, :n_for], target[:, None].expand(-1, n_for))
    against = (1 - target)[:, None].expand(-1, n_against)
    return votes.scatter(1, order[:, n_for : n_for + n_against], against)
