"""The one look of the course: colours that mean something, direct labels, one style file."""

import functools
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import matplotlib.style
import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.mathtext import MathTextParser

from mamba_edu.figures.require import is_finite, require_text_or_empty

STYLE_FILE = Path(__file__).parent.with_name("course.mplstyle")

MARKERS = sorted(mark for mark in Line2D.markers if isinstance(mark, str))

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


def use_style() -> AbstractContextManager:
    """Enter the course's style, whatever the reader's own settings are."""
    return matplotlib.style.context(["default", STYLE_FILE])


def styled(draw: Callable[..., Figure]) -> Callable[..., Figure]:
    """Run a drawing function under the course's style."""

    @functools.wraps(draw)
    def draw_in_style(*args, **kwargs):
        with use_style():
            return draw(*args, **kwargs)

    return draw_in_style


def to_numpy(values: Any) -> np.ndarray:
    """Turn a tensor, list or array into an array, without its gradient."""
    if not isinstance(values, torch.Tensor):
        return np.asarray(values)
    values = values.detach().cpu().resolve_conj().resolve_neg()
    return (values.float() if values.dtype == torch.bfloat16 else values).numpy()


def require_line(line: Line) -> None:
    """Refuse a line that has no look, no points, or points that cannot be placed."""
    if not isinstance(line, Line):
        raise TypeError(f"lines must hold Line(label, x, y, role); one is {line!r}")
    require_look(line)
    x, y = to_numpy(line.x), to_numpy(line.y)
    if x.shape != y.shape or x.ndim != 1 or not x.size:
        raise ValueError(
            f"line {line.label!r}: x {x.shape} and y {y.shape} must be equal, 1-d and not empty"
        )
    if np.iscomplexobj(x) or np.iscomplexobj(y):
        raise TypeError(f"line {line.label!r}: x and y must be real; take .real or .abs() first")
    if x.dtype.kind not in "biuf" or y.dtype.kind not in "biuf":
        raise TypeError(f"line {line.label!r}: x and y must be numbers; got {x.dtype}, {y.dtype}")


def require_look(line: Line) -> None:
    """Refuse a line whose label, role, marker or width cannot be drawn."""
    require_label(line.label)
    if not isinstance(line.role, str) or line.role not in ROLES:
        raise ValueError(
            f"role must be one of {sorted(ROLES)}; line {line.label!r} has {line.role!r}"
        )
    if not isinstance(line.marker, str) or line.marker not in MARKERS:
        raise ValueError(
            f"line {line.label!r}: marker must be one of {MARKERS}; got {line.marker!r}"
        )
    if line.width is not None and not (is_finite(line.width) and line.width >= 0):
        raise ValueError(
            f"line {line.label!r}: width must be a finite number of at least 0 or None; "
            f"got {line.width!r}"
        )


def require_label(label: Any) -> None:
    """Refuse a label that is no text, or whose formula would fail only when it is drawn."""
    require_text_or_empty("a line", label=label)
    if not is_math_text(label):
        return
    try:
        MathTextParser("path").parse(label)
    except ValueError as error:
        raise ValueError(
            f"label must be words or TeX that matplotlib reads; got {label!r}: {error}"
        ) from None


def draw_line(ax: Axes, line: Line) -> None:
    """Draw one line in the colour and style of its role."""
    require_line(line)
    x, y = to_numpy(line.x), to_numpy(line.y)
    look = dict(ROLES[line.role])
    if line.width is not None:
        look |= {"linewidth": line.width, **({"linestyle": "none"} if line.width == 0 else {})}
    ax.plot(x, y, label=line.label, marker=line.marker, **look)


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move heights between 0 and 1 as little as it takes to set neighbours `gap` apart, in order.

    Without the rungs of the ladder this is a monotone regression: neighbours that would cross
    pool at their mean. Heights that do not all fit spill over both ends alike.
    """
    order = np.argsort(wanted, kind="stable")
    rungs = gap * np.arange(len(order))
    pools: list[list[float]] = []
    for height in np.asarray(wanted, float)[order] - rungs:
        pools.append([height])
        while len(pools) > 1 and np.mean(pools[-2]) >= np.mean(pools[-1]):
            pools[-2:] = [pools[-2] + pools[-1]]
    placed = np.concatenate([np.full(len(pool), np.mean(pool)) for pool in pools])
    room = 1 - rungs[-1]
    placed = np.clip(placed, min(0, room / 2), max(room, room / 2)) + rungs
    return placed[np.argsort(order)].tolist()


def label_lines(ax: Axes) -> None:
    """Write each line's label beside its right end, in the line's colour, none on another."""
    lines = [line for line in ax.lines if not line.get_label().startswith("_")]
    points = [line.get_xydata()[np.isfinite(line.get_xydata()).all(1)] for line in lines]
    ends = [path[path[:, 0] == path[:, 0].max(initial=-np.inf)][-1:] for path in points]
    kept = [(line, end[0]) for line, end in zip(lines, ends, strict=True) if len(end)]
    if not kept:
        return
    ax.autoscale_view()  # limits are found late; transData would still have those of no data
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
