"""Each claim has rows that make it hold, fail and depend; its settings stand in the grids."""

import re

import pytest

from mamba_edu.experiments import SWEEPS, write_table
from mamba_edu.experiments.readouts import TESTED
from mamba_edu.reader import CLAIMS, judge, verdict
from mamba_edu.reader import claim as claims

LIVE = {"n00.smoother": ("short", "long"), "n04.listens": ("bound", "selective")}
COUNTED = dict.fromkeys(("n10.linear_cost", "n10.all_pairs"), ("better", "worse"))
PLACES = {"n07.one_index": ("last", "first"), "n07.sees_all": ("last", "middle")}
COLUMNS = LIVE | COUNTED | PLACES  # of the rest that compare: better and worse
BELOW = {"n09.not_for_ever", "n09.digits_lost", "n09.early"}
SIGNAL = {"margin_128": 10.0, "margin_1024": 8.0, "delta_filler": 0.01, "noise_128": 0.2}
SIGNALS = {  # the read-out that a claim is about, and what a row has whose measure is the gap
    "n09.power": ("mean", lambda gap: {"margin_8192": 8.0 * 8 ** (-0.5 - gap)}),
    "n09.cut_off": ("cls_last", lambda gap: {"margin_2048": 8.0 * 2 ** (-1 - gap)}),
    "n09.gone": ("cls_last", lambda gap: {"margin_4096": 10 * (0.1 - gap)}),
    "n09.flat": ("max", lambda gap: {"margin_8192": 10 * (0.5 + gap)}),
    "n09.constant": ("cls_last", lambda gap: {"share_8192": 0.5 + gap}),
    "n09.confident": ("cls_last", lambda gap: {"sure_8192": 0.5 + gap}),
    "n09.no_noise": ("cls_last", lambda gap: {"noise_8192": 0.2 * (2 - gap)}),
    "n09.selective": ("cls_last", lambda gap: {"delta_needle": 0.01 * (2 + gap)}),
    "n09.unselective": ("max", lambda gap: {"delta_needle": 0.01 * (2 - gap)}),
}


def build_row(key, gap):
    """Build a row whose measure is the gap, by hand."""
    if key in SIGNALS:
        return SIGNAL | SIGNALS[key][1](gap)
    one, other = COLUMNS.get(key, ("better", "worse"))
    row = {one: 0.5 + gap, other: 0.5, "right": 0.5 + gap, "near": 0.8, "far": 0.8 * (0.5 + gap)}
    if CLAIMS[key].measure is claims.loss:
        row["far"] = 0.8 - gap
    return row


def build_rows(key, gaps):
    """Build a row for each seed."""
    gaps = [-gap for gap in gaps] if key in BELOW else gaps
    return [{"seed": seed, **build_row(key, gap)} for seed, gap in enumerate(gaps)]


@pytest.mark.parametrize("key", CLAIMS)
@pytest.mark.parametrize(
    ("gaps", "word"),
    [
        ((1.1, 1.1, 1.2, 1.1, 1.3), "holds"),
        ((1.1, 1.1, 0.9, 1.1, 1.3), "depends"),  # one seed that does not gain enough
        ((1.1, 1.1, -1.2, 1.1, 1.3), "depends"),
        ((-1.1, -1.1, 0.1, -1.1, -1.3), "depends"),
        ((-1.1, -1.1, -1.2, -1.1, -1.3), "fails"),
        ((1.1, 1.1, 1.2, 1.1), "too few seeds"),
    ],
)
def test_rows_flip_the_word_of_every_claim(key, gaps, word):
    claim = CLAIMS[key]
    assert claim.key == key
    rows = build_rows(key, [gap * claim.margin for gap in gaps])
    assert judge(claim, rows).word == word


def test_the_claims_differ_and_say_one_sentence():
    assert len({claim.says for claim in CLAIMS.values()}) == len(CLAIMS)
    for key, claim in CLAIMS.items():
        assert re.fullmatch(r"n\d\d\.[a-z_0-9]+", key)
        assert claim.says.endswith(".")
        assert len(claim.says.split()) <= 20


@pytest.fixture
def tables(monkeypatch, tmp_path):
    """Tables of both grids with a row for each run, whatever the real ones hold by now."""
    first = {"plan": "p", "torch": "2", "cpu_seconds": 1.0}
    for name in ("readouts", "scale", "long", "hard_tasks"):
        rows = [
            first | {"setting": setting, "seed": seed}
            for setting in SWEEPS[name].settings
            for seed in SWEEPS[name].seeds
        ]
        names = [f"{kind}_{length}" for length in TESTED for kind in ("right", "n")]
        names += [f"{kind}_{eighth}" for eighth in range(1, 9) for kind in ("depth", "n_depth")]
        counts = dict.fromkeys(names, 7)
        write_table(tmp_path / f"{name}.csv", [row | counts for row in rows])
    monkeypatch.setattr("mamba_edu.experiments.shipped.RESULTS", tmp_path)


IS_READOUT = re.compile(r"n0[89]|n07.(both|half|near)")
READOUTS = [key for key in CLAIMS if IS_READOUT.match(key) and key not in SIGNALS]


@pytest.mark.parametrize("key", READOUTS)
def test_what_a_claim_compares_stands_in_the_grid(key, tables):
    rows = CLAIMS[key].rows()
    n_joined = {"n08.fades": 4, "n08.anywhere": 2}.get(key, 1)
    assert [row["seed"] for row in rows] == n_joined * [0, 1, 2, 3, 4]
    judge(CLAIMS[key], rows)


@pytest.mark.parametrize("key", SIGNALS)
def test_a_claim_about_signals_is_judged_by_the_runs_of_its_read_out(key):
    rows = CLAIMS[key].rows()
    assert [row["seed"] for row in rows] == [0, 1, 2, 3, 4]
    assert {row["setting"] for row in rows} == {f"needle, {SIGNALS[key][0]}"}


def test_a_claim_about_two_lengths_sets_them_side_by_side(monkeypatch):
    shares = {128: 0.9, 2048: 0.3}
    found = lambda table, at, right: [{"seed": 3, "right": shares[at]}]  # noqa: E731
    monkeypatch.setattr(claims, "pair_results", found)
    lost = claims.claim_loss("n99.loss", "Less.", "t", "a", 128, 2048)
    assert lost.rows() == [{"seed": 3, "near": 0.9, "far": 0.3}]
    assert lost.measure(lost.rows()[0]) == pytest.approx(0.6)
    kept = claims.claim_kept("n99.kept", "Kept.", "t", "a", 128, 2048)
    assert kept.measure(kept.rows()[0]) == pytest.approx(1 / 3 - 1 / 2)
    assert claims.reverse(kept, "below half").measure(kept.rows()[0]) == pytest.approx(1 / 6)
    both = claims.claim_each("n99.each", "Each.", [lost, lost])
    assert both.rows() == 2 * lost.rows()


def test_margins_are_as_they_were_set():
    margins = {key: claim.margin for key, claim in CLAIMS.items() if claim.margin != 0.2}
    half = dict.fromkeys((f"n09.{k}" for k in ("cut_off", "no_noise")), 0.5)
    half |= dict.fromkeys((f"n09.{k}" for k in ("selective", "unselective")), 0.5)
    tenth = dict.fromkeys(("n00.smoother", "n07.sees_all", "n10.zeros_hidden"), 0.1)
    tenth |= {"n09.gone": 0.05, "n10.linear_cost": 0.1, "n10.all_pairs": 0.5}
    assert margins == half | tenth


def test_a_claim_about_distance_compares_eighths_of_the_depth(monkeypatch):
    row = {"setting": "a", **{f"depth_{n}": n for n in range(1, 9)}}
    row |= {f"n_depth_{n}": 10 * n if n == 8 else 10 for n in range(1, 9)}
    other = row | {"setting": "b", "seed": 0}
    rows = [other, row | {"seed": 2}, row | {"seed": 1, "depth_1": 5}]
    monkeypatch.setattr(claims, "load_results", {"readouts": rows}.get)
    nearer = claims.claim_nearer("n99.near", "Near.", "a", (7, 8), (1, 2))
    assert nearer.rows() == [
        {"seed": 1, "better": 15 / 90, "worse": 7 / 20},
        {"seed": 2, "better": 15 / 90, "worse": 3 / 20},
    ]


@pytest.mark.parametrize("key", sorted(set(CLAIMS) - set(READOUTS) - set(LIVE) - set(COUNTED)))
def test_a_verdict_needs_no_more_than_the_key_of_a_claim(key, capsys):
    verdict(key)
    shown = capsys.readouterr().out
    verdict(CLAIMS[key], CLAIMS[key].rows())
    assert capsys.readouterr().out == shown
    assert CLAIMS[key].says in shown


def test_the_claim_that_earlier_seeds_suggested_is_judged_by_later_ones():
    assert {row["seed"] for row in CLAIMS["n07.sees_all"].rows()} == {5, 6, 7, 8, 9}
    rows = CLAIMS["n07.one_index"].rows()
    assert [row["task"] for row in rows] == ["digits"] * 10 + ["names"] * 10


def test_a_claim_that_is_unknown_or_has_no_table_is_refused():
    with pytest.raises(ValueError, match=r"claim must be one of \['n00.smoother', .*; it is 'n99'"):
        verdict("n99")
    with pytest.raises(ValueError, match=r"n00.smoother must be given rows; no table that ships"):
        verdict("n00.smoother")
