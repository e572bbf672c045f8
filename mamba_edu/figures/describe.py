"""Say in words what a figure really holds, read back from its artists."""

import math
from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from mamba_edu.figures.require import require_figure


def describe_drawing(fig: Figure) -> str:
    """List what a figure draws, in numbers, so that a stored text tests the picture.

    One line of text per labelled line or image: its number of points, where x runs, first and
    last value, extremes and mean, to three digits; the lines without a label together. Other
    data give other words, unless they share all of these.

    Raises:
        TypeError: if `fig` is not a Figure.
    """
    require_figure(fig)
    said = []
    for ax in fig.axes:
        said += [describe_line(ax, line) for line in ax.lines if is_labelled(line)]
        said += describe_unlabelled(ax)
        for image in ax.images:
            said.append(describe_values(image.get_label(), read_numbers(image.get_array())))
    return "\n".join(said)


def is_labelled(artist) -> bool:
    """Tell whether an artist has a name of its own; matplotlib's begin with `_`."""
    return bool(artist.get_label()) and not artist.get_label().startswith("_")


def read_numbers(values) -> np.ndarray:
    """Read what an artist holds as floats, NaN where it is masked."""
    return np.ma.asarray(values, dtype=float).filled(np.nan)


def describe_unlabelled(ax: Axes) -> list[str]:
    """Sum up the lines without a label, all together; marks across the axes hold no data."""
    lines = [line for line in ax.lines if not is_labelled(line)]
    lines = [line for line in lines if line.get_transform() == ax.transData]
    if not lines:
        return []
    values = [read_numbers(line.get_ydata(orig=False)) for line in lines]
    label = f"{len(lines)} more lines" if len(lines) > 1 else "1 more line"
    return [describe_values(label, np.concatenate(values), ax.get_yscale())]


def describe_line(ax: Axes, line) -> str:
    """Sum up one line: its values, then where its x runs."""
    x, y = (read_numbers(part) for part in line.get_data(orig=False))
    finite = x[np.isfinite(x)]
    if not len(finite):
        return describe_values(line.get_label(), y, ax.get_yscale())
    say = choose_format(finite, ax.get_xscale())
    span = f", x {say(finite[0])} to {say(finite[-1])}"
    return describe_values(line.get_label(), y, ax.get_yscale()) + span


def describe_values(label: str, values: np.ndarray, scale: str = "linear") -> str:
    """Sum up one drawn array: shape, ends, extremes, mean."""
    good = values[np.isfinite(values)]
    size = " x ".join(str(n) for n in values.shape)
    if not len(good):
        return f"[drawn] {label}: {size} points, none finite"
    with np.errstate(over="ignore"):  # a state that grew to the last double has no finite span
        say, mean = choose_format(good, scale), good.mean()
    missing = "" if good.size == values.size else f", {values.size - good.size} not finite"
    return (
        f"[drawn] {label}: {size} points{missing}, {say(good[0])} to {say(good[-1])}; "
        f"lowest {say(good.min())}, highest {say(good.max())}, mean {say(mean)}"
    )


def choose_format(values: np.ndarray, scale: str = "linear") -> Callable[[float], str]:
    """Choose a format that keeps three digits of the data's span and has no minus zero.

    What lies below those digits, such as the mean of what cancels, hangs on the machine.
    """
    span = float(np.ptp(values)) or float(np.abs(values).max()) or 1.0
    span *= 1 + 1e-9  # one in the last place must not decide about a digit
    decimals = 2 - math.floor(math.log10(min(span, 1e300)))
    if scale != "linear":
        return lambda value: f"{value + 0.0:.2e}"
    is_plain = decimals <= 6 and span < 1e6
    places = max(0, decimals) if is_plain else decimals
    form = f".{places}f" if is_plain else ".2e"
    return lambda value: f"{round(float(value), places) + 0.0:{form}}"
