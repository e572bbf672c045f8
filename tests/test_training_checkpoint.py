"""A classifier comes back from its file as it was; the shipped one finds the needle."""

import runpy

import pytest
import torch
from safetensors.torch import save_file
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier, TransformerClassifier
from mamba_edu.readout import READOUTS
from mamba_edu.tasks import sample_needle
from mamba_edu.training import (
    checkpoint,
    evaluate,
    load_checkpoint,
    load_needle,
    save_checkpoint,
    train_needle,
)

SIZES = {"n_classes": 3, "n_symbols": 9, "d_model": 4, "d_state": 5, "readout": "cls_middle"}


@pytest.fixture
def model():
    return SequenceClassifier(**SIZES)


def test_a_checkpoint_comes_back_as_it_was(model, tmp_path):
    path = tmp_path / "new" / "model.safetensors"
    before = torch.random.get_rng_state()
    save_checkpoint(model, SIZES, path)
    again = load_checkpoint(str(path))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert not again.training
    ids = torch.randint(9, (2, 7))
    assert_close(again(ids), model(ids), rtol=0, atol=0)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("name", READOUTS)
def test_every_readout_comes_back_by_its_name(name, tmp_path):
    sizes = SIZES | {"readout": name, "allow_blind": True, "expand": 3}
    model = SequenceClassifier(**sizes).eval()
    save_checkpoint(model, sizes, tmp_path / "model.safetensors")
    again = load_checkpoint(tmp_path / "model.safetensors")
    assert repr(again) == repr(model)
    ids = torch.randint(9, (2, 35))
    assert_close(again(ids), model(ids), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["cls_last", "heading_average", "cls_both"])
def test_another_readout_with_the_same_weights_is_refused(model, tmp_path, name):
    with pytest.raises(ValueError, match=r"own read-out, ReadCLS\('middle'\); they name ReadCLS"):
        save_checkpoint(model, SIZES | {"readout": name}, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_failed_save_leaves_the_old_file(model, tmp_path):
    path = tmp_path / "model.safetensors"
    save_checkpoint(model, SIZES, path)
    kept = path.read_bytes()
    with torch.no_grad():
        model.head.weight[0, 0] = torch.nan
    with pytest.raises(ValueError, match=r"head\.weight must be finite; NaN values: 1 of 12"):
        save_checkpoint(model, SIZES, path)
    assert path.read_bytes() == kept
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    "sizes",
    [SIZES | {"d_model": 8}, {"n_classes": 3, "n_symbols": 9}, SIZES | {"colour": 1}, {}],
)
def test_sizes_that_are_not_the_models_own_are_refused(model, tmp_path, sizes):
    with pytest.raises(ValueError, match="the sizes given must be those of a classifier"):
        save_checkpoint(model, sizes, tmp_path / "model.safetensors")
    told = "model must be a SequenceClassifier or a TransformerClassifier; its type is Linear"
    with pytest.raises(TypeError, match=told):
        save_checkpoint(torch.nn.Linear(1, 1), SIZES, tmp_path / "model.safetensors")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_no_checkpoint_is_refused(model, tmp_path):
    path = tmp_path / "model.safetensors"
    with pytest.raises(FileNotFoundError, match=r"there is no file model\.safetensors"):
        load_checkpoint(path)
    save_checkpoint(model, SIZES, path)
    path.write_bytes(path.read_bytes()[:-8])
    with pytest.raises(ValueError, match=r"model\.safetensors must be a whole safetensors file"):
        load_checkpoint(path)
    save_file(model.state_dict(), path)
    with pytest.raises(ValueError, match="must hold the sizes of its model; it holds None"):
        load_checkpoint(path)
    save_file(model.state_dict(), path, {"sizes": "{"})
    with pytest.raises(ValueError, match="must be a whole safetensors file"):
        load_checkpoint(path)
    save_file(model.state_dict(), path, {"sizes": "{}"})
    with pytest.raises(ValueError, match="must be those of a classifier and its weights"):
        load_checkpoint(path)


def test_a_transformer_comes_back_as_one(tmp_path):
    sizes = {"n_classes": 3, "n_symbols": 9, "d_model": 16, "rotary": False, "n_heads": 1}
    model, path = TransformerClassifier(**sizes | {"readout": "mean"}), tmp_path / "it.safetensors"
    save_checkpoint(model, sizes | {"readout": "mean"}, path)
    again, ids = load_checkpoint(path), torch.randint(9, (2, 7))
    assert repr(again) == repr(model)
    assert_close(again(ids), model(ids), rtol=0, atol=0)
    save_file(model.state_dict(), path, {"sizes": '{"kind": "Module"}'})
    with pytest.raises(ValueError, match=r"one of \['SequenceClassifier', .*\]; it holds a Module"):
        load_checkpoint(path)


@pytest.mark.parametrize("blocks", checkpoint.NEEDLES)
def test_the_shipped_classifiers_find_the_needle_where_they_were_trained(blocks):
    model = load_needle(blocks)
    path, kind, _ = checkpoint.NEEDLES[blocks]
    assert type(model) is kind
    assert evaluate(model, sample_needle(64, 128, seed=1)).accuracy >= 0.95
    assert path.stat().st_size < 100_000


@pytest.mark.parametrize("ask", [load_needle, lambda blocks: train_needle(0, blocks)])
def test_blocks_that_are_not_shipped_are_refused(ask):
    with pytest.raises(ValueError, match=r"one of \['mamba', 'attention'\]; it is 'brick'"):
        ask("brick")


def test_training_hangs_on_its_seed_alone():
    plan = {"lengths": (8,), "steps": 3}
    one = train_needle(0, **plan)
    torch.rand(3)  # whatever else was random in between
    same, other = (train_needle(seed, **plan) for seed in (0, 1))
    for name, tensor in one.state_dict().items():
        assert torch.equal(tensor, same.state_dict()[name])
    assert not torch.equal(one.head.weight, other.head.weight)
    assert not one.training


def test_one_command_stores_the_classifiers_anew(tmp_path, monkeypatch, capsys):
    shipped = checkpoint.NEEDLES
    moved = {name: (tmp_path / path.name, *rest) for name, (path, *rest) in shipped.items()}
    monkeypatch.setattr(checkpoint, "NEEDLES", moved)
    monkeypatch.setattr(
        checkpoint, "train_needle", lambda seed, blocks: load_checkpoint(shipped[blocks][0])
    )
    runpy.run_module("mamba_edu.training", run_name="__main__")
    told = [f"{path.name}: trained and stored." for path, *_ in moved.values()]
    assert capsys.readouterr().out.splitlines() == told
    for name, (path, *_) in moved.items():
        assert path.read_bytes() == shipped[name][0].read_bytes()
