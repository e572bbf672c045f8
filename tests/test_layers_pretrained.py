"""Weights that transformers saved on disk load by the folder's name, or are refused in words."""

import pytest
import torch
from parity import build_theirs, run_theirs
from safetensors.torch import load_file, save_file

from mamba_edu.layers import load_pretrained


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A model with a head, saved in several files as large ones are, and what it answers."""
    from transformers import MambaForCausalLM

    folder = tmp_path_factory.mktemp("saved")
    theirs = build_theirs()
    whole = MambaForCausalLM(theirs.config)
    whole.backbone.load_state_dict(theirs.state_dict())
    whole.save_pretrained(folder, max_shard_size="10kB")
    tokens = torch.randn(2, 7, theirs.config.hidden_size)
    return folder, tokens, run_theirs(theirs, tokens)[0], theirs.embeddings.weight.detach()


def test_a_saved_model_loads_and_answers_the_same(saved):
    folder, tokens, outputs, embeddings = saved
    assert len(list(folder.glob("*.safetensors"))) > 1
    ours, stack = load_pretrained(folder)
    assert torch.equal(ours, embeddings)
    assert not stack.training
    assert (stack(tokens) - outputs).abs().max() < 5e-6 * outputs.abs().max()
    assert torch.equal(load_pretrained(str(folder))[0], embeddings)


def copy_saved(saved, folder, change):
    """Write the saved weights anew, in one file and half precision, after a change of them."""
    weights = {k: v for file in saved[0].glob("*.safetensors") for k, v in load_file(file).items()}
    save_file({k: v.half() for k, v in change(weights).items()}, folder / "model.safetensors")
    return folder


def test_half_precision_is_loaded_as_single(saved, tmp_path):
    _, stack = load_pretrained(copy_saved(saved, tmp_path, dict))
    assert {parameter.dtype for parameter in stack.parameters()} == {torch.float32}


def without(word):
    return lambda weights: {k: v for k, v in weights.items() if word not in k}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (without("x_proj"), "Mamba of the first kind; their first layer has no x_proj.weight"),
        (without("layers.1.mixer.D"), r"do not make a Mamba: .*layers\.1\.mixer\.D"),
        (without("embeddings"), r"must hold embeddings\.weight or embedding\.weight"),
    ],
)
def test_other_weights_are_refused(saved, tmp_path, change, message):
    with pytest.raises(ValueError, match=f"(?s){message}"):
        load_pretrained(copy_saved(saved, tmp_path, change))


def test_a_folder_without_safetensors_is_told(tmp_path):
    (tmp_path / "pytorch_model.bin").write_bytes(b"not opened")
    for folder in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(FileNotFoundError, match=r"\*\.safetensors; there are none.*Pickled"):
            load_pretrained(folder)


def test_a_damaged_file_is_named(tmp_path):
    (tmp_path / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(ValueError, match=r"model\.safetensors must be a whole safetensors file"):
        load_pretrained(tmp_path)
