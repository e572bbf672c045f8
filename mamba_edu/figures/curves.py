"""Figures made of repeated curves: every run thin, their mean thick, and how sure the mean is."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mamba_edu.figures.require import require_axes, require_text
from mamba_edu.figures.style import ROLES, Line, draw_line, label_lines, styled, to_numpy

THIN = 0.6  # points
CAP = 3  # points: half the width of an interval's ends
THICK = {"mean": np.mean, "median": np.median}  # on logarithmic axes one run may be all of a mean


class Curve(NamedTuple):
    """The same measured in several runs.

    Fields:
        label: written beside the last panel, in words.
        x: where it was measured, shape (n,).
        runs: a row for each run, shape (n_runs, n).
        role: a key of `ROLES`.
        interval: the lower and the upper ends around the mean, shape (2, n); None for none.
    """

    label: str
    x: Any
    runs: Any
    role: str = "state"
    interval: Any = None


class Panel(NamedTuple):
    """One pair of axes: its name, what x is, its curves, and how x is scaled."""

    name: str
    xlabel: str
    curves: Sequence[Curve]
    xscale: str = "linear"


@styled
def draw_curves(
    panels: Sequence[Panel],
    title: str,
    ylabel: str,
    yscale: str = "linear",
    ylim: tuple[float, float] | None = None,
    guides: Sequence[Line] = (),
    thick: str = "mean",
) -> Figure:
    """Draw panels side by side with one y: thin runs, thick means, upright bars for intervals.

    Labels stand beside the last panel; a curve of another panel is told by its colour and style.

    Args:
        panels: what to draw.
        title: the finding, in words.
        ylabel: word, symbol, unit.
        yscale: "linear", "log" or "symlog".
        ylim: the lowest and highest y shown.
        guides: lines that were not measured, such as a law or chance, drawn in every panel.
        thick: what is drawn thick, the "mean" of the runs or their "median".

    Raises:
        TypeError: if a panel is no `Panel`, or a curve no `Curve`.
        ValueError: if there is no panel or curve, shapes do not fit, words are missing, or thick,
            scales or ylim cannot be drawn.
    """
    require_panels(panels, yscale, ylim)
    require_thick(thick)
    for name, words in (("title", title), ("ylabel", ylabel)):
        require_text(name, words)
    fig = Figure(layout="constrained")
    axes = fig.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for ax, panel in zip(axes, panels, strict=True):
        for line in guides:
            draw_line(ax, line)
        draw_curve_panel(ax, panel, thick)
        ax.set_title(panel.name if len(panels) > 1 else "", fontweight="normal")
    axes[0].set(yscale=yscale, ylabel=ylabel, ylim=ylim)  # shared by all
    label_lines(axes[-1])
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def draw_curve_panel(ax: Axes, panel: Panel, thick: str) -> None:
    """Draw the curves of one panel."""
    for curve in panel.curves:
        draw_runs(ax, curve, thick)
    ax.set(xscale=panel.xscale, xlabel=panel.xlabel)


def draw_runs(ax: Axes, curve: Curve, thick: str) -> None:
    """Draw the runs of a curve, their middle with a marker at each point, and its intervals."""
    x, runs = to_numpy(curve.x), to_numpy(curve.runs)
    for run in runs:
        draw_line(ax, Line("_run", x, run, curve.role, width=THIN))
    draw_line(ax, Line(curve.label, x, THICK[thick](runs, 0), curve.role, "o"))
    if curve.interval is not None:
        for place, ends in zip(x, to_numpy(curve.interval).T, strict=True):
            look = {"color": ROLES[curve.role]["color"], "linewidth": 1, "label": "_interval"}
            ax.plot([place, place], ends, marker="_", markersize=2 * CAP, **look)


def require_thick(thick: Any) -> None:
    """Refuse what no thick line can show."""
    if thick not in THICK:
        raise ValueError(f"thick must be one of {sorted(THICK)}; it is {thick!r}")


def require_panels(panels: Any, yscale: Any, ylim: Any) -> None:
    """Refuse what is no list of panels that could be drawn."""
    if not isinstance(panels, list | tuple) or isinstance(panels, Panel) or not panels:
        raise ValueError(f"panels must be a list of at least one Panel; got {panels!r}")
    for panel in panels:
        require_panel(panel, yscale, ylim)


def require_panel(panel: Panel, yscale: Any, ylim: Any) -> None:
    """Refuse a panel that says nothing, or whose curves do not fit together."""
    if not isinstance(panel, Panel):
        raise TypeError(f"panels must hold Panel(name, xlabel, curves); one is {panel!r}")
    require_text("xlabel", panel.xlabel)
    require_axes((panel.xscale, yscale), None, ylim)
    if not isinstance(panel.curves, list | tuple) or not panel.curves:
        raise ValueError(f"panel {panel.name!r} must have at least one Curve; it has none")
    for curve in panel.curves:
        if not isinstance(curve, Curve):
            raise TypeError(f"panel {panel.name!r} must hold Curves; one is {curve!r}")
        require_curve(curve)


def require_curve(curve: Curve) -> None:
    """Refuse runs or intervals that are not of this x."""
    x, runs = np.shape(to_numpy(curve.x)), np.shape(to_numpy(curve.runs))
    if len(x) != 1 or len(runs) != 2 or not runs[0] or runs[1:] != x:
        raise ValueError(f"curve {curve.label!r}: runs {runs} must be (n_runs, n) for an x of {x}")
    if curve.interval is not None and np.shape(to_numpy(curve.interval)) != (2, *x):
        given = np.shape(to_numpy(curve.interval))
        raise ValueError(f"curve {curve.label!r}: its interval {given} must be (2, n), for {x}")
