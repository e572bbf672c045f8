"""A stream that outlives its process: its state in a file, whole or not at all."""

import hashlib
from functools import partial
from pathlib import Path
from typing import Any

import torch
from jaxtyping import Float, Int
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_finite
from mamba_edu._files import replace_file
from mamba_edu.models._states import gather_state, name_tensors, start_state
from mamba_edu.models.classifier import SequenceClassifier
from mamba_edu.models.streaming import StreamState

KIND = "the state of a stream"


def save_state(state: StreamState, model: SequenceClassifier, path: str | Path) -> None:
    """Save what a stream has left behind, so that another process can go on.

    Args:
        state: as SequenceClassifier.stream returns it.
        model: the classifier that left it. A fingerprint in the file tells it: its weights, its
            read-out and the step rules of its blocks, those on top among them. A function is told
            by its name and a partial's arguments, not by its code.
        path: the file; one that is there is replaced once the new one is whole.

    Raises:
        TypeError: if the state is no StreamState.
        ValueError: if a number of it is not finite.
        OSError: if the file cannot be written.
    """
    if not isinstance(state, StreamState):
        raise TypeError(f"state must be a StreamState; its type is {type(state).__name__}")
    named = {name: tensor.detach().clone() for name, tensor in name_tensors(state).items()}
    check_finite(**named)
    replace_file(Path(path), save(named, {"holds": KIND, "model": _take_fingerprint(model)}))


def load_state(model: SequenceClassifier, path: str | Path) -> StreamState:
    """Load what a stream has left behind, for the model that left it.

    Args:
        model: the classifier that is to go on.
        path: a file of save_state.

    Raises:
        FileNotFoundError: if there is no such file.
        ValueError: if it is broken, holds something else, or a model of another fingerprint left
            it.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"path must be a state that was saved; there is no {path.name}")
    try:
        with safe_open(path, "pt") as file:
            told = file.metadata() or {}
        named = load_file(path)
    except SafetensorError as error:
        raise ValueError(f"{path.name} must be a whole safetensors file: {error}") from None
    if told.get("holds") != KIND:
        raise ValueError(f"{path.name} must hold {KIND}; it holds {sorted(named)[:3]}")
    if told.get("model") != _take_fingerprint(model):
        raise ValueError(
            f"{path.name} must be of this model; one of other weights, another read-out or another "
            "step rule left it"
        )
    try:
        return gather_state(named)
    except KeyError as error:
        raise ValueError(f"{path.name} must hold {KIND}; it lacks {error}") from None


@torch.no_grad()
def resume_stream(
    model: SequenceClassifier,
    inputs: Int[Tensor, "batch length"] | Float[Tensor, "batch length d_in"],
    path: str | Path,
    piece: int = 2**16,
) -> Float[Tensor, "batch n_classes"]:
    """Compute the logits of long sequences, from where a process was stopped, if one was.

    After each piece the state is saved. Stopped anywhere, the same call goes on behind the last
    piece that was saved and gives the same answer, up to rounding.

    Args:
        model: a classifier that can stream.
        inputs: one long tensor, the same as before.
        path: where the state is kept; from nothing if there is no such file.
        piece: tokens between two savings; the same as before.

    Raises:
        TypeError: as SequenceClassifier.stream.
        ValueError: as SequenceClassifier.stream and load_state; or if the state has read another
            number of tokens than whole pieces of these inputs.
        OSError: if the file cannot be written.
    """
    check_counts(1, piece=piece)
    state = load_state(model, path) if Path(path).is_file() else start_state(model, inputs)
    n_read, length = set(state.n_real.tolist()), inputs.shape[1]
    begin = max(n_read)
    fits = len(n_read) == 1 and len(state.n_real) == len(inputs) and begin <= length
    if not fits or (begin % piece and begin < length):
        raise ValueError(
            f"{Path(path).name} must have read whole pieces of {piece} of {tuple(inputs.shape)} "
            f"inputs; it has read {sorted(n_read)} of {len(state.n_real)} sequences"
        )
    for t in range(begin, length, piece):
        _, state = model.stream(inputs[:, t : t + piece], state=state, return_state=True)
        save_state(state, model, path)
    return model.stream(inputs[:, :0], state=state)


def _take_fingerprint(model: SequenceClassifier) -> str:
    """Compute what tells a model from others: the SHA-256 of weights, read-out and step rules."""
    weights = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    rules = {
        name: _tell(block.step_rule)
        for name, block in model.named_modules()
        if hasattr(block, "step_rule")
    }
    told = hashlib.sha256(save(weights))
    told.update(repr((_tell(model.readout), rules)).encode())
    return told.hexdigest()


def _tell(value: Any) -> Any:
    """Tell a rule or a read-out by its type or name and by the numbers that it holds."""
    if isinstance(value, bool | int | float | str | None):
        return value
    if isinstance(value, list | tuple):
        return [_tell(each) for each in value]
    if isinstance(value, dict):
        return {str(name): _tell(value[name]) for name in sorted(value, key=str)}
    if isinstance(value, partial):
        return ["partial", *map(_tell, (value.func, value.args, value.keywords))]
    if isinstance(value, Tensor):
        return value.tolist()
    kind = type(value)
    if hasattr(value, "__qualname__"):  # a function or a class
        return [value.__module__, value.__qualname__]
    held = {name: each for name, each in getattr(value, "__dict__", {}).items() if name[0] != "_"}
    held.pop("training", None)
    children = dict(value.named_children()) if isinstance(value, nn.Module) else {}
    return [kind.__module__, kind.__qualname__, _tell(held | children)]
