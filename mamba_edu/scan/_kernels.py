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
DELTA_1, DELTA_2, DELTA_3 = (DELTA + TOKEN * k for k in (1, 2, 3))  # of the tokens after it
WRITE_1, WRITE_2, WRITE_3 = (WRITE + TOKEN * k for k in (1, 2, 3))
Y_1, Y_2, Y_3 = (Y + TOKEN * k for k in (1, 2, 3))
AT_ONCE = 4  # tokens that are stepped together
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


@inner
def round_up(n_tokens):
    """Round up to whole groups of tokens that are stepped together."""
    return -(-n_tokens // AT_ONCE) * AT_ONCE


@inner
def fill_up(rows, n_tokens):
    """Fill the last group up with tokens of zeros, whose steps last no time and write nothing."""
    filled = rows[: round_up(n_tokens)]
    clear(filled[n_tokens:])
    return filled


@inlined
def step_state(row, state, writes, reads, lanes):
    """Step one state of all channels by four tokens: h = keep h + B delta x, y = y + C h.

    From one of them to the next it stays in a register: it is loaded and stored once.
    """
    for c in range(lanes):
        rate = state[RATE + c]
        h = power_2(row[DELTA + c] * rate) * state[H + c] + writes[0] * row[WRITE + c]
        h_1 = power_2(row[DELTA_1 + c] * rate) * h + writes[1] * row[WRITE_1 + c]
        h_2 = power_2(row[DELTA_2 + c] * rate) * h_1 + writes[2] * row[WRITE_2 + c]
        h_3 = power_2(row[DELTA_3 + c] * rate) * h_2 + writes[3] * row[WRITE_3 + c]
        row[Y + c] += reads[0] * h
        row[Y_1 + c] += reads[1] * h_1
        row[Y_2 + c] += reads[2] * h_2
        row[Y_3 + c] += reads[3] * h_3
        state[H + c] = h_3


@inlined
def take_four(pairs, k, n):
    """Take what four tokens say about one state."""
    return pairs[k, n], pairs[k + 1, n], pairs[k + 2, n], pairs[k + 3, n]


@for_lanes
def step_chunk(lanes):
    """Make the walk through a chunk: all states by four tokens, then by the next."""

    @inner
    def walk(rows, states, pairs):
        d_state, fours = len(states), rows.reshape(len(rows) // AT_ONCE, AT_ONCE * TOKEN)
        for k in range(len(fours)):
            for n in range(d_state):
                writes = take_four(pairs, AT_ONCE * k, n)
                reads = take_four(pairs, AT_ONCE * k, d_state + n)
                step_state(fours[k], states[n], writes, reads, lanes)

    return walk


@inner
def find_token(steps, which, b, t):
    """Find where token t of row b begins in one of the flat inputs."""
    return b * steps[which, 0] + t * steps[which, 1]


@inner
def gather_steps(rows, x, at_x, x_step, delta, at_delta, delta_step, width):
    """Gather inputs and step sizes, and what a step writes; no answer has been added up yet."""
    for k in range(len(rows)):
        for c in range(width):
            given = x[whole(at_x + k * x_step + c)]
            time = delta[whole(at_delta + k * delta_step + c)]
            rows[k, whole(X + c)], rows[k, whole(DELTA + c)] = given, time
            rows[k, whole(WRITE + c)] = time * given
            rows[k, whole(Y + c)] = 0


@inner
def read_chunk(rows, pairs, inputs, steps, b, t, channel, width):
    """Gather what a chunk's tokens say."""
    d_state = pairs.shape[1] // 2
    at_x, at_delta = find_token(steps, 0, b, t) + channel, find_token(steps, 1, b, t) + channel
    gather_steps(rows, inputs[0], at_x, steps[0, 1], inputs[1], at_delta, steps[1, 1], width)
    for which, place in ((2, 0), (3, d_state)):
        at = find_token(steps, which, b, t)
        gather(pairs, place, inputs[which], at, steps[which, 1], d_state)


@inner
def pass_by(rows, skip, at_skip, width):
    """Add what passes by the state."""
    for k in range(len(rows) if len(skip) else 0):
        for c in range(width):
            rows[k, Y + c] += skip[whole(at_skip + c)] * rows[k, X + c]


@inner
def let_through(rows, gate, at_gate, gate_step, y, at, y_step, width):
    """Scatter the answers, times silu of the gate."""
    for k in range(len(rows)):
        for c in range(width):
            z = gate[whole(at_gate + k * gate_step + c)]
            y[whole(at + k * y_step + c)] = z * sigmoid(z) * rows[k, whole(Y + c)]


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
    n_rows, states = round_up(chunk), np.empty((d_state, STATE), h.dtype)
    rows, pairs = np.empty((n_rows, TOKEN), h.dtype), np.empty((n_rows, 2 * d_state), h.dtype)
    n_kept = d_state if len(starts) else 0
    for item in range(first, last):
        b, channel, width, at_h = enter_block(rows, states, rates, h, sizes, item)
        for t in range(0, length, chunk):
            n_tokens, at = min(chunk, length - t), locate_start(sizes, b, t, channel)
            part = rows[:n_tokens]
            scatter(states[:n_kept], H, starts, at, d_inner, width)
            read_chunk(part, pairs[:n_tokens], inputs, steps, b, t, channel, width)
            step_chunk(width, fill_up(rows, n_tokens), states, fill_up(pairs, n_tokens))
            pass_by(part, skip, channel, width)
            at, gates = (b * length + t) * d_inner + channel, n_tokens if len(inputs[4]) else 0
            at_gate = find_token(steps, 4, b, t) + channel
            let_through(part[:gates], inputs[4], at_gate, steps[4, 1], y, at, d_inner, width)
            scatter(part[gates:], Y, y, at, d_inner, width)
        scatter(states, H, h, at_h, d_inner, width)
