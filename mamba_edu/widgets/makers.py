"""Explorers of the course's systems, from a leaky bucket to a trained block: each a function."""

import math
from typing import Any

import numpy as np
import torch

from mamba_edu._checks import check_counts, check_interval
from mamba_edu.discretize import discretize_zoh
from mamba_edu.linear import start_s4d_real
from mamba_edu.tasks import sample_last_marked
from mamba_edu.widgets.explorer import StateExplorer
from mamba_edu.widgets.view import MOST_CHANNELS

BUCKET = (
    "**Do:** press Play, then set the step size to 4×. Press a token to follow it. **See:** the "
    "bucket fills and empties; on a faster clock it does so sooner, and forgets sooner."
)
OSCILLATOR = (
    "**Do:** press Play, then set the step size to 10×. **See:** after one kick the state turns "
    "as it shrinks; in long steps it turns just as fast, but you see little of each turn."
)
LINEAR = (
    "**Do:** change the channel, then press another token. **See:** each channel remembers the "
    "two pulses on a clock of its own, and no token can change that clock."
)
MARKED = (
    "**Do:** press Play, then press a marked token, a triangle. **See:** the clock moves at marks "
    "only: the state holds the last marked value, until the next one wipes it out."
)
SELECTIVE = (
    "**Do:** press Play, then press a token to follow it. **See:** where the bar is long the "
    "clock moves: that token is written, and all before it are forgotten a little."
)


def explore_bucket(
    tau: float = 20.0,
    x: Any = None,
    *,
    title: str = "A leaky bucket fills, then empties",
    caption: str = BUCKET,
    **view: Any,
) -> StateExplorer:
    """Explore one leaky state, h' = (x - h)/tau, stepped exactly.

    Args:
        tau: its time constant, in tokens.
        x: the input, (length,); by default 0, then 1 from token 10 to 69, then 0 again.
        title, caption: its words.
        view: further keyword arguments of StateExplorer.

    Raises:
        TypeError: if tau is no number.
        ValueError: if tau is not above 0, or as StateExplorer.
    """
    check_interval(tau=tau)
    if x is None:
        x = [0.0] * 10 + [1.0] * 60 + [0.0] * 90
        view = {"start": {"t": 110, "followed": 69}} | view
    rate = [[-1 / tau]]
    return explore_steady(x, [1.0], rate, [1 / tau], title=title, caption=caption, **view)


def explore_oscillator(
    tau: float = 40.0,
    period: float = 16.0,
    x: Any = None,
    *,
    title: str = "A kicked state turns as it shrinks",
    caption: str = OSCILLATOR,
    **view: Any,
) -> StateExplorer:
    """Explore one complex state, h' = (-1/tau + 2 pi i/period) h + x, in its plane.

    Args:
        tau: time to shrink to 1/e, in tokens.
        period: time of one turn, in tokens.
        x: the input, (length,); by default one kick at token 0.
        title, caption: its words.
        view: further keyword arguments of StateExplorer.

    Raises:
        TypeError: if tau or period is no number.
        ValueError: if tau or period is not above 0, or as StateExplorer.
    """
    check_interval(tau=tau, period=period)
    x = [1.0] + [0.0] * 159 if x is None else x
    rate = [[complex(-1 / tau, 2 * math.pi / period)]]
    view = {"start": {"followed": 0}} | view
    return explore_steady(x, [1.0], rate, [1.0], title=title, caption=caption, **view)


def explore_linear(
    x: Any = None,
    d_inner: int = 8,
    d_state: int = 8,
    *,
    title: str = "A fixed filter remembers all tokens alike",
    caption: str = LINEAR,
    **view: Any,
) -> StateExplorer:
    """Explore a time-invariant system: S4D-real, every channel on a clock of its own.

    Args:
        x: the input of all channels, (length,); by default two pulses.
        d_inner: how many channels; their step sizes run from 0.1 down to 0.001, evenly in log.
        d_state: numbers of state in each.
        title, caption: its words.
        view: further keyword arguments of StateExplorer.

    Raises:
        TypeError: if a size is no int.
        ValueError: if a size is below 1, or as StateExplorer.
    """
    rates = start_s4d_real(d_inner, d_state)
    if x is None:
        x = [0.0] * 16 + [1.0] * 16 + [0.0] * 64 + [-1.0] * 16 + [0.0] * 144
        middle = {"channel": d_inner // 2} if d_inner <= MOST_CHANNELS else {}
        view = {"start": middle | {"followed": 31}} | view
    clocks = torch.logspace(-1, -3, d_inner, dtype=torch.float64)
    return explore_steady(x, clocks, rates, [1.0] * d_state, title=title, caption=caption, **view)


def explore_steady(x: Any, delta: Any, A: Any, B: Any, **view: Any) -> StateExplorer:
    """Explore a system that treats all tokens alike, stepped exactly; its states are summed.

    Args:
        x: the input of all channels, (length,).
        delta: the step size of each channel, (d_inner,).
        A: rates, (d_inner, d_state); may be complex.
        B: how the input writes, (d_state,).
        view: further keyword arguments of StateExplorer.

    Raises: as StateExplorer.
    """
    signal = np.asarray(x)
    if signal.ndim != 1:
        raise ValueError(f"x must have the axis (length,); its shape is {signal.shape}")
    length = len(signal)
    signals = {
        "x": np.repeat(signal[:, None], len(delta), axis=1),
        "delta": np.tile(np.asarray(delta), (length, 1)),
        "A": A,
        "B": np.tile(np.asarray(B), (length, 1)),
        "C": np.ones((length, len(B))),
    }
    return StateExplorer(**signals, rule=discretize_zoh, **view)


def explore_marked(
    length: int = 96,
    seed: int = 0,
    *,
    title: str = "A clock that moves at marks keeps the last marked value",
    caption: str = MARKED,
    **view: Any,
) -> StateExplorer:
    """Explore the task of keeping the last marked value, solved by step sizes set by hand.

    Args:
        length: how many tokens.
        seed: of the task.
        title, caption: its words.
        view: further keyword arguments of StateExplorer.

    Raises:
        TypeError: if length is no int.
        ValueError: if length is below 1, or as StateExplorer.
    """
    check_counts(1, length=length)
    values, marks, _ = sample_last_marked(1, length, p=0.1, seed=seed)
    signals = {
        "x": values[0, :, None],
        "delta": 20.0 * marks[0, :, None],
        "A": [[-1.0]],
        "B": np.full((length, 1), 1 / 20),
        "C": np.ones((length, 1)),
    }
    words = {
        "kinds": ["needle" if mark else "filler" for mark in marks[0]],
        "labels": [f"{value:.1f}" for value in values[0]],
    }
    return StateExplorer(**signals, title=title, caption=caption, **(words | view))


def explore_selective(
    x: Any,
    delta: Any,
    A: Any,
    B: Any,
    C: Any,
    skip: Any = None,
    *,
    title: str = "The hidden state of a selective scan",
    caption: str = SELECTIVE,
    **view: Any,
) -> StateExplorer:
    """Explore any selective scan of one sequence. Arguments and errors as StateExplorer."""
    return StateExplorer(x, delta, A, B, C, skip, title=title, caption=caption, **view)
