"""The word of a verdict is earned by its rows: rows on the other side flip it."""

import re

import numpy as np
import pytest
import torch
from front_end import open_front_end

from mamba_edu.reader import Claim, judge, verdict

CLAIM = Claim("n99.better", "x < y beats z & all.", lambda row: row["gain"], 0.25, "points")


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


def make_rows(*gains):
    return [{"seed": seed, "gain": gain} for seed, gain in enumerate(gains)]


@pytest.mark.parametrize(
    ("gains", "word"),
    [
        ([0.3, 0.5, 0.9, 0.4, 0.6], "holds"),
        ([0.25] * 5, "holds"),  # the margin itself counts
        ([0.3, 0.5, 0.9, 0.4, 0.2499], "depends"),
        ([0.3, 0.5, 0.9, 0.4, -0.9], "depends"),
        ([0.0] * 5, "depends"),
        ([-0.2499, -0.5, -0.9, -0.4, -0.3], "depends"),
        ([-0.25] * 5, "fails"),
        ([-0.3, -0.5, -0.9, -0.4, -0.6], "fails"),
        ([0.3, 0.5, 0.9, 0.4], "too few seeds"),
        ([-0.3, -0.5], "too few seeds"),
        ([], "too few seeds"),
        ([0.3] * 12, "holds"),
        ([*[0.3] * 11, 0.1], "depends"),
    ],
)
def test_every_seed_must_stand_on_its_side_of_the_margin(gains, word):
    found = judge(CLAIM, make_rows(*gains))
    assert found.word == word
    assert found.n_seeds == len(gains)
    assert (found.least, found.largest) == (min(gains, default=0), max(gains, default=0))


def test_the_margin_counts_though_binary_digits_fall_short_of_it():
    """1 - 0.8 is 0.19999999999999996 in double precision."""
    claim = CLAIM._replace(measure=lambda row: row["right"] - row["wrong"], margin=0.2)
    rows = [{"seed": seed, "right": 1.0, "wrong": 0.8} for seed in range(5)]
    assert judge(claim, rows).word == "holds"
    assert judge(claim, [row | {"wrong": 0.8001} for row in rows]).word == "depends"


def test_a_seed_counts_once_however_often_it_ran():
    rows = make_rows(0.3, 0.4, 0.5, 0.6)
    twice = [*rows, {"seed": 3, "gain": 0.7}, {"seed": np.int64(0), "gain": 0.9}]
    assert judge(CLAIM, twice)[:2] == ("too few seeds", 4)
    assert judge(CLAIM, [*twice, {"seed": 4, "gain": 0.3}])[:2] == ("holds", 5)


def test_a_second_run_of_a_seed_can_still_flip_the_word():
    rows = make_rows(0.3, 0.4, 0.5, 0.6, 0.7)
    assert judge(CLAIM, iter(rows)).word == "holds"
    assert judge(CLAIM, [*rows, {"seed": 2, "gain": -0.4}]).word == "depends"


def test_the_margin_is_the_claim_s_own():
    rows = make_rows(0.3, 0.4, 0.5, 0.6, 0.7)
    assert judge(CLAIM._replace(margin=0.3), rows).word == "holds"
    assert judge(CLAIM._replace(margin=0.31), rows).word == "depends"
    against = CLAIM._replace(measure=lambda row: torch.tensor(-row["gain"]))
    assert judge(against, rows).word == "fails"


def test_a_verdict_shows_its_word_its_seeds_its_spread_and_its_margin(shown):
    verdict(CLAIM, make_rows(0.3, 0.512, 0.9, 0.4, 0.6))
    data = shown[0]["data"]
    assert data["text/plain"].splitlines() == [
        "x < y beats z & all.",
        "Verdict: holds (5 seeds, from 0.30 to 0.90 points; margin fixed beforehand: 0.25 points)",
    ]
    assert "x &lt; y beats z &amp; all.<br><b>Verdict: holds</b> (5 seeds" in data["text/html"]
    assert "x < y" not in data["text/html"]


@pytest.mark.parametrize(
    ("least", "largest", "spread"),
    [(0.2461, 0.7444, "from 0.246 to 0.744"), (-0.5, -0.2499, "from -0.5000 to -0.2499")],
)
def test_a_spread_is_never_rounded_across_the_margin(shown, least, largest, spread):
    """A word that its own figures contradict cannot be checked by a reader."""
    verdict(CLAIM, make_rows(least, *[0.3 if least > 0 else -0.3] * 3, largest))
    plain = shown[0]["data"]["text/plain"].splitlines()[1]
    assert plain.startswith(f"Verdict: depends (5 seeds, {spread} points;")


@pytest.mark.parametrize(
    ("gains", "kind"),
    [
        ([0.3] * 5, "success"),
        ([-0.3] * 5, "danger"),
        ([0.3] * 4, "warning"),
        ([0.0] * 5, "warning"),
        ([], "warning"),
    ],
)
def test_the_colour_of_a_verdict_follows_its_word(shown, gains, kind):
    verdict(CLAIM, make_rows(*gains))
    assert f"alert-{kind}" in shown[0]["data"]["text/html"]


def weigh_light(colour):
    """The relative luminance of a colour such as #ffe0b2, as WCAG 2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("gain", [0.3, -0.3, 0.0])
def test_a_verdict_can_be_read_in_every_theme(shown, gain):
    verdict(CLAIM, make_rows(*[gain] * 5))
    ink, ground = re.findall("#[0-9a-f]{6}", shown[0]["data"]["text/html"])
    assert (weigh_light(ground) + 0.05) / (weigh_light(ink) + 0.05) > 7


def test_a_verdict_without_rows_or_unit_says_no_more_than_it_knows(shown):
    verdict(CLAIM, [])
    verdict(CLAIM._replace(unit=""), make_rows(-0.001, 0.5, 0.5, 0.5, 0.5))
    empty, plain = (output["data"]["text/plain"].splitlines()[1] for output in shown)
    assert empty == "Verdict: too few seeds (no rows)"
    assert plain == ("Verdict: depends (5 seeds, from 0.00 to 0.50; margin fixed beforehand: 0.25)")


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"gain": 1.0}, "every row must have a whole number as its 'seed'; row 1 is {'gain': 1.0}"),
        ({"seed": 1.5, "gain": 1.0}, "a whole number as its 'seed'; row 1"),
        ({"seed": torch.tensor(0), "gain": 1.0}, "a whole number as its 'seed'; row 1"),
        ({"seed": 7}, r"n99\.better needs other columns; seed 7 has \['seed'\] and gives KeyError"),
        ({"seed": 7, "gain": None}, "needs other columns; seed 7 .* gives TypeError"),
        ({"seed": 7, "gain": "high"}, "needs other columns; seed 7 .* gives ValueError"),
        ({"seed": 7, "gain": float("nan")}, "the measure must be finite; seed 7 gives nan"),
        ({"seed": 7, "gain": float("-inf")}, "the measure must be finite; seed 7 gives -inf"),
        ("seed", "rows must be mappings, such as dicts; row 1 is 'seed'"),
    ],
)
def test_a_row_that_cannot_be_judged_is_named(row, message):
    with pytest.raises((TypeError, ValueError), match=message):
        judge(CLAIM, [{"seed": 0, "gain": 1.0}, row])


@pytest.mark.parametrize("rows", [{"seed": 0, "gain": 1.0}, "seed", 3, None])
def test_rows_are_a_list_of_mappings(rows):
    with pytest.raises(TypeError, match="rows must be mappings, such as dicts"):
        judge(CLAIM, rows)


@pytest.mark.parametrize("margin", [0, -0.1, float("nan"), float("inf"), "0.1", None])
def test_a_margin_that_decides_nothing_is_refused(margin):
    with pytest.raises(ValueError, match=r"margin must be a number above 0; n99\.better has"):
        verdict(CLAIM._replace(margin=margin), make_rows(*[0.3] * 5))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key": ""}, "key must be words.*got ''"),
        ({"key": ["n99"]}, r"key must be words.*got \['n99'\]"),
        ({"says": None}, "says must be words.*got None"),
        ({"says": " "}, "says must be words.*got ' '"),
        ({"measure": None}, r"measure must be a function of a row; n99\.better has None"),
        ({"measure": "gain"}, r"measure must be a function of a row; n99\.better has 'gain'"),
        ({"unit": None}, r"unit must be words or empty; n99\.better has None"),
        ({"unit": 3}, r"unit must be words or empty; n99\.better has 3"),
    ],
)
def test_a_claim_that_says_or_measures_nothing_is_refused(shown, changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        verdict(CLAIM._replace(**changed), make_rows(*[0.3] * 5))
    assert shown == []


def test_only_a_claim_is_judged():
    with pytest.raises(TypeError, match="claim must be a Claim of mamba_edu"):
        judge("n99.better", [])
