"""Needles among a million tokens, of random filler and of text: behind notebook 12."""

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from functools import partial

from mamba_edu._checks import check_flags
from mamba_edu.experiments.readout_grids import PARTS, name_setting
from mamba_edu.experiments.readouts import LENGTHS, start_readout
from mamba_edu.experiments.star import FIRST_TRIED, N_TRIED
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.models import SequenceClassifier
from mamba_edu.steps import LateZero, apply_step_rule, snap
from mamba_edu.tasks import Batch, sample_needle, sample_text_needle
from mamba_edu.training import choose_tau, train

FILLERS: dict[str, Callable[[int, int, int], Batch]] = {
    "random": sample_needle,
    "text": sample_text_needle,
}
MILLION = 2**20
ASKED = {128: 256, 2048: 128, 32768: 32, MILLION: 8}  # length -> sequences


def run_million(
    filler: str,
    readout: str = "cls_last",
    allowed: float | None = None,
    late_zero: bool = False,
    part: str | None = None,
    seed: int = 0,
    steps: int = 400,
    asked: Mapping[int, int] = ASKED,
) -> dict[str, int | float]:
    """Train on needles among up to 128 tokens of random filler; count what is found among more.

    Args:
        filler: of the test sequences, "random" or "text"; no model is trained on text.
        readout, part, seed: as in start_readout; a read-out that can be streamed. The seed is that
            of the training and of the test sequences too.
        allowed: small steps are set to exactly 0, below a tau that choose_tau takes on random
            filler of the training length, where this share may be lost; nothing is if None.
            Nothing longer, and no text, is looked at.
        late_zero: whether the model is trained with LateZero for its step rule.
        steps: of training.
        asked: how many sequences of which length are tested.

    Returns:
        right_L of n_L sequences for each length L; tau, 0 if nothing is snapped.

    Raises:
        ValueError: for another filler, read-out or part.
    """
    check_flags(late_zero=late_zero)
    if filler not in FILLERS:
        raise ValueError(f"filler must be one of {sorted(FILLERS)}; it is {filler!r}")
    model = start_readout("needle", readout, seed, part=part)
    sample = learn_zero(model, steps) if late_zero else sample_needle
    train(model, sample, LENGTHS, steps, seed=seed)
    tried = sample_needle(N_TRIED, LENGTHS[-1], FIRST_TRIED + seed)
    tau = 0.0 if allowed is None else choose_tau(model, tried, allowed=allowed)
    counts: dict[str, int | float] = {"tau": tau}
    with apply_step_rule(model, partial(snap, tau=tau)) if tau else nullcontext():
        for length, n_sequences in asked.items():
            drawn = FILLERS[filler](n_sequences, length, seed)
            counts |= {f"right_{length}": count_right(model, drawn), f"n_{length}": n_sequences}
    return counts


def learn_zero(model: SequenceClassifier, steps: int) -> Callable[..., Batch]:
    """Give each block LateZero for its rule; return the sampler that moves it along."""
    sample: Callable[..., Batch] = sample_needle
    for layer in model.blocks.layers:
        layer.mixer.step_rule = LateZero()
        sample = layer.mixer.step_rule.follow(sample, steps)
    return sample


def count_right(model: SequenceClassifier, batch: Batch) -> int:
    """Count the sequences that a model classifies rightly, read as streams."""
    model.eval()
    return int((model.stream(batch.inputs).argmax(1) == batch.target).sum())


def list_million() -> dict[str, dict[str, object]]:
    """List the settings of the grid: names and keywords of run_million."""
    ways = {
        "cls_last, as trained": {},
        "cls_last, snapped": {"allowed": 0.02},
        "cls_last, late zero": {"late_zero": True, "steps": 800},
        "max": {"readout": "max"},
    }
    controls = {
        "cls_last, 800 steps": {"steps": 800},
        "cls_last, snapped, none lost": {"allowed": 0.0},
        f"cls_last, {PARTS['selection']}, snapped": {"allowed": 0.02, "part": "selection"},
    }
    asked = [(filler, name, way) for filler in FILLERS for name, way in ways.items()]
    asked += [("random", name, way) for name, way in controls.items()]
    return {name_setting(filler, name): {"filler": filler} | way for filler, name, way in asked}


MILLION_GRID = Sweep(run_million, list_million())
