"""Blocks that read from both ends: against two blocks by hand, turned round, padded and refused."""

import math

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.layers import MambaStack, ResidualBlock, check_health
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS
from mamba_edu.tokens import make_mask

BATCH, LENGTH, D_MODEL = 3, 7, 6
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
nan = float("nan")
KINDS = pytest.mark.parametrize("kind", [ResidualBlock, MambaStack])


def rand(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make_model(kind, **options):
    torch.manual_seed(0)
    sizes = {"d_state": 5, "delta_rank": 3, "bias": True, "bidirectional": True}
    return kind(D_MODEL, **sizes | options).double()


def draw_mask(name):
    if name in ("right", "left"):
        return make_mask([4, LENGTH, 1], side=name)
    return torch.tensor([[0, 1, 1, 0, 1, 0, 1], [1, 1, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 0, 0]]) > 0


def test_a_second_block_reads_from_the_end():
    """Token by token backwards, by the block's own step."""
    model, tokens = make_model(ResidualBlock), rand(BATCH, LENGTH, D_MODEL)
    assert not torch.equal(model.mixer.in_proj.weight, model.mixer_back.in_proj.weight)
    normed = model.norm(tokens)
    right, state = [], None
    for t in reversed(range(LENGTH)):
        y, state = model.mixer_back.step(normed[:, t], state)
        right.insert(0, y)
    assert_close(model(tokens), tokens + model.mixer(normed) + torch.stack(right, dim=1), **TIGHT)


def test_a_stack_runs_its_layers_both_ways():
    model, tokens = make_model(MambaStack, n_layers=2), rand(BATCH, LENGTH, D_MODEL)
    by_hand = tokens
    for layer in model.layers:
        by_hand = layer(by_hand)
    assert_close(model(tokens), model.norm_f(by_hand), **TIGHT)
    assert not check_health(make_model(MambaStack, n_layers=2))


@pytest.mark.parametrize("name", [None, "right", "left", "gaps"])
def test_with_its_mixers_swapped_a_stack_reads_the_sequence_turned_round(name):
    model, mask = make_model(MambaStack, n_layers=2), None if name is None else draw_mask(name)
    tokens = rand(BATCH, LENGTH, D_MODEL)
    right = model(tokens, mask).flip(1)
    for layer in model.layers:
        layer.mixer, layer.mixer_back = layer.mixer_back, layer.mixer
    turned = model(tokens.flip(1), None if mask is None else mask.flip(1))
    assert_close(turned, right, **TIGHT)
    assert not torch.allclose(model(tokens, mask), turned)


@KINDS
@pytest.mark.parametrize("name", ["right", "left", "gaps"])
def test_padding_changes_no_output_and_no_gradient_in_either_direction(kind, name):
    model, mask = make_model(kind), draw_mask(name)
    rows = [rand(int(n), D_MODEL, seed=k).requires_grad_() for k, n in enumerate(mask.sum(1))]
    padded = torch.full((*mask.shape, D_MODEL), nan, dtype=torch.float64)
    padded[mask] = torch.cat(rows).detach()
    padded.requires_grad_()
    y = model(padded, mask)
    alone = torch.cat([model(row[None])[0] for row in rows])
    assert (y[~mask] == 0).all()
    assert_close(y[mask], alone, **TIGHT)

    y.square().sum().backward()
    learned = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    alone.square().sum().backward()
    assert (padded.grad[~mask] == 0).all()
    assert_close(padded.grad[mask], torch.cat([row.grad for row in rows]), **TIGHT)
    assert_close(learned, [parameter.grad for parameter in model.parameters()], **TIGHT)


@KINDS
@pytest.mark.parametrize("is_both", [False, True])
def test_only_a_second_direction_sees_what_is_behind(kind, is_both):
    model, tokens = make_model(kind, bidirectional=is_both), rand(1, LENGTH, D_MODEL)
    tokens.requires_grad_()
    model(tokens)[0, 3].square().sum().backward()
    sees = (tokens.grad[0] != 0).any(-1).tolist()
    assert sees == [True] * 4 + [is_both] * 3


@KINDS
@pytest.mark.parametrize("call", ["state", "return_state", "step"])
def test_what_reads_from_the_end_refuses_pieces(kind, call):
    model, tokens = make_model(kind), rand(BATCH, LENGTH, D_MODEL)
    causal = make_model(kind, bidirectional=False)
    _, state = causal(tokens, return_state=True)
    calls = {
        "state": lambda one: one(tokens, state=state),
        "return_state": lambda one: one(tokens, return_state=True),
        "step": lambda one: one.step(tokens[:, 0]),
    }
    calls[call](causal)
    with pytest.raises(ValueError, match="must be given the whole sequence at once"):
        calls[call](model)


@KINDS
def test_a_direction_is_true_or_false(kind, as_reader):
    with pytest.raises(TypeError, match="bidirectional must be True or False; it is 'both'"):
        kind(D_MODEL, bidirectional="both")


def test_a_stack_starts_smaller_by_the_root_of_what_it_adds_up():
    torch.manual_seed(0)
    layers = [ResidualBlock(D_MODEL, True) for _ in range(3)]
    torch.manual_seed(0)
    stack = MambaStack(D_MODEL, 3, True)
    for layer, block in zip(stack.layers, layers, strict=True):
        for name in ("mixer", "mixer_back"):
            here, there = (getattr(one, name).out_proj.weight for one in (layer, block))
            assert_close(here * math.sqrt(6), there)


@pytest.mark.parametrize("position", ["first", "middle", "last"])
def test_cls_is_blind_nowhere_if_the_blocks_read_both_ways(position):
    torch.manual_seed(0)
    model = SequenceClassifier(4, 5, readout=ReadCLS(position), d_model=6, bidirectional=True)
    tokens, mask = model.tokens(torch.tensor([[0, 1, 2, 3, 4, 3]]))
    tokens = tokens.detach().requires_grad_()
    model.classify(tokens, mask)[0, 2].backward()
    assert (tokens.grad[0] != 0).any(-1).all()


def test_a_readout_is_handed_no_state_of_what_reads_both_ways():
    seen = {}

    def read(outputs, mask, state):
        seen[len(seen)] = state
        return outputs.mean(1)

    ids = torch.tensor([[0, 1, 2]])
    for is_both in (True, False):
        SequenceClassifier(4, 5, readout=read, d_model=6, bidirectional=is_both)(ids)
    assert seen[0] is None
    assert len(seen[1]) == 1
