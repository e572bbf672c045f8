"""The claims of the recipe: rows in the grids' own columns flip each word."""

import pytest

from mamba_edu.exercises import trials10
from mamba_edu.experiments import SWEEPS, write_table
from mamba_edu.reader import CLAIMS, judge
from mamba_edu.reader import claims_recipe as claims

RECIPE = {key: claim for key, claim in CLAIMS.items() if key.startswith("n10.")}
LIVE = {"n10.linear_cost", "n10.all_pairs"}
PAIRS = {  # one setting, the other, the column, and values of the one that hold and fail
    "n10.random_start": ("CLS randn, no clip", "gradient_4", 20.0, 0.6),
    "n10.zeros_start": ("CLS zeros, no clip", "gradient_4", 20.0, 0.6),
    "n10.mean_faster": ("CLS mean, pretrained, clip 1", "to_90", 70, 130),
    "n10.zeros_hidden": ("CLS zeros, clip 1", "accuracy", 0.75, 0.25),
}
SHARES = [claim.key for claim in claims.RECIPE_CLAIMS if claim.measure is claims.over_half]
FIRST = {"plan": "p", "torch": "2", "cpu_seconds": 1.0}


def fill_recipe(changed=None):
    """Make a table of the grid whose runs are all alike, but for one setting."""
    alike = {"accuracy": 0.75, "n_sequences": 4, "to_90": 100}
    alike |= {f"gradient_{n}": 1.0 for n in range(1, 11)}
    name, column, values = changed or ("", "to_90", [100] * 5)
    return [
        FIRST
        | {"setting": setting, "seed": seed}
        | alike
        | ({column: values[seed]} if setting == name else {})
        for setting in SWEEPS["recipe"].settings
        for seed in range(5)
    ]


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """Put made-up tables in the place of those that come with the course."""

    def put(**rows):
        for name, each in rows.items():
            write_table(tmp_path / f"{name}.csv", each)

    monkeypatch.setattr("mamba_edu.experiments.shipped.RESULTS", tmp_path)
    return put


def count_of(setting, seed, right, of=20):
    """Make a row that counts as many right at every length."""
    counts = {f"{k}_{n}": v for n in (128, 8192, 32768) for k, v in (("right", right), ("n", of))}
    return FIRST | {"setting": setting, "seed": seed} | counts


def find_setting(key):
    """Find the table and setting of a claim, by asking it of tables that note what is read."""
    seen = {}

    def note(table, at, right):
        seen["asked"] = (table, at, right)
        return [{"seed": 0, "right": 1.0}]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claims, "pair_results", note)
        RECIPE[key].rows()
    return seen["asked"]


def test_a_share_is_put_on_the_way_from_guessing_to_all_right():
    assert claims.rescale(1 / 8, "needle") == 0
    assert claims.rescale(9 / 16, "needle") == pytest.approx(1 / 2)
    assert claims.rescale(0.75, "order") == 0.5
    assert claims.rescale(0.0, "majority") == -1


@pytest.mark.parametrize("key", SHARES)
def test_what_a_share_is_asked_of_stands_in_its_grid_and_is_what_the_claim_says(key):
    table, at, setting = find_setting(key)
    assert setting in SWEEPS[table].settings
    says = RECIPE[key].says
    assert " solve" in says
    if isinstance(at, int):
        assert f"at {at} tokens" in says
        assert setting.split(",")[0].replace("_", " ") in says


@pytest.mark.parametrize(
    ("right", "word"),
    [
        ((18, 18, 20, 18, 19), "holds"),  # of 20, ten by guessing: from 0.7 of the way
        ((18, 18, 20, 16, 19), "depends"),
        ((12, 10, 8, 12, 0), "fails"),
        ((12, 10, 8, 14, 0), "depends"),
        ((10, 20, 20, 20, 20), "depends"),
    ],
)
def test_shares_flip_the_word_of_a_strategy(tables, right, word):
    tables(readouts=[count_of("order, gated", seed, n) for seed, n in enumerate(right)])
    claim = RECIPE["n10.gated_order"]
    assert judge(claim, claim.rows()).word == word


@pytest.mark.parametrize("key", PAIRS)
def test_rows_of_the_grid_flip_a_claim_about_two_settings(tables, key):
    setting, column, holds, fails = PAIRS[key]
    for values, word in (
        ([holds] * 5, "holds"),
        ([fails] * 5, "fails"),
        ([holds] * 4 + [fails], "depends"),
    ):
        tables(recipe=fill_recipe((setting, column, values)))
        assert judge(RECIPE[key], RECIPE[key].rows()).word == word


def test_ten_times_the_gradient_is_not_yet_more_than_ten_times(tables):
    tables(recipe=fill_recipe(("CLS zeros, no clip", "gradient_7", [10.0] * 5)))
    [measure] = {round(row["better"] - row["worse"], 6) for row in RECIPE["n10.zeros_start"].rows()}
    assert measure == 0


def test_a_drop_is_from_the_near_length_to_the_far(tables):
    rows = [count_of("needle, cls_last", seed, 18) for seed in range(5)]
    tables(readouts=[row | {"right_8192": 6} for row in rows])
    found = RECIPE["n10.dilution"].rows()
    assert {(row["near"], row["far"]) for row in found} == {(0.9, 0.3)}
    assert judge(RECIPE["n10.dilution"], found).word == "holds"


@pytest.mark.parametrize(
    ("key", "ratio", "word"),
    [
        ("n10.linear_cost", 2.0, "holds"),
        ("n10.linear_cost", 4.0, "fails"),
        ("n10.all_pairs", 2.0, "fails"),
        ("n10.all_pairs", 4.0, "holds"),
    ],
)
def test_how_a_cost_grows_flips_the_word(key, ratio, word):
    fixed, grows = ({"better": 2.2}, "worse") if "cost" in key else ({"worse": 3}, "better")
    rows = [{"seed": seed, grows: ratio} | fixed for seed in range(5)]
    assert judge(RECIPE[key], rows).word == word


def test_margins_are_as_they_were_set():
    odd = {key: claim.margin for key, claim in RECIPE.items() if claim.margin != 0.2}
    assert odd == {"n10.zeros_hidden": 0.1, "n10.linear_cost": 0.1, "n10.all_pairs": 0.5}


def test_the_trial_hears_every_claim_once():
    heard = [claim.key for said in trials10.TRIAL for claim in trials10.list_claims(said)]
    assert sorted(heard) == sorted(RECIPE)
    assert {key for key, claim in RECIPE.items() if claim.rows is None} == LIVE
