"""The trigger task, read token by token as one would say it, and against chance."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.tasks import N_FILLERS, sample_trigger

BATCH, LENGTH, N_CLASSES = 60, 17, 5
MANY = 6000


@pytest.mark.parametrize(("length", "distance"), [(6, 1), (6, 5), (LENGTH, 1), (LENGTH, 7)])
def test_every_value_stands_once_and_the_trigger_points_at_the_answer(length, distance):
    inputs, target, mask = sample_trigger(BATCH, length, 0, N_CLASSES, distance)
    assert (inputs.shape, target.shape, mask) == ((BATCH, length), (BATCH,), None)
    assert inputs.dtype == target.dtype == torch.int64
    for row, answer in zip(inputs.tolist(), target.tolist(), strict=True):
        assert sorted(token for token in row if token <= N_CLASSES) == list(range(N_CLASSES + 1))
        assert row[row.index(N_CLASSES) + distance] == answer
        assert max(row) <= N_CLASSES + N_FILLERS


def count(values, n):
    return values.bincount(minlength=n).double()


def assert_even(counts):
    """All counts within five standard errors of their mean."""
    assert ((counts - counts.mean()).abs() < 5 * counts.mean().sqrt()).all()


def test_classes_places_and_fillers_are_equal_in_chance():
    inputs, target, _ = sample_trigger(MANY, LENGTH, 0, N_CLASSES)
    place = (inputs == N_CLASSES).nonzero()[:, 1]
    assert_even(count(target * (LENGTH - 1) + place, N_CLASSES * (LENGTH - 1)))
    filler = inputs[inputs > N_CLASSES] - N_CLASSES - 1
    assert_even(count(filler, N_FILLERS))


def test_a_value_that_is_not_meant_stands_anywhere():
    """Its place, counted from the trigger, is even over all but the trigger's and the answer's."""
    inputs, target, _ = sample_trigger(MANY, LENGTH, 1, N_CLASSES)
    wrong = (target + 1) % N_CLASSES
    place = (inputs == wrong[:, None]).nonzero()[:, 1]
    trigger = (inputs == N_CLASSES).nonzero()[:, 1]
    middle = trigger == LENGTH // 2
    there = count(place[middle], LENGTH)
    assert there[LENGTH // 2] == there[LENGTH // 2 + 1] == 0
    assert_even(torch.cat([there[: LENGTH // 2], there[LENGTH // 2 + 2 :]]))


def test_what_stands_there_says_nothing_without_its_place():
    """Sorted, two sequences of different class are told apart by their filler alone."""
    inputs = sample_trigger(MANY, 6, 0, N_CLASSES).inputs
    assert_close(inputs.sort(dim=1).values, torch.arange(6).expand(MANY, 6))


def test_the_seed_decides_about_everything():
    def sample(seed):
        return sample_trigger(BATCH, LENGTH, seed)

    assert_close(sample(5)[:2], sample(5)[:2], rtol=0, atol=0)
    assert not torch.equal(sample(5).inputs, sample(6).inputs)
    assert not torch.equal(sample(5).target, sample(6).target)
    assert sample_trigger(0, LENGTH, 0).inputs.shape == (0, LENGTH)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"batch": -1}, "batch must be at least 0; it is -1"),
        ({"length": 8}, "length must be at least 9; it is 8"),
        ({"length": 12, "distance": 12}, "length must be at least 13; it is 12"),
        ({"length": 9.0}, "length must be an int; it is 9.0"),
        ({"n_classes": 1}, "n_classes must be at least 2; it is 1"),
        ({"distance": 0}, "distance must be at least 1; it is 0"),
    ],
)
def test_the_trigger_task_refuses_what_it_cannot_sample(changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample_trigger(**{"batch": 2, "length": 12, "seed": 0} | changed)
