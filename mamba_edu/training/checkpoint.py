"""Trained classifiers in files: safetensors only, with the sizes that they were made with."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save

from mamba_edu._checks import check_finite
from mamba_edu._files import replace_file
from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import N_FILLERS, sample_needle
from mamba_edu.training.loop import train

NEEDLE = Path(__file__).parents[1] / "results" / "needle_cls_last.safetensors"
N_CLASSES = 8
SIZES = {"n_classes": N_CLASSES, "n_symbols": N_CLASSES + N_FILLERS, "readout": "cls_last"}


def save_checkpoint(model: SequenceClassifier, sizes: dict[str, object], path: str | Path) -> None:
    """Save a classifier with the sizes that it is made of.

    Args:
        model: the classifier.
        sizes: the keyword arguments of SequenceClassifier that it was made with, the read-out by
            its name in READOUTS; what JSON can hold.
        path: the file; one that is there is replaced once the new one is whole.

    Raises:
        TypeError: if the model is no SequenceClassifier.
        ValueError: if a weight is not finite, or the sizes are not the model's own: it could not
            be loaded again.
        OSError: if the file cannot be written.
    """
    if not isinstance(model, SequenceClassifier):
        raise TypeError(f"model must be a SequenceClassifier; its type is {type(model).__name__}")
    weights = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    told = _fill(sizes, weights, "the sizes given").readout
    if repr(told) != repr(model.readout):
        raise ValueError(
            f"the sizes given must name the model's own read-out, {model.readout}; they name {told}"
        )
    replace_file(Path(path), save(weights, {"sizes": json.dumps(sizes)}))


def load_checkpoint(path: str | Path) -> SequenceClassifier:
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
    return _fill(sizes, weights, path.name)


def load_needle() -> SequenceClassifier:
    """Load the classifier that the course ships: it finds the needle, reading CLS at the end.

    One layer, trained by train_needle with seed 0; `python -m mamba_edu.training` trains and
    stores it anew.

    Raises: as load_checkpoint.
    """
    return load_checkpoint(NEEDLE)


def train_needle(seed: int = 0, **plan: object) -> SequenceClassifier:
    """Train a classifier to find the needle, by the usual curriculum, reading CLS at the end.

    Args:
        seed: of its start and of the sequences.
        plan: keyword arguments of train, for another plan than the usual one.

    Returns:
        The model, ready for use.

    Raises: as train.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SequenceClassifier(**SIZES)
    train(model, sample_needle, seed=seed, **plan)
    return model.eval()


def _fill(sizes: dict[str, object], weights: dict, name: str) -> SequenceClassifier:
    """Build a classifier and give it its weights, or say whose sizes and weights disagree."""
    check_finite(**weights)
    try:
        with torch.random.fork_rng(devices=[]):
            model = SequenceClassifier(**sizes | {"readout": sizes["readout"]})
        model.load_state_dict(weights)
    except (KeyError, TypeError, RuntimeError, ValueError) as error:
        raise ValueError(f"{name} must be those of a classifier and its weights: {error}") from None
    return model.eval()
