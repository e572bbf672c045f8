"""Counting what is written: by hand, and where a loop's backward pass grows with the square."""

import pytest
import torch

from mamba_edu.probes import count_written


def test_what_is_written_is_counted_by_hand():
    a, b = torch.ones(3, 5), torch.ones(5)
    assert count_written(lambda: a + b) == 15
    assert count_written(lambda: (a + b).sum(1)) == 15 + 3
    assert count_written(lambda: a.split(1)) == count_written(lambda: a[1:].mT) == 0
    assert count_written(lambda: a.clone().mul_(2)) == 15 + 15
    assert count_written(lambda: torch.max(a, 0)) == 5 + 5  # values and where they stand
    assert count_written(lambda: None) == 0


def test_a_backward_pass_is_counted_too():
    a = torch.ones(4, requires_grad=True)
    loss = (a * 3).sum()
    # The gradient of the loss, its product with 3; what goes to a is handed over, not written.
    assert count_written(loss.backward) == 1 + 4


def test_counts_of_two_calls_do_not_add_up():
    a = torch.ones(7)
    assert [count_written(lambda: a + 1) for _ in range(2)] == [7, 7]


@pytest.mark.parametrize("run", [3, torch.ones(2)])
def test_what_cannot_be_called_is_refused(run):
    with pytest.raises(TypeError, match="run must be a function without arguments; got"):
        count_written(run)
