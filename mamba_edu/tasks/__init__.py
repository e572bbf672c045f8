"""What the course measures on: tasks with known answers, and real data that is installed anyway."""

from mamba_edu.tasks.batch import Batch, draw_from
from mamba_edu.tasks.digits import load_digit_sequences
from mamba_edu.tasks.names import LANGUAGES, load_names
from mamba_edu.tasks.recording import Recording, load_recording
from mamba_edu.tasks.synthetic import (
    N_FILLERS,
    sample_last_marked,
    sample_needle,
    sample_trigger,
)

__all__ = [
    "LANGUAGES",
    "N_FILLERS",
    "Batch",
    "Recording",
    "draw_from",
    "load_digit_sequences",
    "load_names",
    "load_recording",
    "sample_last_marked",
    "sample_needle",
    "sample_trigger",
]
