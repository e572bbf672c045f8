"""The small model's grids run what their names say, and their tables keep what the course tells."""

import pytest
import torch
from torch import nn

from mamba_edu.experiments import (
    SWEEPS,
    average_losses,
    load_results,
    pair_results,
    run_small,
    start_small,
    write_table,
)
from mamba_edu.experiments import block_parts as grids
from mamba_edu.tasks import sample_needle, sample_trigger
from mamba_edu.training import Step, evaluate, train

FIRST = {"setting": "a", "seed": 0, "plan": "p", "torch": "2", "cpu_seconds": 1.0}


def test_the_small_model_starts_as_it_is_told_and_disturbs_no_other_chance():
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    one, same, other = (start_small(seed=seed) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(2), wanted)
    pairs = list(zip(one.parameters(), same.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not all(torch.equal(a, c) for a, _, c in pairs)
    assert isinstance(start_small("norm").blocks.layers[0].norm, nn.Identity)
    bias = start_small(delta_range=grids.DEAD).blocks.layers[0].mixer.dt_proj.bias
    assert bias.abs().max() < 1e-6  # softplus(0) = ln 2
    with pytest.raises(ValueError, match="part must be one of"):
        start_small("wheel")


@pytest.mark.parametrize(
    ("task", "part", "sample"),
    [("needle", None, sample_needle), ("trigger", "conv", sample_trigger)],
)
def test_a_run_is_a_start_a_training_and_two_tests(task, part, sample):
    measured = run_small(task, part, lengths=(9, 12), steps=20, seed=4)
    model = start_small(part, seed=4)
    history = train(model, sample, (9, 12), 20, seed=4)
    here, far = (evaluate(model, sample(256, length, 4)) for length in (128, 512))
    assert measured["accuracy"] == here.accuracy
    assert measured["n_sequences"] == here.n_sequences == 256
    assert measured["accuracy_512"] == far.accuracy
    losses = [measured[f"loss_{n}"] for n in range(1, 17)]
    assert losses[0] == pytest.approx(history[0].loss, abs=1e-4)  # 20 steps: 1, 1, 1, 2, ...
    assert losses[3] == pytest.approx((history[3].loss + history[4].loss) / 2, abs=1e-4)


def test_losses_are_averaged_over_sixteenths():
    history = [Step(n, 16, 2, float(n), 0.5) for n in range(48)]
    means = average_losses(history)
    assert means == {f"loss_{n}": 3 * n - 2 for n in range(1, 17)}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"task": "hay"}, r"task must be one of \['needle', 'trigger'\]; it is 'hay'"),
        ({"steps": 15}, "steps must be at least 16; it is 15"),
        ({"part": "wheel"}, "part must be one of"),
    ],
)
def test_a_run_that_is_no_run_is_refused(changed, message):
    with pytest.raises(ValueError, match=message):
        run_small(**{"task": "needle", "steps": 16} | changed)


@pytest.fixture
def table(monkeypatch, tmp_path):
    """A table of two settings, their seeds in another order."""
    rows = [
        FIRST | {"setting": s, "seed": seed, "accuracy": share, "n_sequences": 8, "loss_1": 1.234}
        for s, seed, share in [("a", 0, 0.125), ("a", 1, 0.5), ("b", 1, 1.0), ("b", 0, 0.25)]
    ]
    write_table(tmp_path / "curriculum.csv", rows)
    monkeypatch.setattr("mamba_edu.experiments.shipped.RESULTS", tmp_path)
    return "curriculum"


def test_settings_are_paired_seed_by_seed(table):
    assert pair_results(table, one="a", two="b") == [
        {"seed": 0, "one": 0.125, "two": 0.25},
        {"seed": 1, "one": 0.5, "two": 1.0},
    ]
    found = pair_results(table, "loss_1", x="b")
    assert found == [{"seed": 0, "x": 1.234}, {"seed": 1, "x": 1.234}]


def test_a_length_is_paired_by_the_share_that_was_right(monkeypatch, tmp_path):
    """A run that stopped at chance keeps what it had at its last length."""
    counts = {"right_128": 6, "n_128": 8, "right_512": 1, "n_512": 3}
    stopped = {"right_128": 1, "n_128": 4, "right_512": 0, "n_512": 0}
    rows = [FIRST | {"setting": "a", "seed": n} | own for n, own in enumerate([counts, stopped])]
    write_table(tmp_path / "readouts.csv", rows)
    monkeypatch.setattr("mamba_edu.experiments.shipped.RESULTS", tmp_path)
    assert pair_results("readouts", 128, x="a") == [{"seed": 0, "x": 0.75}, {"seed": 1, "x": 0.25}]
    assert pair_results("readouts", 512, x="a") == [{"seed": 0, "x": 1 / 3}, {"seed": 1, "x": 0.25}]
    with pytest.raises(ValueError, match="must have the column 'right_64'; it has no such"):
        pair_results("readouts", 64, x="a")


def test_what_cannot_be_paired_is_told(table, tmp_path):
    with pytest.raises(ValueError, match="curriculum must have 'c'; it has no such"):
        pair_results(table, one="a", two="c")
    with pytest.raises(ValueError, match="must have the column 'loss_2'; it has no such"):
        pair_results(table, "loss_2", one="a")
    path = tmp_path / "curriculum.csv"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))
    with pytest.raises(ValueError, match=r"the same seeds in each of \['a', 'b'\]"):
        pair_results(table, one="a", two="b")


@pytest.mark.parametrize("name", ["block_parts", "curriculum", "step_starts"])
def test_a_shipped_table_is_that_of_its_grid(name):
    sweep = SWEEPS[name]
    runs = [(row["setting"], row["seed"]) for row in load_results(name)]
    assert runs == [(setting, seed) for setting in sweep.settings for seed in sweep.seeds]
    assert len(sweep.seeds) == 5


def list_gaps(table, better, worse, measure="accuracy"):
    rows = pair_results(table, measure, better=better, worse=worse)
    return [row["better"] - row["worse"] for row in rows]


def test_every_seed_leaves_the_plateau_by_short_sequences_first():
    assert min(list_gaps("curriculum", "short to long", "long only")) >= 0.5
    assert min(list_gaps("curriculum", "short to long", "long to short")) >= 0.2


@pytest.mark.parametrize(
    ("task", "part"), [("needle", "state"), ("trigger", "state"), ("trigger", "conv")]
)
def test_every_seed_needs_what_the_course_says_it_needs(task, part):
    assert min(list_gaps("block_parts", f"{task}, whole block", f"{task}, no {part}")) >= 0.2


@pytest.mark.parametrize("task", ["needle", "trigger"])
def test_every_seed_needs_selection_at_four_times_the_length(task):
    names = f"{task}, whole block", f"{task}, no selection"
    assert min(list_gaps("block_parts", *names, "accuracy_512")) >= 0.2


@pytest.mark.parametrize("part", ["gate", "skip", "norm"])
def test_no_seed_needs_what_the_course_calls_spare(part):
    for task in ("needle", "trigger"):
        rows = pair_results("block_parts", without=f"{task}, no {part}")
        assert min(row["without"] for row in rows) >= 0.9
