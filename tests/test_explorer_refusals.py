"""What makes up no sequence, or shows none of it, is refused by name."""

import pytest
import torch
from explorer_inputs import WORDS, make_signals

from mamba_edu.widgets.explorer import StateExplorer

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

SIGNALS = make_signals()
EMPTY = make_signals(0)


def cut(name, length):
    return {name: SIGNALS[name][:length]}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (EMPTY, r"x \(length, d_inner\) must not be empty; its shape is \(0, 3\)"),
        (make_signals(d_inner=0), r"x \(length, d_inner\) must not be empty"),
        (make_signals(d_state=0), r"A \(d_inner, d_state\) must not be empty"),
        (cut("delta", 6), r"delta must have length = 7 as x has; its shape .* is \(6, 3\)"),
        (cut("B", 6), "B must have length = 7 as x has"),
        (cut("C", 6), "C must have length = 7 as x has"),
        (cut("A", 2), "A must have d_inner = 3 as x has"),
        (cut("skip", 2), "skip must have d_inner = 3 as x has"),
        ({"C": SIGNALS["C"][:, 1:]}, "C must have d_state = 4 as A has"),
        ({"x": SIGNALS["x"][:, 0]}, r"x must have the axes \(length, d_inner\); its shape is \(7,"),
        ({"x": SIGNALS["x"][None]}, r"x must have the axes \(length, d_inner\)"),
        ({"delta": -SIGNALS["delta"]}, "delta must be at least 0, a step cannot run backwards"),
        ({"A": -SIGNALS["A"]}, "A must have real parts of at most 0, or the state grows"),
        ({"A": SIGNALS["A"] * torch.nan}, "A must be finite; NaN values: 12 of 12"),
        ({"x": "abc"}, "x must hold numbers; got 'abc'"),
        ({"x": None}, "x must hold numbers; got None"),
        ({"x": [[1.0], [2.0, 3.0]]}, "x must hold numbers; got"),
        ({"x": SIGNALS["x"] + 0j}, r"x must hold real numbers; got torch\.complex128"),
    ],
)
def test_signals_that_make_no_sequence_are_refused(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        StateExplorer(**(SIGNALS | changed), **WORDS)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"title": ""}, "title must be words.*got ''"),
        ({"caption": None}, "caption must be words.*got None"),
        ({"kinds": ["filler"] * 6}, "kinds must name all 7 tokens; there are 6"),
        ({"kinds": ["filler"] * 6 + ["hay"]}, "kinds must be of .*; one is 'hay'"),
        ({"labels": ["a"] * 8}, "labels must name all 7 tokens; there are 8"),
        ({"labels": ["a"] * 6 + [1]}, "labels must be texts; one is 1"),
        ({"channels": []}, r"channels must be 1 to 16 different numbers, 0 to 2; got \[\]"),
        ({"channels": [0, 0]}, r"channels must be 1 to 16 different numbers.*got \[0, 0\]"),
        ({"channels": [3]}, r"channels must be 1 to 16 different numbers.*got \[3\]"),
        ({"channels": [-1]}, "channels must be 1 to 16 different numbers"),
        ({"channels": 1}, "channels must be 1 to 16 different numbers, 0 to 2; got 1"),
        ({"channels": ["a"]}, "channels must be 1 to 16 different numbers"),
        ({"first": 7}, "first must be a token, 0 to 6; got 7"),
        ({"first": -1}, "first must be a token, 0 to 6; got -1"),
        ({"first": 0.5}, "first must be a token, 0 to 6; got 0.5"),
        ({"start": [0]}, r"start must be a dict or None; got \[0\]"),
        ({"start": {"time": 0}}, r"start may hold \('t', .*; it holds 'time'"),
        ({"start": {"t": 7}}, r"start\['t'\] must be one of \[0, 1, 2, 3, 4, 5, 6\]; got 7"),
        ({"start": {"t": 0}, "first": 3}, r"start\['t'\] must be one of \[3, 4, 5, 6\]; got 0"),
        ({"start": {"scale": 3}}, r"start\['scale'\] must be one of \[0\.1, 0\.25.*; got 3"),
        ({"start": {"channel": 3}}, r"start\['channel'\] must be one of \[0, 1, 2\]; got 3"),
        ({"start": {"followed": "a"}}, r"start\['followed'\] must be one of .*; got 'a'"),
        ({"start": {"followed": torch.zeros(2)}}, r"start\['followed'\] must be one of"),
    ],
)
def test_words_and_places_that_show_nothing_are_refused(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        StateExplorer(**SIGNALS, **(WORDS | changed))


def test_far_places_are_named_by_their_ends():
    with pytest.raises(ValueError, match=r"start\['t'\] must be one of 88 to 599; got 3"):
        StateExplorer(**make_signals(600, 1, 1), **WORDS, start={"t": 3})
