"""What the linear system refuses, in which words."""

import pytest
import torch

from mamba_edu.linear import (
    build_matrix,
    impulse_response,
    run_convolution,
    run_recurrence,
    trace_states,
)

nan = float("nan")
THREE_BY_FOUR = torch.full((3, 4), 0.5)
SYSTEM = dict.fromkeys(("A_bar", "B_bar", "C"), THREE_BY_FOUR)
X, STATE, SKIP = torch.ones(2, 7, 3), torch.ones(2, 3, 4), torch.ones(3)
ARGUMENTS = {
    trace_states: {"x": X, "A_bar": THREE_BY_FOUR, "B_bar": THREE_BY_FOUR, "state": STATE},
    run_recurrence: {"x": X, **SYSTEM, "skip": SKIP, "state": STATE, "return_state": True},
    impulse_response: {**SYSTEM, "length": 5},
    run_convolution: {"x": X, "kernel": torch.ones(3, 7)},
    build_matrix: {"kernel": torch.ones(3, 7)},
}
SPOILED = [
    (
        "x",
        torch.ones(7, 3),
        ValueError,
        r"x must have the axes \(batch, length, d_inner\).*\(7, 3\)",
    ),
    ("x", torch.ones(2, 7, 5), ValueError, "must have d_inner = 5 as x has"),
    ("x", X + 0j, TypeError, "x must be torch.float32 or torch.float64; it is torch.complex64"),
    ("x", X.half(), TypeError, "x must be .*; it is torch.float16; in half precision"),
    ("x", X.double(), TypeError, "is torch.float32 and x is torch.float64; all must be single"),
    ("x", [[1.0]], TypeError, "x must be a torch.Tensor; its type is list"),
    ("A_bar", THREE_BY_FOUR.T, ValueError, r"must have d_\w+ = \d as (x|A_bar) has"),
    ("A_bar", THREE_BY_FOUR * nan, ValueError, r"A_bar must be finite; NaN values: 12 of 12"),
    ("A_bar", THREE_BY_FOUR.int(), TypeError, "A_bar must be torch.float32.*; it is torch.int32"),
    ("A_bar", None, TypeError, "A_bar must be a torch.Tensor; its type is NoneType"),
    ("B_bar", torch.ones(4), ValueError, r"B_bar must have the axes \(d_inner, d_state\).*\(4,\)"),
    ("B_bar", THREE_BY_FOUR > 0, TypeError, "B_bar must be torch.float32.*; it is torch.bool"),
    ("C", torch.ones(3, 5), ValueError, r"C must have d_state = 4 as A_bar has; .* is \(3, 5\)"),
    ("C", THREE_BY_FOUR.bfloat16(), TypeError, "C must be .*; it is torch.bfloat16; in half"),
    ("skip", torch.ones(4), ValueError, r"skip must have d_inner = 3 as x has; .* is \(4,\)"),
    ("skip", SKIP + 0j, TypeError, "skip must be torch.float32 or torch.float64; it is"),
    ("state", torch.ones(1, 3, 4), ValueError, "state must have batch = 2 as x has"),
    ("state", torch.ones(3, 4), ValueError, "state must have the axes .batch, d_inner, d_state"),
    ("state", STATE.long(), TypeError, "state must be torch.float32.*; it is torch.int64"),
    ("return_state", "no", TypeError, "return_state must be True or False; it is 'no'"),
    ("return_state", 1, TypeError, "return_state must be True or False; it is 1"),
    ("length", -1, ValueError, "length must be at least 0; it is -1"),
    ("length", 2.0, TypeError, "length must be an int; it is 2.0"),
    ("kernel", torch.ones(7), ValueError, r"kernel must have the axes \(d_inner, .*\(7,\)"),
    ("kernel", torch.ones(3, 7).int(), TypeError, "kernel must be .*; it is torch.int32"),
]
CASES = [
    pytest.param(function, *case, id=f"{function.__name__}-{case[0]}-{case[3][:24]}")
    for function, arguments in ARGUMENTS.items()
    for case in SPOILED
    if case[0] in arguments
]


@pytest.mark.parametrize(("function", "name", "value", "error", "message"), CASES)
def test_linear_refuses_what_does_not_fit(function, name, value, error, message, as_reader):
    with pytest.raises(error, match=message):
        function(**ARGUMENTS[function] | {name: value})


@pytest.mark.parametrize("function", ARGUMENTS)
def test_linear_takes_what_fits(function):
    """The refusals above owe nothing to the arguments that were not spoiled."""
    function(**ARGUMENTS[function])


@pytest.mark.parametrize("name", ["x", "kernel"])
def test_convolution_refuses_to_spread_a_bad_value(name):
    """S5: a Fourier transform would carry it to tokens that stand before it."""
    arguments = {key: value.clone() for key, value in ARGUMENTS[run_convolution].items()}
    arguments[name][1, 2] = nan
    with pytest.raises(ValueError, match=rf"{name} must be finite; NaN values: .*\(1, 2"):
        run_convolution(**arguments)
