"""Training against an optimizer written by hand, its schedule, its limits, what it leaves alone."""

import copy
import math

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy
from torch.testing import assert_close

from mamba_edu.tasks import N_FILLERS, sample_needle
from mamba_edu.training import describe_training, evaluate, schedule_rate, train

N_CLASSES = 8
PLAN = {"lengths": (3, 5), "steps": 6, "batch": 7}


class Votes(nn.Module):
    """Every token votes for the classes; dropout, so that something in it is random."""

    def __init__(self, dropout=0.0):
        super().__init__()
        self.votes = nn.Embedding(N_CLASSES + N_FILLERS, N_CLASSES, dtype=torch.float64)
        self.dropout = nn.Dropout(dropout)
        self.bias = nn.Parameter(torch.zeros(N_CLASSES, dtype=torch.float64), requires_grad=False)
        self.seen = []

    def forward(self, inputs, mask):
        self.seen.append((inputs, mask, self.training))
        return self.dropout(self.votes(inputs)).sum(1) + self.bias


class Breaking(Votes):
    """A model whose logits are no numbers from the third call on."""

    def forward(self, inputs, mask):
        logits = super().forward(inputs, mask)
        return logits * math.nan if len(self.seen) > 2 else logits


def make_model(kind=Votes, **keywords):
    torch.manual_seed(0)
    return kind(**keywords)


def sample_masked(batch, length, seed):
    return sample_needle(batch, length, seed)._replace(mask=torch.ones(batch, length).bool())


def adam_by_hand(model, drawn, lr, clip):
    """The same training again, from the batches that were drawn: AdamW as its paper writes it."""
    weight = copy.deepcopy(model.votes.weight.detach())
    first, second = torch.zeros_like(weight), torch.zeros_like(weight)
    for t, (inputs, target) in enumerate(drawn, start=1):
        leaf = weight.clone().requires_grad_()
        cross_entropy(leaf[inputs].sum(1), target).backward()
        slope = leaf.grad
        if clip is not None and slope.norm() > clip:
            slope = slope * clip / slope.norm()
        rate = lr * schedule_rate(t - 1, len(drawn))
        first = 0.9 * first + 0.1 * slope
        second = 0.999 * second + 0.001 * slope**2
        move = first / (1 - 0.9**t) / ((second / (1 - 0.999**t)).sqrt() + 1e-8)
        weight = weight - rate * 0.01 * weight - rate * move
    return weight


@pytest.mark.parametrize("clip", [1.0, 0.1, None])
def test_training_takes_the_steps_of_the_paper(clip):
    model = make_model()
    drawn = []

    def sample(batch, length, seed):
        drawn.append(sample_needle(batch, length, seed)[:2])
        return sample_needle(batch, length, seed)

    start = copy.deepcopy(model)
    train(model, sample, lengths=(3, 6), steps=70, lr=0.05, clip=clip)
    by_hand = adam_by_hand(start, drawn, 0.05, clip)
    assert_close(model.votes.weight.detach(), by_hand, rtol=1e-5, atol=1e-6)
    assert (by_hand - start.votes.weight).abs().max() > 0.5


def test_training_finds_the_needle():
    model = make_model()
    history = train(model, sample_needle, lengths=(2, 4, 8), steps=150, lr=0.1)
    assert describe_training(history, 1 / N_CLASSES) == "above chance after 150 steps"
    assert evaluate(model, sample_needle(500, 8, seed=0)).accuracy > 0.95


def test_the_history_tells_what_each_step_saw_before_it_learned():
    model = make_model()
    start = copy.deepcopy(model)
    history = train(model, sample_needle, **PLAN)
    assert [step.step for step in history] == list(range(6))
    assert {step.n_sequences for step in history} == {7}
    inputs = model.seen[0][0]
    target = inputs[inputs < N_CLASSES]
    logits = start(inputs, None)
    assert history[0].loss == pytest.approx(cross_entropy(logits, target).item())
    assert history[0].accuracy == (logits.argmax(1) == target).double().mean()


@pytest.mark.parametrize(
    ("lengths", "steps", "expected"),
    [
        ((3, 5), 6, [3, 3, 3, 5, 5, 5]),
        ([2, 9, 4], 7, [2, 2, 2, 9, 9, 4, 4]),
        ((4,), 3, [4, 4, 4]),
        ((1, 2, 3), 3, [1, 2, 3]),
    ],
)
def test_each_length_gets_its_part_of_the_steps_in_order(lengths, steps, expected):
    model = make_model()
    history = train(model, sample_needle, lengths=lengths, steps=steps)
    assert [step.length for step in history] == expected
    assert [inputs.shape for inputs, *_ in model.seen] == [(16, length) for length in expected]


def test_training_hangs_on_its_seed_and_the_start_alone():
    runs = []
    for seed, noise in ((3, 0), (3, 77), (4, 0)):
        model = make_model(dropout=0.5)
        torch.manual_seed(noise)
        runs.append((train(model, sample_needle, seed=seed, **PLAN), model.votes.weight))
    assert runs[0][0] == runs[1][0]
    assert_close(runs[0][1], runs[1][1], rtol=0, atol=0)
    assert runs[0][0] != runs[2][0]


def test_training_leaves_random_numbers_elsewhere_as_they_were():
    torch.manual_seed(5)
    untouched = torch.rand(3)
    torch.manual_seed(5)
    train(Votes(dropout=0.5), sample_needle, **PLAN)
    model = make_model(dropout=0.5)
    torch.manual_seed(5)
    train(model, sample_needle, **PLAN)
    assert_close(torch.rand(3), untouched, rtol=0, atol=0)


def test_no_batch_has_a_seed_that_a_reader_would_choose():
    seeds = []

    def sample(batch, length, seed):
        seeds.append(seed)
        return sample_needle(batch, length, seed)

    train(make_model(), sample, steps=40, lengths=(3,))
    assert len(set(seeds)) == 40
    assert min(seeds) >= 2**32


def test_the_mask_reaches_the_model():
    model = make_model()
    train(model, sample_masked, **PLAN)
    evaluate(model, sample_masked(2, 4, 0))
    assert all(mask.shape == inputs.shape for inputs, mask, _ in model.seen)


@pytest.mark.parametrize("was_training", [True, False])
def test_a_model_is_in_its_mode_and_put_back(was_training):
    model = make_model().train(was_training)
    train(model, sample_needle, **PLAN)
    assert model.training is was_training
    evaluate(model, sample_needle(2, 4, 0))
    assert model.training is was_training
    assert [mode for *_, mode in model.seen] == [True] * 6 + [False]
    with pytest.raises(TypeError):
        train(model, lambda *_: None, **PLAN)
    assert model.training is was_training


def test_what_is_frozen_stays():
    model = make_model()
    train(model, sample_needle, **PLAN)
    assert (model.bias == 0).all()


def test_training_ends_at_a_loss_that_is_no_number():
    model = make_model(Breaking)
    history = train(model, sample_needle, lengths=(3,), steps=60)
    assert len(history) == len(model.seen) == 3
    assert math.isnan(history[-1].loss)
    assert history[-1].accuracy == 0
    assert model.votes.weight.isfinite().all()
    assert describe_training(history, 1 / N_CLASSES) == "not finite after 3 steps"


def test_a_bar_is_shown_on_demand_only(capsys):
    quiet = train(make_model(), sample_needle, **PLAN)
    assert capsys.readouterr() == ("", "")
    loud = train(make_model(), sample_needle, progress=True, **PLAN)
    said = capsys.readouterr()
    assert "training" in said.err
    assert said.out == ""
    assert loud == quiet


def test_the_rate_climbs_to_its_largest_and_falls_to_a_twentieth():
    rates = [schedule_rate(step, 400) for step in range(400)]
    assert rates[0] == 1 / 50
    assert rates[24] == 0.5
    assert rates[49] == 1
    assert rates[49 + 175] == pytest.approx((1 + 0.05) / 2)
    assert rates[-1] == pytest.approx(0.05)
    assert rates[:50] == sorted(rates[:50])
    assert rates[49:] == sorted(rates[49:], reverse=True)


def test_the_rate_of_a_short_run_only_climbs():
    assert [schedule_rate(step, 3) for step in range(3)] == [0.02, 0.04, 0.06]
