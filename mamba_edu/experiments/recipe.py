"""The usual cures, each put to the test: behind notebook 10."""

import itertools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from mamba_edu.experiments.block_parts import OURS
from mamba_edu.experiments.readouts import LENGTHS
from mamba_edu.experiments.recipe_parts import FixedRecurrence, pretrain_embedding, start_cls
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import N_SYMBOLS, N_VALUES, sample_needle
from mamba_edu.training import Step, evaluate, train, watch_gradients

N_SEQUENCES, N_FIRST, WINDOW = 256, 10, 10
LEARNED = 0.9
DIGITS = 6
CLIPS = {"clip 1": {}, "no clip": {"clip": None}}
STARTS = {
    "0.02 randn": {},
    "zeros": {"cls_start": "zeros"},
    "randn": {"cls_start": "randn"},
    "10 randn": {"cls_start": "randn x 10"},
    "mean": {"cls_start": "mean"},
    "0.02 randn, pretrained": {"is_pretrained": True},
    "mean, pretrained": {"cls_start": "mean", "is_pretrained": True},
}
RANGES = {
    "0.0001 to 0.001": (1e-4, 1e-3),
    "0.001 to 0.1": (1e-3, 1e-1),
    "0.3 to 1": (0.3, 1.0),
    "3 to 10": (3.0, 10.0),
}


def run_recipe(
    seed: int = 0,
    clip: float | None = 1.0,
    cls_start: str = "ours",
    is_pretrained: bool = False,
    delta_range: tuple[float, float] = OURS,
    rates: str | None = None,
    lengths: Sequence[int] = LENGTHS,
    steps: int = 400,
) -> dict[str, int | float]:
    """Train on the needle task with CLS at the end, and look at the first gradients.

    Args:
        seed: of the start, the training and the test sequences.
        clip: as train takes it.
        cls_start: as start_cls takes it.
        is_pretrained: whether the embedding comes from pretrain_embedding, with the same seed.
        delta_range: shortest and longest step size at the start.
        rates: a FixedRecurrence with these instead of the small model of the course.
        lengths, steps: of training, at least 10 steps.

    Returns:
        accuracy of n_sequences of the last length; what describe_course says of the training.

    Raises:
        ValueError: as train, start_cls and FixedRecurrence.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        embed = pretrain_embedding(seed) if is_pretrained else None
        start = (embed, cls_start, delta_range)
        model = _start_mamba(*start) if rates is None else FixedRecurrence(rates)
    with watch_gradients(model) as norms:
        history = train(model, sample_needle, lengths, steps, seed=seed, clip=clip)
    score = evaluate(model, sample_needle(N_SEQUENCES, lengths[-1], seed))
    return score._asdict() | describe_course(history, norms, steps)


def _start_mamba(
    embed: Tensor | None, cls_start: str, delta_range: tuple[float, float]
) -> SequenceClassifier:
    """Start the small model of the course, with an embedding that is given or one of its own."""
    model = SequenceClassifier(N_VALUES, n_symbols=N_SYMBOLS, delta_range=delta_range)
    if embed is not None:
        model.tokens.embed.weight.data.copy_(embed)
    start_cls(model, cls_start)
    return model


def describe_course(
    history: Sequence[Step], norms: Sequence[float], steps: int
) -> dict[str, int | float]:
    """Describe how a training went.

    Args:
        history: what train returned.
        norms: the norm of the gradient at each step, as watch_gradients gives it.
        steps: how many were asked for.

    Returns:
        to_90: the first step at which the last ten got nine tenths right; all steps if none did.
        loss: the mean of the last ten; 0 if that is no number. n_steps: how many were taken before
        a loss was no number, at most `steps`. gradient_1 to gradient_10: the first norms, 0 for
        one that is not finite or not there; n_finite, how many of them are finite.
    """
    taken = [step for step in history if math.isfinite(step.loss)]
    shares = [step.accuracy for step in taken]
    windows = [sum(shares[end - WINDOW : end]) / WINDOW for end in range(WINDOW, len(shares) + 1)]
    learned = [end for end, share in enumerate(windows, WINDOW) if share >= LEARNED]
    last = [step.loss for step in taken[-WINDOW:]]
    first = [*norms[: min(N_FIRST, len(taken))], *[math.nan] * N_FIRST][:N_FIRST]
    finite = [norm if math.isfinite(norm) else 0.0 for norm in first]
    return {
        "to_90": min(learned, default=steps),
        "loss": _shorten(sum(last) / len(last) if last else 0.0),
        "n_steps": len(taken),
        "n_finite": sum(map(math.isfinite, first)),
        **{f"gradient_{n}": _shorten(norm) for n, norm in enumerate(finite, start=1)},
    }


def _shorten(value: float) -> float:
    """Keep six digits."""
    return float(f"{value:.{DIGITS}g}")


def list_recipe() -> dict[str, dict[str, object]]:
    """List the settings of the grid: names and keywords of run_recipe."""
    starts = itertools.product(STARTS.items(), CLIPS.items())
    rates = itertools.product(("randn", "uniform", "bounded"), (32, 96), CLIPS.items())
    return (
        {f"CLS {name}, {words}": start | clip for (name, start), (words, clip) in starts}
        | {"CLS 0.02 randn, clip 0.1": {"clip": 0.1}}
        | {f"steps {name}": {"delta_range": pair} for name, pair in RANGES.items()}
        | {
            f"A {name}, {length} tokens, {words}": {"rates": name, "lengths": (length,)} | clip
            for name, length, (words, clip) in rates
        }
    )


RECIPE = Sweep(run_recipe, list_recipe())
