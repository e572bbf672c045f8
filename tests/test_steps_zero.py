"""Rules that can stop the clock: values by hand, gradients, refusals, a zero that comes late."""

import math
from functools import partial

import pytest
import torch
from torch.autograd import gradcheck
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock, invert_softplus
from mamba_edu.steps import LateZero, dead_zone_step, length_normalised, snap, softplus_step

nan = float("nan")
DELTA = torch.tensor([0.001, 0.03, 0.2, 1.5], dtype=torch.float64)
RAW = invert_softplus(DELTA)
apart = partial(assert_close, rtol=1e-9, atol=0)


def test_a_dead_zone_takes_its_width_off_and_stops_at_zero():
    apart(dead_zone_step(RAW, width=0.05), torch.tensor([0, 0, 0.15, 1.45], dtype=torch.float64))
    apart(dead_zone_step(RAW, width=0.0), DELTA)
    assert dead_zone_step(RAW.half()).dtype == torch.float32
    assert dead_zone_step(torch.tensor([nan])).isnan().all()


def test_a_dead_zone_learns_outside_and_not_inside():
    raw = RAW.clone().requires_grad_()
    assert gradcheck(dead_zone_step, raw)
    dead_zone_step(raw).sum().backward()
    assert (raw.grad > 0).tolist() == [False, False, True, True]


def test_a_snap_stops_what_is_below_and_leaves_the_rest_as_it_is():
    assert snap(DELTA, 0.03).tolist() == [0, 0.03, 0.2, 1.5]
    assert torch.equal(snap(DELTA, 0.0), DELTA)
    assert snap(torch.tensor([nan]), 0.03).isnan().all()


def test_a_snap_hands_no_gradient_through_what_it_stopped():
    delta = DELTA.clone().requires_grad_()
    snap(delta, 0.1).square().sum().backward()
    apart(delta.grad, torch.tensor([0, 0, 0.4, 3], dtype=torch.float64))


def test_a_clock_is_as_much_slower_as_the_sequence_is_longer():
    """A sequence of eight times the length ages the state as one of the training length did."""
    delta = DELTA.repeat(3)
    long = length_normalised(delta.repeat(8), length=96, trained_length=12)
    apart(long.sum(), delta.sum())
    apart(length_normalised(delta, length=64), 2 * delta)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: snap(DELTA, -0.1), ValueError, "tau must be .* at least 0; it is -0.1"),
        (lambda: snap(DELTA, nan), ValueError, "tau must be a finite number .*; it is nan"),
        (lambda: snap(DELTA, "0.1"), TypeError, "tau must be a number; its type is str"),
        (lambda: snap([0.1], 0.1), TypeError, "delta must be a torch.Tensor; its type is list"),
        (lambda: dead_zone_step(RAW, -1.0), ValueError, "width must be .* at least 0; it is -1.0"),
        (lambda: length_normalised(DELTA, 0), ValueError, "length must be at least 1; it is 0"),
        (lambda: length_normalised(DELTA, 9.0), TypeError, "length must be an int; it is 9.0"),
        (lambda: length_normalised(DELTA.int(), 9), TypeError, "delta must be .* torch.int32"),
        (lambda: LateZero(0), ValueError, "width must be a finite number above 0; it is 0"),
    ],
)
def test_rules_refuse_what_makes_no_sense(call, error, message, as_reader):
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("rule", [dead_zone_step, partial(dead_zone_step, width=0.3), LateZero()])
def test_a_block_starts_with_the_steps_of_its_range_whatever_its_rule(rule):
    torch.manual_seed(0)
    block = MambaBlock(5, d_state=3, expand=40, delta_range=(1e-3, 3e-2), step_rule=rule)
    steps = block.step_rule(block.dt_proj.bias[None]).double()
    assert 0.99e-3 <= steps.min() < 2e-3
    assert 2e-2 < steps.max() <= 3.03e-2


def test_a_block_of_mamba_s_own_rule_starts_as_it_always_did():
    """The shipped checkpoints and tables were made from these starts."""
    biases = []
    for rule in (softplus_step, lambda raw: softplus_step(raw)):
        torch.manual_seed(0)
        biases.append(MambaBlock(5, d_state=3, step_rule=rule).dt_proj.bias)
    assert_close(*biases, rtol=1e-5, atol=0)


@pytest.mark.parametrize("rule", [torch.zeros_like, lambda raw: snap(softplus_step(raw), 0.3)])
def test_a_block_that_could_only_start_dead_is_refused(rule):
    with pytest.raises(ValueError, match="step_rule must be able to make steps of"):
        MambaBlock(5, delta_range=(1e-3, 3e-2), step_rule=rule)


def test_a_late_zero_comes_late_and_grows():
    rule, kept = LateZero(0.3).eval(), []
    for share in (0, 0.5, 0.51, 0.65, 0.8, 1):
        rule.share.fill_(share)
        kept.append((rule(RAW[None]) > 0).sum().item())
    assert kept == [4, 4, 3, 2, 1, 1]  # the width is 0, 0, 0.01, 0.15, 0.3, 0.3


def test_a_late_zero_is_exact_and_its_gradient_goes_straight_through():
    rule, raw = LateZero(0.1).eval(), RAW[None].clone().requires_grad_()
    rule.share.fill_(1)
    rule(raw).sum().backward()
    assert rule(raw)[0, :2].tolist() == [0, 0]
    apart(raw.grad, torch.sigmoid(RAW)[None])


def test_a_late_zero_draws_a_width_for_each_sequence_in_training_only():
    torch.manual_seed(0)
    rule, raw = LateZero(0.1), invert_softplus(torch.logspace(-2, 0, 400)).expand(900, 5, 400)
    rule.share.fill_(1)
    widths = torch.where(rule(raw) > 0, raw, math.inf).amin(2)
    assert (widths == widths[:, :1]).all()
    logs = softplus_step(widths[:, 0]).div(0.1).log() / math.log(3)
    assert logs.min() < -0.95
    assert logs.max() > 0.95
    assert logs.mean().abs() < 0.1
    widths = torch.where(rule.eval()(raw) > 0, raw, math.inf).amin(2)
    assert len(widths.unique()) == 1


@pytest.mark.parametrize(("steps", "error"), [(0, ValueError), (2.5, TypeError)])
def test_a_late_zero_follows_whole_steps(steps, error, as_reader):
    with pytest.raises(error, match=f"steps must be .*; it is {steps}"):
        LateZero().follow(max, steps)


def test_a_late_zero_has_come_all_the_way_after_the_last_step():
    rule = LateZero()
    draw = rule.follow(lambda: None, steps=59)
    for _ in range(59):
        draw()
    assert rule.share == 1


def test_a_late_zero_follows_the_training_to_its_end():
    rule = LateZero()
    draw = rule.follow(lambda batch, length: (batch, length), steps=4)
    shares = []
    for _ in range(5):
        shares.append(rule.share.item())
        assert draw(3, 7) == (3, 7)
    assert shares == [0, 0.25, 0.5, 0.75, 1]
    assert rule.state_dict()["share"] == 1
    rule.follow(max, steps=4)
    assert rule.share == 0
