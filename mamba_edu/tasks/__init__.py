"""What the course measures on: tasks with known answers, and real data that is installed anyway."""

from mamba_edu.tasks.batch import Batch, Sampler, draw_from
from mamba_edu.tasks.digits import load_digit_sequences, sample_digits, sample_diluted_digits
from mamba_edu.tasks.names import LANGUAGES, load_names, sample_names
from mamba_edu.tasks.recording import Recording, load_recording
from mamba_edu.tasks.registry import TASKS, Task
from mamba_edu.tasks.relations import sample_needles, sample_order
from mamba_edu.tasks.synthetic import (
    N_FILLERS,
    N_SYMBOLS,
    N_VALUES,
    sample_far_trigger,
    sample_last_marked,
    sample_needle,
    sample_needle_pair,
    sample_trigger,
)
from mamba_edu.tasks.texts import load_licences, sample_text_needle
from mamba_edu.tasks.votes import sample_early_majority, sample_majority

__all__ = [
    "LANGUAGES",
    "N_FILLERS",
    "N_SYMBOLS",
    "N_VALUES",
    "TASKS",
    "Batch",
    "Recording",
    "Sampler",
    "Task",
    "draw_from",
    "load_digit_sequences",
    "load_licences",
    "load_names",
    "load_recording",
    "sample_digits",
    "sample_diluted_digits",
    "sample_early_majority",
    "sample_far_trigger",
    "sample_last_marked",
    "sample_majority",
    "sample_names",
    "sample_needle",
    "sample_needle_pair",
    "sample_needles",
    "sample_order",
    "sample_text_needle",
    "sample_trigger",
]
