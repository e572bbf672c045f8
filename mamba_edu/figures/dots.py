"""Figures made of dots: every run of each setting, so that a spread is never hidden by a mean."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mamba_edu.figures.require import require_axes, require_text
from mamba_edu.figures.style import ROLES, styled, to_numpy

Rows = Sequence[tuple[str, Any]]
INCHES_A_ROW = 0.2  # many rows make a higher figure, so that their labels stay apart


@styled
def draw_dots(
    panels: Sequence[tuple[str, Rows]],
    title: str,
    xlabel: str,
    xlim: tuple[float, float] = (0.0, 1.0),
    mark: tuple[float, str] | None = None,
) -> Figure:
    """Draw a row for each setting: a dot for each of its runs, a bar at their mean.

    Args:
        panels: (name, rows) side by side; a row is (label, values). All have the same labels, in
            the same order; the first row is on top.
        title: the finding, in words.
        xlabel: what a value is: word, symbol, unit.
        xlim: the lowest and the highest value shown.
        mark: a value at which a thin upright line stands, such as chance, and its words.

    Raises:
        TypeError: if a panel or a row is no pair.
        ValueError: if there is no panel or row, the labels differ, values are not finite and
            within xlim, words are missing, or mark or xlim cannot be drawn.
    """
    read = read_panels(panels, xlim)
    for name, words in (("title", title), ("xlabel", xlabel)):
        require_text(name, words)
    require_axes(("linear", "linear"), mark, xlim)
    fig = Figure(layout="constrained")
    fig.set_figheight(max(fig.get_figheight(), INCHES_A_ROW * len(read[0][1]) + 1))
    axes = fig.subplots(1, len(read), sharey=True, squeeze=False)[0]
    for ax, (name, rows) in zip(axes, read, strict=True):
        draw_panel(ax, rows, mark)
        room = 0.03 * (xlim[1] - xlim[0])  # a dot at the edge is drawn whole
        ax.set(xlabel=xlabel, xlim=(xlim[0] - room, xlim[1] + room))
        ax.set_title(name if len(read) > 1 else "", fontweight="normal")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def draw_panel(
    ax: Axes, rows: list[tuple[str, np.ndarray]], mark: tuple[float, str] | None
) -> None:
    """Draw the rows of one panel from the top, the runs of a row a little apart."""
    places = np.arange(len(rows))
    look = ROLES["state"] | {"linestyle": "none"}
    for place, (label, values) in zip(places, rows, strict=True):
        apart = place + np.linspace(-0.22, 0.22, len(values))
        ax.plot(values, apart, label=label, marker="o", alpha=0.75, **look)
        ax.plot([values.mean()] * 2, [place - 0.36, place + 0.36], label="_mean", color="#222222")
    ax.set_yticks(places, [label for label, _ in rows])
    ax.set_ylim(len(rows) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    if mark is not None:
        ax.axvline(mark[0], color="#444444", linewidth=0.8, linestyle=(0, (1, 2)), label="_mark")
        ax.annotate(
            mark[1],
            xy=(mark[0], len(rows) - 0.45),
            xytext=(4, 0),
            textcoords="offset points",
            fontsize=9,
        )


def read_panels(
    panels: Sequence[tuple[str, Rows]], xlim: tuple[float, float]
) -> list[tuple[str, list[tuple[str, np.ndarray]]]]:
    """Turn what is to be drawn into named lists of labelled arrays, or say why it is none."""
    if not isinstance(panels, list | tuple) or not panels:
        raise ValueError(f"panels must be a list of at least one (name, rows); got {panels!r}")
    read = []
    for name, rows in map(require_pair, panels):
        if not isinstance(rows, list | tuple) or not rows:
            raise ValueError(f"panel {name!r} must list at least one row; got {rows!r}")
        read.append((name, [(label, to_numpy(v)) for label, v in map(require_pair, rows)]))
    for name, rows in read:
        labels, wanted = ([label for label, _ in part] for part in (rows, read[0][1]))
        if labels != wanted:
            raise ValueError(f"panel {name!r} must have the rows {wanted}; it has {labels}")
        for label, values in rows:
            require_values(f"{name}, {label}", values, xlim)
    return read


def require_pair(pair: Any) -> tuple[str, Any]:
    """Refuse what is not words and what belongs to them."""
    if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
        raise TypeError(f"panels and rows must be pairs of words and values; one is {pair!r}")
    return pair


def require_values(name: str, values: np.ndarray, xlim: tuple[float, float]) -> None:
    """Refuse values that would not be seen."""
    is_row = values.ndim == 1 and values.size and values.dtype.kind in "biuf"
    if not is_row or not ((xlim[0] <= values) & (values <= xlim[1])).all():
        raise ValueError(
            f"{name}: values must be numbers from {xlim[0]} to {xlim[1]}; got {values}"
        )
