"""Figures made of lines: signals over time, kernels, errors, and the path of a complex state."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

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
        ValueError: if there is no line, or a line's x and y differ in shape.
    """
    if not lines:
        raise ValueError("lines must hold at least one Line; it is empty")
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


@styled
def draw_phase(t: Any, h: Any, title: str, reach: float | None = None) -> Figure:
    """Draw a complex state twice: its path in the plane, and its two parts over time.

    Args:
        t: times, shape (length,).
        h: complex states, shape (length,).
        title: the finding, in words.
        reach: half the side of the plane shown; by default what the path needs.
    """
    t, h = to_numpy(t), to_numpy(h)
    if t.shape != h.shape or h.ndim != 1 or not len(h):
        raise ValueError(f"t {t.shape} and h {h.shape} must be equal, 1-d and not empty")
    reach = float(reach or 1.1 * np.abs(h).max() or 1.0)
    fig = Figure(layout="constrained")
    plane, time = fig.subplots(1, 2, width_ratios=(1, 1.45))
    plane.plot(h.real, h.imag, label="path", marker=".", **ROLES["state"])
    plane.plot(h.real[:1], h.imag[:1], label="start", marker="o", markersize=8, color="#0072B2")
    plane.set(xlim=(-reach, reach), ylim=(-reach, reach), aspect="equal")
    plane.set(xlabel="Re h", ylabel="Im h")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    time.plot(t, h.real, label="Re h", **ROLES["state"])
    time.plot(t, h.imag, label="Im h", **ROLES["output"])
    time.set(ylim=(-reach, reach), xlabel="time t (steps)", ylabel="state h")
    label_lines(time)
    return fig
