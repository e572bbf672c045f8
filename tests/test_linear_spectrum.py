"""Half-lives, the change to a diagonal system, and the two starts."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from mamba_edu.discretize import discretize_zoh
from mamba_edu.linear import (
    diagonalize,
    half_life,
    impulse_response,
    start_s4d_lin,
    start_s4d_real,
)

D_INNER, D_STATE = 3, 4


@given(decay=st.floats(1e-6, 1e6), turn=st.floats(-1e3, 1e3))
def test_half_of_the_state_is_left_after_the_half_life(decay, turn):
    A = torch.tensor(complex(-decay, turn), dtype=torch.complex128)
    time = half_life(A)
    assert time.dtype == torch.float64
    left, _ = discretize_zoh(time, A, A)
    assert_close(left.abs().item(), 0.5, rtol=1e-12, atol=0)


def test_a_rate_of_zero_never_halves_the_state():
    A = torch.tensor([0.0, -0.0, -math.log(2)])
    assert_close(half_life(A), torch.tensor([math.inf, math.inf, 1.0]), rtol=0, atol=0)


def make_dense(seed=0, dtype=torch.float64, d_state=D_STATE):
    rng = torch.Generator().manual_seed(seed)

    def randn(*shape):
        return torch.randn(*shape, generator=rng, dtype=dtype)

    shift = 3 * torch.eye(d_state)
    return (
        randn(D_INNER, d_state, d_state) - shift,
        randn(D_INNER, d_state),
        randn(D_INNER, d_state),
    )


def answer_by_matrix_exponential(A_dense, B, C, times):
    """C exp(A t) B at each time: the answer of the continuous system to a very short input."""
    answers = [C[:, None, :] @ torch.linalg.matrix_exp(t * A_dense) @ B[:, :, None] for t in times]
    return torch.stack(answers, dim=-1)[:, 0, 0]


@settings(max_examples=50)
@given(seed=st.integers(0, 10**6), d_state=st.integers(1, 5), is_complex=st.booleans())
def test_the_diagonal_system_answers_as_the_dense_one(seed, d_state, is_complex):
    dtype = torch.complex128 if is_complex else torch.float64
    dense = make_dense(seed, dtype, d_state)
    A, B, C = diagonalize(*dense)
    times = torch.tensor([0.0, 0.3, 1.0, 2.5], dtype=torch.float64)
    ours = (C[..., None] * torch.exp(A[..., None] * times) * B[..., None]).sum(1)
    loss = torch.linalg.cond(torch.linalg.eig(dense[0])[1]).max().item()  # of digits, in V^-1
    right = answer_by_matrix_exponential(*dense, times).to(ours.dtype)
    assert_close(ours, right, rtol=1e-13 * loss, atol=1e-13 * loss)


def test_powers_of_the_dense_matrix_equal_the_diagonal_kernel():
    """A discrete system too: C A^k B, by multiplying it out."""
    A_dense, B, C = make_dense()
    A_dense = A_dense / 8
    kernel = impulse_response(*diagonalize(A_dense, B, C), 6)
    for k in range(6):
        power = torch.linalg.matrix_power(A_dense, k)
        assert_close(kernel[:, k], torch.einsum("dn,dnm,dm->d", C, power, B))


def test_an_oscillator_has_a_pair_of_turning_eigenvalues():
    rotation = torch.tensor([[[-0.1, -2.0], [2.0, -0.1]]])
    A, _, _ = diagonalize(rotation, torch.ones(1, 2), torch.ones(1, 2))
    assert_close(A.real, torch.full((1, 2), -0.1))
    assert_close(A.imag.sort().values, torch.tensor([[-2.0, 2.0]]))


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e3])
def test_a_defective_matrix_is_refused(scale):
    A_dense = torch.eye(2, dtype=torch.float64).repeat(3, 1, 1) * -scale
    A_dense[1, 0, 1] = scale  # a Jordan block: one eigenvector for two equal eigenvalues
    ones = torch.ones(3, 2, dtype=torch.float64)
    message = r"A_dense\[1\] must have independent eigenvectors.*allowed is less than 6.7e\+07"
    with pytest.raises(ValueError, match=message):
        diagonalize(A_dense, ones, ones)


def make_hippo(d_state):
    """HiPPO-LegS, Gu, Goel & Re 2022 (arXiv:2111.00396), Equation 2."""
    root = torch.sqrt(2 * torch.arange(d_state, dtype=torch.float64) + 1)
    lower = torch.tril(root[:, None] * root, -1)
    return -(lower + torch.diag(torch.arange(1.0, d_state + 1, dtype=torch.float64)))[None]


def test_hippo_has_the_s4d_real_rates_and_a_useless_diagonal_form():
    small = make_hippo(8)
    A, _, _ = diagonalize(small, small[:, 0], small[:, 0])
    rates = A.real.sort(descending=True).values
    assert_close(rates, start_s4d_real(1, 8), rtol=1e-6, atol=0)
    large = make_hippo(64)
    with pytest.raises(ValueError, match=r"A_dense\[0\] must have independent eigenvectors"):
        diagonalize(large, large[:, 0], large[:, 0])


def test_starts_are_those_of_the_papers():
    A = start_s4d_real(D_INNER, D_STATE)
    assert_close(A, torch.tensor([[-1.0, -2, -3, -4]] * D_INNER, dtype=torch.float64))
    A = start_s4d_lin(D_INNER, D_STATE)
    assert_close(A.real, torch.full((D_INNER, D_STATE), -0.5, dtype=torch.float64))
    turns = torch.tensor([0.0, 1, 2, 3], dtype=torch.float64)
    assert_close(A.imag / math.pi, turns.repeat(D_INNER, 1))


def test_starts_take_the_precision_they_are_asked_for():
    assert start_s4d_real(2, 3, dtype=torch.float32).dtype == torch.float32
    assert start_s4d_lin(2, 3, dtype=torch.float32).dtype == torch.complex64


@pytest.mark.parametrize("start", [start_s4d_real, start_s4d_lin])
@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((0, 4), ValueError, "d_inner must be at least 1; it is 0"),
        ((3, -1), ValueError, "d_state must be at least 1; it is -1"),
        ((3, 4.0), TypeError, "d_state must be an int; it is 4.0"),
        ((True, 4), TypeError, "d_inner must be an int; it is True"),
        (
            (3, 4, torch.float16),
            TypeError,
            "dtype must be torch.float32 or .*; it is torch.float16",
        ),
    ],
)
def test_starts_refuse_bad_sizes(start, arguments, error, message, as_reader):
    with pytest.raises(error, match=message):
        start(*arguments)


@pytest.mark.parametrize(
    ("A", "error", "message"),
    [
        (torch.tensor([-1.0, 0.5]), ValueError, r"A must have real parts.*0.5 at index \(1,\)"),
        (torch.tensor([-1.0, float("nan")]), ValueError, "A must be finite; NaN values: 1 of 2"),
        (torch.tensor([-1]), TypeError, "A must be torch.float32.*; it is torch.int64"),
        (-1.0, TypeError, "A must be a torch.Tensor; its type is float"),
    ],
)
def test_half_life_refuses_rates_without_one(A, error, message, as_reader):
    with pytest.raises(error, match=message):
        half_life(A)


@pytest.mark.parametrize(
    ("name", "value", "error", "message"),
    [
        (
            "A_dense",
            torch.ones(3, 4),
            ValueError,
            "A_dense must have the axes .d_inner, d_state, d_",
        ),
        (
            "A_dense",
            torch.ones(3, 4, 5),
            ValueError,
            "A_dense must have d_state = 4 as A_dense has",
        ),
        ("B", torch.ones(3, 5), ValueError, "B must have d_state = 4 as A_dense has.*is .3, 5."),
        ("C", torch.ones(2, 4), ValueError, "C must have d_inner = 3 as A_dense has.*is .2, 4."),
        ("C", torch.full((3, 4), math.inf), ValueError, "C must be finite; infinite values: 12"),
        (
            "B",
            torch.ones(3, 4).double(),
            TypeError,
            "B is torch.float64 and A_dense is torch.float3",
        ),
        ("B", torch.ones(3, 4).int(), TypeError, "B must be torch.float32.*; it is torch.int32"),
    ],
)
def test_diagonalize_refuses_what_does_not_fit(name, value, error, message, as_reader):
    arguments = {"A_dense": torch.eye(4).repeat(3, 1, 1), "B": torch.ones(3, 4)}
    arguments |= {"C": torch.ones(3, 4), name: value}
    with pytest.raises(error, match=message):
        diagonalize(**arguments)
