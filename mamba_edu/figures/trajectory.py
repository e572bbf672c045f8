"""The still form of the hidden-state explorer: step sizes, states and what is left of a token."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from mamba_edu.figures.maps import choose_reach
from mamba_edu.figures.require import require_text
from mamba_edu.figures.style import ROLES, styled, to_numpy


@styled
def draw_trajectory(
    t: Any,
    delta: Any,
    states: Any,
    last: Any,
    title: str,
    ylabel: str,
    mark: tuple[float, str] | None = None,
) -> Figure:
    """Draw one channel over time: its step sizes, its states as a map, and one line below.

    Blue states are negative, white are 0, red positive; what is not a number stays blank.

    Args:
        t: times, (length,).
        delta: step sizes, (length,).
        states: (length, d_state); the first state is drawn on top.
        last: the line below, (length,): the output, or how much of a token is left.
        title: the finding, in words.
        ylabel: what the line below is.
        mark: a time at which an upright line stands, and its words.

    Raises:
        TypeError: if something is not of real numbers.
        ValueError: if lengths differ or are 0, or words are missing.
    """
    times, steps, line, states = (to_numpy(values) for values in (t, delta, last, states))
    require_tokens(states, t=times, delta=steps, last=line)
    require_text("title", title)
    require_text("ylabel", ylabel)
    fig = Figure(layout="constrained", figsize=(6.4, 3.8))
    top, middle, bottom = fig.subplots(3, 1, sharex=True, height_ratios=(1, 2.2, 1.2))
    draw_bars(top, times, steps)
    draw_states(fig, middle, times, states)
    role = "output" if ylabel.startswith("output") else "state"
    bottom.plot(times, line, label=ylabel, **ROLES[role])
    bottom.set(ylabel=ylabel, xlabel="token t")
    if mark is not None:
        mark_token(top, (top, middle, bottom), *mark)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def require_tokens(states: np.ndarray, **arrays: np.ndarray) -> None:
    """Refuse what is not one row a token, or not of real numbers."""
    for name, array in {**arrays, "states": states}.items():
        if array.dtype.kind not in "biuf":
            raise TypeError(f"{name} must be real numbers; got {array.dtype}")
    shapes = {name: array.shape for name, array in arrays.items()}
    length = len(arrays["t"]) if arrays["t"].ndim else 0
    is_row = all(shape == (length,) for shape in shapes.values())
    if not length or not is_row or states.ndim != 2 or len(states) != length or not states.size:
        raise ValueError(
            f"t, delta and last must have one number a token and states one row; got {shapes} "
            f"and states {states.shape}"
        )


def choose_width(length: int) -> float:
    """Choose how wide a bar is drawn, in points, so that all of them fit side by side."""
    return float(np.clip(300 / length, 0.6, 8.0))


def draw_bars(ax: Axes, times: np.ndarray, steps: np.ndarray) -> None:
    """Draw each step size as a bar; the line that holds the same numbers is not seen."""
    ax.vlines(times, 0, steps, color=ROLES["delta"]["color"], linewidth=choose_width(len(times)))
    ax.plot(times, steps, label="step size", linewidth=0, marker="")
    ax.set(ylabel="step Δ", ylim=(0, None))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))  # the panels below share it


def draw_states(fig: Figure, ax: Axes, times: np.ndarray, states: np.ndarray) -> None:
    """Draw the states as a map, its zero in the middle of the colours."""
    is_number = np.isfinite(states)
    reach = choose_reach([("states", states)], None) if is_number.any() else 1.0
    look = {"cmap": "RdBu_r", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
    extent = (times[0] - 0.5, times[-1] + 0.5, states.shape[1] + 0.5, 0.5)
    grid = np.where(is_number, states, np.nan).T
    image = ax.imshow(grid, label="state h", aspect="auto", extent=extent, **look)
    ax.set(ylabel="state h")
    ax.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True, min_n_ticks=1))
    fig.colorbar(image, ax=ax, pad=0.01)


def mark_token(top: Axes, axes: tuple[Axes, ...], t: float, words: str) -> None:
    """Draw a thin upright line through all panels, its words at the top."""
    for ax in axes:
        ax.axvline(t, color="#444444", linewidth=0.8, linestyle=":", label="_mark")
    place = {"xy": (t, 0.97), "xycoords": ("data", "axes fraction"), "va": "top", "fontsize": 9}
    top.annotate(words, xytext=(4, 0), textcoords="offset points", **place)
