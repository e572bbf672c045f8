"""Change a number, redraw once: sliders under a matplotlib figure."""

import html
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import ipywidgets
from IPython.display import display
from matplotlib.figure import Figure

from mamba_edu.reader import StillBox, to_png
from mamba_edu.reader.picture import (
    bundle_caption,
    bundle_picture,
    get_displayed_width,
    require_text,
)

MOST_CONTROLS = 3


class Control(NamedTuple):
    """One slider.

    Fields:
        name: the argument of `compute` that it sets.
        label: word, symbol and unit, as written beside the slider.
        values: the positions, in order.
        start: the position that the text speaks of; must be one of `values`.
        form: how a value is written.
    """

    name: str
    label: str
    values: Sequence[float]
    start: float
    form: str = "{:g}"


class SliderFigure(StillBox):
    """A figure with sliders; `redraw` is what a moved slider calls, `sweep` calls it everywhere."""

    def __init__(self, draw: Callable[..., tuple[Figure, str]], controls: Sequence[Control]):
        self.draw, self.controls = draw, controls
        self.image = ipywidgets.Image(format="png")
        self.words = ipywidgets.HTML()
        self.sliders = [build_slider(control) for control in controls]
        fig, alt = draw(**{control.name: control.start for control in controls})
        require_text("alt", alt)
        self.image.layout.width = f"{get_displayed_width(fig)}px"
        self.image.layout.max_width = "100%"
        super().__init__([*self.sliders, self.image, self.words], *bundle_picture(fig, alt))
        self.redraw()
        for slider in self.sliders:
            slider.observe(self.redraw, "value")

    def redraw(self, _: Any = None) -> None:
        """Draw for where the sliders stand now; one call, one picture."""
        stands = {c.name: s.value for c, s in zip(self.controls, self.sliders, strict=True)}
        fig, alt = self.draw(**stands)
        self.image.value = to_png(fig, sharpness=1.25, colours=None)
        self.words.value = f"<div aria-live='polite'>{html.escape(alt)}</div>"

    def sweep(self) -> int:
        """Move each slider over its whole range and count the different pictures drawn."""
        pictures = set()
        for control, slider in zip(self.controls, self.sliders, strict=True):
            for value in control.values:
                slider.value = value
                pictures.add(self.image.value)
            slider.value = control.start
        return len(pictures)


def build_slider(control: Control) -> ipywidgets.SelectionSlider:
    """Build one slider, labelled with word, symbol and unit; it speaks when let go."""
    if control.start not in control.values:
        raise ValueError(
            f"control {control.name!r}: start must be one of {list(control.values)}; "
            f"got {control.start!r}"
        )
    return ipywidgets.SelectionSlider(
        options=[(control.form.format(value), value) for value in control.values],
        value=control.start,
        description=control.label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout={"width": "min(100%, 520px)"},
    )


def explore(
    draw: Callable[..., tuple[Figure, str]], caption: str, controls: Sequence[Control]
) -> None:
    """Show a figure that is computed anew whenever a slider is let go.

    Args:
        draw: one keyword argument per control -> the Figure, and the same in words with its
            numbers; pure.
        caption: what to do and what to see.
        controls: one to three sliders.

    Raises:
        ValueError: if there are no controls or too many, or a start that is not a position.
    """
    if not 1 <= len(controls) <= MOST_CONTROLS:
        raise ValueError(f"controls must be 1 to {MOST_CONTROLS}; got {len(controls)}")
    require_text("caption", caption)
    box = SliderFigure(draw, controls)
    display(box)
    display(bundle_caption(caption, box.still_metadata["image/png"]["alt"]), raw=True)
