"""Hidden attention is the scan's own derivative, adds up to its output, and loses no digits."""

import pytest
import torch
from scan_inputs import BATCH, D_INNER, D_STATE, LENGTH, make_inputs
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import measure_hidden_attention, read_block
from mamba_edu.scan import selective_scan

NAMES = ("x", "delta", "A", "B", "C", "skip")


def make_scan(length=LENGTH):
    inputs = make_inputs(length)
    return {name: inputs[name] for name in NAMES}


def differentiate_scan(mask=None):
    """Oracle: d y[t] / d x[s] of each channel; no channel hears another's x."""
    given = make_scan()
    x = given.pop("x")
    jacobian = torch.autograd.functional.jacobian(
        lambda v: selective_scan(v, **given, mask=mask, method="loop"), x
    )  # (batch, t, d_inner, batch, s, d_inner)
    return torch.einsum("btdbsd->bdts", jacobian)


MASK = torch.ones(BATCH, LENGTH, dtype=torch.bool)
MASK[0, 2:4] = MASK[1, 0] = False


@pytest.mark.parametrize("mask", [None, MASK])
def test_hidden_attention_is_the_derivative_of_the_scan(mask):
    attention = measure_hidden_attention(**make_scan(), mask=mask)
    assert attention.shape == (BATCH, D_INNER, LENGTH, LENGTH)
    assert_close(attention, differentiate_scan(mask), rtol=1e-12, atol=1e-14)


def test_hidden_attention_times_the_input_is_the_output():
    given = make_scan(40)
    attention = measure_hidden_attention(**given)
    y = torch.einsum("bdts,bsd->btd", attention, given["x"])
    assert_close(y, selective_scan(**given, method="parallel"), rtol=1e-12, atol=1e-12)


def test_one_row_is_a_row_of_all():
    given = make_scan()
    whole = measure_hidden_attention(**given, mask=MASK)
    for t in (0, 3, LENGTH - 1):
        assert_close(measure_hidden_attention(**given, mask=MASK, t=t), whole[:, :, t])


def test_a_trained_block_is_explained_padding_and_all():
    """Its own output, before the gate, is the attention times what its scan reads."""
    torch.manual_seed(0)
    model = SequenceClassifier(3, n_symbols=9, d_model=6, d_state=5).double()
    read = read_block(model, torch.randint(9, (BATCH, LENGTH)), MASK)
    row = measure_hidden_attention(*read, t=LENGTH)  # CLS stands behind all
    y = selective_scan(*read[:6], mask=read.mask, method="loop")
    assert_close((row * read.x.mT).sum(-1), y[:, LENGTH])
    assert (row[0, :, 2:4] == 0).all()


def test_hidden_attention_by_hand():
    """Steps of ln 2 and rates of -1 and 0: half is lost at each later token, or nothing is."""
    delta = torch.full((1, 3, 1), 2.0, dtype=torch.float64).log()
    ones = torch.ones(1, 3, 2, dtype=torch.float64)
    rates = torch.tensor([[-1.0, 0.0]], dtype=torch.float64)
    skip = torch.tensor([10.0], dtype=torch.float64)
    attention = measure_hidden_attention(delta, delta, rates, ones, ones, skip)[0, 0]
    weights = torch.tensor([[2.0, 0, 0], [1.5, 2, 0], [1.25, 1.5, 2]], dtype=torch.float64)
    assert_close(attention, delta[0, 0, 0] * weights + 10 * torch.eye(3, dtype=torch.float64))


def test_one_huge_step_costs_no_digits():
    """CASES S3: after a clock of 1e5, the differences of a float32 clock are wrong by percents."""
    given = make_scan(20)
    given["delta"][:, 8] = 1e5
    exact = measure_hidden_attention(**given)
    single = measure_hidden_attention(**{name: value.float() for name, value in given.items()})
    assert single.isfinite().all()
    assert_close(single.double(), exact, rtol=1e-4, atol=1e-5)


def test_attention_reaches_as_far_as_the_clock_allows_and_no_further():
    """Rates so fast that nothing is left leave the diagonal; without a clock there is no write."""
    given = make_scan()
    given["delta"] = given["delta"] + 0.01
    diagonal = given["delta"] * (given["B"] * given["C"]).sum(-1, keepdim=True) + given["skip"]
    fast = measure_hidden_attention(**given | {"A": torch.full_like(given["A"], -1e5)})
    assert_close(fast, torch.diag_embed(diagonal.mT))
    still = measure_hidden_attention(**given | {"delta": torch.zeros_like(given["delta"])})
    assert_close(still, torch.diag_embed(given["skip"].expand(BATCH, LENGTH, -1).mT))


def test_an_empty_scan_attends_to_nothing():
    assert measure_hidden_attention(**make_scan(0)).shape == (BATCH, D_INNER, 0, 0)


nan = float("nan")


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"t": LENGTH}, "t must be a token, 0 to 6; it is 7"),
        ({"t": -1}, "t must be at least 0; it is -1"),
        ({"t": 1.0}, "t must be an int; it is 1.0"),
        ({"delta": -make_scan()["delta"]}, "delta must be at least 0"),
        ({"A": -make_scan()["A"]}, "A must have real parts of at most 0"),
        ({"A": make_scan()["A"] * nan}, "A must be finite"),
        ({"B": make_scan()["B"][..., 1:]}, f"B must have d_state = {D_STATE} as A has"),
        ({"skip": make_scan()["skip"][1:]}, f"skip must have d_inner = {D_INNER} as x has"),
        ({"x": make_scan()["x"].float()}, "all must be single precision or all double"),
        ({"C": make_scan()["C"].long()}, "C must be torch.float32 or torch.float64"),
        ({"mask": MASK[:, 1:]}, "mask must have the shape"),
    ],
)
def test_hidden_attention_refuses_what_is_no_scan(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        measure_hidden_attention(**make_scan() | changed)
