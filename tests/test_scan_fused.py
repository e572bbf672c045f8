"""What only the fused scan does: powers of two, threads, memory laid anyhow, life without numba."""

import builtins
import sys

import numpy as np
import pytest
import torch
from hypothesis import given
from scan_inputs import CHUNK, differentiate, draw_inputs, make_inputs, scan_by
from torch.autograd import gradgradcheck
from torch.testing import assert_close

from mamba_edu.scan import _compiled, explain, fused, selective_scan

numba = pytest.importorskip("numba")
inf, nan = float("inf"), float("nan")


@pytest.fixture(scope="module")
def compute_power():
    """A compiled loop around the kernels' 2^z."""
    power_2 = sys.modules[_compiled.load_kernels()[0].power_2.__module__].power_2

    @numba.njit
    def compute(z):
        y = np.empty_like(z)
        for i in range(len(z)):
            y[i] = power_2(z[i])
        return y

    return compute


@pytest.mark.parametrize(("dtype", "most"), [("float32", 1e-7), ("float64", 2.5e-16)])
def test_powers_of_two_are_right_to_the_last_digits(compute_power, dtype, most):
    z = -np.random.default_rng(0).random(100_000).astype(dtype) * 120
    z[:5_000] /= 1e6
    right = np.exp2(z.astype(np.longdouble))
    assert np.abs(compute_power(z) / right - 1).max() <= most
    odd = np.array([0.0, -0.0, -2000.0, -1e30, -inf, nan, 1.0, -1.0], dtype)
    assert np.array_equal(compute_power(odd), [1, 1, 0, 0, 0, nan, 2, 0.5], equal_nan=True)


@given(draw_inputs())
def test_fused_equals_the_loop_for_any_sizes_steps_and_rates(inputs):
    """S7 and its kind, state-spaces/mamba#368: value, state and every gradient."""
    assert_close(scan_by("fused", **inputs), scan_by("loop", **inputs), rtol=1e-10, atol=1e-12)
    grads, right = differentiate("fused", inputs), differentiate("loop", inputs)
    for name, grad in grads.items():
        largest = right[name].abs().max().item() if right[name].numel() else 1.0
        assert_close(grad, right[name], rtol=0, atol=1e-12 * max(largest, 1.0), msg=name)


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(n_threads, monkeypatch):
    monkeypatch.setattr(_compiled, "SMALL", 0)
    monkeypatch.setattr(torch, "get_num_threads", lambda: n_threads)
    wide = {name: torch.cat([v] * 30, -1) for name, v in make_inputs(CHUNK + 3).items()}
    for name, once in make_inputs(CHUNK + 3).items():
        wide[name] = once if name in ("B", "C") else wide[name]
    wide["A"], wide["state"] = (torch.cat([make_inputs()[k]] * 30, -2) for k in ("A", "state"))
    assert_close(scan_by("fused", **wide), scan_by("loop", **wide), rtol=1e-12, atol=1e-12)
    right = differentiate("loop", wide)
    assert_close(differentiate("fused", wide), right, rtol=1e-10, atol=1e-10)


def test_a_thread_that_fails_is_heard(monkeypatch):
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)

    def fail_on_the_second(first, last):
        if first:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        _compiled.share_items(fail_on_the_second, (), n_items=2, n_steps=_compiled.SMALL + 1)


def test_tensors_may_lie_in_memory_anyhow():
    """Views of a wider projection, channels apart, rows repeated: nothing is read beside them."""
    inputs = make_inputs(9)
    right = scan_by("loop", **inputs)
    joined = torch.cat([inputs["B"], inputs["C"], inputs["gate"]], dim=-1)
    inputs["B"], inputs["C"], inputs["gate"] = joined.split([4, 4, 3], dim=-1)
    inputs["x"] = inputs["x"].mT.contiguous().mT
    inputs["A"], inputs["state"] = (
        inputs["A"].mT.contiguous().mT,
        inputs["state"].mT.contiguous().mT,
    )
    assert_close(scan_by("fused", **inputs), right, rtol=1e-12, atol=1e-12)
    inputs["x"] = inputs["x"][:1].expand(2, -1, -1)
    inputs["gate"] = inputs["gate"][:, :1].expand(-1, 9, -1)
    assert_close(scan_by("fused", **inputs), scan_by("loop", **inputs), rtol=1e-12, atol=1e-12)


def test_no_input_is_written_to():
    inputs = make_inputs(CHUNK + 1)
    inputs["state"] = inputs["state"].mT.contiguous().mT  # as the kernels want it
    before = {name: v.clone() for name, v in inputs.items()}
    scan_by("fused", **inputs)
    y, _ = scan_by("fused", **{name: v.requires_grad_() for name, v in inputs.items()})
    y.sum().backward()
    assert_close(inputs, before, rtol=0, atol=0)


def test_sums_over_a_long_sequence_keep_their_digits():
    """Gradients to the rates and to skip, of 20,000 numbers each in single precision."""
    inputs = {name: v.float() for name, v in make_inputs(20_000).items()}
    right = differentiate("chunked", {name: v.double() for name, v in inputs.items()})
    grads = differentiate("fused", inputs)
    for name in ("A", "skip"):
        assert (grads[name] - right[name]).abs().max() <= 1e-6 * right[name].abs().max()


def test_fused_keeps_one_state_a_chunk_and_none_without_gradients(monkeypatch):
    kept = []
    walk = fused._walk
    monkeypatch.setattr(fused, "_walk", lambda *v, **k: kept.append(walk(*v, **k)) or kept[-1])
    inputs = {name: v.requires_grad_() for name, v in make_inputs(5 * CHUNK).items()}
    scan_by("fused", **inputs)
    with torch.no_grad():
        scan_by("fused", **inputs)
    assert [starts.shape[1] for *_, starts in kept] == [5, 0]


def test_a_gradient_that_is_differentiated_again_is_right():
    """The kernels cannot be; the parallel scan does it for them, and explain() says so."""
    inputs = make_inputs(3, batch=1)
    del inputs["skip"]

    def scan(*tensors):
        return scan_by("fused", **dict(zip(inputs, tensors, strict=True)))

    assert gradgradcheck(scan, [v.requires_grad_() for v in inputs.values()], fast_mode=True)
    assert explain().endswith("differentiated again, so the parallel scan computed its gradient")


def test_without_numba_the_chunked_scan_runs_and_says_why(monkeypatch):
    import_freely = builtins.__import__

    def refuse_numba(name, *rest, **named):
        if name.partition(".")[0] == "numba":
            raise ImportError(name)
        return import_freely(name, *rest, **named)

    right = selective_scan(**make_inputs(), method="chunked")
    _compiled.load_kernels.cache_clear()
    monkeypatch.setattr(builtins, "__import__", refuse_numba)
    for method in ("auto", "fused"):
        assert_close(selective_scan(**make_inputs(), method=method), right, rtol=0, atol=0)
        assert explain().startswith("chunked ran: it is the fastest that needs nothing but torch")
        assert explain().endswith("numba, which the fused one needs, cannot be imported")
    selective_scan(**make_inputs(1))
    assert explain().startswith("loop ran: one token")


def test_what_is_not_on_a_cpu_goes_to_the_chunked_scan():
    away = torch.empty(2, 7, 3, device="meta")
    assert fused.find_hindrance(away) == "the fused one needs a CPU, not meta"
