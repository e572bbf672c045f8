"""What the grid of signals measures, beside the same computed by hand on a small model."""

import math

import pytest
import torch

from mamba_edu.experiments import (
    SWEEPS,
    measure_answers,
    measure_clock,
    measure_signals,
    run_readout,
    run_signal,
    start_readout,
)
from mamba_edu.experiments import signals as grid
from mamba_edu.probes import read_block
from mamba_edu.tasks import Batch, sample_needle, sample_needle_pair
from mamba_edu.training import train

LENGTH, N_PAIRS = 41, 7
NEEDLE = 4  # a tenth of what is before the last of 41 tokens


@pytest.fixture(params=["cls_last", "mean"], scope="module")
def model(request):
    """A model that has learned a little, so that no two of its classes are alike."""
    model = start_readout("needle", request.param, seed=1)
    train(model, sample_needle, (9,), 20, seed=1)
    return model


def test_a_signal_beside_noise_and_bias_is_what_the_logits_say(model):
    batch, bare = sample_needle_pair(N_PAIRS, LENGTH, 3)
    found = measure_signals(model, batch, bare)
    with torch.no_grad():
        told, untold = (model(each.inputs).double() for each in (batch, bare))
    signals = [
        sum(
            sign * (row[k] - torch.cat([row[:k], row[k + 1 :]]).max())
            for row, sign in ((with_needle, 1), (without, -1))
        )
        for with_needle, without, k in zip(told, untold, batch.target.tolist(), strict=True)
    ]
    assert found["margin"] == pytest.approx(float(sum(signals)) / N_PAIRS, rel=1e-4)
    columns = untold.numpy()
    assert found["noise"] == pytest.approx(columns.std(0, ddof=1).mean(), rel=1e-4)
    means = sorted(columns.mean(0))
    assert found["bias"] == pytest.approx(means[-1] - sum(means[:-1]) / 7, rel=1e-4)


def test_what_is_kept_is_what_has_not_decayed_since_the_needle(model):
    batch, bare = sample_needle_pair(N_PAIRS, 401, 3)
    found = measure_signals(model, batch, bare)
    signals = read_block(model, batch.inputs[: grid.N_OPENED])
    left = torch.ones(grid.N_OPENED, *signals.A.shape)
    for delta in signals.delta[:, 41:].unbind(1):  # the needle is token 40
        left = left * torch.exp(delta[..., None] * signals.A)
    assert 0.05 < found["kept"] < 0.95
    assert found["kept"] == pytest.approx((left > 0.1).double().mean().item(), abs=2e-3)


def test_answers_are_counted_and_their_certainty_is_averaged():
    table = torch.tensor([[9.0, 0.0, 0.0], [9.0, 0.0, 0.0], [0.0, 0.0, 2.0], [0.0, 1.0, 0.0]])

    class Constant(torch.nn.Module):
        def forward(self, inputs, mask=None):
            return table[inputs[:, 0]]

    batch = Batch(torch.arange(4)[:, None], torch.tensor([0, 1, 2, 0]))
    found = measure_answers(Constant(), batch)
    assert (found["right"], found["n"], found["share"]) == (2, 4, 0.5)
    sure = [torch.exp(row.max()) / torch.exp(row).sum() for row in table]
    assert found["sure"] == pytest.approx(float(sum(sure)) / 4, rel=1e-5)


def test_a_clock_is_told_by_kind_of_token(model):
    batch, _ = sample_needle_pair(N_PAIRS, LENGTH, 5)
    found = measure_clock(model, batch)
    delta, A = read_block(model, batch.inputs)[1:3]
    filler = torch.cat([delta[:, :NEEDLE], delta[:, NEEDLE + 1 : LENGTH]], dim=1)
    kinds = {"filler": filler, "needle": delta[:, NEEDLE], "cls": delta[:, LENGTH:]}
    for kind, steps in kinds.items():
        wanted = float(steps.mean()) if steps.numel() else 0.0
        assert found[f"delta_{kind}"] == pytest.approx(wanted, rel=1e-4)
    rates = -A.double() * filler.double().mean((0, 1))[:, None]
    lives = sorted((math.log(2) / rates).flatten().tolist())
    for quantile in grid.QUANTILES:
        before, share = divmod(quantile / 100 * (len(lives) - 1), 1)
        pair = lives[int(before) : int(before) + 2]
        wanted = (1 - share) * pair[0] + share * pair[1]
        assert found[f"half_life_{quantile}"] == pytest.approx(wanted, rel=1e-4)


def test_a_run_measures_the_model_that_the_table_of_readouts_counts(monkeypatch):
    monkeypatch.setattr("mamba_edu.experiments.readouts.TESTED", {16: 6, 256: 6})
    few = {"measured": (16, 40), "n_pairs": 3, "n_sequences": 6}
    found = run_signal("max", 2, 20, (9, 12), **few, part="state")
    counted = run_readout("needle", "max", 2, 20, (9, 12), part="state")
    assert (found["right_16"], found["n_16"]) == (counted["right_16"], 6)
    model = start_readout("needle", "max", 2, part="state")
    train(model, sample_needle, (9, 12), 20, seed=2)
    wanted = measure_signals(model, *sample_needle_pair(3, 40, 2))
    assert {name: found[f"{name}_40"] for name in wanted} == wanted
    answers = measure_answers(model, sample_needle(6, 40, 2))
    assert {name: found[f"{name}_40"] for name in answers} == answers
    assert {"margin_16", "noise_16", "share_16", "delta_filler"} < set(found)
    assert (
        found["delta_needle"]
        == measure_clock(model, sample_needle_pair(3, 16, 2)[0])["delta_needle"]
    )


def test_every_setting_of_the_grid_is_that_of_the_readouts():
    settings = SWEEPS["signals"].settings
    others = SWEEPS["readouts"].settings
    for name, keywords in settings.items():
        assert others[name] == {"task": "needle"} | keywords
    assert list(SWEEPS["signals"].seeds) == [0, 1, 2, 3, 4]


def test_too_few_sequences_are_refused():
    with pytest.raises(ValueError, match="n_pairs must be at least 2; it is 1"):
        run_signal("mean", n_pairs=1)
