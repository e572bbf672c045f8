"""Maps draw exactly what they are given, all in one scale of colours with 0 in its middle."""

import matplotlib as mpl
import numpy as np
import pytest
import torch
from matplotlib.text import Text

from mamba_edu.figures import describe_drawing, draw_maps
from mamba_edu.reader import to_png

GRID = np.array([[0.5, -1.0, 2.0], [0.0, -3.0, 0.25]])  # 2 rows, 3 columns
OTHER = np.array([[1.0, 7.5], [-2.0, 0.0], [0.5, 4.0]])
WORDS = {"title": "Finding", "xlabel": "token s", "ylabel": "moment t", "bar": "weight w"}
NAN, INF = np.nan, np.inf


def draw(*grids, **changed):
    return draw_maps([(f"map {i}", grid) for i, grid in enumerate(grids)], **WORDS | changed)


def list_images(fig):
    return [image for ax in fig.axes for image in ax.images]


def read_colours(*values, **changed):
    """The colours of numbers in one row, (number, red green blue)."""
    (image,) = list_images(draw([list(values)], **changed))
    return image.to_rgba(image.get_array())[0, :, :3]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (GRID, GRID),
        (GRID.tolist(), GRID),
        (torch.tensor(GRID, requires_grad=True), GRID),
        (torch.tensor(GRID.T.copy()).T, GRID),
        (torch.tensor([[1, 2, 3]]), [[1, 2, 3]]),
        (torch.tensor([[0.5, -4]], dtype=torch.bfloat16), [[0.5, -4]]),
        (GRID > 0, [[1, 0, 1], [0, 0, 1]]),
    ],
    ids=["array", "list", "gradient", "transposed", "ints", "half", "booleans"],
)
def test_a_map_is_drawn_exactly_as_given_from_the_top(given, expected):
    fig = draw(given)
    (image,) = list_images(fig)
    np.testing.assert_array_equal(image.get_array(), expected)
    bottom, top = fig.axes[0].get_ylim()
    assert image.origin == "upper"
    assert bottom > top  # row 0 on top


def test_several_maps_lie_in_the_order_given_each_with_its_label():
    fig = draw(GRID, OTHER, -GRID)
    images = list_images(fig)
    assert [image.get_label() for image in images] == ["map 0", "map 1", "map 2"]
    assert [image.axes.get_title("left") for image in images] == ["map 0", "map 1", "map 2"]
    for image, grid in zip(images, (GRID, OTHER, -GRID), strict=True):
        np.testing.assert_array_equal(image.get_array(), grid)
    places = [image.axes.get_subplotspec().colspan.start for image in images]
    assert places == [0, 1, 2]


def test_words_stand_at_their_places():
    fig = draw(GRID, OTHER)
    first, second, bar = fig.axes
    assert fig.get_suptitle() == "Finding"
    assert [first.get_xlabel(), second.get_xlabel()] == ["token s", "token s"]
    assert [first.get_ylabel(), second.get_ylabel()] == ["moment t", ""]
    assert bar.get_ylabel() == "weight w"


def test_a_single_map_needs_no_second_title():
    assert draw(GRID).axes[0].get_title("left") == ""


@pytest.mark.parametrize(
    ("grids", "reach", "limit"),
    [
        ([GRID], None, 3.0),  # the largest size is a negative one's
        ([GRID, OTHER], None, 7.5),
        ([OTHER, GRID], None, 7.5),
        ([GRID, OTHER], 0.5, 0.5),
        ([0 * GRID], None, 1.0),
        ([np.where(GRID == -3, NAN, GRID)], None, 2.0),
        ([np.where(GRID == -3, -INF, GRID)], None, 2.0),
    ],
)
def test_all_maps_share_one_scale_with_zero_in_its_middle(grids, reach, limit):
    for image in list_images(draw(*grids, reach=reach)):
        assert image.get_clim() == (-limit, limit)


def test_blue_is_negative_white_is_zero_and_red_is_positive():
    negative, zero, positive = read_colours(-2.0, 0.0, 2.0)
    assert zero.min() > 0.95
    assert positive[0] > 2 * positive[2]
    assert negative[2] > 2 * negative[0]


def test_the_colour_of_a_number_hangs_on_the_scale_alone():
    alone = read_colours(0.5, reach=4.0)
    among = read_colours(0.5, 3.9, -1.0, reach=4.0)
    np.testing.assert_array_equal(alone[0], among[0])


def test_the_words_of_a_map_are_read_back_from_the_picture():
    assert describe_drawing(draw(GRID, OTHER)).splitlines() == [
        "[drawn] map 0: 2 x 3 points, 0.50 to 0.25; lowest -3.00, highest 2.00, mean -0.21",
        "[drawn] map 1: 3 x 2 points, 1.00 to 4.00; lowest -2.00, highest 7.50, mean 1.83",
    ]


def test_a_map_keeps_its_look_whatever_the_reader_s_settings_are():
    plain = to_png(draw(GRID, OTHER))
    settings = {"image.cmap": "viridis", "image.origin": "lower", "font.size": 4, "axes.grid": True}
    with mpl.rc_context(settings):
        assert to_png(draw(GRID, OTHER)) == plain


def test_text_of_a_map_is_large_enough_to_read():
    fig = draw(GRID, OTHER)
    to_png(fig)  # ticks get their words when drawn
    sizes = [text.get_fontsize() for text in fig.findobj(Text) if text.get_text()]
    assert len(sizes) > 8
    assert min(sizes) >= 9


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        ([1.0, 2.0], r"map 'w' must be a real matrix with finite values; it is float64 \(2,\)"),
        (np.zeros((2, 3, 4)), r"map 'w' must be a real matrix.*it is float64 \(2, 3, 4\)"),
        (GRID * 1j, r"map 'w' must be a real matrix.*it is complex128 \(2, 3\)"),
        (torch.zeros(0, 3), r"map 'w' must be .* with finite values; it is float32 \(0, 3\)"),
        (NAN * GRID, r"map 'w' must be .* with finite values; it is float64 \(2, 3\)"),
        ([["a", "b"]], r"map 'w' must be a real matrix.*it is <U1 \(1, 2\)"),
        ([[None, 1.0]], r"map 'w' must be a real matrix.*it is object \(1, 2\)"),
    ],
)
def test_what_is_no_real_matrix_is_named(grid, message):
    with pytest.raises(ValueError, match=message):
        draw_maps([("first", GRID), ("w", grid)], **WORDS)


@pytest.mark.parametrize("maps", [[], (), GRID, {"w": GRID}, None])
def test_maps_come_as_a_list(maps):
    with pytest.raises(ValueError, match=r"maps must be a list of at least one \(label, values\)"):
        draw_maps(maps, **WORDS)


@pytest.mark.parametrize("pair", [GRID, (GRID, "w"), ("w", GRID, GRID), "wm", [GRID]])
def test_each_map_comes_with_its_label(pair):
    with pytest.raises(TypeError, match=r"maps must hold pairs \(label, values\); one is"):
        draw_maps([("first", GRID), pair], **WORDS)


@pytest.mark.parametrize("name", list(WORDS))
@pytest.mark.parametrize("words", ["", " ", None, 3])
def test_no_words_of_a_map_may_be_missing(name, words):
    with pytest.raises(ValueError, match=f"{name} must be words.*got {words!r}"):
        draw(GRID, **{name: words})


@pytest.mark.parametrize("reach", [0, -1.0, NAN, INF, "wide"])
def test_a_reach_that_spans_no_colours_is_named(reach):
    with pytest.raises(ValueError, match=f"reach must be a finite number above 0; got {reach!r}"):
        draw(GRID, reach=reach)
