"""Refusals that pictures and words share: each names the argument, what it was, what is allowed."""

import math
from typing import Any

from matplotlib.figure import Figure

SCALES = ("linear", "log", "symlog")


def require_text(name: str, text: Any) -> None:
    """Refuse what is no text, or empty, such as a caption: nobody is to be left out."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"{name} must be words, so that nobody is left out; got {text!r}")


def require_text_or_empty(owner: str, **texts: Any) -> None:
    """Refuse what is no text; an empty one says that there is nothing to say."""
    for name, text in texts.items():
        if not isinstance(text, str):
            raise TypeError(f"{name} must be words or empty; {owner} has {text!r}")


def require_figure(fig: Any) -> None:
    """Refuse what is no figure, such as the axes that pyplot returns beside it."""
    if not isinstance(fig, Figure):
        raise TypeError(f"fig must be a matplotlib Figure; got {type(fig).__name__}")


def is_finite(value: Any) -> bool:
    """Tell whether a value is one finite real number, in whatever form."""
    try:
        return not isinstance(value, str) and math.isfinite(float(value))
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return False


def require_axes(scales: Any, mark: Any, ylim: Any) -> None:
    """Refuse scales, an upright mark, or limits of y that could not be drawn."""
    is_pair = isinstance(scales, tuple | list) and len(scales) == 2
    if not is_pair or not all(isinstance(scale, str) and scale in SCALES for scale in scales):
        raise ValueError(f"scales must be two of {SCALES}, for x and y; got {scales!r}")
    if mark is not None:
        is_pair = isinstance(mark, tuple | list) and len(mark) == 2
        if not is_pair or not is_finite(mark[0]) or not isinstance(mark[1], str):
            raise ValueError(f"mark must be a finite x and its words; got {mark!r}")
    if ylim is not None:
        is_pair = isinstance(ylim, tuple | list) and len(ylim) == 2
        if not is_pair or not all(map(is_finite, ylim)) or not ylim[0] < ylim[1]:
            raise ValueError(f"ylim must be the lowest and the highest y; got {ylim!r}")
