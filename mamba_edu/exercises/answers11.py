"""What notebook 11 asks its readers to predict, looked up in the shipped tables or computed."""

import math
from statistics import median

import torch

from mamba_edu.exercises.contest11 import TASKS_OF_ALL, find_worst
from mamba_edu.experiments import load_results, pair_results
from mamba_edu.reader import nearest
from mamba_edu.steps import softplus_step

MILLION = 1_000_000
END = "cls_last, softplus"
ENOUGH = 0.9
WAYS = {"before": "as trained", "after": "snapped"}


def answer_for_ever() -> tuple[int, str]:
    """Compute what a million steps of softplus(-8) leave at rate -1."""
    step = softplus_step(torch.tensor(-8.0, dtype=torch.float64)).item()
    left = math.exp(-MILLION * step)
    told = f"Each step is {step:.5f} long, a million of them {MILLION * step:.0f}: "
    return nearest(left, (1.0, 0.5, 0.0)), told + f"exp(-{MILLION * step:.0f}) is {left:.2f}."


def answer_smallest_tau() -> tuple[int, str]:
    """Look up how large a threshold each task allows at 128 tokens, in the median seed."""
    tasks = ("needle", "order", "majority")
    free = [median(list_taus(f"{task}, {END}")) for task in tasks]
    told = ", ".join(f"{task} {tau:g}" for task, tau in zip(tasks, free, strict=True))
    return free.index(min(free)), f"The largest that costs nothing, in the median seed: {told}."


def list_taus(setting: str) -> list[float]:
    """List the threshold that each seed of a setting of the star was snapped at."""
    return [row["tau"] for row in load_results("star") if row["setting"] == setting]


def answer_snapped() -> tuple[int, str]:
    """Look up what the snap makes of order over 8,192 tokens."""
    ways = {way: f"order, {END}, {words}" for way, words in WAYS.items()}
    means = average(pair_results("star", 8192, **ways))
    told = f"Over all seeds: as trained {means['before']:.2f}, snapped {means['after']:.2f}."
    return nearest(means["after"], (0.5, 0.75, 1.0)), told


def answer_half() -> tuple[int, str]:
    """Look up what each half of the snap does alone, for order over 8,192 tokens."""
    ways = {"decay": "decay snapped", "write": "write snapped", "both": "snapped"}
    rows = pair_results("star", 8192, **{k: f"order, {END}, {words}" for k, words in ways.items()})
    means = average(rows)
    alone = [means["decay"] >= ENOUGH, means["write"] >= ENOUGH]
    told = ", ".join(f"{way} {share:.2f}" for way, share in means.items())
    return alone.index(True) if any(alone) else 2, f"Right over all seeds: {told}."


def answer_one_design() -> tuple[int, str]:
    """Look for a design that gets nine of ten right in each of five tasks, at 8,192 tokens."""
    named = ("CLS, snapped", "attention, zone + snap")
    worst = [find_worst(label, TASKS_OF_ALL, 8192) for label in named]
    words = [f"{share:.2f} ({task})" for share, task in worst]
    right = next((i for i, (share, _) in enumerate(worst) if share >= ENOUGH), 2)
    return right, f"In its worst task, over all seeds: CLS {words[0]}, attention {words[1]}."


def average(rows: list[dict[str, float]]) -> dict[str, float]:
    """Average each column but the seed."""
    names = [name for name in rows[0] if name != "seed"]
    return {name: sum(row[name] for row in rows) / len(rows) for name in names}
