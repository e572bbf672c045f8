"""Real data is what its package brings, split once and for all, and drawn with its answers."""

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import torch
from babel import localedata
from sklearn.datasets import load_digits
from torch.testing import assert_close

from mamba_edu.tasks import LANGUAGES, Batch, draw_from, load_digit_sequences, load_names

LOADERS = {"digits": load_digit_sequences, "names": load_names}
every_set = pytest.mark.parametrize("name", list(LOADERS))
KNOWN = {  # one name of each language, written here by hand
    "Alemanha": "Portuguese",
    "čínština": "Czech",
    "Deutschland": "German",
    "enero": "Spanish",
    "Fransa": "Turkish",
    "Frankrijk": "Dutch",
    "Germany": "English",
    "lokakuu": "Finnish",
    "Niemcy": "Polish",
    "settembre": "Italian",
    "Suisse": "French",
    "Törökország": "Hungarian",
}


@pytest.fixture(scope="module")
def sets():
    return {(name, s): load(s) for name, load in LOADERS.items() for s in ("train", "test")}


def list_rows(batch):
    """Each sequence with its answer, as something that can be counted."""
    rows = batch.inputs.flatten(1).tolist()
    return [(tuple(row), label) for row, label in zip(rows, batch.target.tolist(), strict=True)]


def read_names(batch):
    """Undo the bytes: (name, language)."""
    for row, mask, label in zip(*batch[::2], batch.target.tolist(), strict=True):
        yield bytes(row[mask].tolist()).decode(), LANGUAGES[label]


def test_digits_are_scikit_learn_s_pictures_line_by_line(sets):
    pictures = load_digits()
    ours = Counter(list_rows(sets["digits", "train"]) + list_rows(sets["digits", "test"]))
    theirs = Counter(
        (tuple(ink / 16 for line in picture for ink in line), int(label))
        for picture, label in zip(pictures.images, pictures.target, strict=True)
    )
    assert ours == theirs


@pytest.mark.parametrize(("split", "n_pictures"), [("train", 1402), ("test", 395)])
def test_digits_are_sequences_of_64_inks_from_0_to_1(sets, split, n_pictures):
    inputs, target, mask = sets["digits", split]
    assert (inputs.shape, target.shape, mask) == ((n_pictures, 64, 1), (n_pictures,), None)
    assert (inputs.dtype, target.dtype) == (torch.float32, torch.int64)
    assert (inputs.min(), inputs.max()) == (0, 1)
    assert target.unique().tolist() == list(range(10))
    assert target.bincount().max() / n_pictures < 0.103  # chance


def test_names_are_whole_names_of_their_language(sets):
    names = {
        name: language
        for split in ("train", "test")
        for name, language in read_names(sets["names", split])
    }
    assert KNOWN.items() <= names.items()
    assert sorted(set(KNOWN.values())) == sorted(LANGUAGES)
    assert not {"Argentina", "Canada", "Madagascar"} & set(names)  # written alike in several
    assert all(name.strip() for name in names)


def test_no_name_is_in_two_languages_or_twice_in_one(sets):
    names = [n.casefold() for s in ("train", "test") for n, _ in read_names(sets["names", s])]
    assert len(names) == len(set(names)) > 5000


@pytest.mark.parametrize("split", ["train", "test"])
def test_names_are_bytes_padded_at_the_end(sets, split):
    inputs, target, mask = sets["names", split]
    assert inputs.shape == mask.shape == (len(target), 32)
    assert (inputs.dtype, target.dtype, mask.dtype) == (torch.int64, torch.int64, torch.bool)
    n_bytes = mask.sum(dim=1)
    assert_close(mask, torch.arange(32) < n_bytes[:, None])
    assert (inputs[~mask] == 0).all()
    assert ((inputs[mask] > 0) & (inputs[mask] < 256)).all()
    assert n_bytes.min() >= 2
    assert n_bytes.max() == 32
    assert target.bincount(minlength=12).min() > 50
    assert 0.11 < target.bincount().max() / len(target) < 0.13  # chance


@every_set
def test_the_split_is_even_and_no_sequence_is_on_both_sides(sets, name):
    train, test = sets[name, "train"], sets[name, "test"]
    assert not set(list_rows(train)) & set(list_rows(test))
    for ours, theirs in zip(train.target.bincount(), test.target.bincount(), strict=True):
        assert abs(theirs - 0.22 * (ours + theirs)) <= 0.5
    middle = test.target.double().mean() - train.target.double().mean()
    assert middle.abs() < 0.05


@every_set
def test_a_set_is_the_same_each_time_and_cannot_be_changed(sets, name):
    for split in ("train", "test"):
        spoiled = LOADERS[name](split)
        spoiled.inputs.zero_()
        assert list_rows(LOADERS[name](split)) == list_rows(sets[name, split])


@every_set
@pytest.mark.parametrize("split", ["valid", "", None, 0])
def test_another_split_is_refused(name, split, as_reader):
    message = rf"split must be one of \('train', 'test'\); it is {split!r}"
    with pytest.raises(ValueError, match=message):
        LOADERS[name](split)


@pytest.fixture
def data_folder(monkeypatch, tmp_path):
    """Babel with a folder of data that holds a few languages only."""
    theirs = Path(localedata._dirname)

    def forget():
        localedata.exists.cache_clear()
        localedata.locale_identifiers.cache_clear()

    for code in ("root", "cs", "nl"):
        shutil.copy(theirs / f"{code}.dat", tmp_path)
    monkeypatch.setattr(localedata, "_dirname", str(tmp_path))
    monkeypatch.setattr(localedata, "_cache", {})
    monkeypatch.setattr(localedata, "_dict_cache", {}, raising=False)
    forget()
    yield tmp_path
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize(("lost", "code"), [([], "en"), (["cs"], "cs"), (["root"], "cs")])
def test_missing_data_of_babel_says_what_to_do(data_folder, lost, code):
    for name in lost:
        (data_folder / f"{name}.dat").unlink()
    message = f"Babel must bring its data on '{code}'; it does not: install Babel again"
    with pytest.raises(FileNotFoundError, match=message):
        load_names("test")


def make_set(n_sequences=6, length=4):
    """Sequences whose every entry tells their row."""
    rows = torch.arange(n_sequences)
    mask = torch.arange(length) <= rows[:, None] % length
    return Batch(rows[:, None, None].expand(-1, length, 2).double(), 10 + rows, mask)


def test_draws_keep_sequence_answer_and_mask_together():
    data = make_set()
    inputs, target, mask = draw_from(data)(50, 4, seed=0)
    assert (inputs.shape, target.shape, mask.shape) == ((50, 4, 2), (50,), (50, 4))
    rows = target - 10
    assert_close(inputs, data.inputs[rows])
    assert_close(mask, data.mask[rows])
    assert sorted(set(rows.tolist())) == [0, 1, 2, 3, 4, 5]


def test_draws_of_a_set_without_padding_have_no_mask():
    assert draw_from(make_set()._replace(mask=None))(3, 4, seed=0).mask is None


def test_draws_hang_on_the_seed_alone_and_are_even():
    draw = draw_from(make_set())
    assert_close(draw(9, 4, seed=1), draw(9, 4, seed=1))
    assert not torch.equal(draw(9, 4, seed=1).target, draw(9, 4, seed=2).target)
    counts = draw(6000, 4, seed=0).target.bincount()[10:]
    assert np.abs(counts.numpy() - 1000).max() < 5 * np.sqrt(1000)
    assert draw(0, 4, seed=0).inputs.shape == (0, 4, 2)


@pytest.mark.parametrize("length", [3, 5, 64])
def test_a_real_sequence_is_not_made_longer_by_asking(length):
    message = f"length must be 4, that of the set's own sequences; it is {length}"
    with pytest.raises(ValueError, match=message):
        draw_from(make_set())(2, length, seed=0)


def test_nothing_is_drawn_from_an_empty_set():
    with pytest.raises(ValueError, match="data must hold at least one sequence; it is empty"):
        draw_from(make_set(0))


def test_draws_refuse_a_negative_batch():
    with pytest.raises(ValueError, match="batch must be at least 0; it is -3"):
        draw_from(make_set())(-3, 4, seed=0)
