"""The threshold of a snap is the largest before the first loss, and the model stays as it was."""

import pytest
import torch
from torch import nn

from mamba_edu.layers import MambaBlock
from mamba_edu.tasks import Batch
from mamba_edu.training import TAUS, choose_tau


class Clockwork(nn.Module):
    """A model that errs on a sequence when the step that it counts on is stopped, or not.

    Each sequence holds a step size; class 1 is right as long as the clock moves there.
    """

    def __init__(self):
        super().__init__()
        self.block = MambaBlock(4)
        self.block.step_rule = lambda delta: delta

    def forward(self, inputs, mask):
        moves = self.block.step_rule(inputs[..., 0]) > 0
        return torch.stack([~moves, moves], 1).double()


def make_batch(*steps, target=1):
    return Batch(torch.tensor(steps)[:, None], torch.full((len(steps),), target))


@pytest.mark.parametrize(
    ("smallest", "tau"), [(0.001, 0), (0.003, 0.003), (0.05, 0.03), (0.2, 0.1), (5.0, 0.3)]
)
def test_the_threshold_stays_below_the_smallest_step_that_counts(smallest, tau):
    model = Clockwork()
    rule = model.block.step_rule
    assert choose_tau(model, [make_batch(smallest, 6.0), make_batch(7.0)]) == tau
    assert model.block.step_rule is rule


def test_the_search_ends_at_the_first_loss_though_a_larger_threshold_wins_it_back():
    """Tau 0.01 loses a sequence, and 0.1 wins two others."""
    batches = [make_batch(0.005, 1.0), make_batch(0.05, 0.06, target=0)]
    assert choose_tau(Clockwork(), batches) == 0.003
    assert choose_tau(Clockwork(), batches, (0.1, 0.3)) == 0.3


@pytest.mark.parametrize(("allowed", "tau"), [(0.0, 0.01), (0.24, 0.01), (0.25, 0.1), (0.5, 0.3)])
def test_what_may_be_lost_is_counted_from_the_accuracy_before(allowed, tau):
    batch = make_batch(0.02, 0.2, 1.0, 2.0)
    assert choose_tau(Clockwork(), batch, allowed=allowed) == tau


def test_a_single_batch_is_a_whole_set():
    assert choose_tau(Clockwork(), make_batch(0.05, 1.0)) == 0.03
    assert TAUS == (0.003, 0.01, 0.03, 0.1, 0.3)


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        ({"taus": (0.1, 0.03)}, ValueError, r"taus must rise; they are \(0.1, 0.03\)"),
        ({"taus": (0.1, 0.1)}, ValueError, "taus must rise"),
        ({"taus": (0, 0.1)}, ValueError, r"taus\[0\] must be a finite number above 0; it is 0"),
        ({"taus": ("a",)}, TypeError, r"taus\[0\] must be a number; its type is str"),
        ({"allowed": 1.0}, ValueError, "allowed must be a share from 0 to below 1; it is 1.0"),
        ({"allowed": -0.1}, ValueError, "allowed must be a share from 0 to below 1; it is -0.1"),
    ],
)
def test_plans_that_make_no_sense_are_refused(plan, error, message, as_reader):
    with pytest.raises(error, match=message):
        choose_tau(Clockwork(), make_batch(0.05), **plan)


def test_a_model_without_a_clock_is_refused():
    model = nn.Linear(1, 2)
    model.forward = lambda inputs, mask: torch.zeros(len(inputs), 2)
    with pytest.raises(ValueError, match="model must hold a Mamba block"):
        choose_tau(model, make_batch(0.05))
