"""The claims of notebook 11 compare what they say they do."""

import pytest

from mamba_edu.experiments import SWEEPS, name_counts
from mamba_edu.reader import CLAIMS, judge
from mamba_edu.reader import claims_memory as claims

KEYS = [key for key in CLAIMS if key.startswith("n11.")]


def test_a_gain_of_the_margin_itself_counts():
    """1 - 0.8 is a little less than 0.2 in binary."""
    rows = [{"seed": seed, "better": 1.0, "worse": 0.8} for seed in range(5)]
    assert judge(CLAIMS["n11.snap_order"], rows).word == "holds"


@pytest.mark.parametrize("key", KEYS)
def test_a_claim_rests_on_five_seeds_of_a_grid(key):
    assert CLAIMS[key].margin == 0.2
    assert [row["seed"] for row in CLAIMS[key].rows()] == [0, 1, 2, 3, 4]
    assert set(SWEEPS["star"].seeds) == set(SWEEPS["taus"].seeds) == {0, 1, 2, 3, 4}


def test_two_in_a_hundred_are_counted_where_the_model_was_trained(monkeypatch):
    near, far = [384, 382, 377, 376, 384, 384], [4, 8, 16, 24, 32, 32]
    row = {"setting": "needle, cls_last", "seed": 3}
    for number in range(6):
        row |= dict(zip(name_counts(number, 128), (near[number], 384), strict=True))
        row |= dict(zip(name_counts(number, 8192), (far[number], 32), strict=True))
    other = row | {"setting": "order, cls_last", "seed": 4}
    monkeypatch.setattr(claims, "load_results", {"taus": [row, other]}.get)
    assert CLAIMS["n11.allowed"].rows() == [{"seed": 3, "better": 0.5, "worse": 0.125}]
