"""What a CLS token sees from any place in the sequence: moved by hand, causal or bidirectional."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from mamba_edu.figures.lens import draw_lens
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import measure_influence, open_classifier
from mamba_edu.widgets.canvas import CanvasWidget
from mamba_edu.widgets.sequence import read_labels, read_signal

MOST_TOKENS = 128
DIRECTIONS = ("causal", "bidirectional")
SMALLEST = float(np.finfo(np.float32).tiny)  # what is sent for less, so that it is not taken for 0
FIELDS = ("position", "direction")
TITLE = "What can CLS see?"
CAPTION = (
    "Drag CLS through the sequence, or step it with ← →; then let the blocks read both ways. "
    "Causal blocks let it see only what stands before it: the influence of everything behind it "
    "is exactly 0."
)
SENTENCE = "the needle is in the hay"  # 24 letters and spaces


class ClsLens(CanvasWidget):
    """For each place of CLS how strongly each token reaches it, zeros marked as exact ones.

    Args:
        causal: sizes (length + 1, length) as measure_influence returns them for all positions.
        bidirectional: the same of blocks that read both ways; there is no such view if None.
        caption: what to do and what to see.
        title: what is shown.
        labels: a text for each token; its number if not given.
        start: where the reader finds it: "position" (tokens before CLS; all if not given) and
            "direction" (one of DIRECTIONS).

    Raises:
        TypeError: if sizes are not real numbers, a label is no text or start is no dict.
        ValueError: if a shape is another, there is no token or more than 128, a size is negative
            or not finite, the words are missing, or the start is not in what is shown.
    """

    def __init__(
        self,
        causal: Any,
        bidirectional: Any = None,
        *,
        caption: str = CAPTION,
        title: str = TITLE,
        labels: Sequence[str] | None = None,
        start: dict | None = None,
    ):
        maps = read_maps(causal, bidirectional)
        length = maps["causal"].shape[1]
        labels = [str(s) for s in range(length)] if labels is None else read_labels(labels, length)
        start = find_lens_start(start, list(maps), length)
        options = {"title": title, "caption": caption, "labels": labels, "start": start}
        options["directions"] = list(maps)
        influence = torch.stack(list(maps.values()))
        sent = torch.where(influence > 0, influence.clamp(min=SMALLEST), 0).float().numpy()
        shown, alt = influence[start["direction"]], write_alt(options, influence)
        fig = draw_lens(shown, start["position"], labels, title)
        super().__init__("lens", {"influence": sent}, options, fig, alt)


def read_maps(causal: Any, bidirectional: Any) -> dict[str, Tensor]:
    """Read the maps that are there, by direction; they must have one shape."""
    given = [("causal", causal), ("bidirectional", bidirectional)]
    maps = {name: read_sizes(name, sizes) for name, sizes in given if sizes is not None}
    if "causal" not in maps:
        raise TypeError("causal must hold numbers; got None")
    shapes = [tuple(sizes.shape) for sizes in maps.values()]
    if len(set(shapes)) > 1:
        raise ValueError(f"causal and bidirectional must have one shape; they have {shapes}")
    return maps


def read_sizes(name: str, sizes: Any) -> Tensor:
    """Read one map of sizes in float64, or say what is wrong with it."""
    sizes = read_signal(name, sizes)
    if sizes.ndim != 2 or len(sizes) != sizes.shape[1] + 1:
        raise ValueError(
            f"{name} must be (length + 1, length), a row for each place of CLS; its shape is "
            f"{tuple(sizes.shape)}"
        )
    if not 1 <= sizes.shape[1] <= MOST_TOKENS:
        raise ValueError(f"{name} must have 1 to {MOST_TOKENS} tokens; it has {sizes.shape[1]}")
    if not (sizes.isfinite() & (sizes >= 0)).all():
        p, s = (~(sizes.isfinite() & (sizes >= 0))).nonzero()[0].tolist()
        raise ValueError(
            f"{name} must be finite and at least 0; with {p} tokens before CLS, token {s} has "
            f"{float(sizes[p, s])}"
        )
    return sizes


def find_lens_start(start: dict | None, directions: list[str], length: int) -> dict[str, int]:
    """Turn a start in words into places in what is shown."""
    start = {} if start is None else start
    if not isinstance(start, dict):
        raise TypeError(f"start must be a dict or None; got {start!r}")
    unknown = sorted(set(start) - set(FIELDS))
    if unknown:
        raise ValueError(f"start may hold {FIELDS}; it holds {unknown[0]!r}")
    position = start.get("position", length)
    direction = start.get("direction", directions[0])
    if isinstance(position, bool) or position not in range(length + 1):
        raise ValueError(f"start['position'] must be 0 to {length}; got {position!r}")
    if direction not in directions:
        raise ValueError(f"start['direction'] must be one of {directions}; got {direction!r}")
    return {"position": int(position), "direction": directions.index(direction)}


def write_alt(options: dict, influence: Tensor) -> str:
    """Say in words what the still picture shows, and what the other direction would."""
    position = options["start"]["position"]
    length = influence.shape[2]
    said = [f"{options['title']} CLS behind {position} of {length} tokens."]
    for name, sizes in zip(options["directions"], influence, strict=True):
        n_zero = int((sizes[position] == 0).sum())
        said.append(f"{name.capitalize()}: it sees {length - n_zero}; {n_zero} are exactly 0.")
    row = influence[options["start"]["direction"], position]
    if (row > 0).any():
        best = int(row.argmax())
        said.append(
            f"Shown is {options['directions'][options['start']['direction']]}: the strongest is "
            f"token {best}, {options['labels'][best]!r}, {float(row[best]):.2g}; the weakest not 0 "
            f"{float(row[row > 0].min()):.2g}."
        )
    return " ".join(said)


def explore_cls(
    causal: SequenceClassifier | None = None,
    bidirectional: SequenceClassifier | None = None,
    inputs: Tensor | None = None,
    **words: Any,
) -> ClsLens:
    """Make the lens of one or two classifiers, or of two fresh ones on a short sentence.

    Args:
        causal: a classifier with a CLS token; where it was put for training does not matter here.
        bidirectional: another one that reads both ways; may be left out.
        inputs: one sequence of their inputs: (length,) ids or (length, d_in) numbers.
        words: title, caption, labels and start, as ClsLens takes them.

    Raises: as open_classifier and ClsLens; a TypeError for a classifier without inputs, or inputs
    without a causal one.
    """
    if causal is None and (bidirectional is not None or inputs is not None):
        raise TypeError("causal must be a SequenceClassifier where another one or inputs are given")
    if causal is None:
        causal, bidirectional, inputs = build_fresh()
        words = {"labels": list(SENTENCE.replace(" ", "␣")), "start": {"position": 12}} | words
    if not isinstance(inputs, Tensor):
        raise TypeError(f"inputs must be a torch.Tensor; its type is {type(inputs).__name__}")
    models = [model for model in (causal, bidirectional) if model is not None]
    return ClsLens(*(measure_influence(*open_classifier(m, inputs)) for m in models), **words)


def build_fresh() -> tuple[SequenceClassifier, SequenceClassifier, Tensor]:
    """Build two untrained classifiers, always the same, and the letters of a sentence as ids."""
    ids = torch.tensor([26 if letter == " " else ord(letter) - ord("a") for letter in SENTENCE])
    models = []
    for is_both in (False, True):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            models.append(SequenceClassifier(2, 27, d_model=16, n_layers=2, bidirectional=is_both))
    return (*models, ids)
