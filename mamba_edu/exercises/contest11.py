"""The contest of notebook 11: the designs that ship, and a reader's own among them."""

import base64
from collections.abc import Callable
from typing import NamedTuple

import torch
from IPython.display import display
from torch import Tensor, nn

from mamba_edu.experiments import pair_results
from mamba_edu.figures import draw_dots
from mamba_edu.models import SequenceClassifier
from mamba_edu.reader import to_png
from mamba_edu.steps import softplus_step
from mamba_edu.tasks import TASKS
from mamba_edu.training import evaluate, train

LENGTH, N_SEQUENCES = 2048, 64
TASKS_OF_ALL = ("needle", "trigger", "order", "majority", "early_majority")
DESIGNS = {  # label -> the table, and what stands behind the task in its settings
    "mean": ("readouts", "mean"),
    "max": ("readouts", "max"),
    "attention": ("readouts", "attention"),
    "attention, dead zone": ("star", "attention, dead_zone, as trained"),
    "attention, zone + snap": ("star", "attention, dead_zone, snapped"),
    "CLS": ("star", "cls_last, softplus, as trained"),
    "CLS, snapped": ("star", "cls_last, softplus, snapped"),
    "CLS, slowed": ("star", "cls_last, softplus, slowed"),
    "CLS, dead zone": ("star", "cls_last, dead_zone, as trained"),
}
CAPTION = (
    "**Look at** your one dot, and compare it with the dots of the rows below, the best of them "
    "first: another seed could lie as far away as they lie from each other."
)
ALT = "The reader's own design above those that ship, a row each, a dot for each seed."


def list_designs(task: str, length: int) -> list[tuple[str, list[float]]]:
    """List which share each shipped design gets right of a task at a length, seed by seed."""
    return [
        (label, [row["right"] for row in pair_results(table, length, right=f"{task}, {rest}")])
        for label, (table, rest) in DESIGNS.items()
    ]


def find_worst(label: str, tasks: tuple[str, ...], length: int) -> tuple[float, str]:
    """Find the task that a design does worst, and which share it gets right there on average."""
    table, rest = DESIGNS[label]
    means = []
    for task in tasks:
        rows = pair_results(table, length, right=f"{task}, {rest}")
        means.append((sum(row["right"] for row in rows) / len(rows), task))
    return min(means)


class Entry(NamedTuple):
    """A design in the contest: its name, the task, and what it got right at 128 and 2,048."""

    name: str
    task: str
    near: float
    far: float


def enter_contest(
    name: str,
    task: str = "order",
    readout: Callable[..., Tensor] | str = "cls_last",
    step_rule: Callable[[Tensor], Tensor] = softplus_step,
    seed: int = 0,
    steps: int = 400,
) -> Entry:
    """Train a design on up to 128 tokens, as those that ship were, and count what it gets right.

    Args:
        name: what the row is to be called.
        task: needle, trigger, order, majority or early_majority.
        readout: a name in READOUTS, or a module called as readout(outputs, mask, state).
        step_rule: from raw steps to steps of at least 0.
        seed: of the start, of what is shown, and of what is asked.
        steps: of training.
    """
    plan = TASKS[task]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        sizes = plan.n_classes, plan.n_symbols, plan.d_in, readout
        model: nn.Module = SequenceClassifier(*sizes, step_rule=step_rule)
    train(model, plan.sample, steps=steps, seed=seed)
    near = evaluate(model, plan.sample_test(256, 128, seed)).accuracy
    far = evaluate(model, plan.sample_test(N_SEQUENCES, LENGTH, seed)).accuracy
    return Entry(name, task, near, far)


def show_place(entry: Entry) -> None:
    """Draw an entry above the designs that ship, the best of them first, at 2,048 tokens.

    Caption and words are the same for every entry: no two machines train alike.
    """
    shipped = sorted(list_designs(entry.task, LENGTH), key=lambda row: -sum(row[1]) / len(row[1]))
    fig = draw_dots(
        [("", [(f"> {entry.name}", [entry.far]), *shipped])],
        f"{entry.task}: yours above, then those that ship",
        f"right among {LENGTH:,} tokens",
    )
    data = {"image/png": base64.b64encode(to_png(fig)).decode(), "text/plain": ALT}
    display(data, metadata={"image/png": {"width": 640, "alt": ALT}}, raw=True)
    display({"text/markdown": CAPTION, "text/plain": CAPTION}, raw=True)
