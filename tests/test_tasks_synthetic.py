"""Synthetic tasks against plain loops, against theory, and against chance."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.linear import fit_linear_filter
from mamba_edu.tasks import N_FILLERS, sample_last_marked, sample_needle, sample_needle_pair

BATCH, LENGTH, N_CLASSES = 3, 17, 5
MANY = 6000


def keep_last_marked(values, marks):
    """The answer as one would say it: remember a value when it is marked."""
    kept = torch.zeros_like(values)
    for row in range(values.shape[0]):
        memory = 0.0
        for t in range(values.shape[1]):
            memory = values[row, t] if marks[row, t] else memory
            kept[row, t] = memory
    return kept


@pytest.mark.parametrize("p", [0.05, 0.2, 0.7, 1.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_target_is_the_last_marked_value(p, seed):
    values, marks, target = sample_last_marked(BATCH, LENGTH, p, seed)
    assert values.shape == marks.shape == target.shape == (BATCH, LENGTH)
    assert values.dtype == marks.dtype == target.dtype == torch.float64
    assert_close(target, keep_last_marked(values, marks), rtol=0, atol=0)


def test_when_all_is_marked_the_target_is_the_value():
    values, marks, target = sample_last_marked(BATCH, LENGTH, 1.0, seed=3)
    assert (marks == 1).all()
    assert_close(target, values, rtol=0, atol=0)


def test_before_the_first_mark_the_target_is_zero():
    values, marks, target = sample_last_marked(200, LENGTH, 0.1, seed=0)
    is_before = marks.cumsum(dim=1) == 0
    assert is_before.all(dim=1).any()  # and sequences without a mark are among them
    assert (target[is_before] == 0).all()
    assert (values[is_before] != 0).all()


@pytest.mark.parametrize("p", [0.2, 0.6])
def test_values_are_normal_and_marks_come_as_often_as_asked(p):
    values, marks, _ = sample_last_marked(40, 1000, p, seed=1)
    assert set(marks.unique().tolist()) == {0.0, 1.0}
    assert abs(marks.mean() - p) < 0.01  # four standard errors
    assert abs(values.mean()) < 0.02
    assert abs(values.var() - 1) < 0.03
    assert abs((values * marks).mean()) < 0.02  # a mark says nothing of its value


@pytest.mark.parametrize("p", [0.2, 0.5, 1.0])
def test_the_best_fixed_filter_misses_what_theory_says(p):
    values, marks, target = sample_last_marked(4, 10_000, p, seed=0)
    handed = fit_linear_filter((values * marks)[..., None], target, 20).error_share
    alone = fit_linear_filter(values[..., None], target, 20).error_share
    assert handed.item() == pytest.approx((1 - p) / (2 - p), abs=0.03)
    assert alone.item() == pytest.approx(1 - p / (2 - p), abs=0.03)


@pytest.mark.parametrize("shape", [(0, 5), (4, 0), (4, 1)])
def test_the_last_marked_task_takes_the_smallest_sizes(shape):
    values, marks, target = sample_last_marked(*shape, p=0.5, seed=0)
    assert values.shape == marks.shape == target.shape == shape
    assert_close(target, values * marks)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"p": 0.0}, "p must be above 0 and at most 1; it is 0.0"),
        ({"p": -0.1}, "p must be above 0 and at most 1; it is -0.1"),
        ({"p": 1.001}, "p must be above 0 and at most 1; it is 1.001"),
        ({"p": float("nan")}, "p must be above 0 and at most 1; it is nan"),
        ({"batch": -1}, "batch must be at least 0; it is -1"),
        ({"length": -2}, "length must be at least 0; it is -2"),
        ({"batch": True}, "batch must be an int; it is True"),
        ({"length": 8.0}, "length must be an int; it is 8.0"),
    ],
)
def test_the_last_marked_task_refuses_what_it_cannot_sample(changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample_last_marked(**{"batch": 2, "length": 7, "p": 0.2, "seed": 0} | changed)


@pytest.mark.parametrize("depth", [None, 0.0, 0.3, 1.0])
@pytest.mark.parametrize("length", [1, 2, LENGTH])
def test_one_token_is_the_needle_and_it_is_the_answer(length, depth):
    inputs, target, mask = sample_needle(60, length, 0, N_CLASSES, depth)
    assert (inputs.shape, target.shape, mask) == ((60, length), (60,), None)
    assert inputs.dtype == target.dtype == torch.int64
    for row, answer in zip(inputs.tolist(), target.tolist(), strict=True):
        assert [token for token in row if token < N_CLASSES] == [answer]
        assert max(row) < N_CLASSES + N_FILLERS


@pytest.mark.parametrize(("depth", "place"), [(0.0, 0), (0.1, 2), (0.5, 8), (0.95, 15), (1.0, 16)])
def test_the_needle_lies_as_deep_as_asked(depth, place):
    inputs = sample_needle(50, LENGTH, 0, depth=depth).inputs
    assert (inputs < 8).nonzero()[:, 1].tolist() == [place] * 50


def test_one_seed_puts_the_same_needle_into_the_same_filler_at_any_depth():
    """So that what changes between two depths is the depth."""
    front, back = (sample_needle(50, LENGTH, 4, depth=depth) for depth in (0.0, 1.0))
    assert_close(front.target, back.target)
    assert_close(front.inputs[:, 1:-1], back.inputs[:, 1:-1])


def test_a_pair_is_the_same_filler_with_the_needle_and_without():
    full, bare = sample_needle_pair(50, LENGTH, 4, N_CLASSES)
    assert_close(full[:2], sample_needle(50, LENGTH, 4, N_CLASSES, 0.1)[:2])
    assert_close(full.target, bare.target)
    is_other = full.inputs != bare.inputs
    assert is_other.nonzero()[:, 1].tolist() == [2] * 50
    assert bare.inputs.min() == N_CLASSES


def test_whole_numbers_will_do_for_a_depth_and_a_probability(as_reader):
    assert_close(sample_needle(4, 9, 0, depth=1)[:2], sample_needle(4, 9, 0, depth=1.0)[:2])
    assert_close(sample_last_marked(4, LENGTH, 1, 0), sample_last_marked(4, LENGTH, 1.0, 0))


def test_seeds_decide_about_everything():
    for sample in (
        lambda seed: sample_needle(BATCH, LENGTH, seed),
        lambda seed: sample_last_marked(BATCH, LENGTH, 0.5, seed),
    ):
        assert_close(sample(5)[:2], sample(5)[:2], rtol=0, atol=0)
        assert not torch.equal(sample(5)[0], sample(6)[0])
        assert not torch.equal(sample(5)[1], sample(6)[1])


def count_pairs(first, second, n_first, n_second):
    return (first * n_second + second).bincount(minlength=n_first * n_second).double()


def assert_even(counts):
    """All counts within five standard errors of their mean."""
    assert ((counts - counts.mean()).abs() < 5 * counts.mean().sqrt()).all()


def test_classes_places_and_fillers_are_equal_in_chance_and_apart():
    inputs, target, _ = sample_needle(MANY, LENGTH, 0, N_CLASSES)
    is_needle = inputs < N_CLASSES
    place = is_needle.nonzero()[:, 1]
    assert_even(count_pairs(target, place, N_CLASSES, LENGTH))
    filler = inputs[~is_needle] - N_CLASSES
    owner = target[:, None].expand_as(inputs)[~is_needle]
    assert_even(count_pairs(owner, filler, N_CLASSES, N_FILLERS))
    column = torch.arange(LENGTH).expand_as(inputs)[~is_needle]
    assert_even(count_pairs(column, filler, LENGTH, N_FILLERS))


def test_the_needle_task_takes_no_sequence_at_all():
    assert sample_needle(0, LENGTH, 0).inputs.shape == (0, LENGTH)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"batch": -1}, "batch must be at least 0; it is -1"),
        ({"length": 0}, "length must be at least 1; it is 0"),
        ({"length": 8.0}, "length must be an int; it is 8.0"),
        ({"n_classes": 1}, "n_classes must be at least 2; it is 1"),
        ({"depth": -0.1}, "depth must be from 0 to 1, or None for anywhere; it is -0.1"),
        ({"depth": 3}, "depth must be from 0 to 1, or None for anywhere; it is 3"),
        ({"depth": float("nan")}, "depth must be from 0 to 1.*it is nan"),
    ],
)
def test_the_needle_task_refuses_what_it_cannot_sample(changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample_needle(**{"batch": 2, "length": 7, "seed": 0} | changed)
