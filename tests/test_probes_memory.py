"""Half-lives by counting tokens, shares by counting states, norms by cutting the scan."""

import math

import pytest
import torch
from scan_inputs import BATCH, LENGTH, make_inputs
from torch.testing import assert_close

from mamba_edu.probes import (
    measure_half_lives,
    measure_state_norms,
    measure_survival_share,
    memory,
)
from mamba_edu.scan import selective_scan

DELTA = torch.tensor([[[0.5, 0.0], [1.0, 2.0], [0.25, 0.0]]], dtype=torch.float64)
RATES = torch.tensor([[-1.0, -2.0], [-0.5, 0.0]], dtype=torch.float64)
SCAN = ("x", "delta", "A", "B")


def count_tokens(delta, rate):
    """Oracle: go round and round the tokens, decaying, and count until half is gone."""
    left, n_tokens = 1.0, 0
    while left > 0.5:
        left *= math.exp(rate * delta[n_tokens % len(delta)])
        n_tokens += 1
    return n_tokens


def test_a_half_life_is_the_number_of_tokens_until_half_is_gone():
    rng = torch.Generator().manual_seed(0)
    delta = torch.rand(1, 5, 2, generator=rng, dtype=torch.float64) / 100
    lives = measure_half_lives(delta, RATES[:, :1] / 3)
    for d in (0, 1):
        counted = count_tokens(delta[0, :, d].tolist(), RATES[d, 0].item() / 3)
        assert lives[d, 0].item() == pytest.approx(counted, abs=5)
        assert lives[d, 0] > 200


def test_half_lives_by_hand():
    lives = measure_half_lives(DELTA, RATES) / math.log(2)
    assert_close(lives[0], torch.tensor([12 / 7, 6 / 7], dtype=torch.float64))
    assert_close(lives[1], torch.tensor([3, math.inf], dtype=torch.float64))
    chosen = torch.tensor([[True, False, True]])
    lives = measure_half_lives(DELTA, RATES, chosen) / math.log(2)
    assert lives[0, 0].item() == pytest.approx(8 / 3)
    assert lives[1].tolist() == [math.inf, math.inf]  # a clock that stands forgets nothing


def test_a_share_counts_the_states_that_remember():
    share = measure_survival_share(DELTA, RATES, s=0)
    # left at the end: exp(-1.25), exp(-2.5), exp(-1), 1
    assert share.tolist() == [[1.0, 1.0, 0.75]]
    assert measure_survival_share(DELTA, RATES, 0, 0.3).tolist() == [[1.0, 0.75, 0.5]]
    assert measure_survival_share(DELTA, RATES, s=1).tolist() == [[0.0, 1.0, 1.0]]


def cut_scan(mask=None, **inputs):
    """Oracle: the state that a scan of the first tokens leaves behind."""
    inputs |= {"C": inputs["B"]}
    for end in range(1, LENGTH + 1):
        parts = {k: v[:, :end] if k != "A" else v for k, v in inputs.items()}
        part_mask = None if mask is None else mask[:, :end]
        _, h = selective_scan(**parts, mask=part_mask, method="parallel", return_state=True)
        yield h.square().sum((1, 2)).sqrt()


MASK = torch.ones(BATCH, LENGTH, dtype=torch.bool)
MASK[0, 2:4] = MASK[1, 0] = False


@pytest.mark.parametrize("width", [1, 60, 2**20])
@pytest.mark.parametrize("mask", [None, MASK])
def test_a_norm_is_that_of_the_state_that_a_scan_leaves_behind(monkeypatch, width, mask):
    monkeypatch.setattr(memory, "WIDTH", width)  # one token a piece, two, all
    inputs = {name: make_inputs()[name] for name in SCAN}
    norms = measure_state_norms(**inputs, mask=mask)
    assert_close(norms, torch.stack(list(cut_scan(mask, **inputs)), dim=1))


def test_the_signals_of_a_block_may_be_passed_on_and_an_empty_one_has_no_norm():
    inputs = make_inputs()
    rest = {"C": inputs["C"], "skip": inputs["skip"]}
    inputs = {name: inputs[name] for name in SCAN}
    assert_close(measure_state_norms(**inputs, **rest), measure_state_norms(**inputs))
    empty = {name: make_inputs(0)[name] for name in SCAN}
    assert measure_state_norms(**empty).shape == (BATCH, 0)


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("measure", "arguments", "message"),
    [
        (measure_half_lives, (-DELTA, RATES), "delta must be at least 0"),
        (measure_half_lives, (DELTA, -RATES), "A must have real parts of at most 0"),
        (measure_half_lives, (DELTA, RATES[:1]), "A must have d_inner = 2 as delta has"),
        (measure_half_lives, (DELTA, RATES, DELTA[..., 0] < 0), "one token must be chosen; none"),
        (
            measure_half_lives,
            (DELTA, RATES, DELTA[..., 0]),
            "chosen must be a torch.bool",
        ),
        (measure_survival_share, (DELTA, RATES, 3), "s must be a token, 0 to 2; it is 3"),
        (measure_survival_share, (DELTA, RATES, 0, 0.0), "threshold must be a finite number above"),
        (measure_survival_share, (DELTA, RATES, 0, 1.0), "threshold must be below 1; it is 1.0"),
        (measure_state_norms, (DELTA, DELTA, RATES, DELTA[:, 1:]), "B must have length = 3"),
        (measure_state_norms, (DELTA, -DELTA, RATES, DELTA), "delta must be at least 0"),
        (measure_state_norms, (DELTA, DELTA, RATES, DELTA.long()), "B must be torch.float32 or"),
    ],
)
def test_memory_refuses_what_does_not_fit(measure, arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        measure(*arguments)
