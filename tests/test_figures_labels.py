"""Direct labels stand beside the ends of their lines, all readable, none on another."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

from mamba_edu.figures import ROLES, Line, draw_lines, draw_phase
from mamba_edu.figures.style import spread

T = np.arange(5.0)
MOST = 12  # labels that fit beside one another
NAN = np.nan


def draw_to(ends, **keywords):
    """Draw one line to each of these ends and lay the figure out."""
    lines = [
        Line(f"line {i}", T + 1, np.append(np.full(4, 2.0), end), list(ROLES)[i % len(ROLES)])
        for i, end in enumerate(ends)
    ]
    fig = draw_lines(lines, "Finding", "time t (s)", "state h", **keywords)
    fig.draw_without_rendering()  # lays it out
    return fig


def list_boxes(ax):
    return [text.get_window_extent() for text in ax.texts]


def find_centre(box):
    return (box.y0 + box.y1) / 2


def find_height(ax, y):
    return ax.transData.transform((1, y))[1]


@pytest.mark.parametrize("n_lines", [1, 5, MOST])
@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize(("base", "reach"), [(0.001, 0), (2, 0.001), (400, 50), (400, 0)])
def test_labels_never_overlap_nor_leave_the_figure(n_lines, scale, reach, base):
    fig = draw_to(base + reach * np.arange(n_lines) ** 2, scales=("linear", scale))
    boxes = list_boxes(fig.axes[0])
    assert len(boxes) == n_lines
    for one, other in itertools.combinations(boxes, 2):
        assert not one.overlaps(other)
    for box in boxes:
        assert box.x0 >= fig.axes[0].get_window_extent().x1
        assert fig.bbox.x0 <= box.x0 < box.x1 <= fig.bbox.x1 + 1
        assert fig.bbox.y0 - 1 <= box.y0 < box.y1 <= fig.bbox.y1 + 1


def test_labels_of_the_phase_figure_never_overlap():
    fig = draw_phase(T, np.full(5, 1 + 1j), "Stands still")
    fig.draw_without_rendering()  # lays it out
    one, other = list_boxes(fig.axes[1])
    assert not one.overlaps(other)


@pytest.mark.parametrize("end", [-300.0, 0.0, 1.5, 2.5, 77.0])
def test_a_label_stands_at_the_height_of_its_line_s_end(end):
    ax = draw_to([end]).axes[0]
    (box,) = list_boxes(ax)
    assert abs(find_centre(box) - find_height(ax, end)) < 3


def test_labels_far_apart_stand_at_their_ends_on_a_log_axis_too():
    ends = [1e-4, 1e5, 3.0]
    ax = draw_to(ends, scales=("linear", "log")).axes[0]
    for box, end in zip(list_boxes(ax), ends, strict=True):
        assert abs(find_centre(box) - find_height(ax, end)) < 3


def test_a_line_that_ends_in_nan_has_its_label_at_its_last_finite_point():
    y = np.array([40.0, 10.0, 30.0, NAN, np.inf])
    fig = draw_lines([Line("v", T, y), Line("w", T, -T)], "Finding", "t", "h")
    fig.draw_without_rendering()  # lays it out
    box, _ = list_boxes(fig.axes[0])
    assert abs(find_centre(box) - find_height(fig.axes[0], 30.0)) < 3


def test_a_line_drawn_from_right_to_left_has_its_label_at_its_right_end():
    lines = [Line("v", T[::-1], T[::-1] ** 2), Line("w", np.cos(T), T)]
    fig = draw_lines(lines, "Finding", "t", "h")
    fig.draw_without_rendering()
    high, low = list_boxes(fig.axes[0])
    assert abs(find_centre(high) - find_height(fig.axes[0], 16.0)) < 3
    assert abs(find_centre(low) - find_height(fig.axes[0], 0.0)) < 3


def test_a_line_without_a_finite_point_gets_no_label():
    lines = [Line("never", T, NAN * T), Line("ever", T, T), Line("_hidden", T, T)]
    ax = draw_lines(lines, "Finding", "t", "h").axes[0]
    assert [text.get_text() for text in ax.texts] == ["ever"]


def test_a_line_that_leaves_the_axes_has_its_label_at_their_edge():
    ax = draw_to([1e9, -5.0], ylim=(-10, 10)).axes[0]
    high, low = (find_centre(box) for box in list_boxes(ax))
    top = ax.get_window_extent().y1
    assert top - 12 < high <= top
    assert abs(low - find_height(ax, -5.0)) < 3


@given(
    st.lists(st.floats(0.02, 0.98), min_size=1, max_size=12),
    st.floats(0.001, 1 / 12),
)
def test_spread_is_the_nearest_ladder_with_room_for_each(wanted, gap):
    placed = np.array(spread(wanted, gap))
    order = np.argsort(wanted, kind="stable")
    rungs = gap * np.arange(len(wanted))
    oracle = IsotonicRegression(y_min=0, y_max=1 - rungs[-1])
    ladder = oracle.fit_transform(range(len(wanted)), np.array(wanted)[order] - rungs) + rungs
    np.testing.assert_allclose(placed[order], ladder, atol=1e-9)
    assert (np.diff(placed[order]) >= gap - 1e-9).all()


def test_spread_moves_nothing_that_has_room():
    assert spread([0.9, 0.1, 0.5], gap=0.2) == pytest.approx([0.9, 0.1, 0.5])


def test_spread_keeps_the_order_of_equal_heights_and_spills_over_alike():
    assert spread([0.3, 0.3], gap=0.1) == pytest.approx([0.25, 0.35])
    assert spread([0.0, 0.0, 0.0], gap=1.0) == pytest.approx([-0.5, 0.5, 1.5])
