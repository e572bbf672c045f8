"""Sequences for the tests of the explorer, and its arrays as a browser reads them."""

import numpy as np
import torch


def make_signals(length=7, d_inner=3, d_state=4, seed=0):
    """Make the arguments of one scan; steps are such that a state lives for some tokens."""
    rng = torch.Generator().manual_seed(seed)

    def randn(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    return {
        "x": randn(length, d_inner),
        "delta": randn(length, d_inner).abs() / 10,
        "A": -3 * randn(d_inner, d_state).abs(),
        "B": randn(length, d_state),
        "C": randn(length, d_state),
        "skip": randn(d_inner),
    }


WORDS = {"title": "A title", "caption": "Press Play."}


def read_arrays(widget):
    """Read the widget's bytes by name."""
    found = {}
    for name, place in widget.arrays.items():
        count = int(np.prod(place["shape"]))
        flat = np.frombuffer(widget.data, place["dtype"], count, place["offset"])
        found[name] = flat.reshape(place["shape"])
    return found


def restore(codes, steps):
    """Turn codes back into values, NaN where there is no number."""
    wide = steps.astype(float).reshape(steps.shape + (1,) * (codes.ndim - steps.ndim))
    return np.where(codes == -128, np.nan, codes * wide), wide
