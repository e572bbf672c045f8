"""The fused scan's inner loops, compiled by numba: one token's states never leave the cache.

A worker walks one row of the batch and a block of up to WIDTH channels by itself. The innermost
loop goes over channels, which lie side by side in memory, so that one instruction serves many. What
it reads and writes stands in few arrays, at fixed distances: a compiler that cannot tell two places
apart goes from number to number.

fused.py loads a copy of this file that lies beside its compiled form. _reverse.py has the way back.
"""

import numpy as np
from numba import njit

from ._powers import LOOSE, power_2, sigmoid

WIDTH = 64  # channels of a block: their states, 16 each, fit the nearest cache
# The rows of one token, and those of one state, each WIDTH long.
DELTA, WRITE, X, Y, TO_Y, TO_WRITE, TO_DELTA, TOKEN = (WIDTH * k for k in range(8))
RATE, H, TO_H, TO_RATE, STATE = (WIDTH * k for k in range(5))
inner, entry = njit(**LOOSE), njit(cache=True, **LOOSE)


@inner
def read_token(row, x, at_x, delta, at_delta, width):
    """Put a token, its step and what it writes into rows, and clear what will be added up."""
    x, delta = x[at_x : at_x + width], delta[at_delta : at_delta + width]
    for c in range(width):
        row[X + c] = x[c]
        row[DELTA + c] = delta[c]
        row[WRITE + c] = delta[c] * x[c]
    for c in range(width):
        row[Y + c] = row[TO_WRITE + c] = row[TO_DELTA + c] = 0


@inner
def step_state(row, state, write, read, width):
    """Step one state of all channels: h = keep h + B delta x, y = y + C h."""
    for c in range(width):
        keep = power_2(row[DELTA + c] * state[RATE + c])
        h = keep * state[H + c] + write * row[WRITE + c]
        state[H + c] = h
        row[Y + c] += read * h


@inner
def copy_row(source, at, target, to, width):
    """Copy one row from one flat place to another."""
    for c in range(width):
        target[to + c] = source[at + c]


@inner
def load_states(states, place, flat, at, stride, width):
    """Fill one kind of row of all states from a tensor (d_state, d_inner) laid out flat."""
    for n in range(len(states)):
        copy_row(flat, at + n * stride, states[n], place, width)


@inner
def store_states(states, place, flat, at, stride, width):
    """Do what load_states does the other way round."""
    for n in range(len(states)):
        copy_row(states[n], place, flat, at + n * stride, width)


@inner
def pass_by(row, skip, at_skip, width):
    """Add what passes by the state."""
    skip = skip[at_skip : at_skip + width]
    for c in range(len(skip)):
        row[Y + c] += skip[c] * row[X + c]


@inner
def answer_token(row, y, at_y, gate, at_gate, width):
    """Let the gate through and write the answer down."""
    gate = gate[at_gate : at_gate + width]
    for c in range(len(gate)):
        row[Y + c] *= gate[c] * sigmoid(gate[c])
    copy_row(row, Y, y, at_y, width)


@inner
def find_token(steps, which, b, t):
    """Find where token t of row b begins in one of the flat inputs."""
    return b * steps[which, 0] + t * steps[which, 1]


@inner
def enter_block(states, rates, h, sizes, item):
    """Load the rates and states of a block: its row, first channel, width, and place in h."""
    _, d_inner, d_state, block, _ = sizes
    n_blocks = -(-d_inner // block)
    b, channel = item // n_blocks, item % n_blocks * block
    width, at_h = min(block, d_inner - channel), b * d_state * d_inner + channel
    load_states(states, RATE, rates, channel, d_inner, width)
    load_states(states, H, h, at_h, d_inner, width)
    return b, channel, width, at_h


@inner
def walk_token(row, states, inputs, steps, skip, b, t, channel, width):
    """Step all states of a block by one token."""
    x, delta, B, C, _ = inputs
    at_x, at_delta = find_token(steps, 0, b, t) + channel, find_token(steps, 1, b, t) + channel
    at_B, at_C = find_token(steps, 2, b, t), find_token(steps, 3, b, t)
    read_token(row, x, at_x, delta, at_delta, width)
    for n in range(len(states)):
        step_state(row, states[n], B[at_B + n], C[at_C + n], width)
    pass_by(row, skip, channel, width)


@inner
def locate_start(sizes, b, t, channel):
    """Find where the state before token t's chunk begins among all those that are kept."""
    length, d_inner, d_state, _, chunk = sizes
    return (b * -(-length // chunk) + t // chunk) * d_state * d_inner + channel


@inner
def keep_start(states, starts, sizes, b, t, channel, width):
    """Keep the state before a chunk's first token, if there is room for it."""
    if len(starts) and t % sizes[4] == 0:
        at = locate_start(sizes, b, t, channel)
        store_states(states, H, starts, at, sizes[1], width)


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
    length, d_inner, d_state, _, _ = sizes
    row, states = np.zeros(TOKEN, h.dtype), np.zeros((d_state, STATE), h.dtype)
    for item in range(first, last):
        b, channel, width, at_h = enter_block(states, rates, h, sizes, item)
        for t in range(length):
            keep_start(states, starts, sizes, b, t, channel, width)
            walk_token(row, states, inputs, steps, skip, b, t, channel, width)
            at_gate, at_y = find_token(steps, 4, b, t), (b * length + t) * d_inner
            answer_token(row, y, at_y + channel, inputs[4], at_gate + channel, width)
        store_states(states, H, h, at_h, d_inner, width)
