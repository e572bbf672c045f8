"""Mamba-2's scan by matrix products against the general one, in value, gradient and state."""

import pytest
import torch
from scan_inputs import scan_as_channels
from torch.testing import assert_close

from mamba_edu.scan import scan_ssd
from mamba_edu.scan.ssd import sum_between

BATCH, N_HEADS, D_HEAD, D_STATE = 2, 3, 5, 4  # all different: a swapped axis cannot hide
NAMES = ("x", "delta", "A", "B", "C", "state")


def make_heads(length, dtype=torch.float64):
    rng = torch.Generator().manual_seed(length)

    def randn(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64).to(dtype)

    return {
        "x": randn(BATCH, length, N_HEADS, D_HEAD),
        "delta": randn(BATCH, length, N_HEADS).abs() / 5,
        "A": -randn(N_HEADS).abs(),
        "B": randn(BATCH, length, D_STATE),
        "C": randn(BATCH, length, D_STATE),
        "state": randn(BATCH, N_HEADS, D_HEAD, D_STATE),
    }


@pytest.mark.parametrize("chunk", [1, 4, 64])
@pytest.mark.parametrize("length", [1, 2, 3, 4, 5, 21])
def test_it_equals_the_general_scan(length, chunk):
    """S7, state-spaces/mamba#368: lengths that do not fill a chunk, or just do."""
    heads = make_heads(length)
    assert_close(scan_ssd(**heads, chunk=chunk), scan_as_channels(**heads), rtol=0, atol=1e-12)


@pytest.mark.parametrize("delta", [0.01, 0.1, 0.7, 1.0])
@pytest.mark.parametrize("length", [16, 256, 1024])
def test_single_precision_stays_near_double(length, delta):
    """S1, mamba-minimal#18, pytorch#95408: at most 3e-6 of the largest output in every cell."""
    heads = make_heads(length, torch.float32) | {"A": -torch.tensor([1.0, 4.0, 16.0])}
    heads["delta"] = torch.full_like(heads["delta"], delta)
    right, _ = scan_ssd(**{name: v.double() for name, v in heads.items()})
    assert (scan_ssd(**heads)[0] - right).abs().max() <= 3e-6 * right.abs().max()


@pytest.mark.parametrize("chunk", [4, 64])
def test_its_gradients_are_those_of_the_general_scan(chunk):
    grads = []
    for scan in (lambda **heads: scan_ssd(**heads, chunk=chunk), scan_as_channels):
        heads = {name: v.requires_grad_() for name, v in make_heads(11).items()}
        y, last = scan(**heads)
        loss = (y * y.detach().cos()).sum() + last.square().sum()
        grads.append(torch.autograd.grad(loss, [heads[name] for name in NAMES]))
    assert_close(*grads, rtol=1e-10, atol=1e-11)


def test_a_stream_is_a_scan_cut_in_pieces():
    """S9, state-spaces/mamba#233, #441, #641, mamba.py#38."""
    heads = make_heads(10)
    whole = scan_ssd(**heads, chunk=4)
    for cut in (0, 1, 9, 10):
        tokens = {k: heads[k] for k in ("x", "delta", "B", "C")}
        first, rest = (
            {k: v[:, p] for k, v in tokens.items()} for p in (slice(cut), slice(cut, None))
        )
        y, state = scan_ssd(**first, A=heads["A"], state=heads["state"], chunk=4)
        y_rest, last = scan_ssd(**rest, A=heads["A"], state=state, chunk=4)
        assert_close((torch.cat([y, y_rest], 1), last), whole, rtol=0, atol=1e-12)


def test_without_a_state_it_begins_empty():
    heads = make_heads(7)
    del heads["state"]
    empty = torch.zeros(BATCH, N_HEADS, D_HEAD, D_STATE).double()
    assert_close(scan_ssd(**heads), scan_ssd(**heads, state=empty), rtol=0, atol=0)


@pytest.mark.parametrize(("batch", "length"), [(BATCH, 0), (0, 7), (0, 0)])
def test_nothing_gives_nothing_and_the_state_it_had(batch, length):
    """S5, mamba.py#26."""
    heads = {k: v if k == "A" else v[:batch] for k, v in make_heads(length).items()}
    y, state = scan_ssd(**heads)
    assert y.shape == (batch, length, N_HEADS, D_HEAD)
    if not length:
        assert torch.equal(state, heads["state"])


@pytest.mark.parametrize("jump", [0, 40, 90])
def test_a_huge_step_leaves_every_other_decay_exact(jump):
    """S3, vllm#37501, state-spaces/mamba#713: sums of steps, not differences of clocks."""
    heads = make_heads(100, torch.float32)
    heads["delta"][:, jump] = 1e5
    right = scan_as_channels(**{k: v.double() for k, v in heads.items()})
    got = scan_ssd(**heads, chunk=64)
    for ours, theirs in zip(got, right, strict=True):
        assert ours.isfinite().all()
        assert (ours - theirs).abs().max() <= 3e-6 * theirs.abs().max()


def test_sums_between_are_those_of_the_tokens_between():
    z = torch.tensor([1.0, 2.0, 4.0])
    inf = torch.inf
    right = torch.tensor([[0.0, -inf, -inf], [2.0, 0.0, -inf], [6.0, 4.0, 0.0]])
    assert torch.equal(sum_between(z), right)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_comes_back_while_the_state_stays_single(dtype):
    """S4, state-spaces/mamba#6, #352."""
    heads = make_heads(50, dtype)
    y, last = scan_ssd(**heads)
    right, _ = scan_ssd(**{k: v.double() for k, v in heads.items()})
    assert (y.dtype, last.dtype) == (dtype, torch.float32)
    assert_close(y.double(), right, rtol=torch.finfo(dtype).eps, atol=1e-3)


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"A": torch.ones(N_HEADS).double()}, ValueError, "A must have real parts of at most 0"),
        ({"delta": -torch.ones(BATCH, 5, N_HEADS).double()}, ValueError, "delta must be at least"),
        ({"A": torch.zeros(2).double()}, ValueError, "A must have n_heads = 3 as x has"),
        ({"x": torch.ones(BATCH, 5, N_HEADS).double()}, ValueError, "x must have the axes"),
        ({"B": torch.ones(BATCH, 5, D_STATE).int()}, TypeError, "B must be"),
        ({"C": torch.ones(BATCH, 5, D_STATE)}, TypeError, "all must be single precision or all"),
        ({"state": torch.ones(1, 1, 1, 1).double()}, ValueError, "state must have batch = 2"),
        ({"chunk": 0}, ValueError, "chunk must be at least 1; it is 0"),
        ({"chunk": 2.0}, TypeError, "chunk must be an int; it is 2.0"),
    ],
)
def test_what_makes_up_no_scan_is_refused(change, error, words, as_reader):
    """S5, mamba.py#26."""
    with pytest.raises(error, match=words):
        scan_ssd(**make_heads(5) | change)
