"""Figures made of cells: a matrix as a map, its zero always in the middle of the colours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mamba_edu.figures.require import is_finite, require_text
from mamba_edu.figures.style import styled, to_numpy


def read_grids(maps: Sequence[tuple[str, Any]]) -> list[tuple[str, np.ndarray]]:
    """Turn what is to be drawn into labelled real matrices, or say why one is none."""
    if not isinstance(maps, list | tuple) or not maps:
        raise ValueError(f"maps must be a list of at least one (label, values); got {maps!r}")
    for pair in maps:
        if not isinstance(pair, list | tuple) or len(pair) != 2 or not isinstance(pair[0], str):
            raise TypeError(f"maps must hold pairs (label, values); one is {pair!r}")
    grids = [(label, to_numpy(values)) for label, values in maps]
    for label, grid in grids:
        is_real = grid.dtype.kind in "biuf" and grid.ndim == 2
        if not is_real or not np.isfinite(grid).any():
            raise ValueError(
                f"map {label!r} must be a real matrix with finite values; "
                f"it is {grid.dtype} {grid.shape}"
            )
    return grids


def choose_reach(grids: list[tuple[str, np.ndarray]], reach: float | None) -> float:
    """Take the reach that was asked for, or the largest size of all finite values."""
    if reach is None:
        return max(float(np.abs(grid[np.isfinite(grid)]).max()) for _, grid in grids) or 1.0
    if not is_finite(reach) or not reach > 0:
        raise ValueError(f"reach must be a finite number above 0; got {reach!r}")
    return reach


@styled
def draw_maps(
    maps: Sequence[tuple[str, Any]],
    title: str,
    xlabel: str,
    ylabel: str,
    bar: str,
    reach: float | None = None,
) -> Figure:
    """Draw one or several matrices side by side, in one scale of colours.

    Blue is negative, white is 0, red is positive; what is not a number stays blank.

    Args:
        maps: (label, values), the values (rows, columns); row 0 is drawn on top.
        title: the finding, in words.
        xlabel, ylabel: what a column and a row are: word, symbol, unit.
        bar: what the colour means: word, symbol, unit.
        reach: the size at which the colours end; by default the largest one of the values.

    Raises:
        TypeError: if one of the maps is no pair of a label and values.
        ValueError: if there is no map, one is not a real matrix with a finite value, words are
            missing, or `reach` is not above 0.
    """
    grids = read_grids(maps)
    for name, words in (("title", title), ("xlabel", xlabel), ("ylabel", ylabel), ("bar", bar)):
        require_text(name, words)
    reach = choose_reach(grids, reach)
    look = {"cmap": "RdBu_r", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
    fig = Figure(layout="constrained")
    axes = fig.subplots(1, len(grids), squeeze=False)[0]
    for ax, (label, grid) in zip(axes, grids, strict=True):
        square = 0.5 < grid.shape[0] / grid.shape[1] < 2  # a flat one would be a thin strip
        image = ax.imshow(grid, label=label, aspect="equal" if square else "auto", **look)
        ax.set(xlabel=xlabel, title=label if len(grids) > 1 else "")
        ax.locator_params(nbins=5, integer=True)
    axes[0].set_ylabel(ylabel)
    fig.colorbar(image, ax=axes, label=bar)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig
