"""A part that was taken out is really gone, stays gone, and nothing else is."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock, MambaStack, ResidualBlock, take_out
from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import sample_needle
from mamba_edu.training import train

BATCH, LENGTH, D_MODEL, D_STATE, D_CONV = 2, 9, 6, 5, 4
PARTS = ("conv", "selection", "state", "skip", "gate", "norm")


def rand(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make_layer(*parts, **options):
    """A residual block with random weights everywhere, without some of its parts."""
    torch.manual_seed(0)
    layer = ResidualBlock(D_MODEL, d_state=D_STATE, delta_rank=3, **options).double()
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter += 0.3 * torch.randn_like(parameter)
    for part in parts:
        assert take_out(layer, part) is layer
    return layer


def list_reached(layer, t=6):
    """The tokens whose output changes when token t does."""
    tokens = rand(1, LENGTH, D_MODEL)
    changed = tokens.clone()
    changed[:, t] += 1.0
    moved = (layer.mixer(changed) - layer.mixer(tokens)).abs().amax(dim=(0, 2))
    return moved.nonzero()[:, 0].tolist()


def test_what_a_token_reaches_is_told_by_conv_and_state():
    """By hand: the state reaches all that follow, the conv d_conv - 1, neither none at all."""
    assert list_reached(make_layer()) == [6, 7, 8]
    assert list_reached(make_layer(), t=2) == [2, 3, 4, 5, 6, 7, 8]
    assert list_reached(make_layer("conv"), t=2) == [2, 3, 4, 5, 6, 7, 8]
    assert list_reached(make_layer("state"), t=2) == [2, 3, 4, 5]
    assert list_reached(make_layer("state", "conv"), t=2) == [2]


def test_without_its_conv_a_block_is_that_of_one_tap():
    layer = make_layer("conv")
    torch.manual_seed(0)
    short = MambaBlock(D_MODEL, d_state=D_STATE, delta_rank=3, d_conv=1).double()
    taken = {k: v for k, v in layer.mixer.state_dict().items() if "conv1d" not in k}
    one = torch.ones(2 * D_MODEL, 1, 1, dtype=torch.float64)
    short.load_state_dict(taken | {"conv1d.weight": one, "conv1d.bias": 0 * one[:, 0, 0]})
    tokens = rand(BATCH, LENGTH, D_MODEL)
    assert_close(layer.mixer(tokens), short(tokens))


def test_a_conv_without_a_bias_can_be_taken_out_too():
    assert list_reached(make_layer("state", "conv", conv_bias=False), t=2) == [2]


def test_without_selection_every_token_is_told_the_same():
    x = rand(BATCH, LENGTH, 2 * D_MODEL)
    whole = make_layer().mixer.select(x)
    plain = make_layer("selection").mixer.select(x)
    for before, after in zip(whole, plain, strict=True):
        assert before.shape == after.shape
        assert_close(after, after[:1, :1].expand_as(after))  # rows of a product may round apart
        assert (before.std(dim=1) > 1e-4).all()
        assert (after != 0).all()


def test_without_state_and_skip_nothing_is_left():
    tokens = rand(BATCH, LENGTH, D_MODEL)
    assert (make_layer("state", "skip").mixer(tokens) == 0).all()
    assert (make_layer("state").mixer(tokens) != 0).all()
    assert (make_layer("skip").mixer(tokens) != 0).all()


def test_without_skip_a_block_answers_what_it_does_less_what_passes_by():
    """The output is linear in D, so that D = 2 goes as far beyond D = 1 as D = 1 beyond 0."""
    tokens = rand(BATCH, LENGTH, D_MODEL)
    outputs = []
    for skip in (1.0, 2.0):
        layer = make_layer()
        nn.init.constant_(layer.mixer.D, skip)
        outputs.append(layer.mixer(tokens))
    assert_close(make_layer("skip").mixer(tokens), 2 * outputs[0] - outputs[1])


def test_an_open_gate_no_longer_listens_and_multiplies_by_one():
    tokens = rand(BATCH, LENGTH, D_MODEL)
    layer, other = make_layer("gate"), make_layer("gate")
    with torch.no_grad():
        other.mixer.in_proj.weight[2 * D_MODEL :] = 7.0
    assert_close(layer.mixer(tokens), other.mixer(tokens), rtol=0, atol=0)
    # With state and conv out as well, only linear maps and one silu are left.
    bare = make_layer("gate", "state", "conv").mixer
    x = torch.nn.functional.silu(tokens @ bare.in_proj.weight[: 2 * D_MODEL].T)
    assert_close(bare(tokens), (bare.D * x) @ bare.out_proj.weight.T)


def test_without_its_norm_a_block_hears_how_large_a_token_is():
    tokens = rand(BATCH, LENGTH, D_MODEL)
    layer = make_layer("norm")
    assert_close(layer(tokens) - tokens, layer.mixer(tokens))
    loud = 100 * tokens
    kept, heard = (make_layer(*parts) for parts in ((), ("norm",)))
    assert_close(kept(loud) - loud, kept(tokens) - tokens, rtol=1e-3, atol=1e-3)
    assert not torch.allclose(heard(loud) - loud, heard(tokens) - tokens, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("part", PARTS)
def test_one_step_at_a_time_is_still_the_whole_pass(part):
    layer, state, outputs = make_layer(part), None, []
    tokens = rand(BATCH, LENGTH, D_MODEL)
    for token in tokens.unbind(1):
        y, state = layer.step(token, state)
        outputs.append(y)
    assert_close(torch.stack(outputs, dim=1), layer(tokens))


@pytest.mark.parametrize("part", PARTS)
def test_training_does_not_put_a_part_back(part):
    torch.manual_seed(0)
    model = take_out(SequenceClassifier(3, n_symbols=27, d_model=D_MODEL, n_layers=2), part)
    before = {name: p.clone() for name, p in model.named_parameters()}
    train(model, lambda *sizes: sample_needle(*sizes, n_classes=3), (8,), steps=3, lr=0.1)
    frozen = {"conv": ("conv1d.weight", "conv1d.bias"), "skip": ("D",)}.get(part, ())
    for name, p in model.named_parameters():
        is_frozen = name.endswith(frozen) if frozen else False
        assert torch.equal(before[name], p) == is_frozen, name
    for layer in model.blocks.layers:
        assert isinstance(layer.norm, nn.Identity) == (part == "norm")
        delta, _, C = layer.mixer.select(torch.randn(2, 5, 2 * D_MODEL))
        assert (delta.std(dim=1) < 1e-7).all() == (part == "selection")
        assert (C == 0).all() == (part == "state")


@pytest.mark.parametrize(
    ("model", "part", "message"),
    [
        (nn.Linear(3, 3), "conv", "must hold a MambaBlock, which has the conv; this Linear"),
        (MambaBlock(6), "norm", "must hold a ResidualBlock, which has the norm; this MambaBlock"),
        (MambaStack(6), "Gate", "part must be one of .*'conv'.*; it is 'Gate'"),
    ],
)
def test_what_is_not_there_cannot_be_taken_out(model, part, message):
    with pytest.raises(ValueError, match=message):
        take_out(model, part)
