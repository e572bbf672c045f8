"""Notebook 07: its solutions by other means, and claims that can fail."""

import pytest
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from mamba_edu.exercises import n07
from mamba_edu.exercises.trials07 import find_overflow
from mamba_edu.layers import MambaStack
from mamba_edu.reader import CLAIMS, judge
from mamba_edu.readout import ReadCLS
from mamba_edu.tokens import add_cls

LENGTH = 9


class SeeingBothWays(nn.Module):
    """A stack that also runs over the sequence backwards."""

    def __init__(self):
        super().__init__()
        self.there, self.back = (MambaStack(4, d_state=3).double() for _ in range(2))

    def forward(self, tokens):
        return self.there(tokens) + self.back(tokens.flip(1)).flip(1)


@pytest.mark.parametrize("is_causal", [True, False])
@pytest.mark.parametrize("cls_index", [0, 3, LENGTH - 1])
def test_can_see_marks_what_has_a_gradient(cls_index, is_causal):
    torch.manual_seed(0)
    model = MambaStack(4, d_state=3).double() if is_causal else SeeingBothWays()
    tokens = torch.randn(1, LENGTH, 4, dtype=torch.float64, requires_grad=True)
    model(tokens)[:, cls_index].square().sum().backward()
    seen = n07.solve_can_see(cls_index, LENGTH, is_causal)
    assert torch.equal((tokens.grad[0] != 0).any(-1), seen)


@pytest.mark.parametrize("n_content", [1, 2, 7, 8])
def test_the_middle_is_where_the_package_puts_cls(n_content):
    content, cls_token = torch.randn(3, n_content, 2), torch.randn(2)
    outputs, _, _ = add_cls(content, cls_token, "middle")
    assert torch.equal(n07.solve_read_middle(outputs), cls_token.expand(3, 2))
    assert torch.equal(n07.solve_read_middle(outputs), ReadCLS("middle")(outputs))


def test_blind_loss_is_what_descending_from_one_vector_finds():
    counts = torch.tensor([5, 0, 1, 10])
    target = torch.repeat_interleave(torch.arange(4), counts)
    logits = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    descent = torch.optim.LBFGS([logits], max_iter=100, line_search_fn="strong_wolfe")

    def measure():
        descent.zero_grad()
        loss = cross_entropy(logits.expand(len(target), 4), target)
        loss.backward()
        return loss

    descent.step(measure)
    assert measure().item() == pytest.approx(n07.solve_blind_loss(counts), abs=1e-5)


@pytest.mark.parametrize(
    ("last", "word"), [(0.6, "holds"), (0.25, "depends"), (0.1, "depends"), (-0.2, "fails")]
)
def test_the_claim_about_one_index_can_fail(last, word):
    """Margin 0.2: rows that differ by less decide nothing; rows the other way round flip it."""
    rows = [{"seed": seed, "first": 0.1, "last": last + 0.001 * seed} for seed in range(5)]
    assert judge(CLAIMS["n07.one_index"], rows).word == word


@pytest.mark.parametrize(
    ("middle", "word"), [(0.5, "holds"), (0.65, "depends"), (0.75, "depends"), (0.9, "fails")]
)
def test_the_claim_that_all_must_be_seen_can_hold_and_fail(middle, word):
    rows = [{"seed": seed, "middle": middle + 0.001 * seed, "last": 0.7} for seed in range(5)]
    assert judge(CLAIMS["n07.sees_all"], rows).word == word


def test_the_answers_read_the_tables_that_come_with_the_course(monkeypatch):
    """Were a blind CLS right half of the time, or the front lost, the answers would say so."""
    half = [{"setting": "names, CLS first", "accuracy": 0.5}]
    counts = {f"depth_{n}": 20 + n for n in range(1, 9)} | {f"n_depth_{n}": 40 for n in range(1, 9)}
    lost = [{"setting": n07.BOTH_WAYS} | counts | {"depth_1": 5, "depth_8": 40}]
    tables = {"cls_position": half, "readouts": lost}
    monkeypatch.setattr(n07, "load_results", tables.get)
    index, evidence = n07.answer_blind()
    assert (index, evidence[:31]) == (2, "Over all seeds it is right 0.50")
    index, evidence = n07.answer_depth()
    assert (index, evidence[:9]) == (0, "It finds ")
    assert "0.12 of those in the first eighth, 1.00 in the last" in evidence


def test_a_state_overflows_where_its_largest_factor_says():
    """Over the ten draws the law t = ln(largest number) / ln(largest factor) errs by a tenth."""
    for seed in range(10):
        rng = torch.Generator().manual_seed(seed)
        radius = torch.randn(16, 32, generator=rng).abs().max().double()
        law = torch.tensor(torch.finfo(torch.float32).max).double().log() / radius.log()
        assert find_overflow(seed) == pytest.approx(law.item(), rel=0.1)
