"""Trained classifiers in files: safetensors only, with the sizes that they were made with."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

from mamba_edu._checks import check_finite
from mamba_edu._files import replace_file
from mamba_edu.models import SequenceClassifier, TransformerClassifier
from mamba_edu.tasks import N_FILLERS, sample_needle
from mamba_edu.training.loop import train

Classifier = SequenceClassifier | TransformerClassifier

RESULTS = Path(__file__).parents[1] / "results"
N_CLASSES = 8
SIZES = {"n_classes": N_CLASSES, "n_symbols": N_CLASSES + N_FILLERS, "readout": "cls_last"}
ONE_HOP = SIZES | {"n_layers": 1, "n_heads": 1, "rotary": False}
UNSAID = "SequenceClassifier"  # what a file without a kind holds
KINDS = {kind.__name__: kind for kind in (SequenceClassifier, TransformerClassifier)}
NEEDLES = {  # what its blocks are -> the file, the model, its sizes
    "mamba": (RESULTS / "needle_cls_last.safetensors", SequenceClassifier, SIZES),
    "attention": (RESULTS / "needle_attention.safetensors", TransformerClassifier, ONE_HOP),
}


def save_checkpoint(model: Classifier, sizes: dict[str, object], path: str | Path) -> None:
    """Save a classifier with the sizes that it is made of.

    Args:
        model: the classifier.
        sizes: the keyword arguments of its class that it was made with, the read-out by its name
            in READOUTS; what JSON can hold.
        path: the file; one that is there is replaced once the new one is whole.

    Raises:
        TypeError: if the model is neither a SequenceClassifier nor a TransformerClassifier.
        ValueError: if a weight is not finite, or the sizes are not the model's own: it could not
            be loaded again.
        OSError: if the file cannot be written.
    """
    kind = type(model).__name__
    if kind not in KINDS:
        raise TypeError(f"model must be a {' or a '.join(KINDS)}; its type is {kind}")
    weights = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    told = _fill(KINDS[kind], sizes, weights, "the sizes given").readout
    if repr(told) != repr(model.readout):
        raise ValueError(
            f"the sizes given must name the model's own read-out, {model.readout}; they name {told}"
        )
    said = sizes if kind == UNSAID else {"kind": kind} | sizes
    replace_file(Path(path), save(weights, {"sizes": json.dumps(said)}))


def load_checkpoint(path: str | Path) -> Classifier:
    """Load a classifier that save_checkpoint saved, ready for use.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is damaged, holds no sizes, or its weights do not fit them or are not
            finite.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a checkpoint; there is no file {path.name}")
    try:
        with safe_open(path, "pt") as file:
            sizes = json.loads((file.metadata() or {}).get("sizes", "null"))
        weights = load_file(path)
    except (SafetensorError, json.JSONDecodeError) as error:
        raise ValueError(f"{path.name} must be a whole safetensors file: {error}") from None
    if not isinstance(sizes, dict):
        raise ValueError(f"{path.name} must hold the sizes of its model; it holds {sizes!r}")
    kind = sizes.pop("kind", UNSAID)
    if kind not in KINDS:
        raise ValueError(f"{path.name} must hold one of {list(KINDS)}; it holds a {kind}")
    return _fill(KINDS[kind], sizes, weights, path.name)


def load_needle(blocks: str = "mamba") -> Classifier:
    """Load a classifier that the course ships: it finds the needle, reading CLS at the end.

    One layer, trained by train_needle with seed 0; `python -m mamba_edu.training` trains and
    stores both anew.

    Args:
        blocks: "mamba", or "attention" for one head that does not know the places of the tokens.

    Raises:
        ValueError: for other blocks, or as load_checkpoint.
        FileNotFoundError: as load_checkpoint.
    """
    return load_checkpoint(_find_needle(blocks)[0])


def train_needle(seed: int = 0, blocks: str = "mamba", **plan: object) -> Classifier:
    """Train a classifier to find the needle, by the usual curriculum, reading CLS at the end.

    Args:
        seed: of its start and of the sequences.
        blocks: as in load_needle.
        plan: keyword arguments of train, for another plan than the usual one.

    Returns:
        The model, ready for use.

    Raises: as train, and a ValueError for other blocks.
    """
    _, kind, sizes = _find_needle(blocks)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = kind(**sizes)
    train(model, sample_needle, seed=seed, **plan)
    return model.eval()


def _find_needle(blocks: str) -> tuple[Path, type[Classifier], dict[str, object]]:
    """Find what is known of a classifier that is shipped."""
    if blocks not in NEEDLES:
        raise ValueError(f"blocks must be one of {list(NEEDLES)}; it is {blocks!r}")
    return NEEDLES[blocks]


def _fill(kind: type[Classifier], sizes: dict[str, object], weights: dict, name: str) -> Classifier:
    """Build a classifier and give it its weights, or say whose sizes and weights disagree."""
    check_finite(**weights)
    try:
        with torch.random.fork_rng(devices=[]):
            model = kind(**sizes | {"readout": sizes["readout"]})
        model.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"{name} must be those of a classifier and its weights: {error}") from None
    return model.eval()
