"""The zero-order hold is exact: at A = 0, near it, far from it, and in its derivatives."""

import mpmath  # comes with torch, by way of sympy
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.autograd import grad
from torch.testing import assert_close

from mamba_edu.discretize import discretize_zoh


def make_tensors(*numbers, dtype=torch.float64):
    return [torch.tensor(number, dtype=dtype) for number in numbers]


@pytest.mark.parametrize("is_complex", [False, True])
def test_zoh_equals_the_exponential_of_a_block_matrix(is_complex):
    """exp(delta [[A, B], [0, 0]]) holds both (Van Loan 1978): no quotient, so no shared bug."""
    rng = torch.Generator().manual_seed(0)
    dtype = torch.complex128 if is_complex else torch.float64
    delta = 3 * torch.rand(40, generator=rng, dtype=torch.float64)
    A, B = torch.randn(2, 40, generator=rng, dtype=dtype)
    A = torch.where(A.real > 0, -A, A)
    block = A.new_zeros(*A.shape, 2, 2)
    block[..., 0, 0], block[..., 0, 1] = delta * A, delta * B
    exponential = torch.linalg.matrix_exp(block)
    A_bar, B_bar = discretize_zoh(delta, A, B)
    assert_close(A_bar, exponential[..., 0, 0])
    assert_close(B_bar, exponential[..., 0, 1])


@given(
    first=st.floats(0, 5),
    second=st.floats(0, 5),
    decay=st.floats(0, 20),
    turn=st.floats(-20, 20),
)
def test_zoh_in_two_steps_equals_one(first, second, decay, turn):
    A, B = make_tensors(complex(-decay, turn), 0.7 + 0.2j, dtype=torch.complex128)
    steps = make_tensors(first, second, first + second)
    (A_1, B_1), (A_2, B_2), (A_both, B_both) = (discretize_zoh(step, A, B) for step in steps)
    assert_close(A_2 * A_1, A_both, rtol=1e-12, atol=1e-14)
    assert_close(A_2 * B_1 + B_2, B_both, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("direction", [-1, 1j, -1 + 1j, -0.05 + 1j])
def test_zoh_is_right_to_rounding_in_value_gradient_and_curvature(direction, dtype):
    """The k-th derivative of (exp(z) - 1)/z is the integral of s^k exp(z s) over 0 .. 1.

    Tolerances, in units of rounding and of the integral without the turning: measured at worst
    0.9, 2.1 and 12 (both branches meet at abs(z) = 1, where the quotient's digits are scarcest).
    """
    size = torch.cat([torch.zeros(1), torch.logspace(-12, 2, 141, dtype=torch.float64)])
    A = (size * direction).to(dtype if direction == -1 else dtype.to_complex()).requires_grad_()
    one = torch.ones((), dtype=dtype)
    value = discretize_zoh(one, A, torch.ones_like(A))[1]
    first = grad(value.real.sum(), A, create_graph=True)[0]
    second = grad(first.real.sum(), A)[0]

    mpmath.mp.dps = 30
    # torch's gradient of a real part is the conjugate of the complex derivative
    for k, (ours, limit) in enumerate([(value, 2), (first.conj(), 4), (second.conj(), 24)]):
        for z, got in zip(A.tolist(), ours.tolist(), strict=True):
            right = mpmath.hyp1f1(k + 1, k + 2, z) / (k + 1)
            scale = mpmath.hyp1f1(k + 1, k + 2, z.real) / (k + 1)
            assert abs(got - right) <= limit * torch.finfo(dtype).eps * scale, (k, z)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_zoh_gradient_in_delta_is_the_decay(dtype):
    A = -torch.cat([torch.zeros(1), torch.logspace(-12, 1.5, 100)]).to(dtype)
    delta = torch.ones_like(A).requires_grad_()
    B_bar = discretize_zoh(delta, A, torch.full_like(A, 3.0))[1]
    assert_close(grad(B_bar.sum(), delta)[0], 3 * torch.exp(A), rtol=4e-7, atol=0)


def test_zoh_is_right_where_the_quotient_and_its_guards_are_not():
    """D2, state-spaces/mamba#19: float32, delta = 0.01, rates at and near 0.

    dB_bar/dA must be delta^2/2 = 5.0e-5; a guard repairs the value and leaves the gradient wrong.
    """
    delta = torch.tensor(0.01)
    A = torch.tensor([0.0, -1e-12, -1e-6, -1e-4], requires_grad=True)

    def quotient(A):
        return (torch.exp(delta * A) - 1) / A

    def guarded(A):
        return torch.where(A == 0, delta, quotient(A))

    def guarded_twice(A):
        return torch.where(A == 0, delta, quotient(torch.where(A == 0, -1, A)))

    def zoh(A):
        return discretize_zoh(delta, A, torch.ones(()))[1]

    assert_close(zoh(A).detach(), delta.expand(4), rtol=1e-6, atol=0)
    assert_close(grad(zoh(A).sum(), A)[0], torch.full((4,), 5.0e-5), rtol=1e-6, atol=0)

    seen = (quotient(A) / delta).detach()
    assert seen[0].isnan()
    assert (seen[1:3] == 0).all()
    assert abs(seen[3] - 1) > 0.01
    assert grad(guarded(A).sum(), A)[0][0].isnan()
    wrong = grad(guarded_twice(A).sum(), A)[0] / 5.0e-5
    assert wrong[0] == 0
    assert abs(wrong[3] - 1) > 0.2


@given(log_delta=st.floats(-3, 3), log_z=st.floats(-12, 2))
def test_zoh_in_single_precision_equals_double(log_delta, log_z):
    """The whole kind of D2: value and gradients in float32 against the same inputs in float64."""
    inputs = torch.tensor([10**log_delta, -(10 ** (log_z - log_delta)), 2.0])
    results = []
    for dtype in (torch.float32, torch.float64):
        delta, A, B = (number.to(dtype).requires_grad_() for number in inputs)
        B_bar = discretize_zoh(delta, A, B)[1]
        results.append(torch.stack([B_bar, *grad(B_bar, [delta, A, B])]).double())
    # rounding delta A alone costs abs(delta A) of these roundings in the decay
    assert_close(*results, rtol=4e-7 * (1 + 10**log_z), atol=1e-37)


def test_huge_steps_by_zoh_write_the_steady_state():
    A = torch.tensor([-1e5, -1e30])
    assert_close(discretize_zoh(torch.ones(()), A, torch.ones(()))[1], -1 / A, rtol=1e-6, atol=0)
