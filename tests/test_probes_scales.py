"""A sequence at several scales of its steps is so many scans; a window is a part of the whole."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scan_inputs import D_INNER, D_STATE, LENGTH, make_inputs
from torch.testing import assert_close

from mamba_edu.probes import SCALES, scales, trace_scales
from mamba_edu.scan import selective_scan

NAMES = ("x", "delta", "A", "B", "C", "skip")


def make_one():
    """Make the arguments of one sequence, without the axis of sequences."""
    inputs = make_inputs()
    return {k: inputs[k] if k in ("A", "skip") else inputs[k][0] for k in NAMES}


@given(first=st.integers(0, LENGTH), size=st.integers(0, LENGTH))
def test_a_window_is_entered_with_the_true_state(first, size):
    inputs = make_one()
    whole = trace_scales(**inputs)
    end = min(LENGTH, first + size)
    part = trace_scales(**inputs, window=(first, end))
    assert_close(part.states, whole.states[:, first:end], rtol=1e-13, atol=1e-13)
    assert_close(part.outputs, whole.outputs[:, first:end], rtol=1e-13, atol=1e-13)


def test_each_scale_is_the_scan_of_scaled_steps():
    inputs = make_one()
    traced = trace_scales(**inputs)
    assert traced.states.shape == (len(SCALES), LENGTH, D_INNER, D_STATE)
    for number, scale in enumerate(SCALES):
        one = {k: v if k in ("A", "skip") else v[None] for k, v in inputs.items()}
        one["delta"] = scale * one["delta"]
        y, last = selective_scan(**one, method="loop", return_state=True)
        assert_close(traced.outputs[number], y[0], rtol=1e-12, atol=1e-12)
        assert_close(traced.states[number, -1], last[0], rtol=1e-12, atol=1e-12)


def test_a_window_far_behind_many_pieces_is_entered_rightly(monkeypatch):
    inputs = make_one()
    whole = trace_scales(**inputs)
    monkeypatch.setattr(scales, "WIDTH", 1)  # a piece a token
    part = trace_scales(**inputs, window=(5, 7))
    assert_close(part.states, whole.states[:, 5:], rtol=0, atol=0)


def test_tracing_leaves_the_number_of_threads_alone():
    before = torch.get_num_threads()
    trace_scales(**make_one())
    with pytest.raises(ValueError, match="delta must be at least 0"):
        trace_scales(**make_one() | {"delta": -make_one()["delta"]})
    assert torch.get_num_threads() == before


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"scales": (1.0, 0.0)}, r"scales\[1\] must be a finite number above 0; it is 0.0"),
        ({"scales": ("1",)}, r"scales\[0\] must be a number"),
        ({"window": (-1, 3)}, r"window\[0\] must be at least 0; it is -1"),
        ({"window": (4, 3)}, r"window\[1\] must be at least 4; it is 3"),
        ({"window": (0, 8)}, "window must end at 7 tokens or before; it ends at 8"),
        ({"skip": torch.ones(4, dtype=torch.float64)}, "skip must have d_inner = 3 as x has"),
        ({"C": make_one()["C"][1:]}, "C must have length = 7 as x has"),
    ],
)
def test_scales_refuse_what_does_not_fit(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        trace_scales(**make_one() | changed)
