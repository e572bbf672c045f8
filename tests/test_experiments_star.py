"""A run of the star trains, chooses tau, and counts the same model under other clocks."""

from functools import partial

import pytest
import torch
from torch import nn

from mamba_edu.experiments import (
    SWEEPS,
    name_counts,
    pair_results,
    pairs,
    readouts,
    run_star,
    run_taus,
    share_snapped,
    star,
    start_readout,
    taus,
    unfold_star,
    write_table,
)
from mamba_edu.experiments.readout_grids import PLANS
from mamba_edu.layers import MambaBlock
from mamba_edu.probes import apply_halves
from mamba_edu.steps import apply_step_rule, dead_zone_step, length_normalised, snap, softplus_step
from mamba_edu.tasks import TASKS, Batch
from mamba_edu.training import train

TESTED = {24: 40, 48: 30, 96: 20}
PLAN = {"steps": 16, "lengths": (9, 12)}
FIRST = {"plan": "p", "torch": "2", "cpu_seconds": 1.0}


@pytest.fixture
def short(monkeypatch):
    monkeypatch.setattr(star, "STAR_TESTED", TESTED)
    monkeypatch.setattr(star, "is_chance", lambda *_: False)
    monkeypatch.setattr(star, "HALVED_AT", 96)
    monkeypatch.setattr(star, "N_TRIED", 20)
    for module in (star, taus):
        monkeypatch.setattr(module, "mark_pieces", mark_by_logits)
    asked = []
    monkeypatch.setattr(star, "choose_tau", lambda *given: asked.append(given) or 0.2)
    return asked


def mark_by_logits(model, drawn):
    """Mark as many as the logits say in their fourth digits: any change of the clock shows."""
    n = len(drawn.target)
    with torch.no_grad():
        told = model(drawn.inputs).double().abs().sum().item()
    return torch.arange(n) < int(told * 1e4) % (n + 1)


def count(model, length, rule, task="order", seed=3):
    """What is marked with a rule on top."""
    with apply_step_rule(model, rule):
        drawn = TASKS[task].sample(TESTED[length], length, seed)
        return int(mark_by_logits(model, drawn).sum())


def test_a_run_counts_one_model_under_every_clock(short):
    found = run_star("order", "cls_last", "dead_zone", 3, halves=True, **PLAN)
    model = start_readout("order", "cls_last", 3, step_rule=dead_zone_step)
    train(model, TASKS["order"].sample, (9, 12), 16, seed=3)
    [(_, tried)] = short
    assert torch.equal(tried.inputs, TASKS["order"].sample(20, 12, 10_003).inputs)
    assert found["tau"] == 0.2
    stop, every = partial(snap, tau=0.2), []
    for length in TESTED:
        slow = partial(length_normalised, length=length, trained_length=12)
        wanted = [count(model, length, rule) for rule in (torch.clone, stop, slow)]
        assert [found[f"{k}_{length}"] for k in ("right", "snapped", "slowed")] == wanted
        every.append(wanted)
    assert len(set(zip(*every, strict=True))) == 3  # no clock is another
    with apply_halves(model, stop, torch.clone):
        assert found["decay_96"] == count(model, 96, torch.clone)
    with apply_halves(model, torch.clone, stop):
        assert found["write_96"] == count(model, 96, torch.clone)
    assert found["parameters"] == sum(weight.numel() for weight in model.parameters())


@pytest.mark.parametrize("piece", [1, 8, 25, 1000])
def test_sequences_in_pieces_are_marked_as_at_once(piece, monkeypatch):
    monkeypatch.setattr(readouts, "PIECE", piece)
    model, drawn = start_readout("order", "cls_last"), TASKS["order"].sample(7, 8, 0)
    marks = readouts.mark_pieces(model, drawn)
    assert torch.equal(marks, model(drawn.inputs).argmax(1) == drawn.target)


class Fixed(nn.Module):
    """Says the class of the first token as long as its clock stands still there."""

    def __init__(self):
        super().__init__()
        self.block = MambaBlock(4)
        self.block.step_rule = torch.clone

    def forward(self, inputs, mask):
        right = self.block.step_rule(torch.ones(1)) == 0
        return nn.functional.one_hot(torch.where(right, inputs[:, 0], 1 - inputs[:, 0])).double()


def sample(batch, length, seed):
    target = torch.tensor([0, 1]).repeat(batch)[:batch]
    return Batch(target[:, None].expand(batch, length), target)


def test_counting_chooses_the_rule_by_the_length_and_stops_at_chance(monkeypatch):
    monkeypatch.setattr(star, "STAR_TESTED", {8: 6, 16: 6, 32: 6, 64: 6, 128: 6})
    monkeypatch.setattr(star, "is_chance", lambda *_: False)
    task = TASKS["order"]._replace(sample_test=sample)
    asked = []

    def choose(length):
        asked.append(length)
        return (lambda delta: 0 * delta) if length in (8, 32) else None

    found = star.count_ruled(Fixed(), task, 0, "slowed", choose)
    assert [found[f"slowed_{n}"] for n in (8, 16, 32, 64)] == [6, 0, 6, 0]
    monkeypatch.setattr(star, "is_chance", lambda right, n, chance: right == 0)
    assert star.count_ruled(Fixed(), task, 0, "right", lambda n: None)["n_32"] == 0
    assert asked == [8, 16, 32, 64, 128]


def test_what_is_kept_is_what_has_not_decayed():
    model = start_readout("order", "cls_last")
    drawn = TASKS["order"].sample(2, 150, 0)
    tokens, _ = model.tokens(drawn.inputs, None)
    layer = model.blocks.layers[0]
    kept = {}
    for rule in (None, lambda delta: 0 * delta, lambda delta: delta / 2):
        own = layer.mixer.select(layer.mixer.look_back(layer.norm(tokens))[0])[0]
        left = torch.ones(2, 64, 8)
        for step in own[:, 1:].unbind(1):
            step = step if rule is None else rule(step)
            left = left * torch.exp(-step[..., None] * torch.arange(1, 9))
        kept[rule] = (left > 0.1).double().mean().item()
        assert star.measure_kept(model, drawn, rule) == pytest.approx(kept[rule], abs=2e-3)
    assert 0.02 < min(kept.values()) < max(kept.values()) == 1


def test_a_row_unfolds_into_one_for_each_way_its_model_was_used():
    counts = {f"{k}_{n}": n // 128 for n in star.STAR_TESTED for k in ("right", "n")}
    for kind in ("snapped", "slowed"):
        counts |= {f"{kind}_{n}": k for k, n in enumerate(star.STAR_TESTED)}
        counts |= {f"n_{kind}_{n}": 9 for n in star.STAR_TESTED}
    counts |= {"decay_8192": 4, "n_decay_8192": 8, "write_8192": 0, "n_write_8192": 0}
    row = {"setting": "a", "seed": 2, "kept": 0.1, "kept_snapped": 0.7} | counts
    found = {each["setting"]: each for each in unfold_star([row])}
    assert list(found) == ["a, as trained", "a, snapped", "a, slowed", "a, decay snapped"]
    assert [found[name].get("kept") for name in found] == [0.1, 0.7, None, None]
    assert (found["a, slowed"]["right_2048"], found["a, slowed"]["n_2048"]) == (2, 9)
    half = found["a, decay snapped"]
    assert (half["right_8192"], half["n_8192"], half["n_128"]) == (4, 8, 0)


def test_pairs_of_the_star_name_the_way_of_use(monkeypatch, tmp_path):
    counts = dict.fromkeys((f"n_{n}" for n in star.STAR_TESTED), 4)
    counts |= {f"right_{n}": 1 for n in star.STAR_TESTED}
    counts |= {f"snapped_{n}": 3 for n in star.STAR_TESTED}
    counts |= {f"n_snapped_{n}": 4 for n in star.STAR_TESTED}
    rows = [FIRST | {"setting": "b", "seed": 0, "kept": 0.0, "kept_snapped": 1.0} | counts]
    write_table(tmp_path / "star.csv", rows)
    monkeypatch.setattr("mamba_edu.experiments.shipped.RESULTS", tmp_path)
    found = pair_results("star", 512, before="b, as trained", after="b, snapped")
    assert found == [{"seed": 0, "before": 0.25, "after": 0.75}]
    assert pairs.pair_results("star", "kept", after="b, snapped") == [{"seed": 0, "after": 1.0}]


def test_the_grid_is_a_star_trained_as_the_readouts_were():
    settings = SWEEPS["star"].settings
    rays = {(k["readout"], k["rule"]) for k in settings.values()}
    assert ("attention", "softplus") not in rays
    assert len(settings) == 19
    for name, keywords in settings.items():
        task, readout, rule = name.split(", ")
        assert (keywords["task"], keywords["readout"], keywords["rule"]) == (task, readout, rule)
        assert keywords.get("lengths") == PLANS.get(task, {}).get("lengths")
    assert list(star.RULES.values()) == [softplus_step, dead_zone_step]
    with pytest.raises(ValueError, match=r"rule must be one of \['dead_zone', 'softplus'\]; it is"):
        run_star("order", "max", "relu")


def test_every_threshold_is_counted_on_the_same_sequences(short, monkeypatch):
    monkeypatch.setattr(taus, "TRIED", {24: 40, 48: 30})
    found = run_taus("order", seed=3, **PLAN)
    model = start_readout("order", "cls_last", 3)
    train(model, TASKS["order"].sample, (9, 12), 16, seed=3)
    for length in (24, 48):
        wanted = [
            count(model, length, partial(snap, tau=tau)) for tau in (0.0, 0.003, 0.01, 0.03, 0.1)
        ]
        assert [found[name_counts(n, length)[0]] for n in range(5)] == wanted
    assert name_counts(0, 128) == ("right_128", "n_128")
    assert name_counts(2, 512) == ("tau2_512", "n_tau2_512")


@pytest.mark.parametrize(("allowed", "share"), [(0.0, 0.2), (0.05, 0.4), (0.1, 1.0)])
def test_the_share_is_that_of_the_threshold_before_the_first_loss(allowed, share):
    near, far = [100, 100, 97, 90, 100, 80], [10, 20, 40, 80, 100, 0]
    row = {}
    for number in range(6):
        (ours, of), (there, of_there) = (name_counts(number, n) for n in (128, 8192))
        row |= {ours: near[number], of: 100, there: far[number], of_there: 100}
    assert share_snapped(row, 8192, allowed) == share
