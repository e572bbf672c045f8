"""Where the CLS token stands: the same model and data, and only its place changes."""

import torch

from mamba_edu.experiments.sweeping import Sweep
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS
from mamba_edu.tasks import LANGUAGES, draw_from, load_digit_sequences, load_names
from mamba_edu.tokens import POSITIONS
from mamba_edu.training import evaluate, train

LOADERS = {"digits": load_digit_sequences, "names": load_names}
SIZES = {
    "digits": {"n_classes": 10, "d_in": 1},
    "names": {"n_classes": len(LANGUAGES), "n_symbols": 256},
}
PLANS = {
    "digits": {"steps": 300, "batch": 64, "lr": 1.2e-2},
    "names": {"steps": 150, "batch": 32, "lr": 1e-2},
}


def train_cls(
    task: str, position: str, steps: int, batch: int, lr: float, seed: int = 0
) -> SequenceClassifier:
    """Train a causal classifier that reads its CLS token, wherever that stands, on real data.

    Args:
        task: "digits" or "names".
        position: "first", "middle" or "last"; the first is trained too, though it sees nothing.
        steps, batch, lr: as `train` takes them.
        seed: of the model's start and of what it is shown.

    Raises:
        ValueError: for another task or position, or a number that is out of range.
    """
    if task not in LOADERS:
        raise ValueError(f"task must be one of {sorted(LOADERS)}; it is {task!r}")
    data = LOADERS[task]("train")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SequenceClassifier(**SIZES[task], readout=ReadCLS(position), allow_blind=True)
    length = data.inputs.shape[1]
    train(model, draw_from(data), (length,), steps=steps, batch=batch, lr=lr, seed=seed)
    return model


def run_cls(
    task: str, position: str, steps: int, batch: int, lr: float, seed: int = 0
) -> dict[str, int | float]:
    """Train as `train_cls` does, and count what the model gets right of the test split."""
    model = train_cls(task, position, steps, batch, lr, seed)
    return evaluate(model, LOADERS[task]("test"))._asdict()


CLS_POSITION = Sweep(
    run_cls,
    {
        f"{task}, CLS {position}": {"task": task, "position": position, **plan}
        for task, plan in PLANS.items()
        for position in POSITIONS
    },
    seeds=tuple(range(10)),  # the last five were run after notebook 07's claims had been written
)
