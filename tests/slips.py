"""Answers as readers write them, and a word of the sentence that each must earn.

They are written here once more, so that the sentences are tested and not only found again.
"""

import math

import torch
from slip_parts import (
    blame,
    filter_with,
    fold,
    guard_at_zero,
    multiply_on,
    push,
    shift,
    tell_distance,
    tick,
    weigh,
)
from slips_memory import SLIPS as MEMORY
from slips_million import SLIPS as MILLION
from slips_reading import SLIPS as READING
from slips_trial import SLIPS as TRIAL

from mamba_edu.exercises import n00, n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11, n12

MODULES = (n00, n01, n02, n03, n04, n05, n06, n07, n08, n09, n10, n11, n12)
SLIPS = (
    READING
    | TRIAL
    | MEMORY
    | MILLION
    | {
        n00.check_share_left: [
            (lambda keep, steps: sum(keep for _ in range(steps)), "a product, not a sum"),
            (lambda keep, steps: 1 - (1 - keep) * steps, "of what is left, not of the start"),
        ],
        n00.check_shape_of_states: [
            (
                lambda x, A: (*x.transpose(1, 2).shape, A.shape[-1]),
                "length comes before the channels",
            ),
            (lambda x, A: tuple(x.shape[:2]) + tuple(A.shape[1:]), "the channel axis is missing"),
        ],
        n01.check_steps_to_half: [
            (lambda a_bar: 1 / math.log(1 / a_bar), "time constant, to 1/e"),
            (lambda a_bar: 1 / math.log(0.5, a_bar), "upside down"),
            (lambda a_bar: math.log(2, a_bar), "a minus is missing"),
        ],
        n01.check_smooth: [
            (
                lambda x, half_life: filter_with(x, 0.5 ** (1 / half_life), 1.0),
                "weight the input by",
            ),
            (
                lambda x, half_life: torch.cat([x[:1] * 0, n01.solve_smooth(x, half_life)[:-1]]),
                "the state before it reads the token",
            ),
            (
                lambda x, half_life: filter_with(x, 0.5**half_life, 1 - 0.5**half_life),
                "root of 0.5",
            ),
            (
                lambda x, half_life: filter_with(
                    x, 1 - 0.5 ** (1 / half_life), 0.5 ** (1 / half_life)
                ),
                "swapped",
            ),
            (
                lambda x, half_life: n01.solve_smooth(x - x[0], half_life) + x[0],
                "starts empty",
            ),
        ],
        n01.check_make_oscillator: [
            (lambda period, half_life: math.log(0.5) / half_life + 1j / period, "one turn is 2 pi"),
            (lambda period, half_life: -1 / half_life + 2j * math.pi / period, "differ by ln 2"),
            (lambda period, half_life: math.log(2) / half_life + 2j * math.pi / period, "grows"),
            (
                lambda period, half_life: math.log(0.5) / half_life - 2j * math.pi / period,
                "clockwise",
            ),
        ],
        n02.check_tokens_to_half: [
            (lambda A, delta: math.log(2) / abs(A), "half-life in time"),
            (lambda A, delta: -math.log(2) / A * delta, "divide by delta"),
            (lambda A, delta: math.log(2) / A / delta, "a minus is missing"),
        ],
        n02.check_from_average: [
            (lambda a_bar: (a_bar - 1.0, 1.0 - a_bar), "inverts Euler's rule"),
            (lambda a_bar: (math.log(a_bar), 1.0 - a_bar), "for one step already taken"),
            (lambda a_bar: (math.log(a_bar), 1), "B = 1"),
        ],
        n02.check_safe_gain: [
            (lambda z: (z.exp() - 1) / z, "0 / 0 at z = 0"),
            (lambda z: torch.where(z == 0, 1.0, (z.exp() - 1) / z), "NaN times 0 is NaN"),
            (lambda z: torch.nan_to_num(z.expm1() / z, nan=1.0), "or nan_to_num"),
            (lambda z: guard_at_zero(z), "its gradient subtracts"),
            (
                lambda z: torch.from_numpy(n02.solve_safe_gain(z).detach().numpy()),
                "no gradient",
            ),
        ],
        n03.check_pulse_answer: [
            (
                lambda a_bar, b_bar, c, length: multiply_on(c * b_bar * a_bar, a_bar, length),
                "off by one",
            ),
            (lambda a_bar, b_bar, c, length: multiply_on(c, a_bar, length), "it is missing"),
            (lambda a_bar, b_bar, c, length: multiply_on(b_bar, c * a_bar, length), "c reads once"),
        ],
        n03.check_to_matrix: [
            (
                lambda kernel: torch.stack([shift(kernel, s) for s in range(len(kernel))]),
                "transposed",
            ),
            (lambda kernel: kernel[tell_distance(kernel) % len(kernel)], "wraps round"),
            (lambda kernel: kernel[tell_distance(kernel).abs()], "symmetric"),
        ],
        n03.check_raw_missed: [
            (lambda p: 1 - 1 / (2 - p), "handed the marked values"),
            (lambda p: p / (2 - p), "the missed one is the rest"),
            (lambda p: (1 + p) * (1 - p), "reach back over all earlier tokens"),
            (lambda p: 1 - p, "it explains p squared"),
        ],
        n04.check_choose_steps: [
            (lambda marks, at_marks: torch.where(marks > 0, 0, at_marks), "the other way round"),
            (lambda marks, at_marks: torch.where(marks > 0, at_marks, 1), "an ordinary step leaks"),
            (lambda marks, at_marks: marks.clone(), "make it at_marks"),
        ],
        n04.check_step_that_keeps: [
            (lambda A, share: (share - 1) / A, "not fall along a straight line"),
            (lambda A, share: A * math.log(share), "divide by the rate"),
            (lambda A, share: math.log(1 / share) / A, "runs backwards"),
        ],
        n04.check_bias_for: [
            (lambda delta: math.log(delta), "softplus is not exp"),
            (lambda delta: delta + math.log1p(math.exp(-delta)), "softplus itself"),
            (lambda delta: math.log(math.exp(delta) - 1), "loses its digits"),
        ],
        n05.check_tokens_until: [
            (lambda A, delta, floor: math.log(floor) / delta / A.max().item(), "the slowest state"),
            (lambda A, delta, floor: -math.log(floor) / A.abs().max().item(), "to count tokens"),
        ],
        n05.check_combine_all: [
            (lambda keep, write: (keep.prod(), fold(keep.flip(0), write.flip(0))), "swapped"),
            (lambda keep, write: (keep.prod(), write.sum()), "does not decay"),
            (lambda keep, write: (keep[-1], fold(keep, write)), "the product of all its keeps"),
        ],
        n05.check_trace_back: [
            (lambda keep, grad: blame(keep, grad, lambda s, t: keep[s:t].prod()), "off by one"),
            (
                lambda keep, grad: torch.stack(
                    [fold(keep[: t + 1], grad[: t + 1]) for t in range(len(keep))]
                ),
                "comes after it",
            ),
            (lambda keep, grad: 1 * grad, "lives on in the next one"),
            (lambda keep, grad: blame(keep, grad).flip(0), "turn the list round"),
        ],
        n06.check_count_memory: [
            (
                lambda d_model, expand, d_state, d_conv, n_layers: (
                    n_layers * expand * d_model * (d_state + d_conv)
                ),
                "of d_conv inputs only d_conv - 1",
            ),
            (
                lambda d_model, expand, d_state, d_conv, n_layers: (
                    n_layers * expand * d_model * d_state
                ),
                "the convolution remembers too",
            ),
            (
                lambda d_model, expand, d_state, d_conv, n_layers: (
                    n_layers * d_model * (d_state + d_conv - 1)
                ),
                "run on d_inner",
            ),
            (
                lambda d_model, expand, d_state, d_conv, n_layers: (
                    expand * d_model * (d_state + d_conv - 1)
                ),
                "every layer carries its own",
            ),
        ],
        n06.check_find_dead: [
            (
                lambda bias, n_tokens: torch.exp(-bias.exp() * n_tokens) <= 0.5,
                "only for short steps",
            ),
            (lambda bias, n_tokens: tick(bias) * n_tokens >= 1, "half is gone sooner"),
            (
                lambda bias, n_tokens: 0.5 ** (1 / n_tokens) < torch.exp(-tick(bias)),
                "that are alive",
            ),
        ],
        n06.check_step_conv: [
            (lambda tail, x, weight, bias: (weigh(tail, x, weight) + bias, tail), "must move on"),
            (
                lambda tail, x, weight, bias: (
                    weigh(x[None], tail, weight) + bias,
                    push(x, tail)[:-1],
                ),
                "behind the tail, not before it",
            ),
            (
                lambda tail, x, weight, bias: (
                    weigh(tail, x, weight.flip(1)) + bias,
                    push(tail, x)[1:],
                ),
                "the first one the oldest",
            ),
            (
                lambda tail, x, weight, bias: (weigh(tail, x, weight), push(tail, x)[1:]),
                "the bias is missing",
            ),
        ],
    }
)
