"""Notebook 09: its solutions by other means, and claims that can fail."""

import math

import pytest
import torch

from mamba_edu.exercises import claims09, n09
from mamba_edu.experiments import load_results
from mamba_edu.probes import measure_constancy
from mamba_edu.reader import Claim, judge
from mamba_edu.scan import selective_scan
from mamba_edu.tasks import Batch

CLAIMS = {name: claim for name, claim in vars(claims09).items() if isinstance(claim, Claim)}
SIGNAL = {"margin_128": 10.0, "delta_filler": 0.01, "noise_128": 0.2}


@pytest.mark.parametrize(("half_life", "share"), [(30.0, 0.25), (7.0, 0.3), (400.0, 0.9)])
def test_at_the_horizon_this_share_is_left(half_life, share):
    rate = -math.log(2) / half_life
    assert math.exp(rate * n09.solve_find_horizon(half_life, share)) == pytest.approx(share)


@pytest.mark.parametrize("s", [0, 3, 6])
def test_what_survives_to_the_end_is_what_the_scan_still_holds(s):
    clock = n09.make_clock(7)
    rng = torch.Generator().manual_seed(1)
    B, C = (torch.rand(2, 7, 4, generator=rng, dtype=torch.float64) for _ in range(2))
    x = torch.zeros(2, 7, 3, dtype=torch.float64)
    x[:, s] = 1
    _, left = selective_scan(x, clock["delta"], clock["A"], B, C, return_state=True)
    written = clock["delta"][:, s, :, None] * B[:, s, None]
    survived = n09.solve_survive_to_end(**clock, s=s)
    torch.testing.assert_close(survived * written, left, rtol=0, atol=1e-14)


def test_answers_are_described_as_the_probe_describes_them():
    logits = n09.make_logits(20, 1.0)

    class Table(torch.nn.Module):
        def forward(self, inputs, mask=None):
            return logits[inputs[:, 0]]

    batch = Batch(torch.arange(20)[:, None], torch.zeros(20, dtype=torch.long))
    found = measure_constancy(Table(), batch)
    wanted = pytest.approx((found.share, found.confidence), abs=1e-6)
    assert n09.solve_describe_answers(logits) == wanted


@pytest.mark.parametrize(
    ("name", "holds", "fails"),
    [
        ("POWER", {"margin_1024": 8.0, "margin_8192": 1.0}, {"margin_1024": 8, "margin_8192": 8}),
        ("CUT_OFF", {"margin_1024": 8.0, "margin_2048": 2.0}, {"margin_1024": 8, "margin_2048": 6}),
        ("GONE", {"margin_4096": 0.3}, {"margin_4096": 2.0}),
        ("FLAT", {"margin_8192": 9.0}, {"margin_8192": 1.0}),
        ("CONSTANT", {"share_8192": 0.9}, {"share_8192": 0.2}),
        ("CONFIDENT", {"sure_8192": 0.9}, {"sure_8192": 0.2}),
        ("NO_NOISE", {"noise_8192": 0.2}, {"noise_8192": 0.6}),
        ("SELECTIVE", {"delta_needle": 0.04}, {"delta_needle": 0.01}),
        ("UNSELECTIVE", {"delta_needle": 0.01}, {"delta_needle": 0.04}),
        ("NOT_FOR_EVER", {"near": 1.0, "far": 0.2}, {"near": 1.0, "far": 0.8}),
        ("VOTES", {"right": 0.9}, {"right": 0.1}),
        ("EARLY", {"right": 0.1}, {"right": 0.9}),
        (
            "BLIND_FRONT",
            {"depth_1": 3, "n_depth_1": 6, "depth_8": 30, "n_depth_8": 30},
            {"depth_1": 6, "n_depth_1": 6, "depth_8": 15, "n_depth_8": 30},
        ),
    ],
)
def test_every_claim_can_hold_depend_and_fail(name, holds, fails):
    """Rows on either side decide, and one seed that differs takes a claim its word."""
    yes, no = ([SIGNAL | row | {"seed": s} for s in range(5)] for row in (holds, fails))
    words = [judge(CLAIMS[name], rows).word for rows in (yes, no, yes[:4] + no[4:])]
    assert words == ["holds", "fails", "depends"]


def test_no_claim_is_left_out_and_margins_are_as_they_were_set():
    marks = test_every_claim_can_hold_depend_and_fail.pytestmark
    assert {case[0] for case in marks[0].args[1]} == set(CLAIMS)
    margins = {name: claim.margin for name, claim in CLAIMS.items() if claim.margin != 0.2}
    half = dict.fromkeys(("CUT_OFF", "NO_NOISE", "SELECTIVE", "UNSELECTIVE"), 0.5)
    assert margins == half | {"GONE": 0.05}


def test_the_answers_read_the_tables_that_come_with_the_course(monkeypatch):
    """Were CLS lost and unsure, or a maximum unable to find a trigger, the answers would say so."""
    rows = load_results("signals")
    unsure = [row | {"sure_8192": 0.3, "share_8192": 0.3} for row in rows]
    monkeypatch.setattr(n09, "load_results", lambda name: unsure)
    assert n09.answer_lost()[0] == 0
    flat = [row | {"margin_8192": row["margin_128"] / (1 + (i < 5))} for i, row in enumerate(rows)]
    monkeypatch.setattr(n09, "load_results", lambda name: flat)
    assert n09.answer_order()[0] == 2
    monkeypatch.setattr(n09, "pair_results", lambda *_, bare: [{"bare": 0.1}])
    assert n09.answer_no_state()[0] == 0
    monkeypatch.setattr(n09, "pair_results", lambda *_, bare: [{"bare": 0.9}])
    assert n09.answer_no_state()[0] == 2


def test_every_shipped_seed_meets_what_the_live_cell_prints():
    """By at least 0.2 on both sides, so that another machine's training meets it too."""
    rows = [row for row in load_results("signals") if row["setting"] == "needle, cls_last"]
    assert len(rows) == 5
    for row in rows:
        assert row["margin_256"] / row["margin_128"] >= 0.5 + 0.2
        assert row["margin_8192"] / row["margin_128"] <= 0.55 - 0.2
