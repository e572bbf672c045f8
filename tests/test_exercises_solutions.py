"""Every solution against something that does not share its formula."""

import math

import pytest
import torch

from mamba_edu.discretize import discretize_zoh
from mamba_edu.exercises import n00, n01, n02, n03, n04, n06
from mamba_edu.layers import MambaStack, convolve_depthwise
from mamba_edu.linear import fit_linear_filter, run_convolution, run_recurrence, trace_states
from mamba_edu.tasks import sample_last_marked


def filter_with(x, a_bar, b_bar):
    """A bucket as one matrix."""
    t = torch.arange(len(x), dtype=x.dtype)
    return torch.tril(b_bar * a_bar ** (t[:, None] - t).clamp(min=0)) @ x


@pytest.mark.parametrize(("keep", "steps"), [(0.7, 6), (1.0, 3), (0.2, 0)])
def test_share_left_is_what_stepping_leaves(keep, steps):
    left = 1.0
    for _ in range(steps):
        left *= keep
    assert n00.solve_share_left(keep, steps) == pytest.approx(left, rel=1e-12)


def test_shape_of_states_is_that_of_the_package():
    x, A = torch.zeros(2, 7, 3).double(), torch.zeros(3, 4).double()
    assert n00.solve_shape_of_states(x, A) == tuple(trace_states(x, A, A).shape)


@pytest.mark.parametrize("a_bar", [0.2, 0.97])
def test_steps_to_half_halve(a_bar):
    assert a_bar ** n01.solve_steps_to_half(a_bar) == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("half_life", [0.5, 3.0, 40.0])
def test_smooth_equals_one_matrix(half_life):
    x = torch.randn(9, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    a_bar = 0.5 ** (1 / half_life)
    torch.testing.assert_close(
        n01.solve_smooth(x, half_life), filter_with(x, a_bar, 1 - a_bar), rtol=1e-12, atol=1e-12
    )


def test_make_oscillator_turns_once_a_period_and_halves_every_half_life():
    A = torch.tensor(n01.solve_make_oscillator(6.0, 9.0), dtype=torch.complex128)
    assert abs(torch.exp(6 * A).angle().item()) < 1e-12
    assert torch.exp(1.5 * A).angle().item() == pytest.approx(math.pi / 2)
    assert torch.exp(9 * A).abs().item() == pytest.approx(0.5)


def test_tokens_to_half_halve_by_the_package_s_rule():
    A, delta, one = (torch.tensor(v, dtype=torch.float64) for v in (-3.0, 0.02, 1.0))
    a_bar = discretize_zoh(delta, A, one)[0]
    assert (a_bar ** n02.solve_tokens_to_half(-3.0, 0.02)).item() == pytest.approx(0.5)


def test_from_average_is_undone_by_the_zero_order_hold():
    A, B = (torch.tensor(v, dtype=torch.float64) for v in n02.solve_from_average(0.83))
    a_bar, b_bar = discretize_zoh(torch.ones(()).double(), A, B)
    assert (a_bar.item(), b_bar.item()) == (pytest.approx(0.83), pytest.approx(0.17))


def test_safe_gain_equals_its_power_series_in_value_and_gradient():
    z = torch.tensor([-0.9, -0.011, -0.0099, -1e-5, 0.0, 1e-12, 0.3]).double().requires_grad_()
    k = torch.arange(30, dtype=torch.float64)
    terms = torch.exp(-torch.lgamma(k + 2))  # 1 / (k + 1)!
    series = (z.detach()[:, None] ** k * terms).sum(1)
    slope = (k[1:] * z.detach()[:, None] ** (k[1:] - 1) * terms[1:]).sum(1)
    value = n02.solve_safe_gain(z)
    torch.testing.assert_close(value, series, rtol=1e-13, atol=0, check_stride=False)
    gradient = torch.autograd.grad(value.sum(), z)[0]
    torch.testing.assert_close(gradient, slope, rtol=1e-10, atol=0)


@pytest.mark.parametrize(("a_bar", "b_bar", "c"), [(0.5, 3.0, 2.0), (-0.9, 1.0, 0.5)])
def test_pulse_answer_is_what_the_recurrence_says_to_a_pulse(a_bar, b_bar, c):
    pulse = torch.eye(6, dtype=torch.float64)[None, :, :1]
    numbers = (torch.full((1, 1), v, dtype=torch.float64) for v in (a_bar, b_bar, c))
    torch.testing.assert_close(
        n03.solve_pulse_answer(a_bar, b_bar, c, 6), run_recurrence(pulse, *numbers)[0, :, 0]
    )


def test_to_matrix_does_what_the_convolution_does():
    rng = torch.Generator().manual_seed(0)
    kernel, x = (torch.randn(7, generator=rng, dtype=torch.float64) for _ in range(2))
    y = run_convolution(x[None, :, None], kernel[None])[0, :, 0]
    torch.testing.assert_close(n03.solve_to_matrix(kernel) @ x, y)


@pytest.mark.parametrize("p", [0.3, 0.9])
def test_raw_missed_is_what_the_best_filter_misses(p):
    values, _, target = sample_last_marked(4, 10_000, p, seed=1)
    fit = fit_linear_filter(values[..., None], target, 20)
    assert n03.solve_raw_missed(p) == pytest.approx(fit.error_share.item(), abs=0.03)


def test_chosen_steps_keep_all_between_marks_and_nothing_at_one():
    marks = torch.tensor([1.0, 0, 0, 1, 0], dtype=torch.float64)
    kept = torch.exp(-n04.solve_choose_steps(marks, 40.0))
    torch.testing.assert_close(kept, 1 - marks)


@pytest.mark.parametrize(("A", "share"), [(-1.0, 0.5), (-7.0, 0.01)])
def test_the_step_that_keeps_a_share_keeps_it_by_the_package_s_rule(A, share):
    delta, rate, one = (
        torch.tensor(v, dtype=torch.float64) for v in (n04.solve_step_that_keeps(A, share), A, 1)
    )
    assert discretize_zoh(delta, rate, one)[0].item() == pytest.approx(share, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-12, 1e-3, 0.7, 5.0, 900.0])
def test_softplus_of_the_bias_is_the_step(delta):
    bias = torch.tensor(n04.solve_bias_for(delta), dtype=torch.float64)
    assert torch.logaddexp(bias, torch.zeros_like(bias)).item() == pytest.approx(delta, rel=1e-11)


@pytest.mark.parametrize("sizes", [(6, 2, 5, 4, 3), (4, 1, 2, 1, 1)])
def test_counted_memory_is_what_a_stack_carries(sizes):
    names = ("d_model", "expand", "d_state", "d_conv", "n_layers")
    given = dict(zip(names, sizes, strict=True))
    _, states = MambaStack(**given)(torch.zeros(1, 9, sizes[0]), return_state=True)
    assert n06.solve_count_memory(**given) == sum(part.numel() for s in states for part in s)


def test_a_dead_channel_has_lost_half_when_one_steps_it_there():
    bias = torch.linspace(-6, 2, 33, dtype=torch.float64)
    left = torch.ones_like(bias)
    for _ in range(7):
        left = left * torch.exp(-torch.logaddexp(bias, torch.zeros_like(bias)))
    assert torch.equal(n06.solve_find_dead(bias, 7), left <= 0.5)
    assert 0 < n06.solve_find_dead(bias, 7).sum() < 33


def test_a_convolution_in_steps_is_the_package_s_at_once():
    rng = torch.Generator().manual_seed(0)
    shapes = {"signal": (7, 3), "weight": (3, 4), "bias": (3,)}
    given = {k: torch.randn(s, generator=rng, dtype=torch.float64) for k, s in shapes.items()}
    walked = n06.walk_conv(n06.solve_step_conv)(**given)
    y, tail = convolve_depthwise(given["signal"][None], given["weight"], given["bias"])
    torch.testing.assert_close(walked, torch.cat([y[0], tail[0]]))
