"""A slider figure redraws once a move, everywhere on its range, and is a still picture too."""

import base64

import numpy as np
import pytest
from front_end import open_front_end

from mamba_edu.figures import Line, draw_lines
from mamba_edu.reader import to_png
from mamba_edu.reader.still import VIEW
from mamba_edu.widgets.slider import Control, SliderFigure, explore

T = np.linspace(0, 1, 7)
RATE = Control("rate", "rate A (1/ms)", (1, 2, 5), 2)
SHIFT = Control("shift", "shift s (mV)", [0.0, 0.25, 0.5, 0.75], 0.25, "{:.2f}")
CALLS = []


def draw(rate, shift=0.0):
    CALLS.append((rate, shift))
    words = f"With A = {rate:g} & s = {shift:g} it ends at {np.exp(-rate) + shift:.2f}."
    return draw_lines([Line("h", T, np.exp(-rate * T) + shift)], words, "t", "h"), words


@pytest.fixture
def calls():
    CALLS.clear()
    return CALLS


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


def test_the_start_is_shown_live_and_still(shown):
    explore(draw, "**Do:** move it.", [RATE])
    box, caption = (output["data"] for output in shown)
    words = "With A = 2 & s = 0 it ends at 0.14."
    assert box["text/plain"].splitlines()[0] == words
    assert box["text/plain"].splitlines()[1].startswith("[drawn] h: 7 points, 1.000 to 0.135")
    assert base64.b64decode(box["image/png"]) == to_png(draw(2)[0])
    assert VIEW in box
    assert shown[0]["metadata"] == {"image/png": {"width": 640, "alt": words}}
    assert caption["text/plain"] == "**Do:** move it."
    assert "A = 2 &amp; s = 0 it ends" in caption["text/markdown"]


def test_the_live_form_stands_where_the_text_says_and_speaks_when_let_go():
    box = SliderFigure(draw, [RATE, SHIFT])
    assert [slider.value for slider in box.sliders] == [2, 0.25]
    assert [slider.description for slider in box.sliders] == ["rate A (1/ms)", "shift s (mV)"]
    assert not any(slider.continuous_update for slider in box.sliders)
    assert box.sliders[0]._options_labels == ("1", "2", "5")
    assert box.sliders[1]._options_labels == ("0.00", "0.25", "0.50", "0.75")
    assert box.image.value == to_png(draw(2, 0.25)[0], sharpness=1.25, colours=None)
    assert (
        box.words.value
        == "<div aria-live='polite'>With A = 2 &amp; s = 0.25 it ends at 0.39.</div>"
    )
    assert box.image.layout.width == "640px"


def test_one_move_is_one_redraw(calls):
    """No queue: what is drawn is where the slider stands, and each move is drawn once."""
    box = SliderFigure(draw, [RATE, SHIFT])
    calls.clear()
    box.sliders[0].value = 5
    box.sliders[1].index = 3  # as a front end moves it
    box.sliders[1].index = 3
    box.sliders[0].value = 5
    assert calls == [(5, 0.25), (5, 0.75)]
    assert box.image.value == to_png(draw(5, 0.75)[0], sharpness=1.25, colours=None)
    assert "A = 5 &amp; s = 0.75" in box.words.value


def test_a_sweep_draws_every_position_and_comes_back(calls):
    box = SliderFigure(draw, [RATE, SHIFT])
    start = bytes(box.image.value)
    assert box.sweep() == 1 + (3 - 1) + (4 - 1)
    assert {rate for rate, _ in calls} == set(RATE.values)
    assert {shift for _, shift in calls} == set(SHIFT.values)
    assert box.image.value == start


def test_a_sweep_finds_a_position_that_changes_nothing():
    box = SliderFigure(lambda rate: draw(min(rate, 2)), [RATE])
    assert box.sweep() == 2


def test_a_sweep_meets_a_position_that_fails():
    def fail(rate):
        return draw(rate) if rate < 5 else (None, "Nothing.")

    with pytest.raises(TypeError, match="fig must be a matplotlib Figure; got NoneType"):
        SliderFigure(fail, [RATE]).sweep()


def test_a_moved_slider_leaves_the_stored_picture_alone():
    box = SliderFigure(draw, [RATE])
    before = dict(box.still)
    box.sliders[0].value = 5
    assert box.still == before
    assert repr(box) == before["text/plain"]


def test_the_stage_enlarges_the_live_picture_too(monkeypatch):
    monkeypatch.setenv("MAMBA_EDU_STAGE", "1")
    box = SliderFigure(draw, [RATE])
    assert box.image.layout.width == "1024px"
    assert box.image.value == to_png(draw(2)[0], sharpness=1.25, colours=None)


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ([], "controls must be 1 to 3; got 0"),
        ([RATE._replace(name=name) for name in "abcd"], "controls must be 1 to 3; got 4"),
        (RATE, "controls must be a list of Controls; got Control"),
        (None, "controls must be a list of Controls; got None"),
        ([("rate", [1, 2], 1)], r"controls must be Controls; one is \('rate'"),
        ([RATE, RATE], r"controls must differ in name; got \['rate', 'rate'\]"),
        ([RATE._replace(start=3)], r"'rate': start must be one of values, \(1, 2, 5\); got 3"),
        ([RATE._replace(values=())], r"'rate': start must be one of values, \(\); got 2"),
        ([RATE._replace(values=None)], "'rate': start must be one of values, None; got 2"),
        ([RATE._replace(start=T)], r"'rate': start must be one of values, \(1, 2, 5\); got array"),
        ([RATE._replace(start=[2])], r"'rate': start must be one of values, .*; got \[2\]"),
        ([RATE._replace(values=(T, 2))], r"'rate': values must be finite numbers; got \(array"),
        ([RATE._replace(values=("2", 2))], r"values must be finite numbers; got \('2', 2\)"),
        ([RATE._replace(form="{:q}")], "'rate': form must write one value, as '{:g}' does; got"),
        ([RATE._replace(form="{x}")], "'rate': form must write one value.*got '{x}' for"),
        ([RATE._replace(form=None)], "'rate': form must write one value.*got None for"),
        ([RATE._replace(label="")], "label must be words.*got ''"),
        ([RATE._replace(name=None)], "name must be words.*got None"),
        ([RATE._replace(values=(2, 2, 5))], "control 'rate': values must read differently"),
        ([SHIFT._replace(name="rate", form="{:.0f}")], r"must read differently; got \['0', '0'"),
    ],
)
def test_controls_that_cannot_be_moved_are_refused(shown, controls, message):
    with pytest.raises((TypeError, ValueError), match=message):
        explore(draw, "Move it.", controls)
    assert shown == []


@pytest.mark.parametrize(
    ("drawing", "caption", "message"),
    [
        (draw, "", "caption must be words.*got ''"),
        (draw, None, "caption must be words.*got None"),
        (3, "Move it.", "draw must be a function of the controls; got 3"),
        (lambda rate: None, "Move it.", r"draw must return a Figure and its words; at {'rate': 2}"),
        (lambda rate: draw(rate)[0], "Move it.", "draw must return a Figure and its words"),
        (lambda rate: draw(rate)[::-1], "Move it.", "fig must be a matplotlib Figure; got str"),
        (lambda rate: (draw(rate)[0], ""), "Move it.", "the words of draw must be words.*got ''"),
    ],
)
def test_a_drawing_that_shows_nothing_is_refused(shown, drawing, caption, message):
    with pytest.raises((TypeError, ValueError), match=message):
        explore(drawing, caption, [RATE])
    assert shown == []
