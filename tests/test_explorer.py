"""The numbers that an explorer sends are those of the float64 scan, to half a step of the code."""

import json

import numpy as np
import pytest
import torch
from explorer_inputs import WORDS, make_signals, read_arrays, restore
from hypothesis import given, settings
from hypothesis import strategies as st

from mamba_edu.probes import SCALES
from mamba_edu.scan import selective_scan
from mamba_edu.widgets.explorer import StateExplorer
from mamba_edu.widgets.sequence import KINDS, read_sequence
from mamba_edu.widgets.view import choose_view, code_view

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

nan, inf = float("nan"), float("inf")
MOST_BYTES = 1_100_000  # of a first display


def explore(signals=None, **changed):
    return StateExplorer(**(signals or make_signals()), **(WORDS | changed))


def scan_states(signals, scale):
    """Follow the state by the loop that all scans are compared with, a token at a time."""
    h, states, outputs = None, [], []
    for t in range(len(signals["x"])):
        token = {k: signals[k][None, t : t + 1] for k in ("x", "delta", "B", "C")}
        token["delta"] = scale * token["delta"]
        rest = {"A": signals["A"], "skip": signals["skip"], "state": h}
        y, h = selective_scan(**token, **rest, method="loop", return_state=True)
        states.append(h[0])
        outputs.append(y[0, 0])
    return torch.stack(states).numpy(), torch.stack(outputs).numpy()


def assert_near(codes, steps, values):
    """Hold each value to half a step, and a little for the rounding of the step itself."""
    found, wide = restore(codes, steps)
    is_number = np.isfinite(values)
    assert np.array_equal(np.isfinite(found), is_number)
    assert (np.abs(found - values)[is_number] <= (0.50001 * wide + 0 * found)[is_number]).all()


@settings(max_examples=30)
@given(st.integers(1, 9), st.integers(1, 4), st.integers(1, 5), st.integers(0, 3))
def test_the_numbers_are_those_of_the_scan(length, d_inner, d_state, seed):
    signals = make_signals(length, d_inner, d_state, seed)
    sent = code_view(choose_view(read_sequence(signals, None, None), None, None, None))
    assert sent["states"].shape == (7, d_inner, length, d_state)
    for number, scale in enumerate(SCALES):
        states, outputs = scan_states(signals, scale)
        steps = sent["state_step"][number]
        assert_near(sent["states"][number], steps, states.transpose(1, 0, 2))
        assert_near(sent["outputs"][number], sent["output_step"][number], outputs.T)
    assert_near(sent["inputs"], sent["input_step"], signals["x"].T.numpy())
    assert np.allclose(sent["delta"], signals["delta"].T, rtol=1e-6)
    assert np.allclose(sent["rates"], signals["A"], rtol=1e-6)
    assert sent["kinds"].tolist() == [0] * length


def test_the_numbers_are_sent_as_they_are():
    """What the widget holds is what the test before this one has looked at."""
    widget, signals = explore(), make_signals()
    sent = code_view(choose_view(read_sequence(signals, None, None), None, None, None))
    held = read_arrays(widget)
    assert list(held) == list(sent)
    assert all(np.array_equal(held[name], sent[name]) for name in sent)


def test_the_options_are_what_the_front_end_reads():
    widget = explore(kinds=["needle", *KINDS[2:], *["filler"] * 3], labels=list("abcdefg"))
    options = widget.options
    assert json.loads(json.dumps(options)) == options
    assert options["mode"] == "states"
    assert options["scales"] == list(SCALES)
    assert options["scale_labels"] == ["0.1×", "0.25×", "0.5×", "1×", "2×", "4×", "10×"]
    assert options["channels"] == [0, 1, 2]
    assert options["states"] == ["h1", "h2", "h3", "h4"]
    assert options["labels"] == list("abcdefg")
    assert (options["first"], options["length"]) == (0, 7)
    assert (options["title"], options["caption"]) == ("A title", "Press Play.")
    assert options["notice"] == ""
    assert options["start"]["t"] == 6
    assert options["start"]["scale"] == 3
    assert options["start"]["followed"] == 0
    assert read_arrays(widget)["kinds"].tolist() == [1, 2, 3, 4, 2, 2, 2]


def test_a_start_is_told_in_tokens_scales_and_channel_numbers():
    start = {"t": 94, "scale": 10, "channel": 5, "followed": 93}
    widget = explore(make_signals(100, 6), channels=[2, 5], first=90, start=start)
    assert widget.options["start"] == {"t": 4, "scale": 6, "channel": 1, "followed": 3}
    assert widget.options["channels"] == [2, 5]
    unfollowed = explore(kinds=["needle"] * 7, start={"followed": None})
    assert unfollowed.options["start"]["followed"] is None


def test_the_channel_shown_first_is_the_one_with_most_to_tell():
    signals = make_signals()
    signals["delta"] = torch.full_like(signals["delta"], 0.1)
    signals["A"] = torch.tensor([[-2.0] * 4, [-1.0] * 4, [-3.0] * 4], dtype=torch.float64)
    assert explore(signals).options["start"]["channel"] == 1
    signals["delta"][3, 2] = 0.2
    assert explore(signals, start={"followed": 3}).options["start"]["channel"] == 2


def test_wide_models_show_what_remembers_longest_and_say_so():
    signals = make_signals(5, 20, 18)
    widget = explore(signals)
    left = (signals["A"].max(1).values * signals["delta"].sum(0)).tolist()
    best = sorted(range(20), key=lambda d: -left[d])[:16]
    slow = sorted(sorted(range(18), key=lambda n: -signals["A"][:, n].mean())[:16])
    assert widget.options["channels"] == best
    assert widget.options["states"] == [f"h{n + 1}" for n in slow]
    assert widget.options["notice"] == (
        "Shown: 16 of 20 channels, those that remember longest; 16 of 18 states, the slowest."
    )
    sent = read_arrays(widget)
    states, outputs = scan_states(signals, 1.0)
    chosen = states[:, best][:, :, slow]
    assert_near(sent["states"][3], sent["state_step"][3], chosen.transpose(1, 0, 2))
    assert_near(sent["outputs"][3], sent["output_step"][3], outputs[:, best].T)  # of all 18 states


@pytest.mark.parametrize("first", [None, 0, 300])
def test_a_long_sequence_is_a_window_entered_with_the_true_state(first):
    signals = make_signals(700, 2, 3)
    widget = explore(signals, first=first)
    begin = 188 if first is None else first
    end = min(700, begin + 512)
    sent = read_arrays(widget)
    states, outputs = scan_states(signals, 1.0)
    assert_near(sent["states"][3], sent["state_step"][3], states[begin:end].transpose(1, 0, 2))
    assert_near(sent["outputs"][3], sent["output_step"][3], outputs[begin:end].T)
    entered = ", entered with the state that all before them left" if begin else ""
    assert widget.options["notice"] == f"Shown: tokens {begin} to {end - 1} of 700{entered}."
    assert (widget.options["first"], widget.options["length"]) == (begin, 700)
    assert len(widget.options["labels"]) == end - begin


def test_a_hundred_thousand_tokens_end_where_the_scan_ends():
    signals = make_signals(100_000, 2, 2)
    sent = read_arrays(explore(signals))
    one = {k: v if k in ("A", "skip") else v[None] for k, v in signals.items()}
    _, last = selective_scan(**one, return_state=True)
    assert_near(sent["states"][3, :, -1], sent["state_step"][3], last[0].numpy())


@pytest.mark.usefixtures("real_pictures")
def test_the_largest_first_display_is_small():
    widget = explore(make_signals(512, 16, 16), kinds=["filler"] * 511 + ["cls"])
    assert widget.arrays["states"]["shape"] == [7, 16, 512, 16]
    assert 1_000_000 < widget.measure_display() <= MOST_BYTES


BAD = [("x", nan), ("x", -inf), ("delta", nan), ("delta", inf), ("B", nan), ("C", inf)]


@pytest.mark.parametrize(("name", "bad"), BAD)
@pytest.mark.usefixtures("real_pictures")
def test_what_is_not_a_number_is_shown_as_such(name, bad):
    signals = make_signals()
    signals[name][3, 1] = bad
    widget = explore(signals)
    sent = read_arrays(widget)
    states, outputs = scan_states(signals, 1.0)
    assert_near(sent["states"][3], sent["state_step"][3], states.transpose(1, 0, 2))
    assert_near(sent["outputs"][3], sent["output_step"][3], outputs.T)
    assert (sent["outputs"] == -128).any()
    assert (sent["outputs"] != -128).any()
    said = repr(widget)
    assert "nan" not in said
    assert "inf" not in said.replace("finite", "")


@pytest.mark.usefixtures("real_pictures")
def test_nothing_but_nan_is_still_a_picture():
    signals = make_signals()
    signals["x"][:] = nan
    widget = explore(signals)
    assert (read_arrays(widget)["states"] == -128).all()
    assert "7 tokens leave a state that is not a number" in repr(widget)
    assert widget.to_png().startswith(b"\x89PNG")


@pytest.mark.usefixtures("real_pictures")
def test_a_single_token_is_a_picture(tmp_path):
    widget = explore(make_signals(1, 1, 1))
    assert widget.options["start"] == {"t": 0, "scale": 3, "channel": 0, "followed": None}
    assert widget.options["states"] == ["h"]
    widget.save_html(tmp_path / "one.html")


def test_whatever_holds_numbers_will_do():
    signals = make_signals()
    wanted = explore(signals)
    for kind in (lambda v: v.numpy(), lambda v: v.tolist(), lambda v: v.clone().requires_grad_()):
        assert explore({k: kind(v) for k, v in signals.items()}).data == wanted.data
    flipped = {k: v.numpy()[::-1].copy()[::-1] for k, v in signals.items()}
    assert explore(flipped).data == wanted.data
    ones = {k: torch.ones_like(v).long() for k, v in signals.items()} | {"A": [[-1] * 4] * 3}
    assert explore(ones).options["length"] == 7


@pytest.mark.usefixtures("real_pictures")
def test_two_explorers_of_one_sequence_are_the_same():
    one, two = explore(), explore()
    assert (one.data, one.options, repr(one)) == (two.data, two.options, repr(two))
    assert one.to_png() == two.to_png()


def test_the_words_are_computed():
    signals = make_signals(3, 1, 1)
    signals["x"][:] = torch.tensor([[1.0], [0.0], [0.0]])
    signals["delta"][:] = torch.tensor([[0.5], [0.1], [0.2]])
    signals["A"][:] = -1.0
    signals["B"][:] = 2.0
    said = repr(explore(signals, labels=["go", "", ""], start={"followed": 0})).splitlines()[0]
    assert said == (
        "A title. Channel 0, tokens 0 to 2, 1 number of state, step sizes as they are. Step sizes "
        "from 0.1 to 0.5. The largest state, 1, is h at token 0. Of go (token 0) 74 % is left at "
        "the end, averaged over the states."
    )
    said = repr(explore(signals, start={"scale": 10, "followed": 1})).splitlines()[0]
    assert "step sizes 10 times as they are. Step sizes from 1 to 5." in said
    assert "Of token 1 14 % is left" in said
