"""Notebook 09: its solutions by other means, and answers that read the tables."""

import math

import pytest
import torch

from mamba_edu.exercises import n09
from mamba_edu.experiments import load_results
from mamba_edu.probes import measure_constancy
from mamba_edu.scan import selective_scan
from mamba_edu.tasks import Batch


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
