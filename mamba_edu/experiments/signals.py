"""How much of a needle still reaches the logits, the longer the sequence: behind notebook 09."""

from collections.abc import Sequence

import torch

from mamba_edu._checks import check_counts
from mamba_edu.experiments.readout_grids import PARTS, TO_512, name_setting
from mamba_edu.experiments.readouts import LENGTHS, PIECE, start_readout
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import (
    group_steps,
    mark_tokens,
    measure_constancy,
    measure_half_lives,
    measure_margins,
    measure_survival_share,
    read_block,
)
from mamba_edu.tasks import N_VALUES, Batch, sample_needle, sample_needle_pair
from mamba_edu.training import train

MEASURED = (128, 256, 512, 1024, 2048, 4096, 8192)
N_PAIRS, N_SEQUENCES, N_OPENED = 64, 256, 4  # the last: whose states are looked at one by one
DEPTH = 0.1  # of the needle: what is near the end has hardly anything to be forgotten by
QUANTILES = (50, 90, 99)  # in hundredths
DIGITS = 6


def run_signal(
    readout: str,
    seed: int = 0,
    steps: int = 400,
    lengths: Sequence[int] = LENGTHS,
    measured: Sequence[int] = MEASURED,
    n_pairs: int = N_PAIRS,
    n_sequences: int = N_SEQUENCES,
    **model: object,
) -> dict[str, int | float]:
    """Train a read-out on the needle task as run_readout does, and measure what gets through.

    Args:
        readout, seed: as in start_readout.
        steps, lengths: of training.
        measured: the lengths that are looked at, in order.
        n_pairs: how many sequences with and without their needle a signal is the mean of.
        n_sequences: how many are answered at the first and at the last length.
        model: further keywords of start_readout.

    Returns:
        What measure_signals and measure_answers say, in one row.

    Raises:
        ValueError: for another read-out or part, or a number that is out of range.
    """
    check_counts(2, n_pairs=n_pairs, n_sequences=n_sequences)
    classifier = start_readout("needle", readout, seed, **model)
    train(classifier, sample_needle, lengths, steps, seed=seed)
    found: dict[str, int | float] = {}
    for length in measured:
        pair = sample_needle_pair(n_pairs, length, seed, depth=DEPTH)
        found |= {f"{k}_{length}": v for k, v in measure_signals(classifier, *pair).items()}
    for length in (measured[0], measured[-1]):
        drawn = sample_needle(n_sequences, length, seed)
        found |= {f"{k}_{length}": v for k, v in measure_answers(classifier, drawn).items()}
    batch, _ = sample_needle_pair(n_pairs, measured[0], seed, depth=DEPTH)
    return found | measure_clock(classifier, batch)


def measure_signals(model: SequenceClassifier, batch: Batch, bare: Batch) -> dict[str, float]:
    """Measure what a needle does to the logits, beside what the filler does.

    Args:
        model: a classifier trained on the needle task.
        batch, bare: the pair that sample_needle_pair draws; at least two sequences.

    Returns:
        margin: the mean signal, as measure_margins gives it for a pair.
        noise: the spread of a logit from filler to filler, without a needle, averaged over classes.
        bias: how far the class that filler alone speaks for stands above the mean of the others.
        kept: the share of states in which more than a tenth of what the needle wrote is left.
    """
    margin = measure_margins(model, batch, bare).mean()
    with torch.no_grad():
        rows = torch.arange(len(bare.target)).split(max(1, PIECE // bare.inputs.shape[1]))
        logits = torch.cat([model(bare.inputs[part]) for part in rows]).double()
    means = logits.mean(0).sort().values
    opened = batch.take(torch.arange(min(N_OPENED, len(batch.target))))
    signals = read_block(model, opened.inputs)
    [s] = set(_mark_needles(model, opened)["needle"].int().argmax(1).tolist())
    kept = measure_survival_share(signals.delta, signals.A, s)[:, -1].mean()
    bias = means[-1] - means[:-1].mean()
    return _shorten(margin=margin, noise=logits.std(0).mean(), bias=bias, kept=kept)


def measure_answers(model: SequenceClassifier, batch: Batch) -> dict[str, int | float]:
    """Measure whether a model still answers the question.

    Returns:
        right of n sequences; share, how often its most frequent answer is given; sure, the mean
        probability of whatever it answers.
    """
    found = measure_constancy(model, batch)
    right = round(found.accuracy * len(batch.target))
    counts = {"right": right, "n": len(batch.target)}
    return counts | _shorten(share=found.share, sure=found.confidence)


def measure_clock(model: SequenceClassifier, batch: Batch) -> dict[str, float]:
    """Measure how far the first block's clock goes at each kind of token.

    Returns:
        delta_filler, delta_needle and delta_cls, means over tokens and channels, 0 where the model
        has no CLS; half_life_50 and more, the quantiles over all states of how many filler tokens
        halve them.
    """
    signals, marks = read_block(model, batch.inputs), _mark_needles(model, batch)
    steps = group_steps(signals.delta, {k: marked for k, marked in marks.items() if marked.any()})
    means = {f"delta_{k}": steps[k].mean if k in steps else 0 for k in ("filler", "needle", "cls")}
    lives = measure_half_lives(signals.delta, signals.A, marks["filler"]).flatten().double()
    lives = {f"half_life_{q}": lives.quantile(q / 100) for q in QUANTILES}
    return _shorten(**means, **lives)


def _mark_needles(model: SequenceClassifier, batch: Batch) -> dict[str, torch.Tensor]:
    """Mark needles, filler and CLS among the tokens that a model's blocks read."""
    is_needle = batch.inputs < N_VALUES
    return mark_tokens(model, {"needle": is_needle, "filler": ~is_needle})


def _shorten(**measured: float) -> dict[str, float]:
    """Keep six digits of each number."""
    return {name: float(f"{float(value):.{DIGITS}g}") for name, value in measured.items()}


def list_signals() -> dict[str, dict[str, object]]:
    """List the settings of the grid of signals: names and keywords of run_signal."""
    readouts = ("cls_last", "state", "mean", "max", "attention")
    return {name_setting("needle", each): {"readout": each} for each in readouts} | {
        name_setting("needle", "cls_last", PARTS["selection"]): {
            "readout": "cls_last",
            "part": "selection",
        },
        name_setting("needle", "cls_last", "trained to 512"): {
            "readout": "cls_last",
            "lengths": TO_512,
            "steps": 480,
        },
    }


SIGNALS = Sweep(run_signal, list_signals())
