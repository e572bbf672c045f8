"""The still form of the lens: what reaches CLS at one place, and at every place."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from mamba_edu.figures.require import require_text
from mamba_edu.figures.style import ROLES, styled, to_numpy

MOST_CIRCLES = 40  # tokens: beyond that a circle a cell would be a blur
MOST_LETTERS = 60  # of all labels together, on one line


@styled
def draw_lens(influence: Any, position: int, labels: Sequence[str], title: str) -> Figure:
    """Draw how strongly each token reaches CLS: bars for one place of CLS, a map for all.

    Both have the columns of the sequence with CLS in it. What is exactly 0 is a hollow circle.

    Args:
        influence: (length + 1, length), one row for each number of tokens before CLS.
        position: the row that is drawn as bars.
        labels: a text for each token; empty ones are not written.
        title: the finding, in words.

    Raises:
        TypeError: if the influence is not of real numbers.
        ValueError: if shapes disagree, a size is negative or not finite, there is no such row or
            no title.
    """
    sizes = to_numpy(influence)
    require_sizes(sizes, position, labels)
    require_text("title", title)
    floor, top = find_range(sizes)
    fig = Figure(layout="constrained", figsize=(6.4, 4.4))
    above, below = fig.subplots(2, 1, height_ratios=(1, 1.6))
    draw_sizes(above, sizes[position], position, labels, floor)
    above.set(yscale="log", ylim=(floor / 2, 2 * top), ylabel="influence")
    above.set_xlim(-0.5, len(sizes) - 0.5)
    image = below.imshow(
        np.ma.masked_less_equal(insert_cls(sizes), 0),
        label="influence on CLS",
        cmap="Blues",
        norm=LogNorm(floor / 2, top),
        aspect="auto",
        interpolation="nearest",
    )
    mark_places(below, sizes, position)
    below.set(xlabel="place in the sequence", ylabel="tokens before CLS")
    below.locator_params(nbins=6, integer=True)
    fig.colorbar(image, ax=[above, below], pad=0.01, label="influence")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def require_sizes(sizes: np.ndarray, position: Any, labels: Any) -> None:
    """Refuse what is no map of sizes, or has no such row or label."""
    if sizes.dtype.kind not in "biuf":
        raise TypeError(f"influence must be real numbers; got {sizes.dtype}")
    if sizes.ndim != 2 or not sizes.size or len(sizes) != sizes.shape[1] + 1:
        raise ValueError(f"influence must be (length + 1, length); its shape is {sizes.shape}")
    if not (np.isfinite(sizes) & (sizes >= 0)).all():
        raise ValueError("influence must be finite and at least 0")
    if not isinstance(position, int) or not 0 <= position < len(sizes):
        raise ValueError(f"position must be 0 to {len(sizes) - 1}; got {position!r}")
    if len(labels) != sizes.shape[1]:
        raise ValueError(f"labels must name {sizes.shape[1]} tokens; there are {len(labels)}")


def find_range(sizes: np.ndarray) -> tuple[float, float]:
    """Find the smallest and largest size above 0."""
    above = sizes[sizes > 0].astype(float)
    return (float(above.min()), float(above.max())) if above.size else (0.1, 1.0)


def insert_cls(sizes: np.ndarray) -> np.ndarray:
    """Put a column of CLS into each row, where it stands; NaN there."""
    n_places, length = sizes.shape
    grid = np.full((n_places, length + 1), np.nan)
    columns = np.arange(length) + (np.arange(length) >= np.arange(n_places)[:, None])
    np.put_along_axis(grid, columns, sizes, axis=1)
    return grid


def draw_sizes(
    ax: Axes, row: np.ndarray, position: int, labels: Sequence[str], floor: float
) -> None:
    """Draw one row's sizes, its exact zeros as circles, CLS as a square, and the labels."""
    columns = np.arange(len(row)) + (np.arange(len(row)) >= position)
    is_zero = row == 0
    width = float(np.clip(300 / len(row), 1, 8))
    ax.vlines(columns[~is_zero], floor / 2, row[~is_zero], ROLES["state"]["color"], linewidth=width)
    look = {"linewidth": 0, "clip_on": False}
    low = np.full(len(row), floor / 2)
    ax.plot(columns, np.where(is_zero, np.nan, row), label="influence on CLS", linewidth=0)
    hollow = {"marker": "o", "fillstyle": "none", "color": "#555555", "markersize": 4}
    cls = {"marker": "s", "color": ROLES["cls"]["color"], "markersize": 7}
    ax.plot([position], [floor / 2], label="CLS", **cls, **look)
    if is_zero.any():
        ax.plot(columns[is_zero], low[is_zero], label="exactly 0", **hollow, **look)
        place = {"xytext": (0, 6), "textcoords": "offset points", "ha": "center", "fontsize": 9}
        ax.annotate(
            "exactly 0", (columns[is_zero].mean(), floor / 2), **place, annotation_clip=False
        )
    ax.set_xticks([*columns, position], [*labels, "CLS"], fontsize=9)
    is_short = sum(map(len, labels)) <= MOST_LETTERS
    ax.tick_params(axis="x", length=0, pad=7, labelbottom=is_short)


def mark_places(ax: Axes, sizes: np.ndarray, position: int) -> None:
    """Mark CLS in every row, what is exactly 0, and the row that is drawn above."""
    n_places = len(sizes)
    grid = insert_cls(sizes)
    rows, columns = np.nonzero(grid == 0)
    size = 2.5 if n_places <= MOST_CIRCLES else 0.5
    circles = {"marker": "o", "fillstyle": "none", "color": "#999999", "markersize": size}
    ax.plot(columns, rows, linewidth=0, markeredgewidth=0.6, **circles, label="_zero")
    places = np.arange(n_places)
    cls = {"marker": "s", "color": ROLES["cls"]["color"], "markersize": min(4, 160 / n_places)}
    ax.plot(places, places, linewidth=0, **cls, label="_cls")
    ax.add_patch(
        Rectangle((-0.5, position - 0.5), n_places, 1, fill=False, edgecolor="black", linewidth=1.5)
    )
