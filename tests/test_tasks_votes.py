"""Votes are counted one by one; their shares hold at any length, and filler says nothing."""

import math

import pytest
import torch
from task_oracles import assert_even, count_pairs, count_votes
from torch.testing import assert_close

from mamba_edu.tasks import N_FILLERS, sample_early_majority, sample_majority

SAMPLERS = {"anywhere": sample_majority, "early": sample_early_majority}
every_sampler = pytest.mark.parametrize("sample", SAMPLERS.values(), ids=SAMPLERS)
LENGTHS = [5, 6, 15, 16, 31, 48, 127, 128]
MANY, LENGTH = 6000, 32


@every_sampler
@pytest.mark.parametrize("length", LENGTHS)
def test_the_answer_is_the_more_frequent_vote_and_never_a_tie(sample, length):
    inputs, target, mask = sample(40, length, 0)
    assert (inputs.shape, target.shape, mask) == ((40, length), (40,), None)
    assert inputs.dtype == target.dtype == torch.int64
    assert [count_votes(row) for row in inputs.tolist()] == target.tolist()
    assert set(inputs.unique().tolist()) <= {0, 1, *range(9, 33)}


@every_sampler
@pytest.mark.parametrize(("length", "n_votes"), [(5, 5), (16, 5), (31, 5), (48, 15), (256, 80)])
def test_three_votes_of_five_are_for_the_class_at_any_length(sample, length, n_votes):
    inputs, target, _ = sample(30, length, 1)
    assert ((inputs < 2).sum(1) == n_votes).all()
    assert ((inputs == target[:, None]).sum(1) * 5 == 3 * n_votes).all()


@pytest.mark.parametrize("length", LENGTHS)
def test_the_second_half_says_the_opposite(length):
    inputs, target, _ = sample_early_majority(40, length, 0)
    late = [count_votes(row[length // 2 :]) for row in inputs.tolist()]
    assert late == (1 - target).tolist()


def test_early_votes_are_85_and_35_percent():
    inputs, target, _ = sample_early_majority(40, 256, 0)
    is_vote, is_for = inputs < 2, inputs == target[:, None]
    for half, share in ((slice(None, 128), 0.85), (slice(128, None), 0.35)):
        assert (is_vote[:, half].sum(1) == 40).all()
        assert (is_for[:, half].sum(1) == 40 * share).all()


def test_a_window_errs_about_as_often_as_theory_says():
    inputs, target, _ = sample_majority(2000, 512, 0)
    window = inputs[:, -64:]
    margin = (window == target[:, None]).sum(1) - (window == 1 - target[:, None]).sum(1)
    errors = (margin < 0).double().mean() + (margin == 0).double().mean() / 2
    theory = math.erfc(0.2 * math.sqrt(5 * 64 / 16) / math.sqrt(2)) / 2
    assert abs(errors - theory) < 0.03


@every_sampler
def test_classes_fillers_and_places_are_equal_in_chance_and_apart(sample):
    inputs, target, _ = sample(MANY, LENGTH, 0)
    is_filler = inputs >= 9
    owner = target[:, None].expand_as(inputs)[is_filler]
    assert_even(target.bincount().double())
    assert_even(count_pairs(owner, inputs[is_filler] - 9, 2, N_FILLERS))
    halves = (slice(None, LENGTH // 2), slice(LENGTH // 2, None))
    halves = halves if sample is sample_early_majority else (slice(None),)
    for half in halves:  # a vote, and a vote for the class, stand anywhere in their part
        assert_even((inputs < 2)[:, half].sum(0).double())
        assert_even((inputs == target[:, None])[:, half].sum(0).double())


@every_sampler
def test_the_seed_decides_about_everything(sample):
    assert_close(sample(9, LENGTH, 5)[:2], sample(9, LENGTH, 5)[:2], rtol=0, atol=0)
    assert not torch.equal(sample(9, LENGTH, 5).inputs, sample(9, LENGTH, 6).inputs)
    assert not torch.equal(sample(9, LENGTH, 5).target, sample(9, LENGTH, 6).target)
    assert sample(0, LENGTH, 0).inputs.shape == (0, LENGTH)


@every_sampler
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"batch": -1}, "batch must be at least 0; it is -1"),
        ({"length": 4}, "length must be at least 5; it is 4"),
        ({"length": 9.0}, "length must be an int; it is 9.0"),
    ],
)
def test_votes_refuse_what_cannot_be_sampled(sample, changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample(**{"batch": 2, "length": 12, "seed": 0} | changed)
