"""Where the reader finds an explorer: which token, scale and channel, and which token's memory."""

import numbers
from typing import Any

from mamba_edu.probes import SCALES, rank_channels, rank_openings
from mamba_edu.widgets.view import View

FIELDS = ("t", "scale", "channel", "followed")


def find_start(start: dict | None, view: View) -> dict[str, int | None]:
    """Turn a start in tokens, scales and channel numbers into places in what is shown.

    Args:
        start: any of FIELDS; by default the last shown token, scale 1, the first needle followed
            if there is one, and the channel that opens widest to the followed token, or remembers
            longest if there is none.
        view: what is shown.

    Raises:
        TypeError: if start is no dict.
        ValueError: for another field, or a value that is not shown.
    """
    start = {} if start is None else start
    if not isinstance(start, dict):
        raise TypeError(f"start must be a dict or None; got {start!r}")
    unknown = sorted(set(start) - set(FIELDS))
    if unknown:
        raise ValueError(f"start may hold {FIELDS}; it holds {unknown[0]!r}")
    tokens = list(range(view.first, view.first + len(view.tokens.x)))
    kinds = view.tokens.kinds
    needle = tokens[kinds.index("needle")] if "needle" in kinds else None
    followed = start.get("followed", needle)
    place = None if followed is None else find_place("followed", followed, tokens)
    best = view.channels[choose_channel(view, place)]
    return {
        "t": find_place("t", start.get("t", tokens[-1]), tokens),
        "scale": find_place("scale", start.get("scale", 1.0), list(SCALES)),
        "channel": find_place("channel", start.get("channel", best), view.channels),
        "followed": place,
    }


def choose_channel(view: View, followed: int | None) -> int:
    """Choose the shown channel that has most to tell of the followed token, or of all."""
    delta = view.tokens.delta[None]
    if followed is None:
        return int(rank_channels(delta, view.tokens.A.real, 1)[0])
    return int(rank_openings(delta, followed)[0])


def find_place(field: str, value: Any, there: list) -> int:
    """Find a value among what is shown, or say what is."""
    if isinstance(value, numbers.Real) and value in there:
        return there.index(value)
    shown = str(there) if len(there) <= 16 else f"{there[0]} to {there[-1]}"
    raise ValueError(f"start[{field!r}] must be one of {shown}; got {value!r}")
