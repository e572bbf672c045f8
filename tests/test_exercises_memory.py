"""Notebook 11: its solutions by other means, answers that could differ, and the contest."""

import math

import pytest
import torch

from mamba_edu.exercises import answers11 as answers
from mamba_edu.exercises import contest11, n11
from mamba_edu.experiments import SWEEPS, pair_results
from mamba_edu.readout import ReadMax
from mamba_edu.steps import snap, softplus_step


@pytest.mark.parametrize(
    ("share", "rate", "n_tokens"), [(0.5, 2.0, 90), (0.9, 1.0, 7), (0.1, 3.0, 1)]
)
def test_at_this_raw_step_the_share_is_left(share, rate, n_tokens):
    raw = torch.tensor(n11.solve_find_raw(share, rate, n_tokens), dtype=torch.float64)
    assert math.exp(-rate * n_tokens * softplus_step(raw)) == pytest.approx(share)


@pytest.mark.parametrize(
    ("right", "n_allowed", "picked"),
    [([9, 9, 9], 0, 0.3), ([9, 8, 9], 0, 0.0), ([9, 8, 7], 1, 0.1), ([9, 5, 9], 3, 0.0)],
)
def test_a_threshold_is_picked_before_the_first_loss(right, n_allowed, picked):
    assert n11.solve_pick_tau([0.0, 0.1, 0.3], right, n_allowed) == picked


def test_a_straight_cut_has_the_values_of_a_snap_and_the_slope_of_none():
    delta = torch.tensor([0.02, 0.3, 0.1], dtype=torch.float64, requires_grad=True)
    cut = n11.solve_cut_straight(delta, 0.1)
    assert torch.equal(cut, snap(delta, 0.1))
    (cut * torch.tensor([3.0, 5.0, 7.0])).sum().backward()
    assert delta.grad.tolist() == [3, 5, 7]


def test_the_answers_read_the_tables_that_come_with_the_course(monkeypatch):
    """Were one half enough, or no design, the answers would say so."""
    for decay, write, index in ((0.95, 0.2, 0), (0.5, 0.9, 1), (0.5, 0.5, 2)):
        rows = [{"seed": 0, "decay": decay, "write": write, "both": 1.0}]
        monkeypatch.setattr(answers, "pair_results", lambda *_, rows=rows, **__: rows)
        assert answers.answer_half()[0] == index
    monkeypatch.setattr(answers, "pair_results", lambda *_, **__: [{"before": 0.5, "after": 0.8}])
    assert answers.answer_snapped()[0] == 1
    worst = {"CLS, snapped": 0.2, "attention, zone + snap": 0.5}
    monkeypatch.setattr(answers, "find_worst", lambda label, *_: (worst[label], "order"))
    assert answers.answer_one_design()[0] == 2
    worst["CLS, snapped"] = 0.95
    assert answers.answer_one_design()[0] == 0
    monkeypatch.setattr(
        answers, "list_taus", lambda name: [0.0 if name.startswith("needle") else 0.1]
    )
    assert answers.answer_smallest_tau()[0] == 0


def test_designs_of_the_contest_stand_in_the_grids():
    for table, rest in contest11.DESIGNS.values():
        ways = (", as trained", ", snapped", ", slowed")
        setting = f"order, {rest}"
        for way in ways if table == "star" else ():
            setting = setting.removesuffix(way)
        assert setting in SWEEPS[table].settings


def test_the_worst_task_is_that_of_the_lowest_mean(monkeypatch):
    shares = {"order": [0.5, 0.9], "needle": [0.75, 0.5]}

    def pair(table, length, right):
        return [{"right": share} for share in shares[right.split(", ")[0]]]

    monkeypatch.setattr(contest11, "pair_results", pair)
    assert contest11.find_worst("mean", ("order", "needle"), 8192) == (0.625, "needle")
    assert contest11.list_designs("order", 8192)[0] == ("mean", [0.5, 0.9])


@pytest.mark.parametrize("readout", ["cls_last", ReadMax()])
def test_an_entry_is_trained_counted_and_placed(readout, monkeypatch, capsys, blank_pictures):
    monkeypatch.setattr(contest11, "LENGTH", 160)
    monkeypatch.setattr(contest11, "N_SEQUENCES", 4)
    monkeypatch.setattr(contest11, "list_designs", lambda *_: [("mean", [0.2]), ("max", [0.7])])
    monkeypatch.setattr(contest11, "to_png", lambda fig: b"\x89PNG")
    rows = []
    draw = contest11.draw_dots
    monkeypatch.setattr(contest11, "draw_dots", lambda p, *_: rows.extend(p[0][1]) or draw(p, *_))
    entry = contest11.enter_contest("mine", "order", readout, softplus_step, seed=1, steps=4)
    assert 0 <= entry.far <= 1
    assert 0.3 < entry.near < 0.7
    contest11.show_place(entry)
    assert [label for label, _ in rows] == ["> mine", "max", "mean"]
    assert contest11.ALT in capsys.readouterr().out


def test_every_shipped_seed_meets_what_the_live_cell_prints():
    """By at least 0.2, so that another machine's training meets it too."""
    rows = pair_results("star", 128, right="order, attention, dead_zone, as trained")
    assert len(rows) == 5
    assert min(row["right"] for row in rows) >= 0.7 + 0.2
