"""What the scan refuses, in which words, and the odd input that it takes."""

import pytest
import torch
from jaxtyping import TypeCheckError
from scan_inputs import every_way, make_inputs, scan_by

from mamba_edu.scan import explain, selective_scan

nan, inf = float("nan"), float("inf")
ONES = torch.ones(2, 7, 3, dtype=torch.float64)
FIVE_STATES = torch.ones(2, 7, 5, dtype=torch.float64)
RATES = -torch.ones(3, 4, dtype=torch.float64)
SPOILED = [
    ("A", -RATES, ValueError, "A must have real parts of at most 0, or the state grows.* is 1"),
    ("A", RATES * nan, ValueError, "A must be finite; NaN values: 12 of 12"),
    ("A", RATES * inf, ValueError, "A must be finite; infinite values: 12 of 12"),
    ("A", RATES.T, ValueError, "A must have d_inner = 3 as x has"),
    ("A", RATES[0], ValueError, r"A must have the axes \(d_inner, d_state\); its shape is \(4,\)"),
    ("A", RATES.int(), TypeError, "A must be torch.float16, .* or torch.float64; .* torch.int32"),
    ("A", RATES + 0j, TypeError, "A must be .*; it is torch.complex128"),
    ("A", RATES.float(), TypeError, "A is torch.float32 and x is torch.float64; all must be"),
    ("A", RATES.half(), TypeError, "A is torch.float32 and x is torch.float64; all must be"),
    ("A", None, TypeError, "A must be a torch.Tensor; its type is NoneType"),
    ("delta", -ONES, ValueError, "delta must be at least 0, .* is -1 at index .0, 0, 0."),
    ("delta", ONES * -inf, ValueError, "delta must be at least 0, .* is -inf at index"),
    ("delta", ONES[:, :6], ValueError, "delta must have length = 7 as x has"),
    ("delta", ONES[..., :1], ValueError, "delta must have d_inner = 3 as x has"),
    ("delta", ONES.long(), TypeError, "delta must be .*; it is torch.int64"),
    ("x", ONES[0], ValueError, r"x must have the axes \(batch, length, d_inner\)"),
    ("x", ONES.bool(), TypeError, "x must be .*; it is torch.bool"),
    ("x", [[1.0]], TypeError, "x must be a torch.Tensor; its type is list"),
    ("B", FIVE_STATES, ValueError, "B must have d_state = 4 as A has"),
    ("B", ONES[..., None], ValueError, r"B must have the axes \(batch, length, d_state\)"),
    ("C", FIVE_STATES, ValueError, "C must have d_state = 4 as A has"),
    ("C", ONES.int(), TypeError, "C must be .*; it is torch.int32"),
    ("skip", torch.ones(4).double(), ValueError, "skip must have d_inner = 3 as x has"),
    ("gate", FIVE_STATES, ValueError, "gate must have d_inner = 3 as x has"),
    ("state", ONES, ValueError, "state must have d_inner = 3 as x has"),
    ("mask", ONES[..., 0], TypeError, "mask must be torch.bool; it is torch.float64"),
    ("mask", ONES.half()[..., 0], TypeError, "mask must be torch.bool; it is torch.float16$"),
    ("mask", ONES.bool(), ValueError, r"mask must have the shape .* \(2, 7\) of x; .* \(2, 7, 3\)"),
    ("mask", ONES[:1, :, 0].bool(), ValueError, r"\(2, 7\) of x; its shape is \(1, 7\)"),
    ("return_state", "no", TypeError, "return_state must be True or False; it is 'no'"),
    ("method", "fast", ValueError, '"auto", "loop", "parallel", "chunked", "fused"; it is .fast.'),
]
CASES = [pytest.param(*case, id=f"{case[0]}-{case[3][:24]}") for case in SPOILED]


@pytest.mark.parametrize(("name", "value", "error", "message"), CASES)
def test_scan_refuses_what_does_not_fit(name, value, error, message, as_reader):
    """S5, mamba.py#26, and C4: what was wrong, what was given, what is allowed."""
    with pytest.raises(error, match=message):
        selective_scan(**make_inputs() | {name: value})


def test_the_largest_step_backwards_is_named_among_bad_values(as_reader):
    inputs = make_inputs()
    inputs["delta"][0, 1, 2] = nan
    inputs["delta"][1, 4, 0] = -0.25
    with pytest.raises(ValueError, match=r"the smallest is -0.25 at index \(1, 4, 0\)"):
        selective_scan(**inputs)


def test_a_refused_scan_does_not_count_as_one(as_reader):
    selective_scan(**make_inputs(), method="parallel")
    with pytest.raises(ValueError, match="method must be"):
        selective_scan(**make_inputs(), method="quick")
    assert explain().startswith("parallel ran")


def test_shapes_are_checked_while_testing():
    with pytest.raises(TypeCheckError):
        selective_scan(**make_inputs() | {"A": RATES.T})


@every_way
def test_scan_takes_steps_of_no_time_and_rates_of_no_decay(way):
    inputs = make_inputs()
    inputs["A"], inputs["delta"] = 0 * inputs["A"], 0 * inputs["delta"]
    y, last = scan_by(way, **inputs)
    assert y.isfinite().all()
    torch.testing.assert_close(last, inputs["state"], rtol=0, atol=0)
