"""Every way to scan against an explicit matrix and a float64 loop; limits, padding, streams."""

import pytest
import torch
from scan_inputs import (
    BATCH,
    D_INNER,
    D_STATE,
    LENGTH,
    LENGTHS,
    every_way,
    make_inputs,
    scan_by,
)
from torch.nn.functional import silu
from torch.testing import assert_close

from mamba_edu.scan import explain, selective_scan
from mamba_edu.scan.chunked import CHUNK

nan = float("nan")


def scan_as_one_matrix(x, delta, A, B, C, skip, gate, state):
    """The same map as an explicit (length x length) matrix: no recurrence, so no shared bug."""
    clock = delta.cumsum(1)  # (batch, length, d_inner)
    elapsed = clock[:, :, None] - clock[:, None, :]  # time from step s to step t
    decay = torch.exp(elapsed.clamp(min=0)[..., None] * A)  # (batch, t, s, d_inner, d_state)
    causal = torch.tril(torch.ones(x.shape[1], x.shape[1], dtype=x.dtype))
    y = torch.einsum("btn,btsdn,bsn,bsd,ts->btd", C, decay, B, delta * x, causal)
    since_start = torch.exp(clock[..., None] * A)
    y = y + torch.einsum("btn,btdn,bdn->btd", C, since_start, state)
    return (y + skip * x) * silu(gate)


@every_way
@pytest.mark.parametrize("length", LENGTHS)
def test_every_way_equals_the_explicit_matrix(way, length):
    """S7, state-spaces/mamba#368: lengths that do not fill a chunk, or just do."""
    inputs = make_inputs(length)
    y, _ = scan_by(way, **inputs)
    assert y.shape == (BATCH, length, D_INNER)
    assert_close(y, scan_as_one_matrix(**inputs), rtol=1e-12, atol=1e-12)


@every_way
@pytest.mark.parametrize("length", LENGTHS)
def test_every_way_ends_in_the_state_of_the_loop(way, length):
    """S7, state-spaces/mamba#368: the state after the last token, not its chunk's last."""
    inputs = make_inputs(length)
    h = inputs["state"]
    for t in range(length):
        x, delta, B = (inputs[name][:, t] for name in ("x", "delta", "B"))
        h = torch.exp(delta[..., None] * inputs["A"]) * h + (delta * x)[..., None] * B[:, None]
    assert_close(scan_by(way, **inputs)[1], h, rtol=1e-12, atol=1e-12)


@every_way
def test_what_is_left_out_changes_nothing(way):
    inputs = make_inputs()
    bare = {name: inputs[name] for name in ("x", "delta", "A", "B", "C")}
    zeros = {name: torch.zeros_like(inputs[name]) for name in ("skip", "state")}
    assert_close(scan_by(way, **bare), scan_by(way, **bare, **zeros), rtol=0, atol=0)
    gated = scan_by(way, **bare, gate=inputs["gate"])[0]
    assert_close(gated, scan_by(way, **bare)[0] * silu(inputs["gate"]))


@every_way
def test_scan_is_causal(way):
    inputs = make_inputs(2 * CHUNK + 3)
    before, _ = scan_by(way, **inputs)
    inputs["x"][:, CHUNK + 4] += 1.0
    after, _ = scan_by(way, **inputs)
    assert_close(after[:, : CHUNK + 4], before[:, : CHUNK + 4], rtol=0, atol=0)
    assert (after[:, CHUNK + 4 :] != before[:, CHUNK + 4 :]).all()


@every_way
@pytest.mark.parametrize("cut", [0, 1, 2 * CHUNK - 1, 2 * CHUNK + 4, 2 * CHUNK + 5])
def test_a_scan_in_two_pieces_equals_one(way, cut):
    """S9, state-spaces/mamba#233, #441, #641, mamba.py#38: the state carries everything over."""
    inputs = make_inputs(2 * CHUNK + 5)
    whole, end = scan_by(way, **inputs)
    cut_up = {name: inputs[name] for name in ("x", "delta", "B", "C", "gate")}
    rest = {name: inputs[name] for name in ("A", "skip")}
    first = {name: tensor[:, :cut] for name, tensor in cut_up.items()}
    second = {name: tensor[:, cut:] for name, tensor in cut_up.items()}
    y_1, state = scan_by(way, **first, **rest, state=inputs["state"])
    y_2, last = selective_scan(**second, **rest, state=state, return_state=True)
    assert_close(torch.cat([y_1, y_2], dim=1), whole, rtol=1e-12, atol=1e-12)
    assert_close(last, end, rtol=1e-12, atol=1e-12)


def test_a_stream_of_single_tokens_equals_the_whole():
    """S9, state-spaces/mamba#233, #441, mamba.py#38: the shortest pieces there are, 70 of them."""
    inputs = make_inputs(70)
    whole, end = scan_by("chunked", **inputs)
    state, answers = inputs.pop("state"), []
    for t in range(70):
        token = {k: v[:, t : t + 1] if v.dim() == 3 else v for k, v in inputs.items()}
        y, state = selective_scan(**token, state=state, return_state=True)
        answers.append(y)
    assert_close(torch.cat(answers, dim=1), whole, rtol=1e-12, atol=1e-12)
    assert_close(state, end, rtol=1e-12, atol=1e-12)


@every_way
@pytest.mark.parametrize(("batch", "length"), [(0, LENGTH), (BATCH, 0), (0, 0)])
def test_an_empty_signal_returns_an_empty_answer_and_the_state(way, batch, length):
    """S5, mamba.py#26."""
    inputs = make_inputs(length, batch)
    y, last = scan_by(way, **inputs)
    assert y.shape == (batch, length, D_INNER)
    assert_close(last, inputs["state"], rtol=0, atol=0)
    del inputs["state"]
    assert_close(scan_by(way, **inputs)[1], torch.zeros_like(last), rtol=0, atol=0)


@every_way
@pytest.mark.parametrize("name", ["x", "delta", "B", "C", "gate", "state"])
def test_a_bad_value_reaches_only_what_depends_on_it(way, name):
    """S5, mamba.py#26: no earlier token, no other row, no other channel."""
    inputs = make_inputs(3 * CHUNK + 5)
    t = CHUNK + 4
    inputs[name][(1, 2, 1) if name == "state" else (1, t, 2)] = nan
    answers = torch.zeros(BATCH, 3 * CHUNK + 5, D_INNER, dtype=torch.bool)
    reached = {
        "B": (1, slice(t, None)),
        "C": (1, t),
        "gate": (1, t, 2),
        "state": (1, slice(None), 2),
    }
    answers[reached.get(name, (1, slice(t, None), 2))] = True
    y, last = scan_by(way, **inputs)
    assert_close(y.isnan(), answers)
    states = torch.zeros(BATCH, D_INNER, D_STATE, dtype=torch.bool)
    ends = {"x": (1, 2), "delta": (1, 2), "B": (1, slice(None), 2), "state": (1, 2, 1)}
    if name in ends:
        states[ends[name]] = True
    assert_close(last.isnan(), states)


@every_way
def test_padding_holds_the_state_and_answers_nothing(way):
    """C3, transformers#48256, #31540, mamba#66: whatever it is filled with, on either side."""
    inputs = make_inputs(CHUNK)
    right, end = scan_by(way, **inputs)
    before, after = 5, 2 * CHUNK
    mask = torch.zeros(BATCH, before + CHUNK + after, dtype=torch.bool)
    mask[:, before : before + CHUNK] = True
    for name in ("x", "delta", "B", "C", "gate"):
        padded = torch.full((*mask.shape, inputs[name].shape[2]), nan, dtype=torch.float64)
        padded[:, -1] = -1.0
        padded[mask] = inputs[name].flatten(0, 1)
        inputs[name] = padded
    y, last = scan_by(way, **inputs, mask=mask)
    assert_close(y[mask].reshape(right.shape), right, rtol=1e-12, atol=1e-12)
    assert (y[~mask] == 0).all()
    assert_close(last, end, rtol=1e-12, atol=1e-12)


@every_way
def test_a_piece_of_nothing_but_padding_leaves_every_bit_of_the_state(way):
    inputs = make_inputs(2 * CHUNK + 1)
    inputs["state"][1, 2, 1] = float("inf")
    mask = torch.zeros(BATCH, 2 * CHUNK + 1, dtype=torch.bool)
    y, last = scan_by(way, **inputs, mask=mask)
    assert_close(last, inputs["state"], rtol=0, atol=0)
    assert (y == 0).all()


def test_explain_says_what_ran_and_why():
    inputs = make_inputs()
    for method in ("loop", "parallel", "chunked", "fused"):
        selective_scan(**inputs, method=method)
        assert explain() == f"{method} ran: it was asked for"
    selective_scan(**inputs)
    assert explain() == "fused ran: it is the fastest on a CPU"


def test_scan_returns_the_state_only_when_asked():
    inputs = make_inputs()
    y = selective_scan(**inputs)
    assert_close(y, selective_scan(**inputs, return_state=True)[0], rtol=0, atol=0)
