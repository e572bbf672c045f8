"""Two clocks in one block: each half obeys its own rule, and the whole obeys both."""

from functools import partial

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import apply_halves, read_block
from mamba_edu.steps import apply_step_rule, snap

RULE = partial(snap, tau=0.02)
MASK = torch.tensor([[True] * 5, [True, True, False, True, False]])


def build():
    torch.manual_seed(0)
    return MambaBlock(4, d_state=3, delta_range=(1e-3, 0.1)).double()


TOKENS = torch.randn(2, 5, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


@pytest.mark.parametrize("rule", [RULE, torch.clone])
@pytest.mark.parametrize("mask", [None, MASK])
@torch.no_grad()
def test_one_rule_for_both_halves_is_that_rule(rule, mask):
    block = build()
    with apply_step_rule(block, rule):
        y, state = block(TOKENS, mask, return_state=True)
        y, state = block(y, mask, state, return_state=True)
    with apply_halves(block, rule, rule):
        two, other = block(TOKENS, mask, return_state=True)
        two, other = block(two, mask, other, return_state=True)
    assert_close((two, other.h, other.tail), (y, state.h, state.tail), rtol=1e-6, atol=1e-9)
    assert "forward" not in vars(block)


@pytest.mark.parametrize("is_decay", [True, False])
@torch.no_grad()
def test_each_half_obeys_its_own_rule_alone(is_decay):
    block = build()
    rules = (RULE, torch.clone) if is_decay else (torch.clone, RULE)
    signals = read_block(block, TOKENS)
    assert 0.1 < (signals.delta < 0.02).double().mean() < 0.9
    h = torch.zeros(2, *signals.A.shape, dtype=torch.float64)
    for t in range(5):
        fade, write = (rule(signals.delta[:, t]) for rule in rules)
        written = (write * signals.x[:, t])[..., None] * signals.B[:, t, None]
        h = torch.exp(fade[..., None] * signals.A) * h + written
    with apply_halves(block, *rules):
        y, state = block(TOKENS, return_state=True)
        _, gate, _ = block.look_back(TOKENS)
    assert_close(state.h, h, rtol=1e-6, atol=1e-9)
    read = (h * signals.C[:, -1, None]).sum(-1) + block.D * signals.x[:, -1]
    read = read * gate[:, -1] * torch.sigmoid(gate[:, -1])
    assert_close(y[:, -1], block.out_proj(read), rtol=1e-6, atol=1e-9)


def test_a_forward_that_somebody_set_is_put_back():
    model = SequenceClassifier(3, 7, d_model=4)
    [layer] = model.blocks.layers
    layer.mixer.forward = own = layer.mixer.forward
    apply_halves(model, RULE, RULE).remove()
    assert vars(layer.mixer)["forward"] is own


def test_every_block_of_a_classifier_has_two_clocks_and_others_are_refused():
    model = SequenceClassifier(3, 7, d_model=4, n_layers=2)
    with apply_halves(model, RULE, RULE):
        assert all("forward" in vars(layer.mixer) for layer in model.blocks.layers)
    with pytest.raises(ValueError, match="model must hold a MambaBlock; this Linear holds none"):
        apply_halves(nn.Linear(2, 3), RULE, RULE)
