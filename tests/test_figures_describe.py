"""The words of a figure say what it draws: other data, other words."""

import numpy as np
import pytest
from matplotlib.figure import Figure

from mamba_edu.figures import Line, describe_drawing, draw_lines, draw_phase

X = np.array([0.0, 1.0, 2.0, 4.0])
Y = np.array([3.0, -1.25, 0.5, 2.0])


def describe(x, y, label="v", scales=("linear", "linear")):
    """Describe one line on bare axes, where nothing is refused."""
    fig = Figure()
    ax = fig.subplots()
    ax.plot(x, y, label=label)
    ax.set(xscale=scales[0], yscale=scales[1])
    return describe_drawing(fig)


def describe_y(*values):
    return describe(np.arange(len(values)), np.array(values))


def test_words_of_a_line_are_its_numbers():
    assert describe(X, Y) == (
        "[drawn] v: 4 points, 3.00 to 2.00; lowest -1.25, highest 3.00, mean 1.06, x 0.00 to 4.00"
    )


@pytest.mark.parametrize(
    ("x", "y"),
    [
        (X, Y + 0.02),
        (X, 1.01 * Y),
        (X, -Y),
        (X, Y[::-1]),
        (X[:3], Y[:3]),
        (X, np.roll(Y, 1)),
        (X, np.where(Y < 0, Y - 0.05, Y)),
        (X, np.where(Y < 0, np.nan, Y)),
        (X + 0.1, Y),
        (X[::-1], Y),
        (2 * X, Y),
    ],
)
def test_other_data_give_other_words(x, y):
    assert describe(x, y) != describe(X, Y)
    assert describe(X, Y, label="w") != describe(X, Y)


def test_every_panel_and_line_has_its_words():
    said = describe_drawing(draw_phase(X, X + 1j * Y, "Path")).splitlines()
    assert [line.split(":")[0] for line in said] == [
        f"[drawn] {name}" for name in ("path", "start", "Re h", "Im h, dashed")
    ]
    assert said[0].endswith("x 0.00 to 4.00")
    assert "3.00 to 2.00" in said[3]


def test_lines_without_a_label_are_described_together_and_marks_are_not():
    def draw(seeds):
        lines = [Line("_seed", X, Y + seed) for seed in seeds] + [Line("", X, 2 * Y)]
        return draw_lines([Line("mean", X, Y), *lines], "Finding", "t", "h", mark=(3, "off"))

    _, said = describe_drawing(draw([1, 2])).splitlines()
    assert said.startswith("[drawn] 3 more lines: 12 points, 4.00 to 4.00; lowest -2.50,")
    assert describe_drawing(draw([1, 2.1])).splitlines()[1] != said
    assert "[drawn] 1 more line: 4 points" in describe_drawing(draw([]))


def test_an_image_is_described_with_its_shape_and_holes():
    fig = Figure()
    values = np.ma.masked_less(np.array([[1.0, 2.0, 3.0], [-9.0, 5.0, 6.0]]), 0)
    fig.subplots().imshow(values, label="map")
    assert describe_drawing(fig) == (
        "[drawn] map: 2 x 3 points, 1 not finite, 1.00 to 6.00; lowest 1.00, highest 6.00, "
        "mean 3.40"
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ((7.0, 7.0), "2 points, 7.00 to 7.00; lowest 7.00, highest 7.00, mean 7.00"),
        ((0.0, 0.0), "0.00 to 0.00; lowest 0.00, highest 0.00, mean 0.00"),
        ((np.nan, 1.0, np.inf), "3 points, 2 not finite, 1.00 to 1.00"),
        ((np.nan, np.nan), "2 points, none finite"),
        ((), "0 points, none finite"),
        ((1e9, 3e9), "1.00e+09 to 3.00e+09; lowest 1.00e+09, highest 3.00e+09, mean 2.00e+09"),
        ((123456.0, 1.0), "123456 to 1;"),
        ((1e-9, 4e-9), "1.00e-09 to 4.00e-09"),
        ((5e-324, 0.0), "lowest 0.00e+00"),
        ((1.7e308, -1.7e308), "1.70e+308 to -1.70e+308"),
        ((1000.001, 1000.002), "1000.00100 to 1000.00200"),
        ((0.3, 1.3 - 1e-12), "0.30 to 1.30;"),
    ],
)
def test_numbers_keep_three_digits_of_their_span(values, said):
    assert said in describe_y(*values)


@pytest.mark.parametrize("size", [1.0, 1e-9, 1e9, 5e-324])
def test_there_is_no_minus_zero(size):
    assert "-0.0" not in describe_y(-0.0, -1e-9 * size, size, -0.0, -size, -0.0)
    assert "-0.0" not in describe([1, 2], [-0.0, -0.0], scales=("log", "symlog"))


@pytest.mark.parametrize("size", [1.0, 1e-7, 1e9])
def test_what_cancels_is_zero_on_every_machine(size):
    """The mean of a wave is rounding error: its digits hang on the order of summing."""
    wave = size * np.sin(2 * np.pi * np.arange(100) / 100)
    zero = {1.0: "0.00", 1e-7: "0.00e+00", 1e9: "0.00e+00"}[size]
    assert f"mean {zero}," in describe(np.arange(100), wave)


def test_log_axes_are_described_in_powers_of_ten():
    said = describe([1e-3, 1.0], [2e-12, 30.0], scales=("log", "log"))
    assert "2.00e-12 to 3.00e+01; lowest 2.00e-12" in said
    assert said.endswith("x 1.00e-03 to 1.00e+00")


def test_gaps_in_x_and_words_for_x_are_described_too():
    assert describe([np.nan, 2.0, np.inf], [1, 2, 3]).endswith("x 2.00 to 2.00")
    assert describe([np.nan], [1]).endswith("mean 1.00")
    assert describe(["red", "green"], [1, 2]).endswith("x 0.00 to 1.00")


def test_what_is_no_figure_is_refused():
    with pytest.raises(TypeError, match=r"fig must be a matplotlib Figure; got ndarray"):
        describe_drawing(X)
