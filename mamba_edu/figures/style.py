"""The one look of the course: colours that mean something, direct labels, one style file."""

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

STYLE_FILE = Path(__file__).parent.with_name("course.mplstyle")

# Colour is meaning, the same all course long (Okabe-Ito palette); the line style says it again.
ROLES = {
    "input": {"color": "#7F7F7F", "linestyle": "-", "linewidth": 1.2},
    "state": {"color": "#0072B2", "linestyle": "-"},
    "output": {"color": "#E69F00", "linestyle": (0, (5, 1.5))},
    "delta": {"color": "#009E73", "linestyle": (0, (4, 1.5, 1, 1.5))},
    "cls": {"color": "#D55E00", "linestyle": (0, (1, 1))},
    "reference": {"color": "#000000", "linestyle": (0, (1, 2)), "linewidth": 1.2},
}


class Line(NamedTuple):
    """One labelled line.

    Fields:
        label: written beside its end; a label that begins with `_` is not written.
        x, y: equal in length.
        role: a key of `ROLES`, what the line means.
        marker: one of matplotlib's, or empty.
        width: in points; 0 draws the markers alone, None what the role has.
    """

    label: str
    x: Any
    y: Any
    role: str = "state"
    marker: str = ""
    width: float | None = None


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Run a drawing function under the course's style, whatever the reader's own settings are."""

    @functools.wraps(draw)
    def draw_in_style(*args, **kwargs):
        with matplotlib.style.context(["default", STYLE_FILE]):
            return draw(*args, **kwargs)

    return draw_in_style


def to_numpy(values: Any) -> np.ndarray:
    """Turn a tensor, list or array into an array, without its gradient."""
    return np.asarray(values.detach().cpu() if hasattr(values, "detach") else values)


def draw_line(ax: Axes, line: Line) -> None:
    """Draw one line in the colour and style of its role."""
    x, y = to_numpy(line.x), to_numpy(line.y)
    if line.role not in ROLES:
        raise ValueError(
            f"role must be one of {sorted(ROLES)}; line {line.label!r} has {line.role!r}"
        )
    if x.shape != y.shape or x.ndim != 1:
        raise ValueError(f"line {line.label!r}: x {x.shape} and y {y.shape} must be equal, 1-d")
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        raise TypeError(f"line {line.label!r}: x and y must be real; take .real or .abs() first")
    look = dict(ROLES[line.role])
    if line.width is not None:
        look |= {"linewidth": line.width, **({"linestyle": "none"} if line.width == 0 else {})}
    ax.plot(x, y, label=line.label, marker=line.marker, **look)


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move heights apart until neighbours are `gap` apart, keeping their order and centre."""
    order = np.argsort(wanted, kind="stable")
    placed = np.array(wanted, dtype=float)[order]
    for _ in range(200):
        overlap = gap - np.diff(placed)
        if not (overlap > 1e-9).any():
            break
        push = np.where(overlap > 0, overlap / 2, 0)
        placed[:-1] -= push
        placed[1:] += push
    return list(placed[np.argsort(order, kind="stable")])


def label_lines(ax: Axes) -> None:
    """Write each line's label beside its last point, in the line's colour, none on another."""
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    ends = [line.get_xydata()[np.isfinite(line.get_ydata())] for line in lines]
    kept = [(line, end[-1]) for line, end in zip(lines, ends, strict=True) if len(end)]
    if not kept:
        return
    height = ax.get_window_extent().height
    to_axes = ax.transData + ax.transAxes.inverted()
    wanted = [float(np.clip(to_axes.transform(end)[1], 0.02, 0.98)) for _, end in kept]
    places = spread(wanted, gap=18 / max(height, 1) * ax.figure.dpi / 100)
    for (line, _), place in zip(kept, places, strict=True):
        ax.annotate(
            line.get_label(),
            xy=(1.015, place),
            xycoords="axes fraction",
            color=0.65 * np.array(to_rgb(line.get_color())),  # darker: text needs more contrast
            va="center",
            fontsize=9.5,
        )
