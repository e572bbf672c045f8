"""The best fixed filter and the fit of one decay, against answers known beforehand."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import curve_fit  # comes with scikit-learn
from torch.testing import assert_close

from mamba_edu.linear import fit_decay, fit_linear_filter, run_convolution, run_recurrence

nan = float("nan")


def randn(*shape, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


def test_filter_recovers_a_known_one():
    x, weights = randn(2, 50, 3), randn(3, 4, seed=1)
    target = run_convolution(x, weights).sum(-1) + 0.7
    target[:, :3] = 99  # these tokens have no four inputs behind them, and are not counted
    fit = fit_linear_filter(x, target, 4)
    assert_close(fit.weights, weights)
    assert_close(fit.bias.item(), 0.7)
    assert fit.error_share < 1e-20


def test_filter_orders_its_taps_from_now_backwards():
    x = randn(1, 30, 2)
    target = x[..., 1].roll(2, dims=1)
    right = torch.tensor([[0.0, 0, 0], [0, 0, 1]], dtype=torch.float64)
    assert_close(fit_linear_filter(x, target, 3).weights, right)


def test_filter_for_a_target_apart_from_its_input_is_the_mean():
    x, target = randn(4, 20000, 1), 5 + randn(4, 20000, seed=1)
    fit = fit_linear_filter(x, target, 2)
    assert abs(fit.bias - 5) < 0.02  # the standard error of the mean is 0.0035
    assert 0.999 < fit.error_share <= 1


def test_no_other_filter_of_the_same_length_does_better():
    x, target = randn(3, 200, 2), randn(3, 200, seed=1)
    target = target + x[..., 0].roll(1, dims=1) * x[..., 1]
    fit = fit_linear_filter(x, target, 5)

    def share(weights, bias):
        error = (target - bias - run_convolution(x, weights).sum(-1))[:, 4:]
        return (error.square().mean() / target[:, 4:].var(correction=0)).item()

    assert share(fit.weights, fit.bias) == pytest.approx(fit.error_share.item(), rel=1e-12)
    for seed in range(20):
        nudge = 1e-3 * randn(2, 5, seed=seed)
        assert share(fit.weights + nudge, fit.bias) > fit.error_share
        assert share(fit.weights, fit.bias + nudge[0, 0]) > fit.error_share


@pytest.mark.parametrize("chance", [0.2, 0.5])
def test_filter_for_the_last_marked_value_has_its_closed_form(chance):
    """Values x are N(0, 1), marked with chance p; the filter sees x times mark.

    The last mark was k tokens ago with chance p (1 - p)^k, so the best weights are (1 - p)^k; with
    K taps they explain (1 - (1 - p)^2K) / (2 - p) of the variance. Over 16 draws, the mean must
    lie within 4 of its own standard errors, and these must be small.
    """
    n_taps, keep = 8, 1 - chance
    found = []
    for seed in range(16):
        rng = torch.Generator().manual_seed(seed)
        x = torch.randn(8, 1000, generator=rng, dtype=torch.float64)
        is_marked = torch.rand(8, 1000, generator=rng) < chance
        last = torch.where(is_marked, torch.arange(1000), -1).cummax(1).values
        target = torch.where(last < 0, 0, x.gather(1, last.clamp(min=0)))
        fit = fit_linear_filter((x * is_marked)[..., None], target, n_taps)
        found.append(torch.cat([fit.weights[0], fit.error_share[None]]))
    found = torch.stack(found)
    explained = (1 - keep ** (2 * n_taps)) / (2 - chance)
    right = torch.tensor([*(keep**k for k in range(n_taps)), 1 - explained])
    error = found.std(0) / 4
    assert error.max() < 0.01
    assert ((found.mean(0) - right).abs() < 4 * error).all()


def test_filter_takes_an_input_that_never_changes():
    x = torch.cat([randn(2, 40, 1), torch.ones(2, 40, 1, dtype=torch.float64)], dim=-1)
    fit = fit_linear_filter(x, 3 * x[..., 0] + 1, 2)
    assert fit.error_share < 1e-20
    assert_close(fit.bias + fit.weights[1].sum(), torch.tensor(1.0, dtype=torch.float64))


def test_filter_is_not_solved_by_what_the_memory_held(monkeypatch):
    """torch's call of LAPACK's gelsy, its default, leaves the order of the pivots unset."""
    drivers, solve = [], torch.linalg.lstsq

    def watch(*tensors, driver=None):
        drivers.append(driver)
        return solve(*tensors, driver=driver)

    monkeypatch.setattr(torch.linalg, "lstsq", watch)
    fit_linear_filter(randn(2, 40, 1), randn(2, 40), 2)
    assert drivers == ["gelsd"]


@pytest.mark.parametrize("target_size", [1e-300, 1e-200, 1.0, 1e200, 1e307])
@pytest.mark.parametrize("x_size", [1e-4, 1.0, 1e4])
def test_filter_is_the_same_in_any_unit(target_size, x_size):
    """Squares of such targets overflow, or are 0."""
    x, target = randn(2, 40, 2), 3 + randn(2, 40, seed=1)
    plain = fit_linear_filter(x, target, 3)
    if x_size < 1 and target_size > 1e300:
        with pytest.raises(ValueError, match="target must be in a unit nearer to that of x"):
            fit_linear_filter(x_size * x, target_size * target, 3)
        return
    fit = fit_linear_filter(x_size * x, target_size * target, 3)
    assert_close(fit.error_share, plain.error_share)
    assert_close(fit.weights * (x_size / target_size), plain.weights, rtol=1e-6, atol=1e-9)
    assert_close(fit.bias / target_size, plain.bias)


def test_filter_keeps_the_precision_of_its_input():
    fit = fit_linear_filter(randn(2, 40, 1).float(), randn(2, 40).float(), 2)
    assert {part.dtype for part in fit} == {torch.float32}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"x": torch.ones(2, 9)}, ValueError, r"x must have the axes \(batch, length, d_in\)"),
        ({"target": torch.ones(2, 8)}, ValueError, "target must have length = 9 as x has"),
        ({"target": torch.full((2, 9), nan)}, ValueError, "target must be finite; NaN values: 18"),
        ({"x": torch.full((2, 9, 1), nan)}, ValueError, "x must be finite; NaN values: 18 of 18"),
        ({"target": torch.ones(2, 9)}, ValueError, "target must vary; it is 1 at every token"),
        ({"x": torch.ones(2, 9, 1).int()}, TypeError, "x must be .*; it is torch.int32"),
        ({"n_taps": 0}, ValueError, "n_taps must be at least 1; it is 0"),
        ({"n_taps": 2.0}, TypeError, "n_taps must be an int; it is 2.0"),
        ({"n_taps": 7}, ValueError, "n_taps = 7 asks for 8 unknowns; .* has 6 tokens"),
        ({"n_taps": 10}, ValueError, "n_taps = 10 asks for 11 unknowns; .* has 0 tokens"),
    ],
)
def test_filter_refuses_what_cannot_be_fitted(changes, error, message, as_reader):
    arguments = {"x": randn(2, 9, 1).float(), "target": randn(2, 9).float(), "n_taps": 2}
    with pytest.raises(error, match=message):
        fit_linear_filter(**arguments | changes)


def make_decay(tau, start, rest, delta, n_samples=200):
    t = delta * torch.arange(n_samples, dtype=torch.float64)
    return rest + (start - rest) * torch.exp(-t / tau)


@settings(max_examples=30)
@given(
    log_tau=st.floats(math.log(0.3), math.log(5000)),
    start=st.floats(-100, 100),
    drop=st.floats(0.1, 100) | st.floats(-100, -0.1),
    delta=st.sampled_from([5e-4, 1.0, 60.0]),
)
def test_decay_is_recovered_exactly(log_tau, start, drop, delta):
    """Falling and rising, from a third of a step to 25 durations, in any unit of time."""
    tau = math.exp(log_tau) * delta
    fit = fit_decay(make_decay(tau, start, start - drop, delta), delta)
    assert fit.tau == pytest.approx(tau, rel=1e-6)
    assert fit.start == pytest.approx(start, abs=1e-6 * abs(drop))
    assert fit.rest == pytest.approx(start - drop, abs=1e-4 * abs(drop))


def test_decay_is_the_impulse_answer_of_a_leaky_state():
    A_bar = torch.tensor([[math.exp(-0.5 / 3)]])
    x = torch.zeros(1, 60, 1)
    x[0, 0] = 1
    y = run_recurrence(x, A_bar, torch.ones(1, 1), torch.ones(1, 1))[0, :, 0]
    assert fit_decay(y, 0.5).tau == pytest.approx(3, rel=1e-5)


def test_decay_in_noise_equals_another_least_squares_fit():
    signal = make_decay(30.0, -40.0, -65.0, 1.0) + 0.8 * randn(200)

    def curve(t, tau, start, rest):
        return rest + (start - rest) * np.exp(-t / tau)

    right, covariance = curve_fit(curve, np.arange(200), signal.numpy(), p0=(10, -30, -60))
    fit = fit_decay(signal, 1.0)
    assert fit == pytest.approx(tuple(right), rel=1e-5)
    assert abs(fit.tau - 30) < 4 * covariance[0, 0] ** 0.5 < 8  # 4 standard errors, not too wide


@pytest.mark.parametrize(
    ("signal", "delta", "error", "message"),
    [
        ([2.0, 2, 2, 2, 2], 1.0, ValueError, "signal must vary; it is constant at 2"),
        ([0.0] * 5, 1.0, ValueError, "signal must vary; it is constant at 0"),
        ([1.0, 2, 4, 8, 16], 1.0, ValueError, "signal must bend towards a rest"),
        ([-1.0, -2, -4, -8, -16], 1.0, ValueError, "signal must bend towards a rest"),
        ([1.0, 2, 3, 4, 5], 1.0, ValueError, "signal must bend towards a rest"),
        ([9.0, 1, 1, 1, 1], 1.0, ValueError, "signal must decay over more than one step"),
        ([4.0, 2, 1], 1.0, ValueError, "signal must have at least 4 samples, .*; it has 3"),
        ([4.0, 2, nan, 1, 1], 1.0, ValueError, r"signal must be finite; NaN values: 1 of 5.*2,"),
        ([[4.0, 2, 1, 1]], 1.0, ValueError, r"signal must have the axes \(length\).*\(1, 4\)"),
        ([4, 2, 1, 1], 1.0, TypeError, "signal must be .*; it is torch.int64"),
        ([4.0, 2, 1, 1], 0, ValueError, "delta must be a finite number above 0; it is 0"),
        ([4.0, 2, 1, 1], -0.5, ValueError, "delta must be a finite number above 0; it is -0.5"),
        ([4.0, 2, 1, 1], nan, ValueError, "delta must be a finite number above 0; it is nan"),
        ([4.0, 3, 2.3, 1.9], 1e308, ValueError, "delta must be in a unit .*; it is 1e.308, .*inf"),
        ([4.0, 2, 1, 1], "1", TypeError, "delta must be a number; its type is str"),
        ([4.0, 2, 1, 1], True, TypeError, "delta must be a number; its type is bool"),
    ],
)
def test_decay_refuses_what_has_none(signal, delta, error, message, as_reader):
    with pytest.raises(error, match=message):
        fit_decay(torch.tensor(signal), delta)


@pytest.mark.parametrize("factor", [1.01, 1e5, -1.1, -1e5])
def test_decay_refuses_growth_of_any_size(factor):
    """What Euler's rule makes of long steps: squares of these samples overflow."""
    signal = factor ** torch.arange(60, dtype=torch.float64)
    with pytest.raises(ValueError, match="signal must bend towards a rest"):
        fit_decay(signal, 1.0)
