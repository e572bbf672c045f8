"""Figures made of lines: signals over time, kernels, errors, and the path of a complex state."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mamba_edu.figures.require import is_finite, require_axes, require_text
from mamba_edu.figures.style import ROLES, Line, draw_line, label_lines, styled, to_numpy


@styled
def draw_lines(
    lines: Sequence[Line],
    title: str,
    xlabel: str,
    ylabel: str,
    scales: tuple[str, str] = ("linear", "linear"),
    mark: tuple[float, str] | None = None,
    ylim: tuple[float, float] | None = None,
) -> Figure:
    """Draw labelled lines over one pair of axes.

    Args:
        lines: what to draw; later lines lie on top.
        title: the finding, in words.
        xlabel, ylabel: word, symbol, unit.
        scales: "linear", "log" or "symlog" for x and y.
        mark: an x at which a thin upright line stands, and its words.
        ylim: the lowest and highest y shown.

    Raises:
        TypeError: if a line is no `Line`, or not of real numbers.
        ValueError: if there is no line, a line's x and y are empty or differ in shape, words are
            missing, or scales, mark or ylim cannot be drawn.
    """
    if not isinstance(lines, list | tuple) or isinstance(lines, Line) or not lines:
        raise ValueError(f"lines must be a list of at least one Line; got {lines!r}")
    for name, words in (("title", title), ("xlabel", xlabel), ("ylabel", ylabel)):
        require_text(name, words)
    require_axes(scales, mark, ylim)
    fig = Figure(layout="constrained")
    ax = fig.subplots()
    for line in lines:
        draw_line(ax, line)
    ax.set(xscale=scales[0], yscale=scales[1], title=title, xlabel=xlabel, ylabel=ylabel)
    if ylim is not None:
        ax.set_ylim(*ylim)
    if mark is not None:
        draw_mark(ax, *mark)
    label_lines(ax)
    return fig


def draw_mark(ax: Axes, x: float, words: str) -> None:
    """Draw a thin upright line, and its words beside its top."""
    ax.axvline(x, color="#444444", linewidth=0.8, label="_mark")
    top = {"xy": (x, 0.97), "xycoords": ("data", "axes fraction"), "va": "top", "fontsize": 9}
    ax.annotate(words, xytext=(4, 0), textcoords="offset points", **top)


def require_path(t: np.ndarray, h: np.ndarray) -> None:
    """Refuse times and states that are not numbers, or do not belong together."""
    if t.dtype.kind not in "biuf" or h.dtype.kind not in "biufc":
        raise TypeError(f"t must hold real numbers and h numbers; got {t.dtype} and {h.dtype}")
    if t.shape != h.shape or h.ndim != 1 or not len(h):
        raise ValueError(f"t {t.shape} and h {h.shape} must be equal, 1-d and not empty")


@styled
def draw_phase(t: Any, h: Any, title: str, reach: float | None = None) -> Figure:
    """Draw a complex state twice: its path in the plane, and its two parts over time.

    Args:
        t: times, shape (length,).
        h: complex states, shape (length,).
        title: the finding, in words.
        reach: half the side of the plane shown; by default what the finite states need.

    Raises:
        TypeError: if t is not real, or h holds no numbers.
        ValueError: if t and h are empty or differ in shape, or `reach` is not above 0.
    """
    t, h = to_numpy(t), to_numpy(h)
    require_path(t, h)
    require_text("title", title)
    if reach is None:
        reach = 1.1 * np.abs(h[np.isfinite(h)]).max(initial=0.0) or 1.0
    if not is_finite(reach) or not reach > 0:
        raise ValueError(f"reach must be a finite number above 0; got {reach!r}")
    fig = Figure(layout="constrained")
    plane, time = fig.subplots(1, 2, width_ratios=(1, 1.45))
    plane.plot(h.real, h.imag, label="path", marker=".", **ROLES["state"])
    plane.plot(h.real[:1], h.imag[:1], label="start", marker="o", markersize=8, color="#0072B2")
    plane.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    plane.set(xlabel="Re h", ylabel="Im h")
    plane.locator_params(nbins=4)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    time.plot(t, h.real, label="Re h", **ROLES["state"])
    time.plot(t, h.imag, label="Im h, dashed", **ROLES["state"] | {"linestyle": "--"})
    time.set(ylim=(-reach, reach), xlabel="time t (steps)", ylabel="state h")
    label_lines(time)
    return fig
