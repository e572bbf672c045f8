"""Each maker shows its system, checked against a formula, and runs over its range."""

import cmath
import math

import numpy as np
import pytest
import torch
from explorer_inputs import read_arrays, restore

from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import SCALES, read_block
from mamba_edu.readout import ReadCLS, ReadMean
from mamba_edu.tasks import sample_last_marked
from mamba_edu.widgets.block import explore_block
from mamba_edu.widgets.makers import (
    explore_bucket,
    explore_linear,
    explore_marked,
    explore_oscillator,
    explore_selective,
    explore_steady,
)

pytestmark = pytest.mark.usefixtures("blank_pictures")


def read_states(widget, scale=1.0):
    """Read the states as numbers, (channel, time, state), and half a step of each channel."""
    sent = read_arrays(widget)
    number = SCALES.index(scale)
    found, wide = restore(sent["states"][number], sent["state_step"][number])
    return found, wide / 2 + 1e-6


@pytest.mark.parametrize("tau", [0.5, 20.0, 1e4])
def test_a_bucket_fills_and_empties_by_its_time_constant(tau):
    widget = explore_bucket(tau=tau)
    t = np.arange(160)
    for scale in SCALES:
        found, half = read_states(widget, scale)
        level = 1 - np.exp(-np.clip(t - 9, 0, 60) * scale / tau)
        wanted = level * np.exp(-np.clip(t - 69, 0, None) * scale / tau)
        assert np.abs(found[0, :, 0] - wanted).max() <= half.max()
    assert widget.options["states"] == ["h"]


@pytest.mark.parametrize("scale", [0.25, 4.0])
@pytest.mark.parametrize(("tau", "period"), [(40.0, 16.0), (1e3, 3.0)])
def test_an_oscillator_turns_and_shrinks(tau, period, scale):
    widget = explore_oscillator(tau, period)
    found, half = read_states(widget, scale)
    rate = complex(-1 / tau, 2 * math.pi / period)
    kick = (cmath.exp(scale * rate) - 1) / rate
    wanted = kick * np.exp(np.arange(160) * scale * rate)
    assert np.abs(found[0, :, 0] - wanted.real).max() <= half.max()
    assert np.abs(found[0, :, 1] - wanted.imag).max() <= half.max()
    assert widget.options["mode"] == "phase"
    assert widget.options["states"] == ["Re h", "Im h"]
    assert np.allclose(read_arrays(widget)["rates"], -1 / tau)
    sent = read_arrays(widget)
    read, wide = restore(sent["outputs"], sent["output_step"])
    assert np.abs(read[SCALES.index(scale), 0] - wanted.real).max() <= wide.max() / 2 + 1e-6


def test_several_complex_states_are_shown_as_their_parts():
    widget = explore_steady(
        [1.0, 0.0], [1.0], [[-0.1 + 1j, -0.2 + 2j]], [1.0, 1.0], title="Two", caption="Look."
    )
    assert widget.options["mode"] == "states"
    assert widget.options["states"] == ["Re h1", "Im h1", "Re h2", "Im h2"]
    assert read_arrays(widget)["rates"].tolist() == [pytest.approx([-0.1, -0.1, -0.2, -0.2])]


@pytest.mark.parametrize(("d_inner", "d_state"), [(1, 1), (2, 3), (8, 8), (20, 20)])
def test_a_filter_has_a_clock_for_each_channel(d_inner, d_state):
    x = [1.0] + [0.0] * 30
    widget = explore_linear(x, d_inner, d_state, start={"t": 0})
    found, half = read_states(widget)
    clocks = np.logspace(-1, -3, d_inner) if d_inner > 1 else np.array([0.1])
    rates = -np.arange(1, d_state + 1)
    chosen = widget.options["channels"]
    for row, channel in enumerate(chosen):
        passed = clocks[channel] * np.arange(31)[:, None] * rates
        wanted = (np.exp(clocks[channel] * rates) - 1) / rates * np.exp(passed)
        assert np.abs(found[row] - wanted[:, :16]).max() <= half[row].max()
    assert chosen[0] == (d_inner - 1 if d_inner > 16 else 0)
    explore_linear(d_inner=d_inner, d_state=d_state)


@pytest.mark.parametrize("length", [1, 7, 96])
def test_a_clock_that_moves_at_marks_keeps_the_last_marked_value(length):
    widget = explore_marked(length, seed=3)
    _, marks, target = sample_last_marked(1, length, p=0.1, seed=3)
    found, half = read_states(widget)
    assert np.abs(found[0, :, 0] - target[0].numpy()).max() <= half.max()
    assert read_arrays(widget)["kinds"].tolist() == [1 if mark else 2 for mark in marks[0]]


def test_any_scan_can_be_explored_with_words_of_ones_own():
    one = torch.ones(3, 1)
    widget = explore_selective(one, one, -one[:1], one, one, title="Mine", start={"t": 1})
    assert widget.options["title"] == "Mine"
    assert widget.options["start"]["t"] == 1
    found, half = read_states(widget)
    wanted = 1 + math.exp(-1) + math.exp(-2)
    assert abs(found[0, 2, 0] - wanted) <= half.max()


def make_model(readout, **sizes):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        return SequenceClassifier(3, n_symbols=9, readout=readout, d_model=4, d_state=5, **sizes)


IDS = torch.tensor([4, 1, 8, 7, 3])


@pytest.mark.parametrize(("position", "place"), [("middle", 2), ("last", 5)])
def test_a_trained_layer_shows_what_its_scan_reads(position, place):
    model = make_model(ReadCLS(position), n_layers=2)
    for layer in (0, 1):
        widget = explore_block(model, IDS, layer=layer, n_needles=3)
        read = read_block(model, IDS[None], layer=layer)
        sent = read_arrays(widget)
        assert np.allclose(sent["delta"], read.delta[0].T)
        x, wide = restore(sent["inputs"], sent["input_step"])
        assert (np.abs(x - read.x[0].T.numpy()) <= wide / 2 + 1e-6).all()
    kinds, labels = [2, 1, 2, 2, 2], ["4", "needle 1", "8", "7", "3"]
    assert sent["kinds"].tolist() == [*kinds[:place], 3, *kinds[place:]]
    assert widget.options["labels"] == [*labels[:place], "CLS", *labels[place:]]
    assert widget.options["start"]["followed"] == (1 if place > 1 else 2)


def test_padding_is_named_and_moves_no_clock():
    mask = torch.tensor([True, True, True, False, False])
    widget = explore_block(make_model(ReadCLS("middle")), IDS, mask)
    assert read_arrays(widget)["kinds"].tolist() == [0, 3, 0, 0, 4, 4]
    assert (read_arrays(widget)["delta"][:, 4:] == 0).all()


def test_a_model_without_cls_and_a_bare_block_are_explored_too():
    widget = explore_block(make_model(ReadMean()), IDS)
    assert read_arrays(widget)["kinds"].tolist() == [0] * 5
    block = MambaBlock(4, d_state=2)
    widget = explore_block(block, torch.zeros(6, 4), kinds=["filler"] * 6, labels=list("abcdef"))
    assert read_arrays(widget)["kinds"].tolist() == [2] * 6
    assert widget.options["labels"] == list("abcdef")
    assert explore_block(block, torch.zeros(6, 4)).options["labels"] == [""] * 6


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: explore_bucket(0.0), "tau must be a finite number above 0; it is 0.0"),
        (lambda: explore_bucket("a"), "tau must be a number; its type is str"),
        (lambda: explore_bucket(x=[]), r"x .* must not be empty"),
        (lambda: explore_bucket(x=[[1.0]]), r"x must have the axis \(length,\); its shape is"),
        (lambda: explore_bucket(title=""), "title must be words"),
        (lambda: explore_oscillator(1.0, -1.0), "period must be a finite number above 0"),
        (lambda: explore_linear(d_inner=0), "d_inner must be at least 1; it is 0"),
        (lambda: explore_linear(d_state=1.5), "d_state must be an int; it is 1.5"),
        (lambda: explore_marked(0), "length must be at least 1; it is 0"),
        (lambda: explore_block(make_model(ReadMean()), [1, 2]), "inputs must be a tensor of one"),
        (lambda: explore_block(make_model(ReadMean()), IDS[:0]), "not empty; got"),
        (lambda: explore_block(make_model(ReadMean()), IDS, layer=1), "layer must be 0 to 0"),
        (lambda: explore_block(torch.nn.Linear(1, 1), IDS), "model must be a MambaBlock or a"),
        (lambda: explore_block(make_model(ReadMean()), IDS, kinds=["cls"]), "kinds must name all"),
    ],
)
@pytest.mark.usefixtures("as_reader")
def test_a_maker_refuses_what_it_cannot_show(make, message):
    with pytest.raises((TypeError, ValueError), match=message):
        make()
