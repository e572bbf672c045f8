"""Rules for the step size: how far a token lets the clock of a state go, down to not at all."""

from mamba_edu.steps.applied import AppliedRule, apply_step_rule
from mamba_edu.steps.late import LateZero
from mamba_edu.steps.rules import (
    dead_zone_step,
    frozen_on_padding,
    length_normalised,
    snap,
    softplus_step,
)

__all__ = [
    "AppliedRule",
    "LateZero",
    "apply_step_rule",
    "dead_zone_step",
    "frozen_on_padding",
    "length_normalised",
    "snap",
    "softplus_step",
]
