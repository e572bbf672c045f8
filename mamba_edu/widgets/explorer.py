"""The hidden-state explorer: one sequence, its true state after every token, under one's hand."""

from collections.abc import Callable, Sequence
from typing import Any

from torch import Tensor

from mamba_edu.discretize import discretize_mamba, discretize_zoh
from mamba_edu.figures import require_text
from mamba_edu.widgets.canvas import CanvasWidget
from mamba_edu.widgets.explorer_still import draw_still
from mamba_edu.widgets.sequence import read_sequence
from mamba_edu.widgets.start import find_start
from mamba_edu.widgets.view import choose_view, code_view, describe_view


class StateExplorer(CanvasWidget):
    """Step sizes, states, output and memory of one sequence, at seven scales of its step sizes.

    Everything is computed in float64, once. More than 512 tokens are shown through a window that
    is entered with the true state of all tokens before it; of more than 16 channels those whose
    slowest state survives best, of more than 16 states the slowest; the widget says so.

    Args:
        x: the input signal of one sequence, (length, d_inner).
        delta: step sizes, (length, d_inner).
        A: rates, (d_inner, d_state); complex ones are shown as their two parts, a single one in
            the plane.
        B: how each token writes, (length, d_state).
        C: how each token reads, (length, d_state).
        skip: how much of the input is added to the output, (d_inner,); none if not given.
        caption: what to do and what to see.
        title: what is shown.
        kinds: a name of KINDS for each token; all "input" if not given.
        labels: a text for each token; none if not given.
        channels: the numbers of the channels to show, at most 16.
        start: where the reader finds it: any of "t", "followed" (tokens, counted in the whole
            sequence; followed may be None), "scale" (one of SCALES) and "channel" (its number).
        first: the first token of the window; by default the last 512 tokens are shown.
        rule: how the system is discretized: discretize_mamba, also if none is given, or
            discretize_zoh; both keep exp(delta A) of the state.

    Raises:
        TypeError: if a signal is not of numbers.
        ValueError: if the sequence is empty, lengths or sizes disagree, a step runs backwards, a
            rate is positive, words are missing, or the start is not in what is shown.
    """

    def __init__(
        self,
        x: Any,
        delta: Any,
        A: Any,
        B: Any,
        C: Any,
        skip: Any = None,
        *,
        caption: str,
        title: str,
        kinds: Sequence[str] | None = None,
        labels: Sequence[str] | None = None,
        channels: Sequence[int] | None = None,
        start: dict | None = None,
        first: int | None = None,
        rule: Callable[..., tuple[Tensor, Tensor]] | None = None,
    ):
        require_text("title", title)
        require_rule(rule)
        signals = {"x": x, "delta": delta, "A": A, "B": B, "C": C, "skip": skip}
        view = choose_view(read_sequence(signals, kinds, labels), channels, first, rule)
        words = {"title": title, "caption": caption, "start": find_start(start, view)}
        options = describe_view(view) | words
        super().__init__("explorer", code_view(view), options, *draw_still(view, options))


def require_rule(rule: Any) -> None:
    """Refuse a rule under which what is left of a token is not exp(delta A), as it is shown."""
    if rule not in (None, discretize_mamba, discretize_zoh):
        raise ValueError(
            "rule must be discretize_mamba or discretize_zoh, or None: what is left of a token is "
            f"shown as exp(delta A), which only they keep; got {rule!r}"
        )
