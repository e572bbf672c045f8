"""The runs behind notebook 10: recurrences, CLS starts, gradients that are only watched."""

import math

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.experiments import (
    FixedRecurrence,
    describe_course,
    pretrain_embedding,
    run_readout,
    run_recipe,
    sample_text,
    start_cls,
)
from mamba_edu.experiments import recipe as grid
from mamba_edu.experiments import recipe_parts as parts
from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import N_SYMBOLS, sample_needle
from mamba_edu.training import Step, train, watch_gradients


@pytest.mark.parametrize("rates", parts.RATES)
def test_a_fixed_recurrence_is_a_sum_of_powers(rates):
    torch.manual_seed(0)
    model = FixedRecurrence(rates, 5, 11).double()
    ids = torch.tensor([[3, 10, 0, 7], [1, 1, 2, 9]])
    a = torch.exp(-torch.exp(model.rates)) if rates == "bounded" else model.rates
    x = [*model.embed(ids).unbind(1), model.cls_token.expand(2, -1)]
    y = sum((model.C * a ** (4 - s) * model.B * x[s][..., None]).sum(-1) for s in range(5))
    assert_close(model(ids), model.head(y))


def test_rates_start_where_their_words_say():
    torch.manual_seed(0)
    found = {rates: FixedRecurrence(rates).rates.detach() for rates in parts.RATES}
    assert found["randn"].min() < -2
    assert 0 <= found["uniform"].min() < 0.1 < 0.9 < found["uniform"].max() <= 1
    a = torch.exp(-torch.exp(found["bounded"]))
    assert_close(a[3], torch.exp(-torch.arange(1, 33) / 100))
    with pytest.raises(ValueError, match=r"rates must be one of \('randn', .*; it is 'rand'"):
        FixedRecurrence("rand")


def test_three_of_four_ids_are_followed_by_their_successor_on_one_cycle():
    batch = sample_text(4000, 3, seed=5)
    counts = torch.zeros(N_SYMBOLS, N_SYMBOLS)
    counts.index_put_((batch.inputs[:, -1], batch.target), torch.ones(4000), accumulate=True)
    share = counts.amax(1).sum() / 4000
    assert share == pytest.approx(0.75 + 0.25 / N_SYMBOLS, abs=0.03)
    successor, walked = counts.argmax(1), [0]
    for _ in range(N_SYMBOLS):
        walked.append(int(successor[walked[-1]]))
    assert len(set(walked)) == N_SYMBOLS
    assert walked[-1] == 0
    assert torch.equal(batch.inputs, sample_text(4000, 3, seed=5).inputs)


def test_an_embedding_is_trained_on_text_and_only_that(monkeypatch):
    def note(model, sample, lengths, steps, batch, seed):
        seen.append((sample, lengths, steps, batch, seed))
        model.tokens.embed.weight.data.fill_(steps)

    seen = []
    monkeypatch.setattr(parts, "train", note)
    parts.pretrain_embedding.cache_clear()
    before = torch.random.get_rng_state()
    weight = pretrain_embedding(3, 7)
    assert seen == [(sample_text, (8,), 7, 32, 3)]
    assert torch.equal(weight, torch.full((N_SYMBOLS, 32), 7.0))
    assert not weight.requires_grad
    assert torch.equal(torch.random.get_rng_state(), before)
    parts.pretrain_embedding.cache_clear()


def test_cls_starts_as_its_words_say():
    def start(words):
        torch.manual_seed(4)
        model = SequenceClassifier(8, n_symbols=33)
        start_cls(model, words)
        return model.tokens.cls_token.detach(), model.tokens.embed.weight.detach()

    found = {words: start(words)[0] for words in parts.CLS_STARTS}
    assert torch.equal(found["zeros"], torch.zeros(32))
    assert_close(found["mean"], start("mean")[1].sum(0) / 33)
    assert_close(found["randn x 10"], 10 * found["randn"])
    assert 0.5 < found["randn"].std() < 1.5
    assert 0.01 < found["ours"].std() < 0.03
    with pytest.raises(ValueError, match=r"start must be one of \('ours', .*; it is 'one'"):
        start("one")


def make_model():
    torch.manual_seed(1)
    return FixedRecurrence("uniform")


def test_gradients_are_watched_before_they_are_clipped_and_change_nothing():
    watched, alone = make_model(), make_model()
    with watch_gradients(watched) as norms:
        history = train(watched, sample_needle, (9,), 3, seed=2, clip=1e-3)
    assert train(alone, sample_needle, (9,), 3, seed=2, clip=1e-3) == history
    assert all(map(torch.equal, watched.parameters(), alone.parameters()))
    assert len(norms) == 3
    first = {}
    probe = make_model()
    for name, weight in probe.named_parameters():
        weight.register_hook(lambda slope, name=name: first.setdefault(name, slope.clone()))
    train(probe, sample_needle, (9,), 3, seed=2, clip=None)
    wanted = math.sqrt(sum(float(slope.double().square().sum()) for slope in first.values()))
    assert norms[0] == pytest.approx(wanted, rel=1e-6)
    assert norms[0] > 1e-2
    train(watched, sample_needle, (9,), 3, seed=2)
    assert len(norms) == 3  # it is over


def test_a_step_without_a_backward_pass_has_no_gradient():
    torch.manual_seed(0)
    model = FixedRecurrence("randn")
    with watch_gradients(model) as norms:
        history = train(model, sample_needle, (96,), 3)
        model.eval()(sample_needle(2, 5, 0).inputs)
    assert len(history) == 1
    assert norms == [0.0]


def make_history(shares, loss=1.0):
    return [Step(n, 16, 16, loss, share) for n, share in enumerate(shares)]


def test_a_course_says_when_ten_steps_in_a_row_had_nine_of_ten():
    shares = [0.5] * 6 + [1.0] * 7 + [0.9] * 7
    averages = [sum(shares[end - 10 : end]) / 10 for end in range(10, 21)]
    found = describe_course(make_history(shares), [2.0] * 20, 20)
    assert found["to_90"] == 10 + next(n for n, share in enumerate(averages) if share >= 0.9)
    assert found["to_90"] == 15
    at_last = make_history([0.8] * 10 + [0.9] * 10)
    assert describe_course(at_last, [2.0] * 20, 400)["to_90"] == 20
    assert describe_course(make_history([0.5] * 20), [2.0] * 20, 20)["to_90"] == 20
    assert describe_course(make_history([1.0] * 9), [2.0] * 9, 400)["to_90"] == 400


def test_a_course_that_broke_counts_what_was_finite():
    history = make_history([0.5] * 3, 4.0) + make_history([0.0], math.inf)
    found = describe_course(history, [3.0, math.nan, 1 / 3, 0.0], 400)
    assert (found["n_steps"], found["n_finite"], found["loss"]) == (3, 2, 4.0)
    assert [found[f"gradient_{n}"] for n in (1, 2, 3, 4, 10)] == [3.0, 0.0, 0.333333, 0.0, 0.0]
    assert describe_course(make_history([0.0], math.nan), [0.0], 400)["loss"] == 0


def test_a_run_is_that_of_the_table_of_readouts_with_one_thing_changed(monkeypatch):
    """Its accuracy too: the course's own start is the one that all other tables have."""
    monkeypatch.setattr("mamba_edu.experiments.readouts.TESTED", {12: 256})
    monkeypatch.setattr(grid, "pretrain_embedding", lambda seed: torch.full((33, 32), 0.1 + seed))
    seen = []

    def note(model, sample, lengths, steps, seed, clip):
        seen.append((model, clip))
        return train(model, sample, lengths, steps, seed=seed, clip=clip)

    monkeypatch.setattr(grid, "train", note)
    short = {"seed": 2, "lengths": (9, 12), "steps": 20}
    counted = run_readout("needle", "cls_last", **short)
    found = run_recipe(**short)
    assert (found["accuracy"] * 256, found["n_sequences"]) == (counted["right_12"], 256)
    assert {"to_90", "loss", "n_steps", "n_finite", "gradient_1", "gradient_10"} < set(found)
    run_recipe(**short | {"steps": 2}, clip=None, cls_start="mean", is_pretrained=True)
    run_recipe(**short | {"steps": 2}, rates="bounded")
    assert [clip for _, clip in seen] == [1.0, None, 1.0]
    assert abs(seen[1][0].tokens.cls_token - 2.1).max() < 0.1
    assert seen[2][0].is_bounded


def test_the_grid_holds_what_notebook_10_compares():
    settings = grid.RECIPE.settings
    assert len(settings) == len({repr(keywords) for keywords in settings.values()}) == 31
    assert list(grid.RECIPE.seeds) == [0, 1, 2, 3, 4]
    assert settings["CLS mean, pretrained, no clip"] == {
        "cls_start": "mean",
        "is_pretrained": True,
        "clip": None,
    }
    assert settings["A randn, 96 tokens, clip 1"] == {"rates": "randn", "lengths": (96,)}
    assert settings["steps 3 to 10"] == {"delta_range": (3.0, 10.0)}
