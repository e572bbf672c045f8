"""A run of the grid of read-outs trains, counts by length and depth, and stops at chance."""

import pytest
import torch
from torch import nn

from mamba_edu.experiments import readout_grids as grids
from mamba_edu.experiments import readouts, run_readout, start_readout
from mamba_edu.readout import READOUTS
from mamba_edu.tasks import TASKS, Batch
from mamba_edu.training import evaluate, train

COUNTED = {128: 24, 256: 20, 512: 12, 2048: 2, 8192: 2, 32768: 1}


def list_weights(model):
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


def test_a_model_is_started_as_it_is_told_and_disturbs_no_other_chance():
    before = torch.random.get_rng_state()
    one, same, other = (start_readout("needle", "state", seed) for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert torch.equal(list_weights(one), list_weights(same))
    assert not torch.equal(list_weights(one), list_weights(other))
    big = start_readout("order", "cls_last", n_layers=2, d_state=4, bidirectional=True)
    assert len(big.blocks.layers) == 2
    assert big.blocks.is_bidirectional
    assert {weight.shape for name, weight in big.named_parameters() if "A_log" in name} == {(64, 4)}
    ids = torch.arange(12).reshape(2, 6)
    changed = ids.clone()
    changed[:, 0] += 7  # further back than the convolution reaches
    for part, is_blind in (("state", True), (None, False)):
        model = start_readout("needle", "last", part=part)
        assert torch.equal(model(ids), model(changed)) is is_blind
    with pytest.raises(ValueError, match=r"task must be one of \['.*'\]; it is 'hay'"):
        start_readout("hay", "max")


def test_a_run_is_a_start_a_training_and_a_count_by_length(monkeypatch):
    monkeypatch.setattr(readouts, "TESTED", COUNTED)
    measured = run_readout("needle", "mean", 4, steps=20, lengths=(9, 12), batch=3, lr=3e-3)
    model = start_readout("needle", "mean", 4)
    history = train(model, TASKS["needle"].sample, (9, 12), 20, 3, 3e-3, 4)
    score = evaluate(model, TASKS["needle"].sample(24, 128, 4))
    assert measured["right_128"] / 24 == score.accuracy
    assert (measured["n_128"], measured["n_256"]) == (24, 0)
    assert measured["loss_1"] == pytest.approx(history[0].loss, abs=1e-4)
    assert measured["parameters"] == sum(weight.numel() for weight in model.parameters())
    if measured["n_512"]:
        assert sum(measured[f"n_depth_{n}"] for n in range(1, 9)) == 12
        assert sum(measured[f"depth_{n}"] for n in range(1, 9)) == measured["right_512"]
    other = run_readout("order", "mean", 4, steps=16, lengths=(9,), batch=3)
    assert other.keys() == measured.keys()
    assert not any(other[f"n_depth_{n}"] for n in range(1, 9))


def test_a_run_is_asked_only_up_to_the_longest(monkeypatch):
    assert readouts.LONGEST < max(readouts.TESTED) == 131072
    monkeypatch.setattr(readouts, "TESTED", {16: 8, 40: 4, 80: 2})
    monkeypatch.setattr(readouts, "is_chance", lambda *counted: False)
    near, far = (run_readout("needle", "max", 1, 16, (9,), 2, longest=n) for n in (40, 80))
    assert far.keys() - near.keys() == {"right_80", "n_80"}
    assert (near["n_40"], far["n_40"], far["n_80"]) == (4, 4, 2)
    assert {name: far[name] for name in near} == near


class Answer(nn.Module):
    """Says the class that stands in the first token, up to a length, and class 0 beyond."""

    def __init__(self, up_to):
        super().__init__()
        self.up_to, self.asked = up_to, []

    def forward(self, inputs, mask=None):
        self.asked.append(tuple(inputs.shape))
        known = inputs[:, 0] if inputs.shape[1] <= self.up_to else 0 * inputs[:, 0]
        return nn.functional.one_hot(known, 8).float()


def tell_first(batch, length, seed):
    target = torch.arange(batch) % 8
    return Batch(target[:, None].expand(batch, length), target)


TELLING = TASKS["needle"]._replace(sample_test=tell_first)


@pytest.mark.parametrize(
    ("up_to", "trained_to", "lengths"),
    [
        (32768, 128, [128, 512, 2048, 8192, 32768]),
        (32768, 256, [256, 512, 2048, 8192, 32768]),
        (32768, 512, [128, 512, 2048, 8192, 32768]),
        (512, 128, [128, 512, 2048, 8192]),
        (128, 128, [128, 512, 2048]),
        (0, 128, [128, 512]),
    ],
)
def test_a_run_stops_after_two_lengths_at_chance(up_to, trained_to, lengths):
    walked = list(readouts.walk_lengths(Answer(up_to), TELLING, trained_to, 0))
    assert [length for length, _, _ in walked] == lengths
    for length, drawn, marks in walked:
        assert len(drawn.target) == len(marks) == readouts.TESTED[length]
        assert marks.all() or length > up_to


def test_long_sequences_are_read_in_pieces():
    model = Answer(32768)
    list(readouts.walk_lengths(model, TELLING, 128, 0))
    assert max(rows * length for rows, length in model.asked) <= readouts.PIECE
    assert (2, 32768) in model.asked


@pytest.mark.parametrize(
    ("right", "is_at_chance"), [(32, True), (47, True), (48, False), (17, True), (16, False)]
)
def test_chance_is_three_standard_errors_wide_on_both_sides(right, is_at_chance):
    """256 sequences of 8 classes: 32 by guessing, and sqrt(256 * 7) / 8 = 5.29 off."""
    assert readouts.is_chance(right, 256, 1 / 8) is is_at_chance


def test_depths_are_counted_in_eighths():
    """Rows whose needle stands at 0, 1, 2, 8, 14, 15 of 16; the third and the last are wrong."""
    is_needle = nn.functional.one_hot(torch.tensor([0, 1, 2, 8, 14, 15]), 16).bool()
    counts = readouts.count_depths(is_needle, torch.tensor([1, 1, 0, 1, 1, 0]).bool())
    assert [counts[f"n_depth_{n}"] for n in range(1, 9)] == [2, 1, 0, 0, 1, 0, 0, 2]
    assert [counts[f"depth_{n}"] for n in range(1, 9)] == [2, 0, 0, 0, 1, 0, 0, 1]


def test_lengths_too_short_for_a_task_give_way_to_its_shortest():
    assert readouts.fit_lengths((16, 32, 64), 9) == (16, 32, 64)
    assert readouts.fit_lengths((16, 32, 64), 20) == (20, 32, 64)
    assert readouts.fit_lengths((16, 32, 64), 40) == (40, 64)


def test_a_setting_is_named_by_all_that_is_different():
    assert (
        grids.name_setting("order", "max", "no SSM", "4 layers") == "order, max, no SSM, 4 layers"
    )


def test_every_setting_starts_and_its_name_says_what_it_is():
    settings = grids.list_settings() | grids.list_scales() | grids.list_hard()
    parts = (grids.READOUT_GRID, grids.SCALE_GRID, grids.HARD_GRID)
    assert [name for part in parts for name in part.settings] == list(settings)
    kinds = {"steps", "lengths", "batch", "lr"}
    for name, keywords in settings.items():
        task, readout, *_ = name.split(", ")
        assert (task, readout) == (keywords["task"], keywords["readout"])
        assert ("both ways" in name) == ("bidirectional" in keywords)
        assert ("no SSM" in name) == (keywords.get("part") == "state")
        assert ("time-invariant" in name) == (keywords.get("part") == "selection")
        start_readout(**{k: v for k, v in keywords.items() if k not in kinds})
    for task in ("needle", "majority", "order"):
        assert {f"{task}, {readout}" for readout in READOUTS} <= set(settings)
    assert grids.READOUT_GRID.seeds == grids.SCALE_GRID.seeds == (0, 1, 2, 3, 4)
    assert settings["needle, last, 1000 steps"]["steps"] == 1000
    assert settings["needles, cls_last"]["steps"] == 1200
    assert max(settings["order, cls_last, trained to 512"]["lengths"]) == 512
    assert settings["needle, cls_last, 4 layers"]["n_layers"] == 4
    assert settings["order, cls_last, d_state 16"]["d_state"] == 16


def test_the_long_curves_are_those_of_the_grid_asked_further():
    assert grids.LONG_GRID.settings == grids.list_long()
    settings = grids.list_settings()
    for name, plan in grids.list_long().items():
        assert plan == settings[name] | {"longest": 131072}
