"""What comes first, what is asked for, what a far trigger means: read token by token."""

from itertools import pairwise

import pytest
import torch
from task_oracles import answer_question, assert_even, count_pairs, find_first, find_pointed
from torch.testing import assert_close

from mamba_edu.tasks import (
    N_FILLERS,
    sample_far_trigger,
    sample_needles,
    sample_order,
    sample_trigger,
)

LENGTH, MANY = 17, 6000
SAMPLERS = [sample_far_trigger, sample_needles, sample_order]
every_sampler = pytest.mark.parametrize("sample", SAMPLERS)


@pytest.mark.parametrize("length", [2, 3, LENGTH])
def test_two_tokens_stand_once_each_and_the_first_is_the_answer(length):
    inputs, target, mask = sample_order(60, length, 0)
    assert (inputs.shape, target.shape, mask) == ((60, length), (60,), None)
    for row, answer in zip(inputs.tolist(), target.tolist(), strict=True):
        assert sorted(token for token in row if token < 9) == [0, 1]
        assert (find_first(row), max(row) < 33) == (answer, True)


def test_order_stands_anywhere_and_its_filler_says_nothing():
    inputs, target, _ = sample_order(MANY, LENGTH, 0)
    places = (inputs < 9).nonzero()[:, 1].reshape(MANY, 2)
    pairs = count_pairs(places[:, 0], places[:, 1], LENGTH, LENGTH).reshape(LENGTH, LENGTH)
    above = torch.ones(LENGTH, LENGTH).triu(1).bool()
    assert_even(pairs[above])
    assert_even(count_pairs(target, places[:, 1], 2, LENGTH).reshape(2, LENGTH)[:, 1:].sum(1))
    is_filler = inputs >= 9
    owner = target[:, None].expand_as(inputs)[is_filler]
    assert_even(count_pairs(owner, inputs[is_filler] - 9, 2, N_FILLERS))


@pytest.mark.parametrize(("length", "n_needles"), [(3, 1), (9, 4), (LENGTH, 8), (40, 3)])
def test_the_last_token_asks_for_one_of_the_needles(length, n_needles):
    inputs, target, mask = sample_needles(60, length, 0, 8, n_needles)
    assert (inputs.shape, target.shape, mask) == ((60, length), (60,), None)
    names = list(range(9, 9 + n_needles))
    for row, answer in zip(inputs.tolist(), target.tolist(), strict=True):
        *told, question = row
        assert sorted(token for token in told if 9 <= token < 17) == names
        assert sum(token < 8 for token in told) == n_needles
        assert all(value < 8 for name, value in pairwise(row) if name in names)
        assert (question in names, answer_question(row)) == (True, answer)
        assert max(row) < 33


def test_every_needle_is_as_likely_asked_for_and_of_any_value_and_anywhere():
    inputs, target, _ = sample_needles(MANY, LENGTH, 0, 5, 3)
    asked = inputs[:, -1] - 6
    assert_even(count_pairs(target, asked, 5, 3))
    place = ((inputs[:, :-1] - 6) == asked[:, None]).nonzero()[:, 1]
    outer = place.bincount(minlength=15)[[0, 14]].double()  # 3 needles in 16 tokens: most at the
    assert_even(outer)  # ends, since a needle there stands in no other's way
    rank = ((inputs[:, :-1] >= 6) & (inputs[:, :-1] < 9)).cumsum(1).gather(1, place[:, None])
    assert_even(count_pairs(target, rank[:, 0] - 1, 5, 3))
    assert_even(count_pairs(asked, rank[:, 0] - 1, 3, 3))
    is_filler = inputs >= 14
    owner = target[:, None].expand_as(inputs)[is_filler]
    assert_even(count_pairs(owner, inputs[is_filler] - 14, 5, 16))


def test_always_the_same_needle_is_right_as_often_as_said():
    inputs, target, _ = sample_needles(MANY, LENGTH, 1)
    first = torch.tensor([next(token for token in row if token < 8) for row in inputs.tolist()])
    assert abs((first == target).double().mean() - (1 / 4 + 3 / 4 / 8)) < 0.03


def test_a_far_trigger_points_at_the_answer():
    inputs, target, _ = sample_far_trigger(60, LENGTH, 0)
    assert [find_pointed(row, 7) for row in inputs.tolist()] == target.tolist()
    assert [sorted(t for t in row if t < 9) for row in inputs.tolist()] == [list(range(9))] * 60
    assert_close(inputs, sample_trigger(60, LENGTH, 0, distance=7).inputs)
    assert_even(sample_far_trigger(MANY, LENGTH, 0).target.bincount().double())


def guess_by_windows(row, generator, reach=3):
    """Guess among the values that no window of the convolution rules out."""
    trigger = row.index(8)
    near = range(trigger - reach, trigger + reach + 1)
    left = [t for place, t in enumerate(row) if t < 8 and place >= 7 and place not in near]
    return left[int(torch.randint(len(left), (), generator=generator))]


def test_windows_of_a_convolution_find_a_far_trigger_hardly_more_than_by_chance():
    inputs, target, _ = sample_far_trigger(2000, 128, 0)
    rng = torch.Generator().manual_seed(0)
    rows = zip(inputs.tolist(), target.tolist(), strict=True)
    right = sum(guess_by_windows(row, rng) == answer for row, answer in rows) / 2000
    assert 0.11 < right < 0.16


@pytest.mark.parametrize(
    ("model", "reach"),
    [
        ({"distance": 3}, 3),
        ({"d_conv": 8}, 7),
        ({"n_layers": 3}, 9),
        ({"distance": 6, "bidirectional": True}, 6),
        ({"n_layers": 2, "bidirectional": True}, 12),
    ],
)
def test_a_trigger_within_reach_of_the_convolutions_is_refused(model, reach):
    with pytest.raises(ValueError, match=f"distance must be more than {reach}, or the conv"):
        sample_far_trigger(2, 20, 0, **model)
    sample_far_trigger(2, 20, 0, **model | {"distance": reach + 1})


@every_sampler
def test_the_seed_decides_about_everything(sample):
    assert_close(sample(9, LENGTH, 5)[:2], sample(9, LENGTH, 5)[:2], rtol=0, atol=0)
    assert not torch.equal(sample(9, LENGTH, 5).inputs, sample(9, LENGTH, 6).inputs)
    assert not torch.equal(sample(9, LENGTH, 5).target, sample(9, LENGTH, 6).target)
    assert sample(0, LENGTH, 0).inputs.shape == (0, LENGTH)


@pytest.mark.parametrize(
    ("sample", "changed", "message"),
    [
        (sample_order, {"batch": -1}, "batch must be at least 0; it is -1"),
        (sample_order, {"length": 1}, "length must be at least 2; it is 1"),
        (sample_needles, {"batch": 1.0}, "batch must be an int; it is 1.0"),
        (sample_needles, {"length": 8}, "length must be at least 9; it is 8"),
        (sample_needles, {"n_classes": 1}, "n_classes must be at least 2; it is 1"),
        (sample_needles, {"n_needles": 0}, "n_needles must be at least 1; it is 0"),
        (sample_needles, {"n_needles": 9}, "n_needles must be at most 8; it is 9"),
        (sample_far_trigger, {"length": 8}, "length must be at least 9; it is 8"),
        (sample_far_trigger, {"d_conv": 0}, "d_conv must be at least 1; it is 0"),
        (sample_far_trigger, {"bidirectional": 1}, "bidirectional must be True or False; it is 1"),
    ],
)
def test_relations_refuse_what_cannot_be_sampled(sample, changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample(**{"batch": 2, "length": 12, "seed": 0} | changed)
