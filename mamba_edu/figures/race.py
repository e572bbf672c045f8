"""The still form of the race: what each lane holds after a round, and how much a round does."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure

from mamba_edu.figures.require import require_text
from mamba_edu.figures.style import ROLES, styled

NOTHING, OWN, PART, DONE = range(4)
PAINTS = ListedColormap(["#FFFFFF", "#B0B0B0", "#8CC3E6", "#0072B2"])


@styled
def draw_race(
    names: Sequence[str],
    counts: Sequence[Sequence[int]],
    grids: Sequence[np.ndarray],
    number: int,
    title: str,
) -> Figure:
    """Draw lanes side by side: which tokens each cell covers, and the operations of each round.

    Args:
        names: of the lanes.
        counts: how many operations each lane does in each round.
        grids: what each lane's cells cover after a round, (cell, token), of NOTHING, OWN (its own
            step alone), PART (some of the tokens before it too) and DONE (all of them).
        number: that round; the bars up to it are dark.
        title: the finding, in words.

    Raises:
        ValueError: if there is not one name, list of counts and square grid a lane, or no title.
    """
    require_text("title", title)
    require_lanes(names, counts, grids)
    fig = Figure(layout="constrained", figsize=(6.4, 3.9))
    tops, bottoms = fig.subplots(2, len(names), squeeze=False, sharey="row", height_ratios=(2, 1))
    reach = max(map(len, counts)) + 0.6
    for ax, name, grid, below, done in zip(tops, names, grids, bottoms, counts, strict=True):
        ax.imshow(grid, label=name, cmap=PAINTS, vmin=0, vmax=3, interpolation="nearest")
        counted = f"{name}\n{len(done)} rounds, {sum(done)} operations"
        ax.set_title(counted, fontsize=9, fontweight="normal")
        ax.set(xlabel="token", xticks=range(0, len(grid), 5), yticks=range(0, len(grid), 5))
        draw_rounds(below, done, number, reach)
    words = f"after round {number}\ngrey: own step\npale: a part\ndark: ready"
    tops[0].text(0.98, 0.98, words, ha="right", va="top", transform=tops[0].transAxes, fontsize=9)
    tops[0].set_ylabel("cell")
    bottoms[0].set_ylim(0, 1.1 * max(max(done, default=1) for done in counts))
    bottoms[0].set_ylabel("operations")
    fig.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold")
    return fig


def require_lanes(
    names: Sequence[str], counts: Sequence[Sequence[int]], grids: Sequence[np.ndarray]
) -> None:
    """Refuse lanes that lack their name, their counts or a square grid."""
    is_square = all(grid.ndim == 2 and grid.shape[0] == grid.shape[1] for grid in grids)
    if not names or not len(names) == len(counts) == len(grids) or not is_square:
        raise ValueError(
            "names, counts and grids must hold one entry a lane, the grids square; there are "
            f"{len(names)}, {len(counts)} and {[grid.shape for grid in grids]}"
        )


def draw_rounds(ax: Axes, counts: Sequence[int], number: int, reach: float) -> None:
    """Draw a bar a round, the rounds to come pale."""
    rounds = np.arange(1, len(counts) + 1)
    colour = ROLES["state"]["color"]
    paints = [colour if round_ <= number else "#8CC3E6" for round_ in rounds]
    ax.vlines(rounds, 0, counts, paints, linewidth=4)
    ax.plot(rounds, counts, label="operations", linewidth=0, marker="")
    ax.set(xlim=(0.4, reach), xlabel="round")
    ax.locator_params(nbins=4, integer=True)
