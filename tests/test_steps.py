"""Step rules: their values by hand, their gradients, and what they refuse."""

import math

import pytest
import torch
from scan_inputs import make_inputs
from torch.autograd import gradcheck
from torch.testing import assert_close

from mamba_edu.scan import selective_scan
from mamba_edu.steps import frozen_on_padding, softplus_step

nan = float("nan")
MASK = torch.tensor([[True, True, False], [True, False, False]])


@pytest.mark.parametrize(
    ("delta_raw", "delta"),
    [
        (0.0, math.log(2)),
        (math.log(math.e - 1), 1.0),
        (-5.0, math.log1p(math.exp(-5))),
        (30.0, 30.0),
        (-100.0, math.exp(-100)),
    ],
)
def test_softplus_step_takes_its_values_by_hand(delta_raw, delta):
    found = softplus_step(torch.tensor([delta_raw], dtype=torch.float64)).item()
    assert found == pytest.approx(delta, rel=1e-12)


def test_softplus_step_never_stops_the_clock():
    delta = softplus_step(torch.linspace(-80, 80, 500))
    assert (delta > 0).all()
    assert (delta.diff() > 0).all()


def test_softplus_step_gradient_equals_finite_differences():
    delta_raw = torch.linspace(-9, 9, 20, dtype=torch.float64, requires_grad=True)
    assert gradcheck(softplus_step, delta_raw)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_softplus_step_keeps_the_digits_of_a_small_step(dtype):
    """S4, state-spaces/mamba#6, #352: a step near 0.01 must not be rounded to 8 bits."""
    delta_raw = torch.tensor([-4.6, -4.59375], dtype=dtype)
    delta = softplus_step(delta_raw)
    assert delta.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    assert_close(delta.double(), delta_raw.double().exp().log1p(), rtol=2e-7, atol=0)


def test_softplus_step_passes_nan_through_and_refuses_integers(as_reader):
    assert softplus_step(torch.tensor([nan, 0.0])).isnan().tolist() == [True, False]
    with pytest.raises(TypeError, match=r"delta_raw must be .* it is torch.int64"):
        softplus_step(torch.zeros(3, dtype=torch.long))


def test_frozen_on_padding_stops_the_clock_there_and_nowhere_else():
    delta = torch.arange(1.0, 13).reshape(2, 3, 2)
    frozen = frozen_on_padding(delta, MASK)
    assert_close(frozen[MASK], delta[MASK], rtol=0, atol=0)
    assert (frozen[~MASK] == 0).all()


def test_frozen_on_padding_lets_no_bad_value_or_gradient_through():
    delta = torch.full((2, 3, 2), nan)
    delta[MASK] = 2.0
    delta.requires_grad_()
    frozen_on_padding(delta, MASK).square().sum().backward()
    assert_close(delta.grad, 4.0 * MASK[..., None].expand(2, 3, 2))


def test_a_frozen_clock_holds_the_state_of_a_scan():
    """C3, transformers#48256, #31540: delta = 0 holds the state exactly, mask or no mask."""
    inputs = make_inputs(3)
    inputs["delta"] = frozen_on_padding(inputs["delta"], MASK)
    last = selective_scan(**inputs, return_state=True)[1]
    short = {k: v[1:, :1] if v.dim() == 3 else v for k, v in inputs.items()}
    short["state"] = inputs["state"][1:]
    assert_close(last[1:], selective_scan(**short, return_state=True)[1], rtol=1e-12, atol=0)


@pytest.mark.parametrize(
    ("delta", "mask", "error", "message"),
    [
        (torch.ones(2, 3), MASK, ValueError, r"delta must have the axes \(batch, length, d_inner"),
        (torch.ones(2, 3, 2).int(), MASK, TypeError, "delta must be .*; it is torch.int32"),
        (torch.ones(2, 3, 2), MASK.float(), TypeError, "mask must be torch.bool; it is"),
        (torch.ones(2, 3, 2), MASK.T, ValueError, r"= \(2, 3\) of delta; its shape is \(3, 2\)"),
        (torch.ones(2, 3, 2), None, TypeError, "mask must be a torch.Tensor; its type is NoneType"),
    ],
)
def test_frozen_on_padding_refuses_what_does_not_fit(delta, mask, error, message, as_reader):
    with pytest.raises(error, match=message):
        frozen_on_padding(delta, mask)
