"""The fused scan's way back: each chunk is walked once more, then in reverse.

    grad_h[t] = C[t] grad_y[t] + exp(delta[t+1] A) grad_h[t+1]

is a scan too, whose time runs backwards. See _kernels.py, whose rows and rules these are.
"""

import numpy as np

from ._kernels import (
    DELTA,
    GATE,
    RATE,
    STATE,
    TO_DELTA,
    TO_H,
    TO_RATE,
    TO_WRITE,
    TO_Y,
    TOKEN,
    WIDTH,
    WRITE,
    H,
    X,
    Y,
    enter_block,
    entry,
    find_token,
    for_lanes,
    gather,
    inlined,
    inner,
    locate_start,
    pass_by,
    read_chunk,
    scatter,
    whole,
)
from ._powers import power_2, sigmoid

KEEP, BEFORE, TRACE = (WIDTH * k for k in range(3))  # the rows of one state at one token


@inlined
def trace_state(row, state, trace, write, read, lanes):
    """Step as step_state does, and keep what the way back needs."""
    for c in range(lanes):
        keep = power_2(row[DELTA + c] * state[RATE + c])
        before = state[H + c]
        h = keep * before + write * row[WRITE + c]
        trace[KEEP + c], trace[BEFORE + c] = keep, before
        state[H + c] = h
        row[Y + c] += read * h


@for_lanes
def trace_chunk(lanes):
    """Make the walk of step_chunk, which leaves a trace."""

    @inner
    def walk(rows, states, trace, pairs):
        d_state = len(states)
        for k in range(len(rows)):
            for n in range(d_state):
                write, read = pairs[k, n], pairs[k, d_state + n]
                trace_state(rows[k], states[n], trace[k, n], write, read, lanes)

    return walk


@inlined
def reverse_state(row, state, trace, write, read, lanes):
    """Step one state's gradient back, and return those to B and C, summed over channels."""
    to_write = to_read = row.dtype.type(0)
    for c in range(lanes):
        keep, before = trace[KEEP + c], trace[BEFORE + c]
        to_h = state[TO_H + c] + read * row[TO_Y + c]
        row[TO_WRITE + c] += write * to_h
        to_write += to_h * row[WRITE + c]
        to_read += (keep * before + write * row[WRITE + c]) * row[TO_Y + c]
        state[TO_H + c] = to_h * keep
        to_z = to_h * keep * before  # z = delta A
        row[TO_DELTA + c] += to_z * state[RATE + c]
        state[TO_RATE + c] += to_z * row[DELTA + c]
    return to_write, to_read


@for_lanes
def reverse_chunk(lanes):
    """Make the walk back through a chunk that left a trace; pairs turn into their gradients."""

    @inner
    def walk(rows, states, trace, pairs):
        d_state = len(states)
        for k in range(len(rows) - 1, -1, -1):
            for n in range(d_state):
                write, read = pairs[k, n], pairs[k, d_state + n]
                sums = reverse_state(rows[k], states[n], trace[k, n], write, read, lanes)
                pairs[k, n], pairs[k, d_state + n] = sums

    return walk


@inner
def read_gradients(rows, inputs, steps, b, t, channel, width):
    """Gather gates and the gradients to the answers, and clear what will be added up."""
    for which, place in ((4, GATE), (5, TO_Y)):
        at = find_token(steps, which, b, t) + channel
        gather(rows, place, inputs[which], at, steps[which, 1], min(width, len(inputs[which])))
    for k in range(len(rows)):
        for c in range(WIDTH):
            rows[k, TO_WRITE + c] = rows[k, TO_DELTA + c] = 0


@inner
def reverse_gate(rows):
    """Turn the gradients to the answers into those to the gates and to what came before them."""
    one = rows.dtype.type(1)
    for k in range(len(rows)):
        for c in range(WIDTH):
            gate, to_y = rows[k, GATE + c], rows[k, TO_Y + c]
            share = sigmoid(gate)
            rows[k, GATE + c] = to_y * rows[k, Y + c] * share * (one + gate * (one - share))
            rows[k, TO_Y + c] = to_y * gate * share


@inner
def reverse_write(rows):
    """Turn the gradients to what was written into those to x and delta."""
    ln_2 = rows.dtype.type(0.6931471805599453)
    for k in range(len(rows)):
        for c in range(WIDTH):
            x, to_write = rows[k, X + c], rows[k, TO_WRITE + c]
            rows[k, TO_WRITE + c] = to_write * rows[k, DELTA + c]
            rows[k, TO_DELTA + c] = to_write * x + ln_2 * rows[k, TO_DELTA + c]


@inner
def reverse_skip(rows, skip, channel, to_skip, at, width):
    """Add the gradient to x that passes by the state, and sum the one to skip."""
    for k in range(len(rows) if len(skip) else 0):
        for c in range(width):
            rows[k, TO_WRITE + c] += skip[whole(channel + c)] * rows[k, TO_Y + c]
            to_skip[whole(at + c)] += rows[k, X + c] * rows[k, TO_Y + c]


@inner
def add_up(states, to_rates, at, step, width):
    """Add a chunk's gradients to the rates to those of others, and begin with 0 again.

    Sums of so many numbers are kept in double precision.
    """
    for n in range(len(states)):
        for c in range(width):
            to_rates[whole(at + n * step + c)] += states[n, TO_RATE + c]
            states[n, TO_RATE + c] = 0


@inner
def store_grads(rows, pairs, grads, sizes, item, b, t, channel, width):
    """Scatter a chunk's gradients."""
    length, d_inner, d_state, _, _ = sizes
    at = (b * length + t) * d_inner + channel
    for which, place in ((0, TO_WRITE), (1, TO_DELTA), (2, GATE)):
        scatter(rows, place, grads[which], at, d_inner, min(width, len(grads[which])))
    at = (item * length + t) * d_state
    for which, place in ((3, 0), (4, d_state)):
        scatter(pairs, place, grads[which], at, d_state, d_state)


@entry
def scan_backward(inputs, steps, rates, skip, starts, to_h, grads, sums, sizes, first, last):
    """Walk the blocks `first` to `last` back, the last chunk first.

    Args:
        inputs, steps: as scan_forward's, and the gradient to the answer.
        rates, skip, starts, sizes: as scan_forward's.
        to_h: the gradient to the state after the last token in, to the one before the first out.
        grads: room for those to x, delta and gate; to B and C, each block's by itself.
        sums: zeros, for the gradients to the rates and to skip, each row's by itself.
    """
    length, d_inner, d_state, _, chunk = sizes
    rows, states = np.empty((chunk, TOKEN), to_h.dtype), np.empty((d_state, STATE), to_h.dtype)
    pairs = np.empty((chunk, 2 * d_state), to_h.dtype)
    n_gates = chunk if len(inputs[4]) else 0
    trace = np.zeros((chunk, d_state, TRACE), to_h.dtype)
    for item in range(first, last):
        b, channel, width, at_h = enter_block(rows, states, rates, to_h, sizes, item)
        gather(states, TO_H, to_h, at_h, d_inner, width)
        for t in range((length - 1) // chunk * chunk, -1, -chunk):
            part, pair = rows[: length - t], pairs[: length - t]
            gather(states, H, starts, locate_start(sizes, b, t, channel), d_inner, width)
            read_gradients(part, inputs, steps, b, t, channel, width)
            read_chunk(part, pair, inputs, steps, b, t, channel, width)
            trace_chunk(width, part, states, trace, pair)
            pass_by(part, skip, channel, width)
            reverse_gate(part[:n_gates])
            reverse_chunk(width, part, states, trace, pair)
            reverse_write(part)
            reverse_skip(part, skip, channel, sums[1], b * d_inner + channel, width)
            add_up(states, sums[0], at_h, d_inner, width)
            store_grads(part, pair, grads, sizes, item, b, t, channel, width)
        scatter(states, TO_H, to_h, at_h, d_inner, width)
