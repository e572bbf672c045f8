"""Each task's answer, read off its tokens one by one, and what is called an even count."""

from itertools import pairwise

N_VALUES, TRIGGER = 8, 8


def find_pointed(row, distance):
    """Name the value that stands so far behind the trigger."""
    return row[row.index(TRIGGER) + distance]


def count_votes(row):
    """Say which of 0 and 1 there are more of; None for a tie."""
    ones = sum(2 * token - 1 for token in row if token in (0, 1))
    return None if ones == 0 else int(ones > 0)


def find_first(row):
    """Name the first of 0 and 1."""
    return next(token for token in row if token in (0, 1))


def answer_question(row):
    """Look up the value behind the name that the last token asks for."""
    *told, question = row
    kept = {}
    for name, value in pairwise(told):
        if name > TRIGGER and value < TRIGGER:
            kept[name] = value
    return kept[question]


def assert_even(counts):
    """All counts within five standard errors of their mean."""
    assert counts.numel() > 1
    assert ((counts - counts.mean()).abs() < 5 * counts.mean().sqrt()).all()


def count_pairs(first, second, n_first, n_second):
    """Count how often each first comes with each second."""
    return (first * n_second + second).bincount(minlength=n_first * n_second).double()
