"""The traced state is the scan's own; what survives, and who remembers, by oracle and by hand."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scan_inputs import BATCH, D_INNER, D_STATE, LENGTH, make_inputs
from torch.testing import assert_close

from mamba_edu.discretize import discretize_mamba, discretize_zoh
from mamba_edu.linear import trace_states
from mamba_edu.probes import (
    measure_survival,
    rank_channels,
    rank_openings,
    rank_states,
    trace_scan,
)
from mamba_edu.scan import selective_scan

NAMES = ("x", "delta", "A", "B", "C")
DELTA = torch.tensor([[[0.5, 0.0], [1.0, 2.0], [0.25, 0.0]]], dtype=torch.float64)
RATES = torch.tensor([[-1.0, -2.0], [-0.5, 0.0]], dtype=torch.float64)
nan = float("nan")


def make_scan(*more, length=LENGTH):
    inputs = make_inputs(length)
    return {name: inputs[name] for name in (*NAMES, *more)}


@given(length=st.integers(1, 9), cut=st.integers(0, 9))
def test_the_trace_is_the_state_that_the_scan_carries(length, cut):
    inputs = make_scan("state", length=length)
    h = trace_scan(**inputs)
    assert h.shape == (BATCH, length, D_INNER, D_STATE)
    cut = min(cut, length - 1)
    part = {k: v[:, : cut + 1] if k in ("x", "delta", "B", "C") else v for k, v in inputs.items()}
    _, last = selective_scan(**part, method="loop", return_state=True)
    assert_close(h[:, cut], last, rtol=1e-13, atol=1e-13)


def test_the_trace_is_read_as_the_scan_reads_it():
    inputs = make_scan()
    y = (trace_scan(**inputs) * inputs["C"][:, :, None]).sum(-1)
    assert_close(y, selective_scan(**inputs, method="parallel"), rtol=1e-12, atol=1e-12)


def test_a_trace_may_be_cut_anywhere():
    inputs = make_scan("state")
    whole = trace_scan(**inputs)
    first, rest = ({**inputs} for _ in range(2))
    for name in ("x", "delta", "B", "C"):
        first[name], rest[name] = inputs[name][:, :3], inputs[name][:, 3:]
    rest["state"] = trace_scan(**first)[:, -1]
    assert_close(trace_scan(**rest), whole[:, 3:], rtol=0, atol=0)


def test_an_empty_trace_has_no_states():
    assert trace_scan(**make_scan(length=0)).shape == (BATCH, 0, D_INNER, D_STATE)


def test_another_rule_is_stepped_by_that_rule():
    """A steady clock: then the linear system's own trace is an oracle, complex or not."""
    inputs = make_scan()
    steady = torch.full_like(inputs["delta"], 0.3)
    B = inputs["B"][:1, :1].expand_as(inputs["B"])
    for rates in (inputs["A"], torch.complex(inputs["A"], 1 - inputs["A"])):
        A_bar, B_bar = discretize_zoh(steady[0, 0, :, None], rates, B[0, 0])
        h = trace_scan(inputs["x"], steady, rates, B, rule=discretize_zoh)
        assert_close(h, trace_states(inputs["x"], A_bar, B_bar), rtol=1e-13, atol=1e-13)


def test_mambas_rule_is_the_one_that_is_built_in():
    inputs = make_scan()
    assert_close(trace_scan(**inputs, rule=discretize_mamba), trace_scan(**inputs))


@pytest.mark.parametrize("name", ["x", "delta", "B"])
def test_a_bad_number_stays_visible_from_its_token_on(name):
    inputs = make_scan()
    inputs[name] = inputs[name].clone()
    inputs[name][0, 3] = nan
    h = trace_scan(**inputs)
    assert h[0, :3].isfinite().all()
    assert h[0, 3:].isnan().all()
    assert h[1].isfinite().all()


def test_survival_by_hand():
    left = measure_survival(DELTA, RATES, s=0)
    assert left.shape == (1, 3, 2, 2)
    e = torch.exp(torch.tensor([-1.0, -1.25, -2.0, -2.5], dtype=torch.float64))
    assert_close(left[0, :, 0, 0], torch.stack([e.new_ones(()), e[0], e[1]]))
    assert_close(left[0, :, 0, 1], torch.stack([e.new_ones(()), e[2], e[3]]))
    assert_close(left[0, :, 1, 0], torch.stack([e.new_ones(()), e[0], e[0]]))
    assert left[0, :, 1, 1].tolist() == [1, 1, 1]  # a rate of 0 never forgets
    assert measure_survival(DELTA, RATES, s=2)[0, :, 0, 0].tolist() == [0, 0, 1]


@pytest.mark.parametrize("s", [0, 2, LENGTH - 1])
def test_survival_is_what_the_scan_keeps_of_one_token(s):
    """Oracle: a scan that is fed at token s alone, divided by what it was fed."""
    inputs = make_scan()
    inputs["x"] = torch.zeros_like(inputs["x"])
    inputs["x"][:, s] = 1.0
    inputs["delta"] = inputs["delta"] + 0.01
    h = trace_scan(**inputs)
    left = measure_survival(inputs["delta"], inputs["A"], s)
    assert_close(left * h[:, s : s + 1], h, rtol=1e-12, atol=1e-15)


def test_survival_keeps_its_digits_late_in_a_long_sequence():
    """The clock stands at 1e12 by then; a difference of clocks would lose most digits."""
    delta = torch.full((1, 3, 1), 1e12, dtype=torch.float64)
    delta[0, 2] = 0.1
    left = measure_survival(delta, torch.full((1, 1), -1.0, dtype=torch.float64), s=1)
    assert_close(left[0, 2, 0, 0], torch.exp(torch.tensor(-0.1, dtype=torch.float64)))


def test_channels_rank_by_what_their_slowest_state_keeps():
    # the clocks end at 1.75 and 2, the slowest rates are -1 and 0: left are exp(-1.75) and 1
    assert rank_channels(DELTA, RATES, 2).tolist() == [1, 0]
    assert rank_channels(DELTA, RATES, 1).tolist() == [1]
    alike = torch.tensor([[-1.0, -9.0], [-1.0, -1.0]], dtype=torch.float64)
    assert rank_channels(DELTA, alike, 9).tolist() == [0, 1]  # the shorter clock keeps more
    same = torch.ones(2, 4, 3, dtype=torch.float64)
    assert rank_channels(same, -torch.ones(3, 2, dtype=torch.float64), 3).tolist() == [0, 1, 2]


def test_channels_rank_though_all_is_forgotten():
    """After 1e5 tokens every survival is 0 to the last bit; the order still tells."""
    delta = torch.full((1, 3, 2), 1e5, dtype=torch.float64)
    rates = torch.tensor([[-3.0], [-2.0]], dtype=torch.float64)
    assert rank_channels(delta, rates, 2).tolist() == [1, 0]


def test_a_channel_whose_clock_is_broken_ranks_last():
    delta = DELTA.clone()
    delta[0, 1, 1] = nan
    assert rank_channels(delta, RATES, 2).tolist() == [0, 1]
    delta[0, 1, 1] = torch.inf  # times a rate of 0
    assert rank_channels(delta, RATES, 2).tolist() == [0, 1]


def test_channels_rank_by_how_wide_they_open():
    assert rank_openings(DELTA, 1).tolist() == [1, 0]
    assert rank_openings(DELTA, 0).tolist() == [0, 1]
    wide = torch.stack([DELTA[..., 0] * 0 + 5, DELTA[..., 1]], dim=-1)
    assert rank_openings(wide, 1).tolist() == [1, 0]  # 5 as ever against 2 of otherwise 0
    never = torch.stack([DELTA[..., 0] * 0, DELTA[..., 0]], dim=-1)
    assert rank_openings(never, 1).tolist() == [1, 0]


def test_states_rank_by_their_rates_in_ascending_order():
    rates = torch.tensor([[-4.0, -1.0, -3.0], [-4.0, -1.0, -1.0]], dtype=torch.float64)
    assert rank_states(rates, 2).tolist() == [1, 2]
    assert rank_states(rates, 9).tolist() == [0, 1, 2]


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"x": [1.0]}, "x must be a torch.Tensor"),
        ({"x": make_inputs()["x"].long()}, "x must be torch.float32 or torch.float64"),
        ({"x": make_inputs()["x"].float()}, "all must be single precision or all double"),
        ({"delta": -make_inputs()["delta"]}, "delta must be at least 0.*the smallest is"),
        ({"A": -make_inputs()["A"]}, "A must have real parts of at most 0"),
        ({"A": make_inputs()["A"] * nan}, "A must be finite"),
        ({"B": make_inputs()["B"][:, 1:]}, "B must have length = 7 as x has"),
        ({"C": make_inputs()["C"][..., 1:]}, "C must have d_state = 4"),
        ({"state": make_inputs()["state"][:1]}, "state must have batch = 2"),
    ],
)
def test_a_trace_refuses_what_does_not_fit(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        trace_scan(**make_scan("state") | changed)


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        (measure_survival, (DELTA, RATES, 3), "s must be a token, 0 to 2; it is 3"),
        (measure_survival, (DELTA, RATES, -1), "s must be at least 0; it is -1"),
        (measure_survival, (DELTA, RATES, 0.0), "s must be an int; it is 0.0"),
        (measure_survival, (-DELTA, RATES, 0), "delta must be at least 0"),
        (measure_survival, (DELTA[0], RATES, 0), r"delta must have the axes \(batch, length"),
        (rank_channels, (DELTA, RATES, 0), "n must be at least 1; it is 0"),
        (rank_channels, (DELTA, RATES[:1], 1), "A must have d_inner = 2 as delta has"),
        (rank_channels, (DELTA, -RATES, 1), "A must have real parts of at most 0"),
        (rank_openings, (DELTA, 3), "s must be a token, 0 to 2; it is 3"),
        (rank_openings, (DELTA[0], 0), r"delta must have the axes \(batch, length"),
        (rank_states, (RATES, 0), "n must be at least 1; it is 0"),
        (rank_states, (-RATES, 1), "A must have real parts of at most 0"),
        (rank_states, (RATES.long(), 1), "A must be torch.float32 or torch.float64"),
    ],
)
def test_a_measure_refuses_what_does_not_fit(measure, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        measure(*arguments)
