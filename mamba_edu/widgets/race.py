"""Three scans race over the same tokens: sequential, tree and chunked, round by round."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.figures.race import DONE, NOTHING, OWN, PART, draw_race
from mamba_edu.probes import LANES, Combination, race_scans
from mamba_edu.widgets.canvas import CanvasWidget
from mamba_edu.widgets.sequence import read_labels, read_signal

FEWEST, MOST = 8, 16  # tokens: fewer are no race, more are not told apart on a projector
TITLE = "Fewer rounds or fewer operations?"
CAPTION = (
    "Press Play, or step with → and ←. The loop does the fewest operations in the most rounds. The "
    "tree needs few rounds, but nearly twice the operations, half as many at once as there are "
    "tokens. Chunks are walked twice, with one state for each chunk at once."
)
HOW = {
    "sequential": "one token after the other",
    "tree": "neighbours in pairs, up, then down",
    "chunked": "chunks of {chunk} side by side, then one by one, then again",
}

Rounds = list[list[Combination]]


class ScanRace(CanvasWidget):
    """The loop, the tree and the chunked scan on the same steps, with rounds and work counted.

    The tree is that of scan/parallel.py, Blelloch's, which is efficient in work; the chunks are
    walked as by scan/chunked.py. All pairs are combined by combine_steps, in float64, and all lanes
    must end with the same states.

    Args:
        keep, write: the step of each token, h -> keep h + write, (length,), 8 to 16 of them.
        chunk: how many tokens a chunk has.
        caption: what to do and what to see.
        title: what is shown.
        labels: a text for each token; its number if not given.
        start: the round that the reader finds, from 0; all lanes are at the start by default.

    Raises:
        TypeError: if steps are not real numbers, a label is no text, or chunk or start no int.
        ValueError: if lengths disagree, there are too few or too many tokens, a number is not
            finite, the words are missing, or the chunk or the start is out of range.
        ArithmeticError: if the lanes end with different states, as where numbers overflow.
    """

    def __init__(
        self,
        keep: Any,
        write: Any,
        chunk: int = 4,
        *,
        caption: str = CAPTION,
        title: str = TITLE,
        labels: Sequence[str] | None = None,
        start: int = 0,
    ):
        steps = read_steps(keep, write)
        length = steps.shape[1]
        lanes = race_scans(*steps, chunk)
        most = max(map(len, lanes.values()))
        check_counts(0, start=start)
        if start > most:
            raise ValueError(f"start must be a round, 0 to {most}; it is {start}")
        labels = [str(t) for t in range(length)] if labels is None else read_labels(labels, length)
        options = {"title": title, "caption": caption, "labels": labels, "start": start}
        options |= {"lanes": describe_lanes(lanes, chunk), "chunk": chunk, "digits": 12}
        super().__init__("race", code_race(lanes, steps), options, *draw_start(lanes, options))


def read_steps(keep: Any, write: Any) -> Tensor:
    """Read the steps as two rows of float64, or say why they make no race."""
    given = {"keep": read_signal("keep", keep), "write": read_signal("write", write)}
    for name, row in given.items():
        if row.is_complex() or row.ndim != 1 or not FEWEST <= len(row) <= MOST:
            raise ValueError(
                f"{name} must be {FEWEST} to {MOST} real numbers, (length,); its shape is "
                f"{tuple(row.shape)}"
            )
    if len(given["keep"]) != len(given["write"]):
        sizes = [len(row) for row in given.values()]
        raise ValueError(f"keep and write must have one length; they have {sizes}")
    return torch.stack(list(given.values()))


def describe_lanes(lanes: dict[str, Rounds], chunk: int) -> list[dict[str, object]]:
    """List what is said of each lane: its name, how it goes on, its rounds and its operations."""
    return [
        {
            "name": name,
            "how": HOW[name].format(chunk=chunk),
            "rounds": len(rounds),
            "operations": sum(map(len, rounds)),
            "most": max(map(len, rounds), default=0),
        }
        for name, rounds in lanes.items()
    ]


def draw_start(lanes: dict[str, Rounds], options: dict) -> tuple[Figure, str]:
    """Draw how the race stands at its start, or else half way through the shortest lane."""
    length = len(options["labels"])
    shown = options["start"] or min(map(len, lanes.values())) // 2
    counts = [[len(made) for made in rounds] for rounds in lanes.values()]
    grids = [cover_cells(rounds, length, shown) for rounds in lanes.values()]
    fig = draw_race(list(lanes), counts, grids, shown, options["title"])
    return fig, write_race(options, counts, grids, shown)


def cover_cells(rounds: Rounds, length: int, shown: int) -> np.ndarray:
    """Find which tokens each cell covers after a round, and whether it is ready: (cell, token)."""
    last = {one.last: n for n, made in enumerate(rounds, start=1) for one in made}
    grid = np.full((length, length), NOTHING)
    np.fill_diagonal(grid, OWN)
    grid[0, 0] = DONE
    for number, made in enumerate(rounds[:shown], start=1):
        for one in made:
            state = DONE if last[one.last] == number else PART
            grid[one.last, one.first : one.last + 1] = state
    return grid


def write_race(options: dict, counts: list[list[int]], grids: list[np.ndarray], shown: int) -> str:
    """Say in words what the still picture shows, with its numbers."""
    length = len(options["labels"])
    said = [f"{options['title']} {length} tokens, chunks of {options['chunk']}."]
    for lane, done in zip(options["lanes"], counts, strict=True):
        said.append(
            f"{lane['name'].capitalize()}: {sum(done)} operations in {len(done)} rounds, at most "
            f"{lane['most']} at once."
        )
    ready = [int((np.diag(grid) == DONE).sum()) for grid in grids]
    names = ", ".join(f"{n} {name}" for n, name in zip(ready, LANES, strict=True))
    said.append(f"States ready after round {shown}: {names}.")
    return " ".join(said) + " All three end with the same states."


def code_race(lanes: dict[str, Rounds], steps: Tensor) -> dict[str, np.ndarray]:
    """Write all combinations as the arrays that the front end reads, in the order of the rounds."""
    rows = [
        (lane, number, one)
        for lane, rounds in enumerate(lanes.values())
        for number, made in enumerate(rounds, start=1)
        for one in made
    ]
    spans = [(lane, number, one.first, one.split, one.last) for lane, number, one in rows]
    return {
        "spans": np.array(spans, dtype=np.uint16),
        "values": np.array([(one.keep, one.write) for *_, one in rows], dtype=np.float32),
        "steps": steps.T.float().numpy(),
    }


def explore_race(length: int = 16, chunk: int = 4, **words: Any) -> ScanRace:
    """Make a race over the steps of one state of a selective scan, always the same ones.

    Args:
        length: how many tokens, 8 to 16.
        chunk: how many tokens a chunk has.
        words: title, caption, labels and start, as ScanRace takes them.

    Raises: as ScanRace.
    """
    check_counts(1, length=length)
    rng = torch.Generator().manual_seed(0)
    delta = 0.1 + torch.rand(length, generator=rng, dtype=torch.float64)
    x = torch.randn(length, generator=rng, dtype=torch.float64)
    return ScanRace(torch.exp(-delta), delta * x, chunk, **words)
