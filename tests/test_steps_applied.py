"""A rule on a trained model: obeyed by all that the model does, ours or another's, and taken off.

Another's block with a rule must compute what ours computes that was built with it.
"""

from functools import partial

import pytest
import torch
from parity import build_theirs, load_ours
from torch import nn
from torch.nn.functional import softplus
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock, MambaStack
from mamba_edu.layers.reference import SIZES
from mamba_edu.models import SequenceClassifier, TransformerClassifier
from mamba_edu.probes import read_block
from mamba_edu.steps import LateZero, apply_step_rule, dead_zone_step, snap, softplus_step

TAU = 0.02
RULE = partial(snap, tau=TAU)
near = partial(assert_close, rtol=1e-5, atol=1e-6)


def build_with(step_rule, **options):
    """A model of two layers that is given its rule from the start, with the same weights."""
    torch.manual_seed(0)
    model = SequenceClassifier(3, 7, d_model=6, n_layers=2, delta_range=(1e-3, 0.1), **options)
    for module in model.modules():
        if isinstance(module, MambaBlock):
            module.step_rule = step_rule
    return model.eval()


def snapped(raw):
    """The rule by hand."""
    delta = softplus_step(raw)
    return delta * (delta >= TAU)


IDS = torch.randint(7, (4, 23), generator=torch.Generator().manual_seed(0))
MASK = torch.arange(23) < torch.tensor([23, 9, 17, 2])[:, None]


@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("mask", [None, MASK])
@torch.no_grad()
def test_every_block_obeys_and_is_put_back(bidirectional, mask):
    model = build_with(softplus_step, bidirectional=bidirectional)
    right = build_with(snapped, bidirectional=bidirectional)(IDS, mask)
    before, names = model(IDS, mask), list(model.state_dict())
    with apply_step_rule(model, RULE):
        assert_close(model(IDS, mask), right, rtol=0, atol=0)
        assert list(model.state_dict()) == names
    assert not torch.equal(right, before)
    assert torch.equal(model(IDS, mask), before)
    assert all(m.step_rule is softplus_step for m in model.modules() if isinstance(m, MambaBlock))


@torch.no_grad()
def test_a_stream_and_single_steps_obey():
    model, built = build_with(softplus_step), build_with(snapped)
    tokens = built.tokens.embed_content(IDS)
    apply_step_rule(model, RULE)
    near(model.stream(IDS, piece=5), built(IDS))
    state = None
    for t in range(IDS.shape[1]):
        y, state = model.blocks.step(tokens[:, t], state)
    near(y, built.blocks(tokens)[:, -1])


def test_the_steps_themselves_are_exactly_zero_and_the_state_holds():
    model = build_with(softplus_step)
    steps = read_block(model, IDS).delta
    apply_step_rule(model, RULE)
    ruled = read_block(model, IDS).delta
    assert 0.05 < (ruled == 0).double().mean() < 0.95
    assert torch.equal(ruled, torch.where(steps < TAU, 0, steps))


def test_rules_stack_in_order_and_come_off_in_any_order():
    block = MambaBlock(5, step_rule=dead_zone_step)
    raw = torch.linspace(-6, 3, 40)
    double, shift = apply_step_rule(block, lambda d: 2 * d), apply_step_rule(block, lambda d: d + 1)
    assert_close(block.step_rule(raw), 2 * dead_zone_step(raw) + 1)
    double.remove()
    double.remove()
    assert_close(block.step_rule(raw), dead_zone_step(raw) + 1)
    shift.remove()
    assert block.step_rule is dead_zone_step


def test_a_rule_that_is_a_module_stays_one():
    own = LateZero()
    block = MambaBlock(5, step_rule=own)
    with apply_step_rule(block, RULE):
        block.eval()
        assert not own.training
    assert block.step_rule is own


def test_what_an_own_rule_holds_keeps_its_name():
    block, other = MambaBlock(5, step_rule=LateZero()), MambaBlock(5, step_rule=LateZero())
    names = list(block.state_dict())
    apply_step_rule(block, RULE)
    block.step_rule.own.share.fill_(0.7)
    assert list(block.state_dict()) == names
    other.load_state_dict(block.state_dict())
    assert other.step_rule.share == block.step_rule.own.share
    other.step_rule.share.fill_(0.2)
    block.load_state_dict(other.state_dict())
    assert block.step_rule.own.share == other.step_rule.share


@pytest.fixture(scope="module")
def pair():
    """Transformers' Mamba, and ours with its weights, built with the rule by hand."""
    theirs = build_theirs(seed=3)
    ours = load_ours(theirs)
    for layer in ours.layers:
        layer.mixer.step_rule = snapped
    return theirs, ours


TOKENS = torch.randn(3, 11, SIZES["d_model"], generator=torch.Generator().manual_seed(0))
REAL = (torch.arange(11) >= torch.tensor([0, 4, 0])[:, None]) & (
    torch.arange(11) < torch.tensor([11, 11, 6])[:, None]
)


@torch.no_grad()
def test_transformers_blocks_obey_and_are_put_back(pair):
    theirs, ours = pair
    before, names = theirs(inputs_embeds=TOKENS).last_hidden_state, list(theirs.state_dict())
    with apply_step_rule(theirs, RULE):
        near(theirs(inputs_embeds=TOKENS).last_hidden_state, ours(TOKENS))
        padded = theirs(inputs_embeds=TOKENS, attention_mask=REAL.long()).last_hidden_state
        near(padded[REAL], ours(TOKENS, REAL)[REAL])
        assert list(theirs.state_dict()) == names
    after = theirs(inputs_embeds=TOKENS).last_hidden_state
    assert torch.equal(after, before)
    assert not torch.allclose(after, ours(TOKENS), atol=1e-3)


@torch.no_grad()
def test_transformers_cache_obeys(pair):
    theirs, ours = pair
    apply = apply_step_rule(theirs, RULE)
    cache = theirs(inputs_embeds=TOKENS[:, :8], use_cache=True).cache
    for t in range(8, 11):
        told = theirs(inputs_embeds=TOKENS[:, t : t + 1], cache=cache, use_cache=True)
        near(told.last_hidden_state[:, 0], ours(TOKENS[:, : t + 1])[:, -1])
    apply.remove()


@torch.no_grad()
def test_a_stopped_clock_holds_transformers_state_exactly(pair):
    theirs, _ = pair
    with apply_step_rule(theirs, torch.zeros_like):
        cache = theirs(inputs_embeds=TOKENS, use_cache=True).cache
        assert (cache.get_recurrent_state(1, state_idx=0) == 0).all()


@torch.no_grad()
def test_rules_stack_on_transformers_blocks_too(pair):
    theirs, ours = pair
    other, double = apply_step_rule(theirs, RULE), apply_step_rule(theirs, lambda d: 2 * d)
    assert not torch.allclose(theirs(inputs_embeds=TOKENS).last_hidden_state, ours(TOKENS))
    double.remove()
    near(theirs(inputs_embeds=TOKENS).last_hidden_state, ours(TOKENS))
    other.remove()
    assert all("forward" not in vars(layer.mixer) for layer in theirs.layers)


class Compiled(nn.Module):
    """A block whose steps are made where no rule reaches."""

    def __init__(self):
        super().__init__()
        self.dt_proj, self.A_log = nn.Linear(2, 3), nn.Parameter(torch.zeros(3, 4))

    def forward(self, tokens):
        return tokens


def test_a_block_that_a_rule_cannot_reach_says_so():
    block = Compiled()
    with apply_step_rule(block, RULE), pytest.raises(RuntimeError, match="A compiled kernel ran"):
        block(TOKENS)
    assert torch.equal(block(TOKENS), TOKENS)


def test_a_forward_that_somebody_set_is_put_back():
    block = Compiled()
    block.forward = own = lambda tokens: tokens + softplus(tokens)
    first, second = apply_step_rule(block, RULE), apply_step_rule(block, torch.zeros_like)
    assert torch.equal(block(TOKENS), TOKENS)
    first.remove()
    second.remove()
    assert block.forward is own


@pytest.mark.parametrize(
    ("model", "rule", "error", "message"),
    [
        (TransformerClassifier(3, 7), RULE, ValueError, "this TransformerClassifier holds none"),
        (nn.Linear(2, 3), RULE, ValueError, "a module with a step_rule, or with dt_proj and A_log"),
        ("mamba", RULE, TypeError, "model must be a torch.nn.Module; its type is str"),
        (MambaStack(4), 0.03, TypeError, "rule must be a function .*; its type is float"),
    ],
)
def test_what_cannot_be_ruled_is_refused(model, rule, error, message, as_reader):
    with pytest.raises(error, match=message):
        apply_step_rule(model, rule)


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda d: d - 1, "rule must return steps of at least 0; the smallest is -"),
        (
            lambda d: d[:, 1:],
            r"a step for each that it is given, \(3, 11, 8\); it returned \(3, 10",
        ),
        (lambda d: None, r"it returned NoneType"),
    ],
)
def test_what_is_no_step_is_refused_when_it_comes(rule, message):
    block = MambaBlock(4)
    apply_step_rule(block, rule)
    with pytest.raises(ValueError, match=message):
        block(TOKENS[..., :4])
