"""The four rules against finite differences, their limits by hand, and what readers ask most."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import grad, gradcheck, gradgradcheck
from torch.testing import assert_close

from mamba_edu.discretize import (
    discretize_bilinear,
    discretize_euler,
    discretize_mamba,
    discretize_zoh,
)

BATCH, LENGTH, D_INNER, D_STATE = 2, 7, 3, 4  # all different: a swapped axis cannot hide
every_rule = pytest.mark.parametrize(
    "rule", [discretize_zoh, discretize_bilinear, discretize_euler, discretize_mamba]
)


def make_tensors(*numbers, dtype=torch.float64):
    return [torch.tensor(number, dtype=dtype) for number in numbers]


@every_rule
def test_rules_return_the_common_shape(rule):
    delta = torch.ones(BATCH, LENGTH, D_INNER)
    A, B = -torch.ones(D_INNER, D_STATE), torch.ones(BATCH, LENGTH, D_STATE)
    A_bar, B_bar = rule(delta[..., None], A, B[:, :, None, :])
    assert A_bar.shape == B_bar.shape == (BATCH, LENGTH, D_INNER, D_STATE)
    A_bar, B_bar = rule(delta[0, 0, 0], A, B[0, 0])
    assert A_bar.shape == B_bar.shape == (D_INNER, D_STATE)


@pytest.mark.parametrize(
    ("z", "ratio"),
    [(0.01, 1.005), (0.1, 1.05), (0.5, 1.27), (1, 1.58), (1.6, 2.0), (5, 5.0), (16, 16.0)],
)
def test_mamba_writes_more_than_zoh(z, ratio):
    """D1, state-spaces/mamba#19, #114, #121, #129, #524: which B does the code compute?"""
    for rate in (1.0, 16.0):  # the ratio hangs on the product alone
        delta, A, B = make_tensors(z / rate, -rate, 0.3)
        (A_code, B_code), (A_paper, B_paper) = (
            discretize_mamba(delta, A, B),
            discretize_zoh(delta, A, B),
        )
        assert_close(A_code, A_paper, rtol=0, atol=0)
        assert (B_code / B_paper).item() == pytest.approx(ratio, rel=1e-2)
        assert (B_code / B_paper).item() == pytest.approx(z / (1 - math.exp(-z)), rel=1e-12)


@pytest.mark.parametrize(
    ("rule", "z", "A_bar", "rel"),
    [
        (discretize_euler, -1.6, -0.6, 1e-12),
        (discretize_euler, -2.1, -1.1, 1e-12),  # grows though the rate says decay
        (discretize_bilinear, -16.0, -7 / 9, 1e-12),  # -0.78: rings
        (discretize_zoh, -16.0, 1.1e-7, 3e-2),
    ],
)
def test_long_steps_are_stable_ring_or_grow(rule, z, A_bar, rel):
    """D3: what each rule makes of a step much longer than the decay."""
    assert rule(*make_tensors(1.0, z, 1.0))[0].item() == pytest.approx(A_bar, rel=rel)


@given(decay=st.floats(0, 1e3), turn=st.floats(-1e3, 1e3))
def test_only_euler_leaves_the_unit_circle(decay, turn):
    """The whole kind of D3: rates anywhere in the left half plane."""
    A = torch.tensor(complex(-decay, turn), dtype=torch.complex128)
    for rule in (discretize_zoh, discretize_bilinear, discretize_mamba):
        assert rule(*make_tensors(1.0), A, A)[0].abs() <= 1 + 1e-15
    euler = discretize_euler(*make_tensors(1.0), A, A)[0]
    assert_close(euler.abs().item(), abs(1 - decay + 1j * turn))


@pytest.mark.parametrize("keep", [0.01, 0.5, 0.9, 0.99, 0.99999])
def test_moving_average_survives_the_way_to_continuous_time_and_back(keep):
    """D4, annotated-mamba: EMA(0.9) is (0.9, 0.1) by ZOH with B = -A; Euler's B is 0.10536."""
    delta, A = make_tensors(1.0, math.log(keep))
    A_bar, B_bar = discretize_zoh(delta, A, -A)
    assert_close(torch.stack([A_bar, B_bar]), torch.tensor([keep, 1 - keep], dtype=A.dtype))
    assert discretize_mamba(delta, A, -A)[1].item() == pytest.approx(-math.log(keep), rel=1e-12)


@pytest.mark.parametrize(
    ("rule", "order"),
    [(discretize_euler, 1), (discretize_mamba, 1), (discretize_bilinear, 2)],
)
def test_halving_the_step_divides_the_error_by_the_order(rule, order):
    A, B = make_tensors(-1.3, 0.8)

    def err(n_steps):
        A_bar, B_bar = rule(torch.tensor(1 / n_steps, dtype=A.dtype), A, B)
        h = sum(B_bar * A_bar**k for k in range(n_steps))
        return abs(h - B * math.expm1(-1.3) / -1.3).item()  # h(1) for a unit input from 0 on

    assert math.log2(err(64) / err(128)) == pytest.approx(order, abs=0.03)


@every_rule
def test_a_step_of_no_time_changes_nothing(rule):
    delta, A, B = (t.requires_grad_() for t in make_tensors([0.0, 0.0], [-2.0, 0.0], [0.5, 0.7]))
    A_bar, B_bar = rule(delta, A, B)
    assert_close(A_bar.tolist(), [1.0, 1.0], rtol=0, atol=0)
    assert_close(B_bar.tolist(), [0.0, 0.0], rtol=0, atol=0)
    assert_close(grad(A_bar.sum(), delta, retain_graph=True)[0], A.detach())
    by_delta, by_A = grad(B_bar.sum(), [delta, A], allow_unused=True, materialize_grads=True)
    assert_close(by_delta, B.detach())
    assert_close(by_A, torch.zeros_like(A))


@every_rule
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_equal_finite_differences(rule, dtype):
    size = torch.tensor([0.01, 0.3, 0.98, 1.02, 4.0], dtype=torch.float64)
    A = -size.to(dtype) * (1 if dtype == torch.float64 else 0.6 + 0.8j)
    B = torch.full((2, 1), 0.7, dtype=dtype)
    inputs = [t.requires_grad_() for t in (torch.ones_like(size), A, B)]
    assert gradcheck(rule, inputs)
    assert gradgradcheck(rule, inputs)


@every_rule
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
@pytest.mark.parametrize("size", [1e5, 1e18])
def test_huge_steps_leave_every_gradient_finite(rule, dtype, size):
    """S3, vllm#37501, state-spaces/mamba#713: abs(delta A) about 1e5 in an ordinary sequence."""
    A = torch.tensor([-size, -1.0, 0.0]).to(dtype).requires_grad_()
    delta, B = (torch.full((3,), v, requires_grad=True) for v in (1.0, 0.5))
    A_bar, B_bar = rule(delta, A, B)
    first = grad((A_bar + B_bar).real.sum(), [delta, A, B], create_graph=True)
    second = grad(sum(g.real.sum() for g in first), [delta, A])
    assert all(t.isfinite().all() for t in (A_bar, B_bar, *first, *second))


def test_bilinear_walks_by_the_mean_of_both_ends_of_the_step_as_it_turns():
    """The trapezoidal rule by its definition, h1 - h0 = delta (A (h0 + h1)/2 + B x)."""
    (delta,) = make_tensors([0.1, 1.0, 9.0])
    A, B = make_tensors([-0.5 + 2j, 3j, -1 - 4j], [1.0, 2 - 1j, 1j], dtype=torch.complex128)
    A_bar, B_bar = discretize_bilinear(delta, A, B)
    assert_close(A_bar - 1, delta * A * (1 + A_bar) / 2)
    assert_close(B_bar, delta * (A * B_bar / 2 + B))


def test_bilinear_gradient_is_right_for_long_steps():
    A = (-torch.logspace(-6, 5, 50)).requires_grad_()
    A_bar = discretize_bilinear(torch.ones(()), A, torch.ones(()))[0]
    right = 1 / (1 - A.detach() / 2) ** 2
    assert_close(grad(A_bar.sum(), A)[0], right, rtol=1e-6, atol=0)
