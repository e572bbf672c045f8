"""Recurrence, convolution and matrix are one map; a signal may be cut anywhere."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close

from mamba_edu.linear import (
    build_matrix,
    impulse_response,
    run_convolution,
    run_recurrence,
    trace_states,
)

BATCH, LENGTH, D_INNER, D_STATE = 2, 7, 3, 4  # all different: a swapped axis cannot hide
real_and_complex = pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])


def make_system(dtype=torch.float64, batch=BATCH, length=LENGTH, seed=0):
    rng = torch.Generator().manual_seed(seed)

    def randn(*shape, dtype=dtype):
        return torch.randn(*shape, generator=rng, dtype=dtype)

    A_bar = randn(D_INNER, D_STATE)
    return {
        "x": randn(batch, length, D_INNER, dtype=torch.float64),
        "A_bar": 0.98 * A_bar / (A_bar.abs() + 0.3),
        "B_bar": randn(D_INNER, D_STATE),
        "C": randn(D_INNER, D_STATE),
    }


def answer_by_powers(x, A_bar, B_bar, C):
    """The output as a sum over earlier inputs in plain Python: no state is carried."""
    y = torch.zeros_like(x)
    pairs = [(t, s) for t in range(x.shape[1]) for s in range(t + 1)]
    for d, (a, b, c) in enumerate(zip(A_bar.tolist(), B_bar.tolist(), C.tolist(), strict=True)):
        for t, s in pairs:
            weight = sum(c[n] * a[n] ** (t - s) * b[n] for n in range(D_STATE))
            y[:, t, d] += weight.real * x[:, s, d]
    return y


@real_and_complex
def test_recurrence_equals_sum_over_earlier_inputs(dtype):
    system = make_system(dtype)
    assert_close(run_recurrence(**system), answer_by_powers(**system))


@settings(max_examples=50)
@given(length=st.integers(0, 40), batch=st.integers(0, 3), is_complex=st.booleans())
def test_recurrence_convolution_and_matrix_are_equal(length, batch, is_complex):
    system = make_system(torch.complex128 if is_complex else torch.float64, batch, length)
    x = system["x"]
    y = run_recurrence(**system)
    kernel = impulse_response(system["A_bar"], system["B_bar"], system["C"], length)
    assert kernel.shape == (D_INNER, length)
    assert y.shape == (batch, length, D_INNER)
    assert_close(run_convolution(x, kernel), y, rtol=1e-12, atol=1e-12)
    by_matrix = torch.einsum("dts,bsd->btd", build_matrix(kernel), x)
    assert_close(by_matrix, y, rtol=1e-12, atol=1e-12)


@real_and_complex
def test_states_are_those_after_each_token(dtype):
    system = make_system(dtype)
    del system["C"]
    h = trace_states(**system)
    assert h.shape == (BATCH, LENGTH, D_INNER, D_STATE)
    x, A_bar, B_bar = system.values()
    assert_close(h[:, 0], B_bar * x[:, 0, :, None])
    assert_close(h[:, 1:], A_bar * h[:, :-1] + B_bar * x[:, 1:, :, None])


@pytest.mark.parametrize("cut", [0, 1, LENGTH - 1, LENGTH])
@real_and_complex
def test_recurrence_in_two_pieces_equals_one(cut, dtype):
    """S9, state-spaces/mamba#233, #441, #641, mamba.py#38: the state carries everything over."""
    system = make_system(dtype)
    x = system.pop("x")
    whole, end = run_recurrence(x, **system, return_state=True)
    first, state = run_recurrence(x[:, :cut], **system, return_state=True)
    second, last = run_recurrence(x[:, cut:], **system, state=state, return_state=True)
    assert_close(torch.cat([first, second], dim=1), whole, rtol=1e-12, atol=1e-12)
    assert_close(last, end, rtol=1e-12, atol=1e-12)
    states = trace_states(x[:, cut:], system["A_bar"], system["B_bar"], state)
    assert_close(states, trace_states(x, system["A_bar"], system["B_bar"])[:, cut:])


def test_a_given_state_answers_without_input():
    system = make_system()
    state = torch.ones(BATCH, D_INNER, D_STATE, dtype=torch.float64)
    y = run_recurrence(**system | {"x": 0 * system["x"]}, state=state)
    for t in range(LENGTH):
        right = (system["C"] * system["A_bar"] ** (t + 1)).sum(-1)
        assert_close(y[:, t], right.expand(BATCH, D_INNER))


def test_a_carried_state_hands_the_gradient_back():
    system = make_system()
    state = torch.zeros(BATCH, D_INNER, D_STATE, dtype=torch.float64, requires_grad=True)
    run_recurrence(**system, state=state).sum().backward()
    right = sum(system["C"] * system["A_bar"] ** (t + 1) for t in range(LENGTH))
    assert_close(state.grad, right.expand_as(state))


@pytest.mark.parametrize(("batch", "length"), [(0, LENGTH), (BATCH, 0), (0, 0)])
def test_an_empty_signal_returns_an_empty_answer_and_the_state(batch, length):
    """S5, mamba.py#26."""
    system = make_system(batch=batch, length=length)
    state = torch.rand(batch, D_INNER, D_STATE, dtype=torch.float64)
    y, end = run_recurrence(**system, state=state, return_state=True)
    assert y.shape == (batch, length, D_INNER)
    assert_close(end, state)
    x, A_bar, B_bar, _ = system.values()
    assert trace_states(x, A_bar, B_bar).shape == (batch, length, D_INNER, D_STATE)


def test_the_skip_term_adds_the_input():
    system = make_system()
    skip = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    assert_close(run_recurrence(**system, skip=skip), run_recurrence(**system) + skip * system["x"])


def test_a_bad_input_reaches_its_own_channel_from_its_token_on():
    """S5, mamba.py#26: no earlier token, no other row, no other channel."""
    system = make_system()
    system["x"][1, 4, 2] = float("nan")
    expected = torch.zeros(BATCH, LENGTH, D_INNER, dtype=torch.bool)
    expected[1, 4:, 2] = True
    assert_close(run_recurrence(**system).isnan(), expected)


def test_a_growing_state_is_shown_not_refused():
    system = make_system() | {"A_bar": torch.full((D_INNER, D_STATE), -1.1, dtype=torch.float64)}
    assert_close(run_recurrence(**system), answer_by_powers(**system))


def test_the_matrix_is_causal_and_the_same_at_all_times():
    kernel = torch.arange(1.0, 13).reshape(3, 4)
    matrix = build_matrix(kernel)
    assert_close(
        matrix[1], torch.tensor([[5.0, 0, 0, 0], [6, 5, 0, 0], [7, 6, 5, 0], [8, 7, 6, 5]])
    )
    assert matrix.shape == (3, 4, 4)


@settings(max_examples=50)
@given(length=st.integers(0, 20), n_taps=st.integers(0, 30))
def test_convolution_takes_a_kernel_of_any_length(length, n_taps):
    rng = torch.Generator().manual_seed(length)
    x, kernel = (
        torch.randn(shape, generator=rng, dtype=torch.float64)
        for shape in [(BATCH, length, D_INNER), (D_INNER, n_taps)]
    )
    y = torch.zeros_like(x)
    for t in range(length):
        for k in range(min(n_taps, t + 1)):
            y[:, t] += kernel[:, k] * x[:, t - k]
    assert_close(run_convolution(x, kernel), y, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("length", [1000, 1024])
def test_single_precision_stays_near_double(length):
    """S1: at most 3e-6 of the largest output, by either way."""
    system = make_system(length=length)
    right = run_recurrence(**system)
    single = {name: tensor.float() for name, tensor in system.items()}
    kernel = impulse_response(single["A_bar"], single["B_bar"], single["C"], length)
    for y in (run_recurrence(**single), run_convolution(single["x"], kernel)):
        assert y.dtype == torch.float32
        assert (y - right).abs().max() <= 3e-6 * right.abs().max()


@real_and_complex
def test_gradients_equal_finite_differences(dtype):
    system = make_system(dtype, length=3)
    system["A_bar"][0, 1] = 0  # a channel number that forgets at once: 0^0 must stay 1
    x, A_bar, B_bar, C = (tensor.requires_grad_() for tensor in system.values())
    assert gradcheck(run_recurrence, (x, A_bar, B_bar, C))
    assert gradgradcheck(run_recurrence, (x, A_bar, B_bar, C))
    assert gradcheck(impulse_response, (A_bar, B_bar, C, 5))
    assert gradcheck(run_convolution, (x, torch.rand_like(x[0].T).requires_grad_()))
    assert gradcheck(build_matrix, torch.rand_like(x[0].T).requires_grad_())


def test_the_backward_pass_never_indexes_the_input_token_by_token():
    """S8, mamba-minimal, the official reference, transformers: x[:, t] costs length^2 backward."""
    system = make_system()
    system["x"].requires_grad_()
    names, todo = [], [run_recurrence(**system).grad_fn]
    while todo:
        node = todo.pop()
        names.append(node.name())
        todo += [parent for parent, _ in node.next_functions if parent is not None]
    assert "UnbindBackward0" in names
    assert "SelectBackward0" not in names
