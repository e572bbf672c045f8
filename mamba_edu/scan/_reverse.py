"""The fused scan's way back: each chunk is walked once more, then in reverse.

    grad_h[t] = C[t] grad_y[t] + exp(delta[t+1] A) grad_h[t+1]

is a scan too, whose time runs backwards. See _kernels.py, whose rows and rules these are.
"""

import numpy as np

from ._kernels import (
    DELTA,
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
    copy_row,
    enter_block,
    entry,
    find_token,
    inner,
    load_states,
    locate_start,
    pass_by,
    read_token,
    store_states,
)
from ._powers import power_2, sigmoid

KEEP, BEFORE, TRACE = (WIDTH * k for k in range(3))  # the rows of one state at one token


@inner
def trace_state(row, state, trace, write, read, width):
    """Step as step_state does, and keep what the way back needs."""
    for c in range(width):
        keep = power_2(row[DELTA + c] * state[RATE + c])
        before = state[H + c]
        h = keep * before + write * row[WRITE + c]
        trace[KEEP + c], trace[BEFORE + c] = keep, before
        state[H + c] = h
        row[Y + c] += read * h


@inner
def reverse_state(row, state, trace, write, read, width):
    """Step one state's gradient back, and return those to B and C, summed over channels."""
    to_write = to_read = row.dtype.type(0)
    for c in range(width):
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


@inner
def reverse_answer(row, given, at_given, gate, at_gate, to_gate, at, width):
    """Turn the gradient to the answer into those to the gate and to what came before it."""
    one = row.dtype.type(1)
    copy_row(given, at_given, row, TO_Y, width)
    gate, to_gate = gate[at_gate : at_gate + width], to_gate[at : at + width]
    for c in range(len(gate)):
        share = sigmoid(gate[c])
        to_gate[c] = row[TO_Y + c] * row[Y + c] * share * (one + gate[c] * (one - share))
        row[TO_Y + c] *= gate[c] * share


@inner
def reverse_token(row, to_x, to_delta, at, skip, at_skip, to_skip, at_sum, width):
    """Write down the gradients to a token and to its step."""
    ln_2 = row.dtype.type(0.6931471805599453)
    to_x, to_delta = to_x[at : at + width], to_delta[at : at + width]
    skip, to_skip = skip[at_skip : at_skip + width], to_skip[at_sum : at_sum + width]
    for c in range(width):
        to_x[c] = row[TO_WRITE + c] * row[DELTA + c]
        to_delta[c] = row[TO_WRITE + c] * row[X + c] + ln_2 * row[TO_DELTA + c]
    for c in range(len(skip)):
        to_x[c] += skip[c] * row[TO_Y + c]
        to_skip[c] += row[X + c] * row[TO_Y + c]


@inner
def trace_chunk(rows, states, trace, inputs, steps, skip, b, begin, channel, width):
    """Walk a chunk as walk_token does, and keep every token's rows and decays."""
    x, delta, B, C = inputs[:4]
    for k in range(len(rows)):
        t = begin + k
        at_x, at_delta = find_token(steps, 0, b, t) + channel, find_token(steps, 1, b, t) + channel
        at_B, at_C = find_token(steps, 2, b, t), find_token(steps, 3, b, t)
        read_token(rows[k], x, at_x, delta, at_delta, width)
        for n in range(len(states)):
            trace_state(rows[k], states[n], trace[k, n], B[at_B + n], C[at_C + n], width)
        pass_by(rows[k], skip, channel, width)


@inner
def reverse_reads(row, states, trace, inputs, steps, b, t, to_B, to_C, at_n, width):
    """Walk all states of one token back, and write down the gradients to its B and C."""
    B, C = inputs[2], inputs[3]
    at_B, at_C = find_token(steps, 2, b, t), find_token(steps, 3, b, t)
    for n in range(len(states)):
        sums = reverse_state(row, states[n], trace[n], B[at_B + n], C[at_C + n], width)
        to_B[at_n + n], to_C[at_n + n] = sums


@inner
def reverse_chunk(rows, states, trace, inputs, steps, skip, grads, place, begin):
    """Walk a chunk back, once it has been traced."""
    b, channel, width, item, length, d_inner = place
    to_x, to_delta, to_gate, to_B, to_C, _, to_skip = grads
    gate, given = inputs[4], inputs[5]
    for k in range(len(rows) - 1, -1, -1):
        t = begin + k
        at, at_n = (b * length + t) * d_inner + channel, (item * length + t) * len(states)
        at_gate, at_given = find_token(steps, 4, b, t), find_token(steps, 5, b, t) + channel
        reverse_answer(rows[k], given, at_given, gate, at_gate + channel, to_gate, at, width)
        reverse_reads(rows[k], states, trace[k], inputs, steps, b, t, to_B, to_C, at_n, width)
        at_skip = b * d_inner + channel
        reverse_token(rows[k], to_x, to_delta, at, skip, channel, to_skip, at_skip, width)


@entry
def scan_backward(inputs, steps, rates, skip, starts, to_h, grads, sizes, first, last):
    """Walk the blocks `first` to `last` back, the last chunk first.

    Args:
        inputs, steps: as scan_forward's, and the gradient to the answer.
        rates, skip, starts, sizes: as scan_forward's.
        to_h: the gradient to the state after the last token in, to the one before the first out.
        grads: room for those to x, delta and gate; to B and C, each block's by itself; to the
            rates, each row's by itself; to skip too, beginning with 0. All are flat.
    """
    length, d_inner, d_state, _, chunk = sizes
    rows, states = np.zeros((chunk, TOKEN), to_h.dtype), np.zeros((d_state, STATE), to_h.dtype)
    trace = np.empty((chunk, d_state, TRACE), to_h.dtype)
    for item in range(first, last):
        b, channel, width, at_h = enter_block(states, rates, to_h, sizes, item)
        load_states(states, TO_H, to_h, at_h, d_inner, width)
        states[:, TO_RATE:] = 0
        place = (b, channel, width, item, length, d_inner)
        for m in range(-(-length // chunk) - 1, -1, -1):
            begin, n_tokens = m * chunk, min(chunk, length - m * chunk)
            load_states(states, H, starts, locate_start(sizes, b, begin, channel), d_inner, width)
            part = rows[:n_tokens]
            trace_chunk(part, states, trace, inputs, steps, skip, b, begin, channel, width)
            reverse_chunk(part, states, trace, inputs, steps, skip, grads, place, begin)
        store_states(states, TO_H, to_h, at_h, d_inner, width)
        store_states(states, TO_RATE, grads[5], at_h, d_inner, width)
