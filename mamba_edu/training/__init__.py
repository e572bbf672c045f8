"""Train a classifier of sequences, and say honestly what came of it."""

from mamba_edu.training.judging import Score, describe_training, evaluate
from mamba_edu.training.loop import Step, schedule_rate, train

__all__ = ["Score", "Step", "describe_training", "evaluate", "schedule_rate", "train"]
