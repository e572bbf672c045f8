"""How the course talks to its reader: pictures, guesses, verdicts, sources, solutions, progress."""

from mamba_edu.reader.claim import Claim
from mamba_edu.reader.claims import CLAIMS
from mamba_edu.reader.guess import Question, ask, nearest, predict
from mamba_edu.reader.journal import progress, record
from mamba_edu.reader.machine import inspect_machine
from mamba_edu.reader.picture import show, to_png
from mamba_edu.reader.source import show_solution, show_source
from mamba_edu.reader.still import Still, StillBox
from mamba_edu.reader.trial import judge, verdict

__all__ = [
    "CLAIMS",
    "Claim",
    "Question",
    "Still",
    "StillBox",
    "ask",
    "inspect_machine",
    "judge",
    "nearest",
    "predict",
    "progress",
    "record",
    "show",
    "show_solution",
    "show_source",
    "to_png",
    "verdict",
]
