"""What is left of the digits: single and half precision, huge steps, and how not to scan."""

import pytest
import torch
from scan_inputs import CHUNK, differentiate, every_way, make_inputs, scan_by
from torch.testing import assert_close

from mamba_edu.scan import accumulate_steps, selective_scan


def make_long_inputs(delta, length, d_state=16):
    """The inputs of CASES S1, in float32: A = -1 .. -16 and one step size throughout."""
    rng = torch.Generator().manual_seed(length)
    x = torch.rand(2, length, 3, generator=rng) * 2 - 1
    B, C = (torch.randn(2, length, d_state, generator=rng) for _ in range(2))
    A = -torch.arange(1.0, d_state + 1).repeat(3, 1)
    return {"x": x, "delta": torch.full_like(x, delta), "A": A, "B": B, "C": C}


def compare_with_double(way, inputs):
    """The largest error of a scan, as a share of the largest output."""
    right, _ = scan_by("loop", **{name: tensor.double() for name, tensor in inputs.items()})
    y, _ = scan_by(way, **inputs)
    return ((y - right).abs().max() / right.abs().max()).item()


@every_way
@pytest.mark.parametrize("length", [16, 64, 256, 1024])
def test_single_precision_stays_near_double(way, length):
    """S1, mamba-minimal#18, pytorch#95408: at most 3e-6 of the largest output in every cell."""
    for delta in (0.01, 0.1, 0.7, 1.0):
        assert compare_with_double(way, make_long_inputs(delta, length)) <= 3e-6


@pytest.mark.parametrize("delta", [0.1, 0.7])
def test_dividing_by_a_clock_without_a_guard_ends_in_nan(delta):
    """S1, pytorch#95408: after 103 units of time what is divided by is less than any number."""
    kept = torch.exp(torch.full((100,), -16 * delta).cumsum(0))
    y = (delta / kept).cumsum(0) * kept
    first = y.isnan().nonzero()[0].item()
    assert 103 <= 16 * delta * (first + 1) <= 104 + 16 * delta


def test_scanning_by_logarithms_loses_digits_and_gradients():
    """S2, mamba-tiny: dozens of times the bound above, and NaN from an input that is 0."""
    inputs = make_long_inputs(1.0, 1024)
    right, _ = scan_by("loop", **{name: tensor.double() for name, tensor in inputs.items()})
    x, delta, A, B, C = inputs.values()
    x[0, 5] = 0.0
    x.requires_grad_()
    write = (delta * x)[..., None] * B[:, :, None]
    clock = (delta[..., None] * A).cumsum(1)
    signs = (write.clamp(min=0), (-write).clamp(min=0))
    plus, minus = ((clock + torch.logcumsumexp(v.log() - clock, 1)).exp() for v in signs)
    y = ((plus - minus) * C[:, :, None]).sum(-1)
    error = (y[1] - right[1]).abs().max() / right[1].abs().max()
    assert 30 * 3e-6 < error < 1e-2
    y.sum().backward()
    assert x.grad[0, 5].isnan().all()


def test_dividing_by_a_guarded_clock_is_wrong_without_a_sign():
    """S1, mamba-minimal#18: finite, and off by more than a quarter; the bound above would see."""
    inputs = make_long_inputs(0.1, 64)
    x, delta, A, B, C = inputs.values()
    kept = torch.exp((delta[..., None] * A).cumsum(1))
    write = (delta * x)[..., None] * B[:, :, None]
    y = ((write / (kept + 1e-12)).cumsum(1) * kept * C[:, :, None]).sum(-1)
    right, _ = scan_by("loop", **{name: tensor.double() for name, tensor in inputs.items()})
    assert y.isfinite().all()
    assert (y - right).abs().max() > 0.25 * right.abs().max()


@every_way
@pytest.mark.parametrize("jump", [0, 5, CHUNK - 1, CHUNK, 2 * CHUNK + 1])
def test_a_huge_step_leaves_every_other_decay_exact(way, jump):
    """S3, vllm#37501, state-spaces/mamba#713: of each decay, but one rounding a token is lost."""
    length = 3 * CHUNK
    inputs = make_long_inputs(0.01, length, d_state=1)
    inputs["delta"][:, jump] = 1e5
    inputs["A"] = -torch.tensor([[1.0], [0.3], [2.0]])
    inputs["B"], inputs["C"] = torch.ones(2, length, 1), torch.ones(2, length, 1)
    for impulse in {0, jump, min(jump + 1, length - 1)}:
        inputs["x"] = torch.zeros(2, length, 3)
        inputs["x"][:, impulse] = 1.0
        y, _ = scan_by(way, **inputs)
        right, _ = scan_by("loop", **{name: tensor.double() for name, tensor in inputs.items()})
        assert y.isfinite().all()
        assert_close(y.double(), right, rtol=length * 2**-24, atol=1e-37)
    single = {name: v.double() for name, v in inputs.items()}
    grads = differentiate(way, inputs)
    for name, right in differentiate("loop", single).items():
        assert_close(grads[name].double(), right, rtol=1e-5, atol=1e-6 * right.abs().max().item())


@every_way
def test_gradients_in_single_precision_stay_near_double(way):
    inputs = {name: v.float() for name, v in make_inputs(1000).items()}
    right = differentiate("loop", {name: v.double() for name, v in inputs.items()})
    for name, grad in differentiate(way, inputs).items():
        assert (grad - right[name]).abs().max() <= 3e-6 * right[name].abs().max()


@every_way
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_forgets_as_it_should(way, dtype):
    """S4, state-spaces/mamba#6, #352: exp(-0.001) is exactly 1 in bfloat16, and never decays."""
    length = 1000
    inputs = {
        "x": torch.zeros(2, length, 3, dtype=dtype),
        "delta": torch.full((2, length, 3), 0.001, dtype=dtype),
        "A": -torch.ones(3, 1, dtype=dtype),
        "B": torch.ones(2, length, 1, dtype=dtype),
        "C": torch.ones(2, length, 1, dtype=dtype),
        "state": torch.ones(2, 3, 1, dtype=dtype),
    }
    assert torch.exp(torch.tensor(-0.001, dtype=torch.bfloat16)) == 1
    y, last = scan_by(way, **inputs)
    elapsed = inputs["delta"][0, 0, 0].double() * torch.arange(1, length + 1)
    right = torch.exp(-elapsed)[:, None].expand(2, length, 3)
    assert y.dtype == dtype
    assert last.dtype == torch.float32
    assert_close(y.double(), right, rtol=torch.finfo(dtype).eps, atol=0)
    assert_close(last[..., 0].double(), right[:, -1], rtol=length * 2**-24, atol=0)


@every_way
def test_half_precision_may_mix_with_single(way):
    """As a block does whose rates stay in float32: all that is lost is what the inputs had lost."""
    inputs = {name: v.float() for name, v in make_inputs(50).items()}
    for name in ("x", "B", "gate"):
        inputs[name] = inputs[name].bfloat16()
    y, _ = scan_by(way, **inputs)
    right, _ = scan_by("loop", **{name: v.double() for name, v in inputs.items()})
    assert y.dtype == torch.bfloat16
    assert_close(y.double(), right, rtol=2**-8, atol=1e-5)


@every_way
def test_autocast_does_not_touch_the_state(way):
    """S4, state-spaces/mamba#6, #352: what autocast would put in bfloat16 is state maths."""
    inputs = {name: v.float() for name, v in make_inputs(50).items()}
    del inputs["gate"]  # silu and what follows are the caller's to cast
    y, last = scan_by(way, **inputs)
    grads = differentiate(way, inputs)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y_cast, last_cast = scan_by(way, **inputs)
        grads_cast = differentiate(way, inputs)
    assert_close((y_cast, last_cast, grads_cast), (y, last, grads), rtol=0, atol=0)


def test_accumulated_decays_are_exact_where_clocks_are_not():
    """S3, vllm#37501, state-spaces/mamba#713: differences of clocks lose digits."""
    delta = torch.full((1, 200, 1), 0.01)
    delta[:, 100] = 1e5
    exact = torch.exp(-0.01 * torch.arange(1, 100).double())
    keep, _ = accumulate_steps(torch.exp(-delta[:, 101:]), torch.zeros(1, 99, 1))
    assert_close(keep[0, :, 0].double(), exact, rtol=100 * 2**-24, atol=0)
    clock = delta.cumsum(1)
    by_difference = torch.exp(-(clock[0, 101:, 0] - clock[0, 100, 0])).double()
    assert (by_difference / exact - 1).abs().max() > 1e-3


def test_double_precision_stays_double():
    inputs = make_inputs()
    y, last = selective_scan(**inputs, return_state=True)
    assert y.dtype == last.dtype == torch.float64
