"""Notebook 10: its solutions by other means, and answers that read the shipped tables."""

import math

import pytest
import torch

from mamba_edu.exercises import n10, trials10
from mamba_edu.experiments import SWEEPS, load_results


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_law_tells_when_a_run_overflows(seed):
    A = torch.randn(24, 24, generator=torch.Generator().manual_seed(seed))
    h, t = torch.ones(24), 0
    while h.isfinite().all():
        h, t = A @ h + 1, t + 1
    assert n10.solve_tell_overflow(A.double()) == pytest.approx(t, abs=4)


def test_what_cannot_grow_never_overflows():
    shrinks = torch.tensor([[0.5, 400.0], [0.0, -0.9]]).double()
    assert n10.solve_tell_overflow(shrinks) == math.inf
    assert n10.solve_tell_overflow(torch.eye(3).double()) == math.inf


@pytest.mark.parametrize("limit", [0.5, 3.0, 100.0])
def test_clipping_is_what_torch_does_where_that_is_finite(limit):
    gradient = torch.tensor([3.0, -4.0, 1.0])
    weight = torch.nn.Parameter(torch.zeros(3))
    weight.grad = gradient.clone()
    torch.nn.utils.clip_grad_norm_([weight], limit)
    torch.testing.assert_close(n10.solve_clip_gradient(gradient, limit), weight.grad)


def test_what_is_not_finite_takes_no_step():
    for value in (math.inf, -math.inf, math.nan):
        clipped = n10.solve_clip_gradient(torch.tensor([1.0, value]), 1.0)
        assert torch.equal(clipped, torch.zeros(2))


@pytest.mark.parametrize("eps", [1e-8, 1e-3])
def test_the_first_step_is_what_torch_s_adam_takes(eps):
    gradient = torch.tensor([400.0, -1e-3, 0.0, 2e-8], dtype=torch.float64)
    weight = torch.nn.Parameter(torch.zeros(4, dtype=torch.float64))
    weight.grad = gradient.clone()
    torch.optim.Adam([weight], lr=0.03, eps=eps).step()
    torch.testing.assert_close(n10.solve_first_step(gradient, 0.03, eps), weight.detach())


def test_a_dense_state_breaks_where_its_largest_number_passes_single_precision():
    rng = torch.Generator().manual_seed(2)
    A, h = torch.randn(9, 9, generator=rng).double(), torch.zeros(9).double()
    n_tokens = trials10.find_dense_overflow(9, 2) + 1
    for _ in range(n_tokens):
        assert h.abs().max() < torch.finfo(torch.float32).max
        h = A @ h + torch.randn(9, generator=rng)
    assert h.abs().max() >= torch.finfo(torch.float32).max
    assert n_tokens > 20


def test_the_answers_read_the_tables_that_come_with_the_course(monkeypatch):
    """Were a mean unstable, or attention able to tell the order, the answers would say so."""
    names = [name for name in SWEEPS["recipe"].settings if name.startswith("CLS")]
    flat = {f"gradient_{n}": 1.0 for n in range(1, 11)}
    rows = [
        {"setting": name, "seed": seed}
        | flat
        | ({"gradient_9": 7.0 + seed} if name == "CLS mean, pretrained, no clip" else {})
        for name in names
        for seed in range(2)
    ]
    monkeypatch.setattr(trials10, "load_results", {"recipe": rows}.get)
    found = trials10.list_starts()
    assert found["CLS mean, pretrained, no clip"] == 7.5
    assert found["CLS zeros, no clip"] == 1.0
    assert n10.answer_start()[0] == 1

    all_right = {f"n10.attention_{task}": n10.CLAIMS["n10.attention_needle"] for task in n10.TASKS}
    monkeypatch.setattr(n10, "CLAIMS", all_right)
    assert n10.answer_saves()[0] == 0


def test_every_shipped_seed_meets_what_the_live_cell_prints():
    """By at least 0.2 on both sides, so that another machine's training meets it too."""
    rows = load_results("recipe")
    for rates, meets in (("randn", lambda right: right <= 0.2), ("bounded", lambda r: r >= 0.8)):
        setting = f"A {rates}, 32 tokens, clip 1"
        shares = [row["accuracy"] for row in rows if row["setting"] == setting]
        assert len(shares) == 5
        assert all(map(meets, shares))
