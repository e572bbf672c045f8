"""What came of training: an accuracy with its number of sequences, and a word on chance."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from jaxtyping import Bool
from torch import Tensor, nn

from mamba_edu.tasks import Batch
from mamba_edu.training._model import mark_right, read_logits, use_mode
from mamba_edu.training.loop import Step

N_ERRORS = 3  # standard errors; chance alone strays so far once in 370 times


class Score(NamedTuple):
    """The share of sequences that were classified rightly, and how many there were."""

    accuracy: float
    n_sequences: int


def evaluate(model: nn.Module, batches: Batch | Iterable[Batch]) -> Score:
    """Measure the accuracy of a model on one batch or several, without training it.

    A sequence whose logits are not all finite counts as wrong.

    Args:
        model: any module whose forward(inputs, mask) returns logits (batch, n_classes).
        batches: for example a whole split, or as much at a time as memory allows.

    Returns:
        The accuracy and the number of sequences.

    Raises:
        TypeError: if one of the batches is no Batch.
        ValueError: if there is no sequence, or the logits do not fit the classes.
    """
    is_right = mark_sequences(model, batches)
    return Score(int(is_right.sum()) / len(is_right), len(is_right))


def mark_sequences(model: nn.Module, batches: Batch | Iterable[Batch]) -> Bool[Tensor, " batch"]:
    """Mark each sequence that a model classifies rightly, in their order. Else as evaluate."""
    with use_mode(model, is_training=False), torch.no_grad():
        marks = [
            mark_right(read_logits(model, drawn), drawn.target)
            for drawn in ([batches] if isinstance(batches, Batch) else batches)
        ]
    if not sum(map(len, marks)):
        raise ValueError("batches must hold at least one sequence; they hold none")
    return torch.cat(marks)


def describe_training(history: Sequence[Step], chance: float) -> str:
    """Say in words whether training has left chance behind.

    What counts is the last quarter of the steps at the last length, and three standard errors of
    guessing: the words are the same on every machine, though the losses are not.

    Args:
        history: what train returned.
        chance: the accuracy of guessing, as the task's docstring says, between 0 and 1.

    Returns:
        "at chance after 400 steps", "above chance after ...", "below chance after ..." for a model
        that is wrong too often for guessing, or "not finite after ..." for a loss that is no
        number.

    Raises:
        ValueError: if the history is empty or chance out of range.
    """
    if not history:
        raise ValueError("history must hold at least one Step; it is empty")
    if not 0 < chance < 1:
        raise ValueError(f"chance must be between 0 and 1; it is {chance}")
    after = f"after {len(history)} step{'s' if len(history) > 1 else ''}"
    if not math.isfinite(history[-1].loss):
        return f"not finite {after}"
    longest = [step for step in history if step.length == history[-1].length]
    last = longest[-math.ceil(len(longest) / 4) :]
    n_sequences = sum(step.n_sequences for step in last)
    accuracy = sum(step.accuracy * step.n_sequences for step in last) / n_sequences
    margin = N_ERRORS * math.sqrt(chance * (1 - chance) / n_sequences)
    if abs(accuracy - chance) <= margin:
        return f"at chance {after}"
    return f"{'above' if accuracy > chance else 'below'} chance {after}"
