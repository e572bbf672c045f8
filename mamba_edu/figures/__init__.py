"""Arrays in, a `Figure` out. Nothing is shown here, and no maths is done."""

from mamba_edu.figures.curves import Curve, Panel, draw_curves
from mamba_edu.figures.describe import describe_drawing
from mamba_edu.figures.dots import draw_dots
from mamba_edu.figures.lines import draw_lines, draw_phase
from mamba_edu.figures.maps import draw_maps
from mamba_edu.figures.require import require_figure, require_text
from mamba_edu.figures.style import ROLES, Line, styled, use_style

__all__ = [
    "ROLES",
    "Curve",
    "Line",
    "Panel",
    "describe_drawing",
    "draw_curves",
    "draw_dots",
    "draw_lines",
    "draw_maps",
    "draw_phase",
    "require_figure",
    "require_text",
    "styled",
    "use_style",
]
