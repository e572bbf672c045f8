"""Notebook 05: its solutions by other means, and answers that would change with the facts."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.exercises import n05
from mamba_edu.scan import accumulate_steps


def draw_steps(length):
    rng = torch.Generator().manual_seed(length)
    return torch.rand(2, length, generator=rng, dtype=torch.float64)


@pytest.mark.parametrize("floor", [1e-12, 0.3, 1.0])
def test_the_fastest_state_has_fallen_to_the_floor_when_the_tokens_are_over(floor):
    rates = torch.tensor([-0.5, -7.0, -2.0], dtype=torch.float64)
    tokens = n05.solve_tokens_until(rates, 0.03, floor)
    assert torch.exp(0.03 * rates * tokens).min().item() == pytest.approx(floor, rel=1e-9)


@pytest.mark.parametrize("length", [1, 2, 3, 8, 13])
def test_all_steps_combined_are_the_last_of_the_package_s_tree(length):
    keep, write = draw_steps(length)
    whole = accumulate_steps(keep[None], write[None])
    assert_close(n05.solve_combine_all(keep, write), tuple(v[0, -1] for v in whole))


@pytest.mark.parametrize("length", [1, 2, 9])
def test_the_walk_back_is_autograd_s(length):
    keep, grad = draw_steps(length)
    write = torch.zeros(1, length, dtype=torch.float64, requires_grad=True)
    states = accumulate_steps(keep[None], write)[1]
    (right,) = torch.autograd.grad(states, write, grad[None])
    assert_close(n05.solve_trace_back(keep, grad), right[0])


def test_the_bug_to_find_passes_its_author_s_test_and_no_other():
    """Eight tokens all alike: a recurrence that runs backwards in time gives the same."""

    def combine_all(keep, write):
        if len(keep) == 1:
            return keep[0], write[0]
        half = len(keep) // 2
        keep_1, write_1 = combine_all(keep[:half], write[:half])
        keep_2, write_2 = combine_all(keep[half:], write[half:])
        return keep_1 * keep_2, keep_1 * write_2 + write_1

    alike = draw_steps(1).expand(2, 8)
    assert_close(combine_all(*alike), n05.solve_combine_all(*alike))
    wrong, right = (combine(*draw_steps(8))[1] for combine in (combine_all, n05.solve_combine_all))
    assert (wrong - right).abs() > 0.01


def test_the_answers_follow_the_facts(monkeypatch):
    """Were the operation commutative, or the guarded division right, they would say so."""
    monkeypatch.setattr(n05, "combine_steps", lambda one, two: (one[0], one[1] + two[1]))
    assert n05.answer_swapped() == (0, "It is 6.00 and should be 6.00.")
    monkeypatch.setattr(n05, "divide_guarded", lambda z, write: accumulate_steps(z.exp(), write)[1])
    assert n05.answer_guard() == (0, "It is off by 0.00 of the largest output.")
