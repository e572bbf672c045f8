"""Every run is drawn, the mean is theirs, and intervals stand where they were measured."""

import numpy as np
import pytest
import torch

from mamba_edu.figures import Curve, Line, Panel, describe_drawing, draw_curves
from mamba_edu.figures.style import ROLES
from mamba_edu.reader import to_png

X = [1, 10, 100]
RUNS = [[0.9, 0.5, 0.1], [0.7, 0.6, 0.2]]
ENDS = [[0.6, 0.4, 0.0], [1.0, 0.7, 0.3]]
BARS = [(1, 0.6, 1.0), (10, 0.4, 0.7), (100, 0.0, 0.3)]
ONE = Curve("one", X, RUNS, "cls", ENDS)
OTHER = Curve("other", torch.tensor(X), torch.tensor([[0.3, 0.2, 0.0]]), "output")
WORDS = {"title": "Finding", "ylabel": "accuracy"}


def draw(*panels, **changed):
    return draw_curves(list(panels), **WORDS | changed)


def list_lines(ax, label):
    return [np.array(line.get_data()) for line in ax.lines if line.get_label() == label]


def test_runs_are_thin_and_their_mean_is_thick():
    (ax,) = draw(Panel("", "length", [ONE])).axes
    np.testing.assert_array_equal(list_lines(ax, "_run"), [[X, run] for run in RUNS])
    np.testing.assert_allclose(list_lines(ax, "one"), [[X, [0.8, 0.55, 0.15]]])
    widths = {line.get_label(): line.get_linewidth() for line in ax.lines}
    assert widths["one"] > 2 * widths["_run"]
    assert {line.get_color() for line in ax.lines} == {ROLES["cls"]["color"]}


def test_the_median_may_be_thick():
    curve = Curve("one", X, [[1.0, 0.5, 0.4], [1.0, 0.1, 0.02], [1.0, 0.3, 0.01]])
    (ax,) = draw(Panel("", "length", [curve]), yscale="log", thick="median").axes
    np.testing.assert_array_equal(list_lines(ax, "one"), [[X, [1.0, 0.3, 0.02]]])
    with pytest.raises(ValueError, match=r"thick must be one of \['mean', 'median'\]; it is"):
        draw(Panel("", "length", [curve]), thick="bold")


def test_intervals_stand_upright_at_their_x():
    (ax,) = draw(Panel("", "length", [ONE, OTHER])).axes
    drawn = list_lines(ax, "_interval")
    np.testing.assert_array_equal(drawn, [[[x, x], [low, high]] for x, low, high in BARS])


def test_panels_share_y_and_the_last_one_has_the_labels():
    first, last = draw(Panel("a", "depth", [ONE]), Panel("b", "length", [ONE, OTHER], "log")).axes
    assert (first.get_xscale(), last.get_xscale()) == ("linear", "log")
    assert first.get_ylim() == last.get_ylim()
    assert [ax.get_title("left") for ax in (first, last)] == ["a", "b"]
    assert [len(ax.texts) for ax in (first, last)] == [0, 2]
    assert to_png(draw(Panel("a", "depth", [ONE]), ylim=(0, 1), yscale="symlog"))


def test_guides_are_drawn_in_every_panel_and_words_tell_all():
    guide = Line("law", X, [1.0, 0.1, 0.01], "reference")
    fig = draw(Panel("a", "n", [ONE]), Panel("b", "n", [OTHER]), guides=[guide])
    assert all(len(list_lines(ax, "law")) == 1 for ax in fig.axes)
    said = describe_drawing(fig)
    assert "one: 3 points, 0.800 to 0.150" in said
    assert "5 more lines: 12 points" in said  # two runs, three intervals


@pytest.mark.parametrize(
    ("panels", "error", "message"),
    [
        ([], ValueError, "panels must be a list of at least one Panel"),
        (Panel("a", "n", [ONE]), ValueError, "panels must be a list of at least one Panel"),
        (["ab"], TypeError, "panels must hold Panel.*; one is 'ab'"),
        ([Panel("a", " ", [ONE])], ValueError, "xlabel must be words"),
        ([Panel("a", "n", [])], ValueError, "panel 'a' must have at least one Curve"),
        ([Panel("a", "n", ["x"])], TypeError, "panel 'a' must hold Curves; one is 'x'"),
        ([Panel("a", "n", [ONE], "cubic")], ValueError, "scales must be two of"),
        ([Panel("a", "n", [ONE._replace(x=[1, 2])])], ValueError, "curve 'one': runs .2, 3."),
        ([Panel("a", "n", [ONE._replace(runs=[1, 2, 3])])], ValueError, "must be .n_runs, n."),
        ([Panel("a", "n", [ONE._replace(runs=np.zeros((0, 3)))])], ValueError, "runs .0, 3."),
        ([Panel("a", "n", [ONE._replace(interval=[1, 2])])], ValueError, "its interval .2,. must"),
        ([Panel("a", "n", [ONE._replace(role="sky")])], ValueError, "role must be one of"),
    ],
)
def test_what_cannot_be_drawn_is_refused(panels, error, message):
    with pytest.raises(error, match=message):
        draw_curves(panels, **WORDS)


@pytest.mark.parametrize("changed", [{"title": ""}, {"ylabel": " "}, {"ylim": (1, 0)}])
def test_words_and_limits_are_asked_for(changed):
    with pytest.raises(ValueError, match=f"{next(iter(changed))} must be"):
        draw(Panel("a", "n", [ONE]), **changed)
