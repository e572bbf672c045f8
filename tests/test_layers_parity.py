"""Another's Mamba and ours, with the same weights, give the same answers and the same states.

In float32 outputs and states agree to 5e-6 of their largest (about 8e-7 was seen): the two add
in another order.
"""

import pytest
import torch
from parity import build_theirs, load_ours, run_theirs

from mamba_edu.layers import MambaStack, MambaState, check_health, load_reference
from mamba_edu.layers.reference import PATH, SIZES

WITHIN = 5e-6


def measure(ours, theirs):
    """The largest difference, as a share of the largest value."""
    return ((ours - theirs).abs().max() / theirs.abs().max()).item()


def split_weights(reference):
    named = [(name.removeprefix("weights."), tensor) for name, tensor in reference.items()]
    return {name: tensor for name, tensor in named if f"weights.{name}" in reference}


@pytest.fixture(scope="module")
def theirs():
    return build_theirs(seed=3)


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("length", [1, 97])
@pytest.mark.parametrize("method", ["loop", "auto"])
def test_transformers_weights_give_transformers_answers(theirs, batch, length, method):
    tokens = torch.randn(
        batch, length, SIZES["d_model"], generator=torch.Generator().manual_seed(length)
    )
    outputs, h, tails = run_theirs(theirs, tokens)
    ours = load_ours(theirs)
    for layer in ours.layers:
        layer.mixer.method = method
    y, states = ours(tokens, return_state=True)
    assert measure(y, outputs) < WITHIN
    for state, their_h, their_tail in zip(states, h, tails, strict=True):
        assert measure(state.h, their_h) < WITHIN
        assert measure(state.tail, their_tail) < WITHIN


def test_one_block_loads_one_mixer(theirs):
    mixer = theirs.layers[0].mixer
    block = MambaStack(**SIZES).layers[0].mixer
    names = {name: parameter.shape for name, parameter in mixer.named_parameters()}
    assert {name: parameter.shape for name, parameter in block.named_parameters()} == names
    block.load_state_dict(mixer.state_dict())
    tokens = torch.randn(2, 7, SIZES["d_model"], generator=torch.Generator().manual_seed(0))
    assert measure(block(tokens), mixer(tokens)) < WITHIN


def test_the_stored_reference_is_what_transformers_computes():
    reference = load_reference()
    tokens = reference["tokens"]
    assert tokens.shape == (3, 97, SIZES["d_model"])
    outputs, h, tails = run_theirs(build_theirs(split_weights(reference)), tokens)
    assert measure(outputs, reference["outputs"]) < WITHIN
    for n in range(SIZES["n_layers"]):
        assert measure(h[n], reference[f"h.{n}"]) < WITHIN
        assert measure(tails[n], reference[f"tail.{n}"]) < WITHIN


def test_the_stored_reference_is_what_we_compute():
    reference = load_reference()
    ours = MambaStack(**SIZES)
    ours.load_state_dict(split_weights(reference))
    y, states = ours(reference["tokens"], return_state=True)
    assert measure(y, reference["outputs"]) < WITHIN
    for n, state in enumerate(states):
        assert measure(state.h, reference[f"h.{n}"]) < WITHIN
        assert measure(state.tail, reference[f"tail.{n}"]) < WITHIN


def test_the_stored_reference_shows_every_part():
    """Outputs that a state, a bias or a gate of 0 would leave alone could not prove anything."""
    reference = load_reference()
    weights = split_weights(reference)
    assert PATH.stat().st_size < 100_000
    for name in weights:
        ours = MambaStack(**SIZES)
        ours.load_state_dict(weights | {name: torch.zeros_like(weights[name])})
        y = ours(reference["tokens"])
        assert measure(y, reference["outputs"]) > 100 * WITHIN, name
    states = [MambaState(reference[f"tail.{n}"], reference[f"h.{n}"]) for n in (0, 1)]
    ours.load_state_dict(weights)
    tokens = reference["tokens"]
    assert measure(ours(tokens, state=states), ours(tokens)) > 100 * WITHIN


def test_a_fresh_transformers_model_is_healthy_and_its_names_are_found(theirs):
    """The health check knows a block by its parts, so it serves models that are not ours."""
    assert check_health(theirs) == []
    with torch.no_grad():
        theirs.layers[1].mixer.dt_proj.bias[2:] = 0
        (finding,) = check_health(theirs)
    assert finding.startswith("layers.1.mixer: softplus(dt_proj.bias)")


def test_a_missing_reference_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr("mamba_edu.layers.reference.PATH", tmp_path / "lost.safetensors")
    with pytest.raises(FileNotFoundError, match=r"lost.safetensors must lie in mamba_edu/results"):
        load_reference()
