"""The runs behind notebook 07: one place of CLS each, and all else the same."""

import pytest
import torch

from mamba_edu.experiments import load_results, run_cls, train_cls
from mamba_edu.experiments.cls_position import CLS_POSITION
from mamba_edu.tasks import load_digit_sequences

SHORT = {"steps": 2, "batch": 4, "lr": 1e-2}


def list_weights(model):
    return torch.cat([weight.detach().flatten() for weight in model.parameters()])


@pytest.mark.parametrize("task", ["digits", "names"])
def test_a_seed_fixes_the_run(task):
    before = torch.random.get_rng_state()
    first, again, other = (
        list_weights(train_cls(task, "last", **SHORT, seed=s)) for s in (7, 7, 8)
    )
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.random.get_rng_state(), before)


def test_the_start_and_the_sequences_both_hang_on_the_seed(monkeypatch):
    """With no step taken from it, the start alone differs; from one start, the draws differ."""
    seeds = []

    def note(model, sample, lengths, seed, **_):
        seeds.append((seed, list_weights(model)))

    monkeypatch.setattr("mamba_edu.experiments.cls_position.train", note)
    for seed in (1, 2):
        train_cls("digits", "last", **SHORT, seed=seed)
    (first, start), (second, other) = seeds
    assert (first, second) == (1, 2)
    assert not torch.equal(start, other)


def test_only_the_place_of_cls_differs():
    inputs = load_digit_sequences("test").inputs[:3]
    models = {p: train_cls("digits", p, **SHORT) for p in ("first", "middle", "last")}
    for position, model in models.items():
        assert model.readout.cls_position == model.tokens.cls_position == position
        shapes = [weight.shape for weight in model.parameters()]
        assert shapes == [weight.shape for weight in models["last"].parameters()]
    logits = models["first"](inputs)
    assert torch.equal(logits[0], logits[1])
    assert not torch.equal(*models["last"](inputs)[:2])


def test_a_run_counts_the_test_split():
    assert run_cls("digits", "last", **SHORT)["n_sequences"] == 395
    assert set(run_cls("names", "first", **SHORT)) == {"accuracy", "n_sequences"}


def test_another_task_is_refused():
    with pytest.raises(ValueError, match=r"task must be one of \['digits', 'names'\]; it is 'dig'"):
        train_cls("dig", "last", **SHORT)


def test_every_shipped_seed_has_the_margins_that_the_notebook_states():
    """At least 0.5 from the end and at most 0.15 from the front, in at most 300 steps."""
    rows = load_results("cls_position")
    for task in ("digits", "names"):
        first, last = (
            [row["accuracy"] for row in rows if row["setting"] == f"{task}, CLS {position}"]
            for position in ("first", "last")
        )
        assert len(first) == len(last) == 10
        assert min(last) >= 0.5
        assert max(first) <= 0.15
    assert all(keywords["steps"] <= 300 for keywords in CLS_POSITION.settings.values())
