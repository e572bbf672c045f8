"""Margins of a model whose logits are known; and the model that answers one class, confidently."""

import math

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import margins, measure_constancy, measure_margins
from mamba_edu.tasks import Batch, sample_needle_pair

N_CLASSES = 4


class Table(nn.Module):
    """A model that counts each class's own id, weighs it, and adds a bias."""

    def __init__(self, weight=2.0, bias=(0.0, 0.0, 0.0, 0.0)):
        super().__init__()
        self.weight, self.bias = weight, torch.tensor(bias)
        self.modes = []

    def forward(self, inputs, mask=None):
        self.modes.append((self.training, len(inputs)))
        real = torch.ones_like(inputs, dtype=torch.bool) if mask is None else mask
        counts = [((inputs == k) & real).sum(1) for k in range(N_CLASSES)]
        return self.weight * torch.stack(counts, dim=1) + self.bias


def find_margin(logits, target):
    """Say it in words: the right one against the best of the others."""
    return logits[target] - max(x for k, x in enumerate(logits) if k != target)


def test_a_margin_is_the_right_logit_less_the_best_wrong_one():
    torch.manual_seed(0)
    model = SequenceClassifier(N_CLASSES, n_symbols=30, d_model=6)
    batch, _ = sample_needle_pair(5, 9, 0, N_CLASSES)
    logits = model(batch.inputs).double().tolist()
    expected = [find_margin(*pair) for pair in zip(logits, batch.target.tolist(), strict=True)]
    assert_close(measure_margins(model, batch), torch.tensor(expected, dtype=torch.float64))


def test_a_signal_is_what_the_needle_alone_adds():
    pair = sample_needle_pair(50, 40, 0, N_CLASSES)
    biased = Table(weight=2.0, bias=(3.5, 0.0, 0.25, 0.0))
    assert_close(measure_margins(biased, *pair), torch.full((50,), 2.0, dtype=torch.float64))
    deaf = Table(weight=0.0, bias=(3.5, 0.0, 0.25, 0.0))
    assert (measure_margins(deaf, *pair) == 0).all()
    assert (measure_margins(deaf, pair[0]) != 0).all()


def test_padding_is_masked_and_many_tokens_run_in_parts(monkeypatch):
    batch, _ = sample_needle_pair(5, 8, 0, N_CLASSES, depth=1.0)
    batch = batch._replace(mask=torch.ones(5, 8).bool())
    batch.mask[3, -1] = False
    monkeypatch.setattr(margins, "N_TOKENS", 16)
    model = Table()
    model.train()
    assert measure_margins(model, batch).tolist() == [2, 2, 2, 0, 2]
    assert model.modes == [(False, 2), (False, 2), (False, 1)]
    assert model.training


def test_a_model_of_one_answer_is_told_from_one_that_does_not_know():
    batch, _ = sample_needle_pair(400, 9, 0, N_CLASSES)
    answer, share, confidence, accuracy = measure_constancy(Table(0.0, (0, 0, 3, 0.0)), batch)
    assert (answer, share) == (2, 1.0)
    assert confidence == pytest.approx(math.exp(3) / (math.exp(3) + 3))
    assert accuracy == (batch.target == 2).double().mean()
    knows = measure_constancy(Table(2.0), batch)
    assert (knows.share, knows.accuracy) == (batch.target.bincount().max() / 400, 1.0)
    assert knows.confidence == pytest.approx(math.exp(2) / (math.exp(2) + 3))
    assert measure_constancy(Table(0.0), batch).confidence == 0.25  # knows nothing, and says so


def test_no_sequence_has_no_margin():
    batch, _ = sample_needle_pair(0, 9, 0, N_CLASSES)
    assert measure_margins(Table(), batch).shape == (0,)


def make_batch(n=3):
    return Batch(torch.zeros(n, 2, dtype=torch.int64), torch.arange(n))


class Broken(Table):
    def forward(self, inputs, mask=None):
        return torch.full((len(inputs), self.weight), self.bias[0])


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("measure", "model", "batches", "message"),
    [
        (measure_margins, Table(), ("abc",), "sequences must come as a Batch"),
        (measure_margins, Table(), (make_batch(), make_batch(2)), "bare must hold the same seq"),
        (measure_margins, Broken(1), (make_batch(1),), "must tell at least 2 classes apart"),
        (measure_margins, Broken(2), (make_batch(3),), "target must count classes from 0 to 1"),
        (measure_constancy, Table(), (make_batch(0),), "at least one sequence; it is empty"),
        (measure_constancy, Broken(4, (float("nan"),)), (make_batch(),), "logits must be finite"),
        (measure_constancy, Table(), (None,), "sequences must come as a Batch"),
    ],
)
def test_margins_refuse_what_they_cannot_measure(measure, model, batches, message):
    with pytest.raises((TypeError, ValueError), match=message):
        measure(model, *batches)
