"""Figures made of cells: a matrix as a map, its zero always in the middle of the colours."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from mamba_edu.figures.style import styled, to_numpy


def read_grids(maps: Sequence[tuple[str, Any]]) -> list[tuple[str, np.ndarray]]:
    """Turn what is to be drawn into labelled real matrices, or say why one is none."""
    if not maps:
        raise ValueError("maps must hold at least one (label, values); it is empty")
    grids = [(label, to_numpy(values)) for label, values in maps]
    for label, grid in grids:
        if grid.ndim != 2 or np.iscomplexobj(grid) or not np.isfinite(grid).any():
            raise ValueError(
                f"map {label!r} must be a real matrix with finite values; "
                f"it is {grid.dtype} {grid.shape}"
            )
    return grids


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

    Blue is negative, white is 0, red is positive.

    Args:
        maps: (label, values), the values (rows, columns); row 0 is drawn on top.
        title: the finding, in words.
        xlabel, ylabel: what a column and a row are: word, symbol, unit.
        bar: what the colour means: word, symbol, unit.
        reach: the largest size shown; by default that of the values.

    Raises:
        ValueError: if there is no map, or one is not a real matrix with a finite value.
    """
    grids = read_grids(maps)
    reach = reach or max(float(np.nanmax(np.abs(grid))) for _, grid in grids) or 1.0
    look = {"cmap": "RdBu_r", "vmin": -reach, "vmax": reach, "interpolation": "nearest"}
    fig = Figure(layout="constrained")
    axes = fig.subplots(1, len(grids), squeeze=False)[0]
    for ax, (label, grid) in zip(axes, grids, strict=True):
        image = ax.imshow(grid, label=label, **look)
        ax.set(xlabel=xlabel, title=label if len(grids) > 1 else "")
    axes[0].set_ylabel(ylabel)
    fig.colorbar(image, ax=axes, label=bar)
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig
