"""Codes and steps as an explorer sends them: each channel is as fine as it can be by itself."""

import functools

import numpy as np
import pytest
import torch
from explorer_inputs import WORDS, make_signals, read_arrays

from mamba_edu.widgets.explorer import StateExplorer

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

D_INNER = 3
STEPS = [("states", "state_step"), ("outputs", "output_step"), ("inputs", "input_step")]


@functools.cache
def explore():
    """Make an explorer whose channels are of very different sizes."""
    signals = make_signals(d_inner=D_INNER)
    signals["x"] = signals["x"] * torch.tensor([1e-3, 1.0, 1e3])
    return read_arrays(StateExplorer(**signals, **WORDS))


@pytest.mark.parametrize(("codes", "steps"), STEPS)
def test_each_channel_has_a_step_of_its_own(codes, steps):
    sent = explore()
    scales = () if codes == "inputs" else (7,)
    assert sent[steps].shape == (*scales, D_INNER)
    sizes = sent[steps].reshape(-1, D_INNER)
    assert (sizes[:, 0] * 10 < sizes[:, 1]).all()
    assert (sizes[:, 1] * 10 < sizes[:, 2]).all()


@pytest.mark.parametrize("codes", [name for name, _ in STEPS])
def test_the_largest_value_of_each_channel_has_the_largest_code(codes):
    sent = explore()[codes].astype(int)
    n_groups = 1 if codes == "inputs" else 2
    largest = np.abs(sent).max(axis=tuple(range(n_groups, sent.ndim)))
    assert (largest == 127).all()
