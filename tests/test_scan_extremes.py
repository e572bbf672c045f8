"""The smallest and the largest steps and rates, for every way to scan, and for heads."""

from functools import partial

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scan_inputs import (
    CHUNK,
    WAYS,
    draw_inputs,
    every_way,
    make_heads,
    make_inputs,
    scan_as_channels,
    scan_by,
)
from torch.nn.functional import silu
from torch.testing import assert_close

from mamba_edu.scan import scan_ssd

NUDGE = 1e-5  # of itself: no step runs backwards and no rate becomes positive
TINY = 1e-200  # what is below is rounded to 0 by one way and not by another
few = settings(max_examples=12)
every_other_way = pytest.mark.parametrize("way", [way for way in WAYS if way != "loop"])
every_corner = pytest.mark.parametrize(
    ("step", "rate"), [(1e-6, 1e-8), (1e-6, 1e4), (1e3, 1e-8), (1e3, 1e4)]
)


def make_extreme(step, rate, length):
    """Make inputs of one row, with steps and rates around the given ones."""
    inputs = make_inputs(length, batch=1)
    return inputs | {"delta": 10 * step * inputs["delta"], "A": rate / 3 * inputs["A"]}


def scan_by_sums(x, delta, A, B, C, skip, gate, state):
    """Each token's share in each answer, its decay from the sum of the steps between.

    No recurrence; and no difference of two clocks, whose last digits a huge step takes away.
    """
    order = torch.arange(x.shape[1])
    is_past = order <= order[:, None]  # (t, s)
    is_between = is_past[:, None] & (order > order[:, None])  # (t, s, r): s < r <= t
    elapsed = torch.einsum("tsr,brd->btsd", is_between.double(), delta)
    kept = torch.exp(elapsed[..., None] * A) * is_past[..., None, None]
    y = torch.einsum("btn,btsdn,bsn,bsd->btd", C, kept, B, delta * x)
    since = torch.exp(delta.cumsum(1)[..., None] * A)
    y = y + torch.einsum("btn,btdn,bdn->btd", C, since, state)
    return (y + skip * x) * silu(gate)


def weigh(results):
    """Add up output and state with random weights: one number to differentiate."""
    rng = torch.Generator().manual_seed(1)
    return sum((torch.randn(v.shape, generator=rng).double() * v).sum() for v in results)


def find_gradients(scan, inputs):
    leaves = {name: v.clone().requires_grad_() for name, v in inputs.items()}
    grads = torch.autograd.grad(
        weigh(scan(**leaves)), list(leaves.values()), materialize_grads=True
    )
    return dict(zip(leaves, grads, strict=True))


def check_against(right_scan, scan, inputs):
    """Compare output, state and gradients, each by its own largest number."""
    results = (*scan(**inputs), *find_gradients(scan, inputs).values())
    right = (*right_scan(**inputs), *find_gradients(right_scan, inputs).values())
    for ours, theirs in zip(results, right, strict=True):
        largest = theirs.abs().max().item() if theirs.numel() else 0.0
        assert_close(ours, theirs, rtol=0, atol=1e-10 * largest + TINY)


def check_slopes(scan, inputs):
    """Compare each gradient with a central difference in a random direction."""
    rng = torch.Generator().manual_seed(2)
    size = sum(v.abs().sum().item() for v in scan(**inputs))
    for name, grad in find_gradients(scan, inputs).items():
        nudge = NUDGE * inputs[name] * torch.randn(grad.shape, generator=rng).double()
        ends = [weigh(scan(**inputs | {name: inputs[name] + k * nudge})) for k in (1, -1)]
        terms = (grad * nudge).abs().sum().item()
        atol = 1e-7 * terms + 1e-14 * size
        assert_close((ends[0] - ends[1]) / 2, (grad * nudge).sum(), rtol=0, atol=atol, msg=name)


@every_way
@every_corner
@pytest.mark.parametrize("length", [0, 1, CHUNK + 1])
def test_the_smallest_and_largest_steps_and_rates_are_right(way, step, rate, length):
    """S3, S7 and their kind, vllm#37501, state-spaces/mamba#713, #368: against sums of steps."""
    inputs = make_extreme(step, rate, length)
    y, right = scan_by(way, **inputs)[0], scan_by_sums(**inputs)
    largest = right.abs().max().item() if length else 0.0
    assert_close(y, right, rtol=1e-12, atol=1e-13 * largest)


@every_way
@every_corner
@pytest.mark.parametrize("length", [1, 6])
def test_their_gradients_equal_finite_differences(way, step, rate, length):
    """S3's kind, vllm#37501, state-spaces/mamba#713."""
    check_slopes(partial(scan_by, way), make_extreme(step, rate, length))


@every_other_way
@few
@given(draw_inputs())
def test_every_way_equals_the_loop_for_any_sizes_steps_and_rates(way, inputs):
    """S3, S7 and their kind, vllm#37501, state-spaces/mamba#368: value, state, every gradient."""
    check_against(partial(scan_by, "loop"), partial(scan_by, way), inputs)


@few
@given(draw_inputs(), st.sampled_from([1, 5, 32, 64]))
def test_heads_equal_the_loop_for_any_sizes_steps_and_rates(inputs, chunk):
    """S3, S7 and their kind, vllm#37501, state-spaces/mamba#368: value, state, every gradient."""
    check_against(scan_as_channels, partial(scan_ssd, chunk=chunk), make_heads(**inputs))


@every_corner
@pytest.mark.parametrize("length", [1, 6])
def test_gradients_of_heads_equal_finite_differences(step, rate, length):
    """S3's kind, vllm#37501, state-spaces/mamba#713."""
    check_slopes(partial(scan_ssd, chunk=4), make_heads(**make_extreme(step, rate, length)))


@pytest.mark.parametrize("name", ["x", "delta", "B", "C", "state"])
def test_a_bad_value_reaches_no_earlier_chunk_and_no_other_row_or_head(name):
    """S5, mamba.py#26: a product with 0 keeps NaN, so it may reach back inside its chunk."""
    heads = make_heads(**make_inputs(11))
    whole, end = scan_ssd(**heads, chunk=4)
    place = {"x": (1, 6, 2, 0), "delta": (1, 6, 2), "state": (1, 2, 0, 1)}.get(name, (1, 6, 1))
    heads[name][place] = float("nan")
    y, last = scan_ssd(**heads, chunk=4)
    row = {"x": (slice(4, None), 2, 0), "delta": (slice(4, None), 2), "B": slice(4, None)}
    row |= {"C": 6, "state": (slice(None), 2, 0)}
    must = {"x": (slice(6, None), 2, 0), "delta": (slice(6, None), 2), "B": slice(6, None)}
    may, sure = torch.zeros(y[1].shape, dtype=bool), torch.zeros(y[1].shape, dtype=bool)
    may[row[name]] = sure[must.get(name, row[name])] = True
    assert y[1][sure].isnan().all()
    assert_close(y[1][~may], whole[1][~may], rtol=0, atol=0)
    assert_close((y[0], last[0]), (whole[0], end[0]), rtol=0, atol=0)
    assert last[1].isnan().any() == (name != "C")
