"""The fused scan's kernels as plain Python, so that a break in them need not be compiled."""

import sys

import numpy as np
import pytest
from scan_inputs import differentiate, make_inputs, scan_by
from torch.testing import assert_close

from mamba_edu.scan import _compiled, fused

numba = pytest.importorskip("numba")


@pytest.fixture
def as_plain_python(monkeypatch):
    """Load the kernels anew, without compiling them, in chunks of 5 tokens and blocks of 2.

    Fresh memory holds NaN, so that what is read before it is written is seen.
    """
    monkeypatch.setattr(numba.config, "DISABLE_JIT", True)
    for name in [name for name in sys.modules if name.startswith("mamba_edu_")]:
        monkeypatch.delitem(sys.modules, name)
    kernels = _compiled.load_kernels.__wrapped__()
    monkeypatch.setattr(fused, "load_kernels", lambda: kernels)
    monkeypatch.setattr(np, "empty", lambda shape, dtype: np.full(shape, np.nan, dtype))
    monkeypatch.setattr(fused, "CHUNK", 5)
    monkeypatch.setattr(fused, "LANES", 2)
    monkeypatch.setattr(fused, "WIDTH", 2)
    yield
    for name in [name for name in sys.modules if name.startswith("mamba_edu_")]:
        del sys.modules[name]


@pytest.mark.parametrize("length", [1, 3, 8])
def test_plain_kernels_equal_the_loop(length, as_plain_python):
    inputs = make_inputs(length)
    assert_close(scan_by("fused", **inputs), scan_by("loop", **inputs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("length", [1, 3, 8])
def test_plain_kernels_differentiate_as_the_loop_does(length, as_plain_python):
    inputs = make_inputs(length)
    right = differentiate("loop", inputs)
    assert_close(differentiate("fused", inputs), right, rtol=1e-11, atol=1e-11)


def test_plain_kernels_differentiate_what_has_neither_skip_nor_gate(as_plain_python):
    inputs = {name: v for name, v in make_inputs(5).items() if name not in ("skip", "gate")}
    right = differentiate("loop", inputs)
    assert_close(differentiate("fused", inputs), right, rtol=1e-11, atol=1e-11)
