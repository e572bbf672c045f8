"""What came of training is counted, and said in words that guessing cannot earn."""

import math

import pytest
import torch
from torch import nn

from mamba_edu.tasks import Batch
from mamba_edu.training import Score, Step, describe_training, evaluate, mark_sequences


class Echo(nn.Module):
    """A model whose logits are its inputs."""

    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(()))

    def forward(self, inputs, mask):
        return self.scale * inputs


def make_batch(*answers, target):
    """Sequences that vote for the given classes, of four."""
    return Batch(torch.eye(4)[list(answers)], torch.tensor(target))


def make_history(*parts):
    """Steps of 100 sequences from (length, how many steps, their accuracy)."""
    rows = [(length, accuracy) for length, count, accuracy in parts for _ in range(count)]
    return [Step(i, length, 100, 1.5, accuracy) for i, (length, accuracy) in enumerate(rows)]


FEW = make_batch(0, 1, target=[0, 3])
MORE = make_batch(3, 2, 1, 0, 0, 2, target=[3, 2, 1, 0, 0, 2])


def test_accuracy_counts_sequences_not_batches():
    assert evaluate(Echo(), FEW) == Score(1 / 2, 2)
    assert evaluate(Echo(), MORE) == Score(1.0, 6)
    assert evaluate(Echo(), [FEW, MORE]) == Score(7 / 8, 8)
    assert evaluate(Echo(), (batch for batch in (MORE, FEW, FEW))) == Score(8 / 10, 10)


def test_marks_stand_in_the_order_of_the_sequences():
    assert mark_sequences(Echo(), [FEW, MORE]).tolist() == [True, False] + [True] * 6


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("place", [0, 1])
def test_logits_that_are_no_numbers_are_never_right(bad, place):
    batch = make_batch(0, 0, target=[0, 0])
    batch.inputs[1, place] = bad
    assert evaluate(Echo(), batch) == Score(1 / 2, 2)


def test_evaluation_leaves_no_gradient_and_changes_nothing():
    model = Echo()
    evaluate(model, MORE)
    assert model.scale.grad is None
    assert model.scale == 1


@pytest.mark.parametrize("batches", [[], [FEW.take(torch.tensor([]).long())]])
def test_an_accuracy_of_nothing_is_refused(batches):
    with pytest.raises(ValueError, match="batches must hold at least one sequence; they hold none"):
        evaluate(Echo(), batches)


@pytest.mark.parametrize(
    ("accuracy", "word"),  # 10 steps of 100 count; three standard errors are 0.0435
    [(0.3, "at"), (0.34, "at"), (0.26, "at"), (0.345, "above"), (0.255, "below"), (1.0, "above")],
)
def test_words_about_chance_ask_for_three_standard_errors(accuracy, word):
    history = make_history((8, 37, accuracy))
    assert describe_training(history, 0.3) == f"{word} chance after 37 steps"
    margin = 3 * math.sqrt(0.3 * 0.7 / 1000)
    assert (abs(accuracy - 0.3) > margin) == (word != "at")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([(8, 40, 1.0), (16, 40, 0.25)], "at chance after 80 steps"),
        ([(8, 40, 0.25), (16, 40, 1.0)], "above chance after 80 steps"),
        ([(16, 30, 0.25), (16, 10, 1.0)], "above chance after 40 steps"),
        ([(16, 29, 1.0), (16, 11, 0.25)], "at chance after 40 steps"),
        ([(8, 40, 1.0), (16, 4, 0.25)], "at chance after 44 steps"),
        ([(16, 10, 0.0)], "below chance after 10 steps"),
        ([(16, 1, 0.25)], "at chance after 1 step"),
    ],
)
def test_words_about_chance_look_at_the_end_of_the_last_length(parts, words):
    assert describe_training(make_history(*parts), 0.25) == words


def test_a_large_batch_counts_for_more():
    history = [Step(0, 8, 10, 1.0, 1.0), *make_history((8, 1, 0.25))] * 4
    assert describe_training(history, 0.25) == "at chance after 8 steps"


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_loss_that_is_no_number_is_said_first(loss):
    history = [*make_history((8, 5, 1.0)), Step(5, 8, 100, loss, 0.0)]
    assert describe_training(history, 0.25) == "not finite after 6 steps"


@pytest.mark.parametrize("chance", [0.0, 1.0, -0.1, 8.0, math.nan])
def test_words_refuse_a_chance_out_of_range(chance):
    with pytest.raises(ValueError, match=f"chance must be between 0 and 1; it is {chance}"):
        describe_training(make_history((8, 5, 1.0)), chance)


def test_words_refuse_an_empty_history():
    with pytest.raises(ValueError, match="history must hold at least one Step; it is empty"):
        describe_training([], 0.25)
