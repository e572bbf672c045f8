"""Dots stand where the runs were, one row for each setting, and nothing is left out."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from mamba_edu.figures import describe_drawing, draw_dots
from mamba_edu.reader import to_png

ROWS = [("whole", [0.9, 1.0, 0.7]), ("no conv", [0.1, 0.25])]
OTHER = [("whole", torch.tensor([0.5, 0.4])), ("no conv", np.array([0.0]))]
WORDS = {"title": "Finding", "xlabel": "accuracy"}


def draw(*panels, **changed):
    return draw_dots([(f"panel {i}", rows) for i, rows in enumerate(panels)], **WORDS | changed)


def list_dots(ax):
    """(label, values, heights) of each row."""
    return [(line.get_label(), *line.get_data()) for line in ax.lines if line.get_marker() == "o"]


def test_every_run_is_a_dot_at_its_value_and_the_first_row_is_on_top():
    fig = draw(ROWS, OTHER)
    assert [ax.get_title("left") for ax in fig.axes] == ["panel 0", "panel 1"]
    for ax, rows in zip(fig.axes, (ROWS, OTHER), strict=True):
        drawn = list_dots(ax)
        assert [label for label, _, _ in drawn] == ["whole", "no conv"]
        for place, ((_, values, heights), (_, given)) in enumerate(zip(drawn, rows, strict=True)):
            np.testing.assert_array_equal(values, given)
            assert (abs(heights - place) < 0.3).all()
        bottom, top = ax.get_ylim()
        assert bottom > 1 > 0 > top
    assert [text.get_text() for text in fig.axes[0].get_yticklabels()] == ["whole", "no conv"]


def test_a_bar_stands_at_the_mean_of_each_row():
    (ax,) = draw(ROWS).axes
    bars = [line.get_xdata() for line in ax.lines if line.get_label() == "_mean"]
    np.testing.assert_allclose(bars, [[2.6 / 3] * 2, [0.175] * 2])


def test_a_dot_at_either_end_is_drawn_whole():
    (ax,) = draw([("both ends", [0.0, 1.0])]).axes
    left, right = ax.get_xlim()
    assert left < 0 < 1 < right


def test_a_mark_stands_where_it_is_asked_for_with_its_words():
    (ax,) = draw(ROWS, mark=(0.125, "chance")).axes
    (mark,) = [line for line in ax.lines if line.get_label() == "_mark"]
    assert list(mark.get_xdata()) == [0.125, 0.125]
    assert "chance" in [text.get_text() for text in ax.texts]
    assert to_png(draw(ROWS, mark=(0.125, "chance")))


def test_many_rows_make_a_higher_figure():
    """The labels, 9 points high, do not touch; few rows leave the course's own size."""
    few, many = (draw([(f"row {k}", [0.5]) for k in range(n)]) for n in (7, 19))
    assert tuple(few.get_size_inches()) == (6.4, 3.2)
    many.draw_without_rendering()
    tops = [text.get_window_extent() for text in many.axes[0].get_yticklabels()]
    assert all(upper.y0 - lower.y1 > lower.height / 2 for upper, lower in pairwise(tops))


def test_the_drawing_can_be_told_in_words():
    said = describe_drawing(draw(ROWS))
    assert "whole: 3 points" in said
    assert "x 0.900 to 0.700" in said


@pytest.mark.parametrize(
    ("panels", "changed", "message"),
    [
        ([], {}, "panels must be a list of at least one"),
        (None, {}, "panels must be a list of at least one"),
        (["ab"], {}, "must be pairs of words and values; one is 'ab'"),
        ([("a", [])], {}, "panel 'a' must list at least one row"),
        ([("a", [("b", [0.1], 2)])], {}, "must be pairs of words and values"),
        ([("a", [("b", [])])], {}, "a, b: values must be numbers from 0.0 to 1.0"),
        ([("a", [("b", [0.5, 1.2])])], {}, "a, b: values must be numbers from 0.0 to 1.0"),
        ([("a", [("b", [float("nan")])])], {}, "a, b: values must be numbers"),
        ([("a", [("b", [1j])])], {}, "a, b: values must be numbers"),
        ([("a", ROWS), ("b", ROWS[::-1])], {}, "panel 'b' must have the rows"),
        ([("a", ROWS)], {"title": ""}, "title must be words"),
        ([("a", ROWS)], {"xlabel": " "}, "xlabel must be words"),
        ([("a", ROWS)], {"mark": 0.1}, "mark must be a finite x and its words"),
        ([("a", ROWS)], {"xlim": (1.0, 1.0)}, "values must be numbers from 1.0 to 1.0"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draw_dots(panels, **WORDS | changed)
