"""Change a number, redraw once: sliders under a matplotlib figure."""

import html
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import ipywidgets
from IPython.display import display
from matplotlib.figure import Figure

from mamba_edu.figures import require_figure, require_text
from mamba_edu.figures.require import is_finite
from mamba_edu.reader import StillBox, to_png
from mamba_edu.reader.picture import bundle_caption, bundle_picture, get_displayed_width

MOST_CONTROLS = 3


class Control(NamedTuple):
    """One slider.

    Fields:
        name: the argument of `compute` that it sets.
        label: word, symbol and unit, as written beside the slider.
        values: where it can stand, in order.
        start: where it stands when the text speaks; must be one of `values`.
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
        fig, alt = self.draw_now()
        self.image.layout.width = f"{get_displayed_width(fig)}px"
        self.image.layout.max_width = "100%"
        super().__init__([*self.sliders, self.image, self.words], *bundle_picture(fig, alt))
        self.redraw()  # anew: a figure that was laid out once comes out a little different
        for slider in self.sliders:
            slider.observe(self.redraw, "value")

    def redraw(self, _: Any = None) -> None:
        """Draw for where the sliders stand now; one call, one picture."""
        fig, alt = self.draw_now()
        self.image.value = to_png(fig, sharpness=1.25, colours=None)
        self.words.value = f"<div aria-live='polite'>{html.escape(alt)}</div>"

    def draw_now(self) -> tuple[Figure, str]:
        """Call `draw` for where the sliders stand and refuse what it must not return."""
        stands = {c.name: s.value for c, s in zip(self.controls, self.sliders, strict=True)}
        drawn = self.draw(**stands)
        if not isinstance(drawn, tuple) or len(drawn) != 2:
            raise TypeError(f"draw must return a Figure and its words; at {stands} it is {drawn!r}")
        require_figure(drawn[0])
        require_text("the words of draw", drawn[1])
        return drawn

    def sweep(self) -> int:
        """Move each slider over its whole range and count the different pictures drawn.

        With each position drawn as it should be, there is one for the start and one for every
        other position of each slider.
        """
        pictures = set()
        for control, slider in zip(self.controls, self.sliders, strict=True):
            for value in control.values:
                slider.value = value
                pictures.add(bytes(self.image.value))
            slider.value = control.start
        return len(pictures)


def is_value(value: Any) -> bool:
    """Tell whether a slider can stand there: one finite number, no array that holds one."""
    return is_finite(value) and not getattr(value, "ndim", 0)


def write_values(control: Control) -> list[str]:
    """Write each value as the reader sees it, or refuse what could not be moved."""
    require_text("name", control.name)
    require_text("label", control.label)
    values = list(control.values) if isinstance(control.values, Iterable) else []
    if not all(map(is_value, values)):
        raise ValueError(
            f"control {control.name!r}: values must be finite numbers; got {control.values!r}"
        )
    if not is_value(control.start) or control.start not in values:
        raise ValueError(
            f"control {control.name!r}: start must be one of values, {control.values!r}; "
            f"got {control.start!r}"
        )
    try:
        written = [control.form.format(value) for value in values]
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(
            f"control {control.name!r}: form must write one value, as '{{:g}}' does; got "
            f"{control.form!r} for {values}: {error}"
        ) from None
    if len(set(written)) < len(written):
        raise ValueError(f"control {control.name!r}: values must read differently; got {written}")
    return written


def build_slider(control: Control) -> ipywidgets.SelectionSlider:
    """Build one slider, labelled with word, symbol and unit; it speaks when let go."""
    written = write_values(control)
    return ipywidgets.SelectionSlider(
        options=list(zip(written, control.values, strict=True)),
        value=control.start,
        description=control.label,
        continuous_update=False,
        style={"description_width": "initial"},
        layout={"width": "min(100%, 520px)"},
    )


def require_controls(controls: Sequence[Control]) -> None:
    """Refuse too few controls, too many, or two that set the same argument."""
    if not isinstance(controls, tuple | list) or isinstance(controls, Control):
        raise TypeError(f"controls must be a list of Controls; got {controls!r}")
    if not 1 <= len(controls) <= MOST_CONTROLS:
        raise ValueError(f"controls must be 1 to {MOST_CONTROLS}; got {len(controls)}")
    for control in controls:
        if not isinstance(control, Control):
            raise TypeError(f"controls must be Controls; one is {control!r}")
    names = [control.name for control in controls]
    if len(set(names)) < len(names):
        raise ValueError(f"controls must differ in name; got {names}")


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
        TypeError: if `draw` is no function or returns other things, or a control is no `Control`.
        ValueError: if there are no controls or too many, two of one name, or a start that is not
            one of its values.
    """
    require_controls(controls)
    require_text("caption", caption)
    if not callable(draw):
        raise TypeError(f"draw must be a function of the controls; got {draw!r}")
    box = SliderFigure(draw, controls)
    display(box)
    display(bundle_caption(caption, box.still_metadata["image/png"]["alt"]), raw=True)
