"""Train a classifier of sequences, and say honestly what came of it."""

from mamba_edu.training.checkpoint import (
    load_checkpoint,
    load_needle,
    save_checkpoint,
    train_needle,
)
from mamba_edu.training.judging import Score, describe_training, evaluate, mark_sequences
from mamba_edu.training.loop import Step, schedule_rate, train
from mamba_edu.training.tau import TAUS, choose_tau

__all__ = [
    "TAUS",
    "Score",
    "Step",
    "choose_tau",
    "describe_training",
    "evaluate",
    "load_checkpoint",
    "load_needle",
    "mark_sequences",
    "save_checkpoint",
    "schedule_rate",
    "train",
    "train_needle",
]
