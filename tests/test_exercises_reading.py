"""Notebook 08: its solutions by other means, and answers that read the tables."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.exercises import n08
from mamba_edu.layers import MambaBlock
from mamba_edu.readout import ReadLast


@pytest.mark.parametrize(("n_tokens", "share"), [(100, 1 / 3), (2, 0.5), (10**6, 0.9), (7, 0.01)])
def test_a_needed_lead_gives_the_share_that_was_asked_for(n_tokens, share):
    scores = torch.zeros(n_tokens, dtype=torch.float64)
    scores[n_tokens // 2] = n08.solve_needed_lead(n_tokens, share)
    assert scores.softmax(0)[n_tokens // 2].item() == pytest.approx(share, rel=1e-12)


def make_rows():
    """Rows of tokens with padding anywhere, NaN on it."""
    torch.manual_seed(0)
    mask = torch.rand(5, 7) < 0.5
    mask[torch.arange(5), torch.arange(5)] = True
    tokens = torch.randn(5, 7, 3, dtype=torch.float64)
    return tokens.masked_fill(~mask[..., None], torch.nan), mask


def test_the_last_output_is_the_one_that_the_package_reads():
    tokens, mask = make_rows()
    outputs = tokens.nan_to_num()
    assert not mask[:, -1].all()
    assert torch.equal(n08.solve_read_last(outputs, mask), ReadLast()(outputs, mask))


def test_a_row_that_is_turned_round_is_the_same_row_alone_turned_round():
    tokens, mask = make_rows()
    flipped = n08.solve_flip_real(tokens, mask)
    assert (flipped[~mask] == 0).all()
    for row, real, turned in zip(tokens, mask, flipped, strict=True):
        assert torch.equal(turned[real], row[real].flip(0))


def make_block():
    torch.manual_seed(1)
    block = MambaBlock(6, d_state=3).double()
    tokens = torch.randn(1, 13, 6, dtype=torch.float64)
    mask = torch.ones(1, 13, dtype=torch.bool)
    mask[:, 4:9] = False
    return block, tokens, mask


@torch.no_grad()
def test_a_state_does_not_leak_if_padding_is_hidden_before_and_in_the_step():
    block, tokens, mask = make_block()
    assert n08.measure_leak(block, tokens, mask, ("before", "delta")) < 1e-12
    assert n08.measure_leak(block, tokens, mask, ("before", "behind", "delta")) < 1e-12
    for hides in ((), ("behind", "delta"), ("before", "behind"), ("before",)):
        assert n08.measure_leak(block, tokens, mask, hides) > 0.01


@torch.no_grad()
def test_a_leak_with_no_mask_is_that_of_a_block_which_is_told_nothing():
    block, tokens, mask = make_block()
    h, own = (block(rows, return_state=True)[1].h for rows in (tokens, tokens[:, mask[0]]))
    assert_close(n08.measure_leak(block, tokens, mask, ()), ((h - own).norm() / own.norm()).item())


@pytest.mark.parametrize(
    ("attention", "mean", "answer"),
    [(0.95, 0.5, 0), (0.8, 0.92, 1), (0.95, 0.95, 0), (0.8, 0.7, 2)],
)
def test_the_answer_about_one_pool_for_all_reads_the_table(monkeypatch, attention, mean, answer):
    """Its worst task decides: each pool is bad at one of the three."""

    def look_up(setting, length):
        assert length == 2048
        task, pool = setting.split(", ")
        least = {"attention": attention, "mean": mean}[pool]
        return least if task == {"attention": "order", "mean": "needle"}[pool] else 1.0

    monkeypatch.setattr(n08, "average_right", look_up)
    assert n08.answer_one_for_all()[0] == answer


@pytest.mark.parametrize(("late", "answer"), [(0.2, 0), (0.5, 1), (0.9, 2)])
def test_the_answer_about_a_longer_training_reads_the_table(monkeypatch, late, answer):
    found = {"needle, last": 0.13, "needle, last, 1000 steps": late}
    monkeypatch.setattr(n08, "average_right", lambda setting, length: found[setting])
    assert n08.answer_longer()[0] == answer
    assert f"{late:.2f} after 1000" in n08.answer_longer()[1]
