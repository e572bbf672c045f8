"""The fused scan's inner loops, compiled by numba: one token's states never leave the cache.

A worker walks one row of the batch and a block of up to WIDTH channels by itself, chunk by chunk.
What a chunk's tokens say is gathered into rows, the states are stepped, the answers are scattered.
The innermost loop goes over channels, which lie side by side in memory, so that one instruction
serves many. What it reads and writes stands in few arrays, at fixed distances: a compiler that
cannot tell two places apart goes from number to number.

fused.py loads a copy of this file that lies beside its compiled form. _reverse.py has the way back.
"""

import numpy as np
from numba import njit

from ._powers import LOOSE, power_2, sigmoid

WIDTH = 64  # channels of a block: their states, 16 each, fit the nearest cache
# The rows of one token, and those of one state, each WIDTH long.
X, DELTA, WRITE, GATE, Y, TO_Y, TO_WRITE, TO_DELTA, TOKEN = (WIDTH * k for k in range(9))
RATE, H, TO_H, TO_RATE, STATE = (WIDTH * k for k in range(5))
inner, entry = njit(**LOOSE), njit(cache=True, **LOOSE)
inlined = njit(inline="always", **LOOSE)
whole = np.uint64  # a place that need not be asked whether it counts from the end


def for_lanes(make):
    """Compile a walk for 16, 32 and 64 channels, and call the least that will do.

    A count that is known beforehand spares the questions that are asked before a loop: how often,
    what is left over, do two places overlap. Channels beyond the block's width hold zeros.
    """
    few, more, most = make(16), make(32), make(64)

    @inner
    def walk(width, *given):
        if width <= 16:
            return few(*given)
        return more(*given) if width <= 32 else most(*given)

    return walk


@inner
def gather(rows, place, flat, at, step, width):
    """Fill the same place of all rows from a flat tensor whose rows stand a step apart."""
    for k in range(len(rows)):
        for c in range(width):
            rows[k, whole(place + c)] = flat[whole(at + k * step + c)]


@inner
def scatter(rows, place, flat, at, step, width):
    """Do what gather does the other way round."""
    for k in range(len(rows)):
        for c in range(width):
            flat[whole(at + k * step + c)] = rows[k, whole(place + c)]


@inner
def clear(rows):
    """Fill rows with zeros."""
    for k in range(rows.shape[0]):
        for c in range(rows.shape[1]):
            rows[k, c] = 0


@inlined
def step_state(row, state, write, read, lanes):
    """Step one state of all channels: h = keep h + B delta x, y = y + C h."""
    for c in range(lanes):
        keep = power_2(row[DELTA + c] * state[RATE + c])
        h = keep * state[H + c] + write * row[WRITE + c]
        state[H + c] = h
        row[Y + c] += read * h


@for_lanes
def step_chunk(lanes):
    """Make the walk through a chunk: all states by one token, then by the next."""

    @inner
    def walk(rows, states, pairs):
        d_state = len(states)
        for k in range(len(rows)):
            for n in range(d_state):
                step_state(rows[k], states[n], pairs[k, n], pairs[k, d_state + n], lanes)

    return walk


@inner
def find_token(steps, which, b, t):
    """Find where token t of row b begins in one of the flat inputs."""
    return b * steps[which, 0] + t * steps[which, 1]


@inner
def read_chunk(rows, pairs, inputs, steps, b, t, channel, width):
    """Gather what a chunk's tokens say, and clear what will be added up."""
    d_state = pairs.shape[1] // 2
    for which, place in ((0, X), (1, DELTA), (4, GATE)):
        at = find_token(steps, which, b, t) + channel
        gather(rows, place, inputs[which], at, steps[which, 1], min(width, len(inputs[which])))
    for which, place in ((2, 0), (3, d_state)):
        at = find_token(steps, which, b, t)
        gather(pairs, place, inputs[which], at, steps[which, 1], d_state)
    for k in range(len(rows)):
        for c in range(WIDTH):
            rows[k, WRITE + c] = rows[k, DELTA + c] * rows[k, X + c]
            rows[k, Y + c] = rows[k, TO_WRITE + c] = rows[k, TO_DELTA + c] = 0


@inner
def pass_by(rows, skip, at_skip, width):
    """Add what passes by the state."""
    for k in range(len(rows) if len(skip) else 0):
        for c in range(width):
            rows[k, Y + c] += skip[whole(at_skip + c)] * rows[k, X + c]


@inner
def let_through(rows):
    """Multiply the answers by silu of the gate."""
    for k in range(len(rows)):
        for c in range(WIDTH):
            gate = rows[k, GATE + c]
            rows[k, Y + c] *= gate * sigmoid(gate)


@inner
def enter_block(rows, states, rates, h, sizes, item):
    """Load the rates and states of a block: its row, first channel, width, and place in h."""
    _, d_inner, d_state, block, _ = sizes
    n_blocks = -(-d_inner // block)
    b, channel = item // n_blocks, item % n_blocks * block
    width, at_h = min(block, d_inner - channel), b * d_state * d_inner + channel
    clear(rows)
    clear(states)
    gather(states, RATE, rates, channel, d_inner, width)
    gather(states, H, h, at_h, d_inner, width)
    return b, channel, width, at_h


@inner
def locate_start(sizes, b, t, channel):
    """Find where the state before token t's chunk begins among all those that are kept."""
    length, d_inner, d_state, _, chunk = sizes
    return (b * -(-length // chunk) + t // chunk) * d_state * d_inner + channel


@entry
def scan_forward(inputs, steps, rates, skip, h, starts, y, sizes, first, last):
    """Scan the blocks `first` to `last`: y is the answer, h the state in and out.

    Args:
        inputs: x, delta, B, C and gate, flat; gate of no length if there is none.
        steps: how far apart their rows and tokens stand.
        rates: A log2(e), (d_state, d_inner), flat as all that follow.
        skip: of no length if there is none.
        starts: room for the states before each chunk, or of no length.
        sizes: length, d_inner, d_state, channels of a block, tokens of a chunk.
    """
    length, d_inner, d_state, _, chunk = sizes
    rows, states = np.empty((chunk, TOKEN), h.dtype), np.empty((d_state, STATE), h.dtype)
    pairs = np.empty((chunk, 2 * d_state), h.dtype)
    n_kept, n_gates = d_state if len(starts) else 0, chunk if len(inputs[4]) else 0
    for item in range(first, last):
        b, channel, width, at_h = enter_block(rows, states, rates, h, sizes, item)
        for t in range(0, length, chunk):
            part = rows[: length - t]
            at = locate_start(sizes, b, t, channel)
            scatter(states[:n_kept], H, starts, at, d_inner, width)
            read_chunk(part, pairs[: length - t], inputs, steps, b, t, channel, width)
            step_chunk(width, part, states, pairs)
            pass_by(part, skip, channel, width)
            let_through(part[:n_gates])
            scatter(part, Y, y, (b * length + t) * d_inner + channel, d_inner, width)
        scatter(states, H, h, at_h, d_inner, width)
