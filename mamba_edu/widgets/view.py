"""What of a sequence is shown, and the numbers that are sent of it."""

import numbers
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from mamba_edu.probes import SCALES, Trace, rank_channels, rank_states, trace_scales
from mamba_edu.widgets.packing import quantize
from mamba_edu.widgets.sequence import KINDS, Tokens

MOST_CHANNELS, MOST_STATES, MOST_TOKENS = 16, 16, 512


class View(NamedTuple):
    """The part of a sequence that is shown.

    Fields:
        tokens: the shown tokens, with the signals of the shown channels.
        states: (scale, length, channel, state), real.
        outputs: (scale, length, channel).
        rates: (channel, state), real.
        channels: the number of each shown channel.
        names: of the shown states.
        first: the first shown token, and `length` how many there are in the whole sequence.
        notice: what is not shown, in words, or nothing.
    """

    tokens: Tokens
    states: Tensor
    outputs: Tensor
    rates: Tensor
    channels: list[int]
    names: list[str]
    first: int
    length: int
    notice: str


def choose_view(
    whole: Tokens,
    channels: Sequence[int] | None,
    first: int | None,
    rule: Callable[..., tuple[Tensor, Tensor]] | None,
) -> View:
    """Choose the channels, states and tokens to show, and compute their states at all scales."""
    was_asked, channels = channels is not None, choose_channels(whole, channels)
    window = choose_window(len(whole.x), first)
    signals = take_channels(whole, channels)
    trace = trace_scales(*signals[:6], window=window, rule=rule)
    states, rates, names = choose_states(trace, signals.A)
    return View(
        take_window(signals, *window),
        states,
        trace.outputs,
        rates,
        channels,
        names,
        window[0],
        len(whole.x),
        write_notice(whole, channels, names, window, was_asked),
    )


def choose_channels(whole: Tokens, channels: Sequence[int] | None) -> list[int]:
    """Take the channels that were asked for, or all, or those that remember longest."""
    d_inner = whole.x.shape[1]
    if channels is None and d_inner <= MOST_CHANNELS:
        return list(range(d_inner))
    if channels is None:
        return rank_channels(whole.delta[None], whole.A.real, MOST_CHANNELS).tolist()
    is_list = isinstance(channels, list | tuple | range)
    chosen = [int(channel) for channel in channels if channel in range(d_inner)] if is_list else []
    is_whole = is_list and len(set(chosen)) == len(channels)
    if not is_whole or not 1 <= len(chosen) <= MOST_CHANNELS:
        raise ValueError(
            f"channels must be 1 to {MOST_CHANNELS} different numbers, 0 to {d_inner - 1}; got "
            f"{channels!r}"
        )
    return chosen


def choose_window(length: int, first: int | None) -> tuple[int, int]:
    """Choose the shown tokens: the last ones, or those from `first` on."""
    first = max(0, length - MOST_TOKENS) if first is None else first
    if not isinstance(first, numbers.Integral) or not 0 <= first < length:
        raise ValueError(f"first must be a token, 0 to {length - 1}; got {first!r}")
    return int(first), min(length, first + MOST_TOKENS)


def take_channels(whole: Tokens, channels: list[int]) -> Tokens:
    """Take some channels' signals."""
    parts = {name: getattr(whole, name)[:, channels] for name in ("x", "delta")}
    return whole._replace(**parts, A=whole.A[channels], skip=whole.skip[channels])


def take_window(whole: Tokens, first: int, end: int) -> Tokens:
    """Take some tokens, with their kinds and labels."""
    names = ("x", "delta", "B", "C", "kinds", "labels")
    return whole._replace(**{name: getattr(whole, name)[first:end] for name in names})


def choose_states(trace: Trace, A: Tensor) -> tuple[Tensor, Tensor, list[str]]:
    """Choose the slowest states, complex ones as their two parts: states, rates and names."""
    is_complex = trace.states.is_complex()
    kept = rank_states(A.real, MOST_STATES // 2 if is_complex else MOST_STATES)
    states, rates = trace.states[..., kept], A.real[:, kept]
    numbers = [""] if A.shape[1] == 1 else [str(n + 1) for n in kept.tolist()]
    if not is_complex:
        return states, rates, [f"h{number}" for number in numbers]
    parts = torch.view_as_real(states).flatten(-2)
    names = [f"{part} h{number}" for number in numbers for part in ("Re", "Im")]
    return parts, rates.repeat_interleave(2, dim=1), names


def write_notice(
    whole: Tokens,
    channels: list[int],
    names: list[str],
    window: tuple[int, int],
    was_asked: bool,
) -> str:
    """Say what is left out: channels, states, tokens; nothing if all is shown."""
    length, d_inner = whole.x.shape
    d_state = whole.A.shape[1] * (2 if len(names) and names[0].startswith("Re") else 1)
    said = []
    if len(channels) < d_inner:
        why = "" if was_asked else ", those that remember longest"
        said.append(f"{len(channels)} of {d_inner} channels{why}")
    if len(names) < d_state:
        said.append(f"{len(names)} of {d_state} states, the slowest")
    first, end = window
    if end - first < length:
        entered = ", entered with the state that all before them left" if first else ""
        said.append(f"tokens {first} to {end - 1} of {length}{entered}")
    return f"Shown: {'; '.join(said)}." if said else ""


def code_view(view: View) -> dict[str, np.ndarray]:
    """Write the shown numbers as the arrays that the front end reads: channels before time."""
    states, state_step = quantize(view.states.transpose(1, 2), 2)
    outputs, output_step = quantize(view.outputs.mT, 1)
    inputs, input_step = quantize(view.tokens.x.T, 1)
    kinds = np.array([KINDS.index(kind) for kind in view.tokens.kinds], dtype=np.uint8)
    return {
        "states": states,
        "state_step": state_step,
        "outputs": outputs,
        "output_step": output_step,
        "inputs": inputs,
        "input_step": input_step,
        "delta": view.tokens.delta.T.float().numpy(),
        "rates": view.rates.float().numpy(),
        "kinds": kinds,
    }


def describe_view(view: View) -> dict[str, object]:
    """List what the front end reads beside the arrays."""
    is_phase = len(view.names) == 2 and view.names[0] == "Re h"
    return {
        "mode": "phase" if is_phase else "states",
        "scales": list(SCALES),
        "scale_labels": [f"{scale:g}×" for scale in SCALES],
        "channels": view.channels,
        "states": view.names,
        "labels": view.tokens.labels,
        "first": view.first,
        "length": view.length,
        "notice": view.notice,
        "unit": "",
        "autoplay": False,
    }
