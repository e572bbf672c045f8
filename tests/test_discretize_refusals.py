"""What the four rules refuse, in which words, and the odd input that they take."""

import pytest
import torch
from jaxtyping import TypeCheckError
from torch.testing import assert_close

from mamba_edu.discretize import (
    discretize_bilinear,
    discretize_euler,
    discretize_mamba,
    discretize_zoh,
)

every_rule = pytest.mark.parametrize(
    "rule", [discretize_zoh, discretize_bilinear, discretize_euler, discretize_mamba]
)
nan, inf = float("nan"), float("inf")


def make_arguments():
    """delta (5, 3, 1), A (3, 2) and B (5, 1, 2), ready to be spoiled."""
    return {
        "delta": torch.full((5, 3, 1), 0.1),
        "A": torch.full((3, 2), -1.0),
        "B": torch.full((5, 1, 2), 0.5),
    }


@every_rule
@pytest.mark.parametrize(
    ("name", "index", "value", "message"),
    [
        ("delta", (3, 2, 0), -0.25, r"delta must be at least 0.*-0.25 at index \(3, 2, 0\)"),
        ("delta", (4, 1, 0), nan, r"delta must be finite; NaN values: 1 of 15.*\(4, 1, 0\)"),
        ("delta", (1, 0, 0), inf, r"delta must be finite; infinite values: 1 of 15.*\(1, 0, 0\)"),
        ("A", (2, 1), 0.5, r"A must have real parts of at most 0.*0.5 at index \(2, 1\)"),
        ("A", (1,), nan, r"A must be finite; NaN values: 2 of 6, the first at index \(1, 0\)"),
        ("A", (0, 1), -inf, r"A must be finite; infinite values: 1 of 6"),
        ("A", (2, 0), -3e38, None),
    ],
)
def test_rules_name_the_bad_value_and_its_place(rule, name, index, value, message):
    arguments = make_arguments()
    arguments[name][index] = value
    if message is None:
        arguments["delta"] *= 100
        message = "delta A must be finite; infinite values: 5 of 30"
    with pytest.raises(ValueError, match=message):
        rule(**arguments)


@every_rule
def test_rules_refuse_growing_complex_rates(rule):
    arguments = make_arguments()
    arguments["A"] = torch.complex(arguments["A"], torch.ones(3, 2))
    arguments["A"][1, 1] = 0.01 + 3j
    with pytest.raises(ValueError, match=r"A must have real parts.*0.01 at index \(1, 1\)"):
        rule(**arguments)


@every_rule
@pytest.mark.parametrize("name", ["delta", "A", "B"])
@pytest.mark.parametrize(
    ("dtype", "message"),
    [
        (torch.int64, "torch.int64$"),
        (torch.bool, "torch.bool$"),
        (torch.bfloat16, r"torch.bfloat16; in half precision exp\(delta A\) rounds to exactly 1"),
        (torch.float16, r"torch.float16; in half precision exp\(delta A\) rounds to exactly 1"),
    ],
)
def test_rules_refuse_other_dtypes(rule, name, dtype, message, as_reader):
    """S4, state-spaces/mamba#6, #352, and S5: exp(-0.001) is exactly 1 in bfloat16."""
    arguments = make_arguments()
    arguments[name] = arguments[name].to(dtype)
    with pytest.raises(TypeError, match=f"^{name} must be torch.float32.*; it is {message}"):
        rule(**arguments)


@every_rule
def test_rules_refuse_a_complex_step(rule, as_reader):
    arguments = make_arguments()
    arguments["delta"] = arguments["delta"] + 0j
    with pytest.raises(TypeError, match=r"delta must be .*; it is torch.complex64$"):
        rule(**arguments)


@every_rule
@pytest.mark.parametrize("name", ["delta", "A", "B"])
@pytest.mark.parametrize("value", [0.1, [0.1], None])
def test_rules_refuse_what_is_no_tensor(rule, name, value, as_reader):
    message = f"{name} must be a torch.Tensor; its type is {type(value).__name__}"
    with pytest.raises(TypeError, match=message):
        rule(**make_arguments() | {name: value})


@every_rule
@pytest.mark.parametrize("name", ["A", "B"])
def test_rules_refuse_mixed_precision(rule, name):
    arguments = make_arguments()
    arguments[name] = arguments[name].to(torch.complex128)
    message = f"{name} is torch.complex128 and delta is torch.float32; all must be single"
    with pytest.raises(TypeError, match=message):
        rule(**arguments)


@every_rule
def test_rules_refuse_two_devices(rule):
    arguments = make_arguments()
    arguments["A"] = arguments["A"].to("meta")
    with pytest.raises(ValueError, match="A is on meta and delta is on cpu; all must be on one"):
        rule(**arguments)


@every_rule
def test_rules_refuse_shapes_that_do_not_broadcast(rule, as_reader):
    arguments = make_arguments() | {"A": torch.full((4, 2), -1.0)}
    message = r"they are delta \(5, 3, 1\), A \(4, 2\), B \(5, 1, 2\)"
    with pytest.raises(ValueError, match=message):
        rule(**arguments)


def test_shapes_are_checked_against_the_signature():
    """The hook of conftest is in place: without it this call would reach our own refusal."""
    with pytest.raises(TypeCheckError):
        discretize_zoh(torch.ones(5, 3), -torch.ones(4), torch.ones(()))


@every_rule
@pytest.mark.parametrize("value", [nan, inf])
def test_rules_let_a_bad_input_weight_through_to_its_own_place(rule, value):
    """S5, mamba.py#26: it must be seen where it does its harm, and nowhere else."""
    arguments = make_arguments()
    arguments["B"][3, 0, 1] = value
    A_bar, B_bar = rule(**arguments)
    assert A_bar.isfinite().all()
    expected = torch.zeros(5, 3, 2, dtype=torch.bool)
    expected[3, :, 1] = True
    assert_close(~B_bar.isfinite(), expected)


@every_rule
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_rules_keep_precision_and_turn_complex_with_their_inputs(rule, dtype):
    delta, A, B = (tensor.to(dtype) for tensor in make_arguments().values())
    assert {bar.dtype for bar in rule(delta, A, B)} == {dtype}
    assert rule(delta, A + 0j, B + 0j)[0].dtype == dtype.to_complex()
    assert rule(delta, A + 0j, B + 0j)[1].dtype == dtype.to_complex()


@every_rule
def test_rules_accept_numbers_and_nothing_at_all(rule):
    A_bar, B_bar = rule(torch.tensor(0.5), torch.tensor(-1.0), torch.tensor(2.0))
    assert A_bar.shape == B_bar.shape == ()
    A_bar, B_bar = rule(torch.ones(0, 3, 1), -torch.ones(3, 2), torch.ones(0, 1, 2))
    assert A_bar.shape == B_bar.shape == (0, 3, 2)
