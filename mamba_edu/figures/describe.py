"""Say in words what a figure really holds, read back from its artists."""

import math
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure


def describe_drawing(fig: Figure) -> str:
    """List what a figure draws, in numbers, so that a stored text tests the picture.

    One line of text per labelled line or image: its number of points, where x runs, first and
    last value, extremes and mean, to three digits. A figure that draws other data says other words.
    """
    said = []
    for ax in fig.axes:
        said += [describe_line(ax, line) for line in ax.lines if line.get_label()[0] != "_"]
        for image in ax.images:
            said.append(describe_values(image.get_label(), np.asarray(image.get_array(), float)))
    return "\n".join(said)


def describe_line(ax: Axes, line) -> str:
    """Sum up one line: its x range, then its values."""
    x, y = np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)
    say = choose_format(x, ax.get_xscale())
    span = f", x {say(x[0])} to {say(x[-1])}" if len(x) else ""
    return describe_values(line.get_label(), y, ax.get_yscale()) + span


def describe_values(label: str, values: np.ndarray, scale: str = "linear") -> str:
    """Sum up one drawn array: shape, ends, extremes, mean."""
    good = values[np.isfinite(values)]
    size = " x ".join(str(n) for n in values.shape)
    if not len(good):
        return f"[drawn] {label}: {size} points, none finite"
    say = choose_format(good, scale)
    missing = "" if good.size == values.size else f", {values.size - good.size} not finite"
    return (
        f"[drawn] {label}: {size} points{missing}, {say(good[0])} to {say(good[-1])}; "
        f"lowest {say(good.min())}, highest {say(good.max())}, mean {say(good.mean())}"
    )


def choose_format(values: np.ndarray, scale: str = "linear") -> Callable[[float], str]:
    """Choose a format that keeps three digits of the data's span and has no minus zero."""
    span = float(np.ptp(values)) or float(np.abs(values).max()) or 1.0
    decimals = max(0, 2 - math.floor(math.log10(span)))
    if scale != "linear" or decimals > 6 or span >= 1e6:
        return lambda value: f"{value:.2e}"
    return lambda value: f"{round(float(value), decimals) + 0.0:.{decimals}f}"
