"""Step rules beside read-outs, and what a trained clock gains when its small steps are stopped.

A star, not a product: each rule with CLS at the end and with attention. Behind notebook 11.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

import torch
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.experiments.block_parts import N_WINDOWS, average_losses
from mamba_edu.experiments.readout_grids import PLANS, name_setting
from mamba_edu.experiments.readouts import (
    LENGTHS,
    fit_lengths,
    is_chance,
    mark_pieces,
    start_readout,
)
from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.experiments.tables import Row
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import apply_halves, read_block
from mamba_edu.steps import apply_step_rule, dead_zone_step, length_normalised, snap, softplus_step
from mamba_edu.tasks import TASKS, Batch, Task
from mamba_edu.training import choose_tau, train

Rule = Callable[[Tensor], Tensor]

RULES: dict[str, Rule] = {"softplus": softplus_step, "dead_zone": dead_zone_step}
STAR_TESTED = {128: 256, 512: 128, 2048: 64, 8192: 64, 32768: 8}  # length -> sequences
HALVED_AT = 8192  # the length at which the halves of a snap are tried, and survival is measured
N_TRIED, FIRST_TRIED = 384, 10_000  # sequences that tau is chosen on, and the first of their seeds
N_OPENED, THRESHOLD = 4, 0.1  # sequences whose states are looked at; what counts as kept
WAYS = {
    "right": "as trained",
    "snapped": "snapped",
    "slowed": "slowed",
    "decay": "decay snapped",
    "write": "write snapped",
}


def run_star(
    task: str,
    readout: str,
    rule: str = "softplus",
    seed: int = 0,
    steps: int = 400,
    lengths: Sequence[int] = LENGTHS,
    halves: bool = False,
) -> dict[str, int | float]:
    """Train as run_readout does with a rule for the steps, and count with others put on top.

    Args:
        task, readout, seed: as in start_readout; the seed is that of the training and of the test
            sequences too.
        rule: one of RULES.
        steps, lengths: of training, as in run_readout.
        halves: whether to try each half of the snap alone.

    Returns:
        tau, chosen by choose_tau on other sequences of the last training length; what count_ruled
        says as trained (right), snapped at tau, and slowed by the length; what count_halves says,
        all 0 unless it was asked; what measure_kept says as trained (kept) and snapped;
        parameters, how many were trained; the losses, as run_readout says them.

    Raises:
        ValueError: for another task, read-out or rule, or a number that is out of range.
    """
    check_counts(N_WINDOWS, steps=steps)
    if rule not in RULES:
        raise ValueError(f"rule must be one of {sorted(RULES)}; it is {rule!r}")
    plan, model = TASKS[task], start_readout(task, readout, seed, step_rule=RULES[rule])
    lengths = fit_lengths(lengths, plan.shortest)
    losses = average_losses(train(model, plan.sample, lengths, steps, seed=seed))
    tau = choose_tau(model, plan.sample(N_TRIED, lengths[-1], FIRST_TRIED + seed))
    counts = _count_clocks(model, plan, seed, tau, lengths[-1], HALVED_AT if halves else 0)
    trained = sum(weight.numel() for weight in model.parameters() if weight.requires_grad)
    return {"tau": tau} | counts | {"parameters": trained} | losses


def _count_clocks(
    model: SequenceClassifier, plan: Task, seed: int, tau: float, trained_to: int, halved_at: int
) -> dict[str, int | float]:
    """Count and measure with every clock, in the order of the columns."""
    stop = partial(snap, tau=tau)
    opened = plan.sample_test(N_OPENED, HALVED_AT, seed)
    return {
        **count_ruled(model, plan, seed, "right", lambda length: None),
        **count_ruled(model, plan, seed, "snapped", lambda length: stop),
        **count_ruled(model, plan, seed, "slowed", lambda length: slow_down(length, trained_to)),
        **count_halves(model, plan, seed, stop, halved_at),
        "kept": measure_kept(model, opened),
        "kept_snapped": measure_kept(model, opened, stop),
    }


def slow_down(length: int, trained_length: int) -> Rule:
    """Make the rule that slows the clock down to the length of a sequence."""
    return partial(length_normalised, length=length, trained_length=trained_length)


def count_ruled(
    model: SequenceClassifier,
    task: Task,
    seed: int,
    kind: str,
    choose_rule: Callable[[int], Rule | None],
) -> dict[str, int]:
    """Count what a model gets right with a rule on top, up to two lengths in a row at chance.

    Args:
        model: a trained classifier.
        task: what it was trained on.
        seed: of the test sequences.
        kind: the name of the columns.
        choose_rule: from the length to the rule, or None for none.

    Returns:
        kind_L of n_kind_L for each length L of STAR_TESTED, n_L for the kind "right"; n is 0 where
        it was not asked.
    """
    names = [(f"{kind}_{length}", _name_of(kind, length)) for length in STAR_TESTED]
    counts, lost = {name: 0 for pair in names for name in pair}, 0
    for length, n_sequences in STAR_TESTED.items():
        rule = choose_rule(length)
        with nullcontext() if rule is None else apply_step_rule(model, rule):
            right = int(mark_pieces(model, task.sample_test(n_sequences, length, seed)).sum())
        counts |= {f"{kind}_{length}": right, _name_of(kind, length): n_sequences}
        lost = lost + 1 if is_chance(right, n_sequences, task.chance) else 0
        if lost == 2:
            break
    return counts


def count_halves(
    model: SequenceClassifier, task: Task, seed: int, rule: Rule, length: int
) -> dict[str, int]:
    """Count what a model gets right with a rule for one half of its steps.

    Args:
        model, task, seed: as in count_ruled.
        rule: for the decay alone, or for the writing alone.
        length: of the test sequences; 0 to ask nothing.

    Returns:
        decay_8192 of n_decay_8192, and write_8192 of n_write_8192.
    """
    pairs = {"decay": (rule, torch.clone), "write": (torch.clone, rule)}
    names = [(f"{kind}_{HALVED_AT}", _name_of(kind, HALVED_AT)) for kind in pairs]
    counts = {name: 0 for pair in names for name in pair}
    if not length:
        return counts
    drawn = task.sample_test(STAR_TESTED[length], length, seed)
    for kind, pair in pairs.items():
        with apply_halves(model, *pair):
            right = int(mark_pieces(model, drawn).sum())
        counts |= {f"{kind}_{length}": right, _name_of(kind, length): len(drawn.target)}
    return counts


def measure_kept(model: SequenceClassifier, drawn: Batch, rule: Rule | None = None) -> float:
    """Measure in which share of states more than a tenth of the first token is left at the end.

    Args:
        model: a classifier that reads one way.
        drawn: sequences.
        rule: put on top of its steps; None for none.
    """
    with nullcontext() if rule is None else apply_step_rule(model, rule):
        signals = read_block(model, drawn.inputs, drawn.mask)
    age = signals.delta[:, 1:].sum(1)
    kept = torch.exp(age[..., None] * signals.A) > THRESHOLD
    return round(float(kept.double().mean()), 6)


def list_star() -> dict[str, dict[str, object]]:
    """List the settings of the star: names and keywords of run_star."""
    tasks = ("needle", "order", "trigger", "early_majority", "majority", "far_trigger")
    rays = [("cls_last", "softplus"), ("attention", "dead_zone"), ("cls_last", "dead_zone")]
    settings = [(task, *ray) for ray in rays for task in tasks]
    return {
        name_setting(task, readout, rule): {"task": task, "readout": readout, "rule": rule}
        | PLANS.get(task, {})
        | ({"halves": True} if (readout, rule) == rays[0] else {})
        for task, readout, rule in [*settings, ("order", "registers_max", "softplus")]
    }


def unfold_star(rows: Sequence[Row]) -> list[Row]:
    """Turn each row of the star into one for each way its model was used.

    Returns:
        The rows with the counts of that way as right_L of n_L, what it kept as kept where that was
        measured, as trained and snapped, and its words at the end of the setting; those of the
        halves where they were asked.
    """
    measured = {"right": "kept", "snapped": "kept_snapped"}
    return [
        {name: value for name, value in row.items() if name != "kept"}
        | {f"right_{n}": row.get(f"{kind}_{n}", 0) for n in STAR_TESTED}
        | {f"n_{n}": row.get(_name_of(kind, n), 0) for n in STAR_TESTED}
        | {"setting": f"{row['setting']}, {words}"}
        | ({"kept": row[measured[kind]]} if kind in measured else {})
        for row in rows
        for kind, words in WAYS.items()
        if any(row.get(_name_of(kind, n)) for n in STAR_TESTED)
    ]


def _name_of(kind: str, length: int) -> str:
    """Name the column that says of how many."""
    return f"n_{length}" if kind == "right" else f"n_{kind}_{length}"


STAR = Sweep(run_star, list_star())
