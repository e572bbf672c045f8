"""A diluted digit is the digit when the noise is taken out; the list of tasks says the truth."""

from collections import Counter

import pytest
import torch
from task_oracles import assert_even, count_pairs
from torch.testing import assert_close

from mamba_edu.tasks import (
    TASKS,
    load_digit_sequences,
    load_names,
    sample_digits,
    sample_diluted_digits,
    sample_names,
)

LENGTH = 100


def list_pictures(split):
    """Every picture of a split with its digit, as something that can be looked up."""
    inputs, target, _ = load_digit_sequences(split)
    return set(zip(map(tuple, inputs[..., 0].tolist()), target.tolist(), strict=True))


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("length", [64, 65, LENGTH])
def test_without_its_noise_it_is_a_picture_of_its_split(split, length):
    inputs, target, mask = sample_diluted_digits(30, length, 0, split)
    assert (inputs.shape, inputs.dtype, mask) == ((30, length, 2), torch.float32, None)
    pictures = list_pictures(split)
    for row, label in zip(inputs.tolist(), target.tolist(), strict=True):
        assert (tuple(ink for ink, mark in row if mark == 1), label) in pictures
        assert sum(mark == 0 for _, mark in row) == length - 64


def test_noise_is_any_ink_anywhere_whatever_the_picture_is():
    inputs, target, _ = sample_diluted_digits(3000, LENGTH, 0)
    is_noise = inputs[..., 1] == 0
    ink = (16 * inputs[..., 0][is_noise]).long()
    owner = target[:, None].expand_as(is_noise)[is_noise]
    counts = count_pairs(owner, ink, 10, 17).reshape(10, 17)
    expected = counts.sum(1, keepdim=True) / 17
    assert ((counts - expected).abs() < 5 * expected.sqrt()).all()
    assert_even(is_noise.sum(0).double())
    for part in (slice(0, 1500), slice(1500, None)):  # places say nothing of the digit
        means = torch.stack([is_noise[part][target[part] == k].double().mean(0) for k in range(10)])
        assert (means - (LENGTH - 64) / LENGTH).abs().max() < 0.2


def test_digits_and_names_are_drawn_from_their_split():
    drawn = sample_digits(50, 64, 0, "test")
    rows = zip(map(tuple, drawn.inputs[..., 0].tolist()), drawn.target.tolist(), strict=True)
    assert set(rows) <= list_pictures("test")
    names = {tuple(row) for row in load_names("test").inputs.tolist()}
    batch = sample_names(50, 32, 0, "test")
    assert {tuple(row) for row in batch.inputs.tolist()} <= names
    assert_close(batch.mask, batch.inputs > 0)


REAL = [(sample_digits, 64), (sample_names, 32), (sample_diluted_digits, LENGTH)]


@pytest.mark.parametrize(("sample", "length"), REAL)
def test_what_is_drawn_hangs_on_the_seed_alone_and_can_be_spoiled(sample, length):
    first = sample(9, length, 5)
    kept = first.inputs.clone()
    first.inputs.zero_()
    assert torch.equal(sample(9, length, 5).inputs, kept)
    assert not torch.equal(sample(9, length, 6).inputs, kept)
    assert not torch.equal(sample(9, length, 5, "test").inputs, kept)


@pytest.mark.parametrize(
    ("sample", "changed", "message"),
    [
        (sample_diluted_digits, {"length": 63}, "length must be at least 64; it is 63"),
        (sample_diluted_digits, {"batch": -1}, "batch must be at least 0; it is -1"),
        (sample_diluted_digits, {"split": "all"}, "split must be one of"),
        (sample_digits, {"length": 65}, "length must be 64, that of the set's own"),
        (sample_digits, {"split": "all"}, "split must be one of"),
        (sample_names, {"length": 64}, "length must be 32, that of the set's own"),
        (sample_names, {"split": "all"}, "split must be one of"),
    ],
)
def test_real_tasks_refuse_what_cannot_be_sampled(sample, changed, message, as_reader):
    with pytest.raises((TypeError, ValueError), match=message):
        sample(**{"batch": 2, "length": 64, "seed": 0} | changed)


@pytest.mark.parametrize("name", TASKS)
def test_the_list_of_tasks_says_what_a_model_must_know(name):
    task = TASKS[name]
    for sample in (task.sample, task.sample_test):
        inputs, target, _ = sample(2000, task.shortest, 0)
        assert 0 <= target.min() <= target.max() < task.n_classes
        assert len(target.unique()) == task.n_classes
        assert abs(target.bincount().max() / 2000 - task.chance) < 0.05
        if task.d_in is None:
            assert 0 <= inputs.min() <= inputs.max() < task.n_symbols
        else:
            assert inputs.shape[2:] == (task.d_in,)
        with pytest.raises(ValueError, match=r"length must be (at least )?\d+"):
            sample(2, task.shortest - 1, 0)


def test_tasks_of_ids_share_their_ids_and_real_ones_keep_a_test_set():
    synthetic = [task for task in TASKS.values() if task.sample is task.sample_test]
    assert Counter(task.n_symbols for task in synthetic) == {33: 7}
    assert [name for name, task in TASKS.items() if task.sample is not task.sample_test] == [
        "diluted_digits",
        "digits",
        "names",
    ]
