"""Figures draw exactly what they are given, in one look, whatever the reader's settings are."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
import torch
from matplotlib.text import Text

from mamba_edu.figures import ROLES, Line, draw_lines, draw_phase
from mamba_edu.reader import to_png

X = np.array([0.5, 1.0, 2.0, 4.0, 7.0])
Y = np.array([3.0, -1.0, 0.25, 8.0, 2.0])
ANGLES = torch.tensor([1 + 2j, -0.5 + 0.25j, 0.75 - 1j], dtype=torch.complex128)
MEANING = {  # fixed for the whole course
    "input": "#7F7F7F",
    "state": "#0072B2",
    "output": "#E69F00",
    "delta": "#009E73",
    "cls": "#D55E00",
    "reference": "#000000",
}
READERS_SETTINGS = {
    "figure.figsize": (2, 9),
    "figure.dpi": 37,
    "font.size": 4,
    "font.family": "monospace",
    "axes.facecolor": "black",
    "axes.grid": True,
    "axes.spines.top": True,
    "axes.unicode_minus": False,
    "lines.linewidth": 9,
    "savefig.bbox": "tight",
    "savefig.facecolor": "red",
    "savefig.transparent": True,
    "text.color": "white",
}


def draw(*lines, **keywords):
    return draw_lines(list(lines), "Finding", "time t (ms)", "voltage (mV)", **keywords)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (list(Y), Y),
        (Y, Y),
        (np.arange(5), np.arange(5)),
        (torch.tensor(Y, requires_grad=True), Y),
        (torch.tensor([1, 2, 3, 5, 8]), [1, 2, 3, 5, 8]),
        (torch.tensor([0.5, 1, 2, -4, 0], dtype=torch.bfloat16), [0.5, 1, 2, -4, 0]),
        (torch.tensor([1 + 2j] * 5).conj().imag, [-2] * 5),
        (torch.arange(10.0)[::2], [0, 2, 4, 6, 8]),
    ],
    ids=["list", "array", "ints", "gradient", "int tensor", "half", "conjugate", "strided"],
)
def test_a_line_is_drawn_exactly_as_given(given, expected):
    (drawn,) = draw(Line("v", X, given)).axes[0].lines
    np.testing.assert_array_equal(drawn.get_xdata(), X)
    np.testing.assert_array_equal(drawn.get_ydata(), expected)


def test_lines_lie_in_the_order_given_with_their_words_and_scales():
    lines = [Line(f"line {i}", X, Y + i, role) for i, role in enumerate(ROLES)]
    ax = draw(*lines, scales=("log", "symlog"), ylim=(-2, 30)).axes[0]
    assert [line.get_label() for line in ax.lines] == [line.label for line in lines]
    for i, drawn in enumerate(ax.lines):
        np.testing.assert_array_equal(drawn.get_ydata(), Y + i)
    assert (ax.get_xscale(), ax.get_yscale(), ax.get_ylim()) == ("log", "symlog", (-2, 30))
    words = (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel())
    assert words == ("Finding", "time t (ms)", "voltage (mV)")


def test_colours_keep_their_meaning_and_never_stand_alone():
    assert {role: look["color"] for role, look in ROLES.items()} == MEANING
    looks = {(str(look["linestyle"]), look.get("linewidth")) for look in ROLES.values()}
    assert len(looks) == len(ROLES)


@pytest.mark.parametrize("role", list(MEANING))
def test_a_line_and_its_label_take_the_colour_of_the_role(role):
    ax = draw(Line("v", X, Y, role, "s")).axes[0]
    (drawn,), (label,) = ax.lines, ax.texts
    assert (drawn.get_color(), drawn.get_marker()) == (MEANING[role], "s")
    is_solid = drawn.get_linestyle() == "-"
    assert is_solid == (ROLES[role]["linestyle"] == "-")
    darker = 0.65 * np.array(mpl.colors.to_rgb(MEANING[role]))
    np.testing.assert_allclose(label.get_color(), darker)


def test_width_is_the_lines_own_and_zero_leaves_the_markers():
    wide, points = (
        draw(Line("a", X, Y, width=3.5), Line("b", X, Y, marker="x", width=0)).axes[0].lines
    )
    assert (wide.get_linewidth(), wide.get_linestyle()) == (3.5, "-")
    assert (points.get_linestyle(), points.get_marker()) == ("None", "x")


def test_a_mark_stands_upright_at_its_x_with_its_words():
    ax = draw(Line("v", X, Y), mark=(torch.tensor(2.5), "off")).axes[0]
    _, mark = ax.lines
    assert list(mark.get_xdata()) == [2.5, 2.5]
    (words,) = [text for text in ax.texts if text.get_text() == "off"]
    assert words.xy[0] == 2.5


@pytest.mark.parametrize("reach", [None, 4.0])
def test_the_phase_figure_draws_the_path_and_both_parts(reach):
    t = torch.tensor([0.0, 1.5, 4.0])
    plane, time = draw_phase(t, ANGLES, "Round and inward", reach).axes
    path, start = plane.lines
    np.testing.assert_array_equal(np.transpose(path.get_data()), [[1, 2], [-0.5, 0.25], [0.75, -1]])
    np.testing.assert_array_equal(start.get_data(), [[1], [2]])
    real, imaginary = time.lines
    np.testing.assert_array_equal(real.get_data(), [t, [1, -0.5, 0.75]])
    np.testing.assert_array_equal(imaginary.get_data(), [t, [2, 0.25, -1]])
    assert plane.get_aspect() == 1  # a turn is a circle
    side = reach or 1.1 * 5**0.5
    for limits in (plane.get_xlim(), plane.get_ylim(), time.get_ylim()):
        np.testing.assert_allclose(limits, (-side, side))


@pytest.mark.parametrize("h", [ANGLES.conj(), 0 * ANGLES, ANGLES.real, ANGLES * float("nan")])
def test_the_phase_figure_takes_every_state_that_a_notebook_meets(h):
    path = draw_phase(torch.arange(3), h, "Path").axes[0].lines[0]
    np.testing.assert_array_equal(path.get_xdata(), h.real.numpy())


def test_the_reader_s_settings_change_nothing_and_are_not_changed():
    lines = [Line("v", X, Y, "output", "o"), Line("w", X, -Y)]
    plain = to_png(draw(*lines)), to_png(draw_phase(X[:3], ANGLES, "Path"))
    with mpl.rc_context(READERS_SETTINGS):
        before = dict(mpl.rcParams)
        theirs = to_png(draw(*lines)), to_png(draw_phase(X[:3], ANGLES, "Path"))
        assert dict(mpl.rcParams) == before
    assert theirs == plain


def test_drawing_opens_no_window_and_has_the_size_of_the_course():
    before = plt.get_fignums()
    figures = [draw(Line("v", X, Y)), draw_phase(X[:3], ANGLES, "Path")]
    assert plt.get_fignums() == before
    assert [tuple(fig.get_size_inches()) for fig in figures] == [(6.4, 3.2)] * 2


def test_text_is_large_enough_to_read():
    figures = [
        draw(Line("v", X, Y), mark=(2, "off"), scales=("log", "linear")),
        draw_phase(X[:3], ANGLES, "Path"),
    ]
    for fig in figures:
        to_png(fig)  # ticks get their words when drawn
        sizes = [text.get_fontsize() for text in fig.findobj(Text) if text.get_text()]
        assert len(sizes) > 8
        assert min(sizes) >= 9
