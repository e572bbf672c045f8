"""Inputs for the tests of the scan, and the methods that all must agree."""

from contextlib import contextmanager

import pytest
import torch

from mamba_edu.scan import chunked, selective_scan
from mamba_edu.scan.chunked import CHUNK

BATCH, LENGTH, D_INNER, D_STATE = 2, 7, 3, 4  # all different: a swapped axis cannot hide
LENGTHS = [0, 1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5]
# Chunks are stepped side by side only where there is room: give them the room for all, two or one.
WAYS = {"loop": 0, "parallel": 0, "chunked": 2**16, "chunked in twos": 48, "chunked one by one": 1}
WAYS |= {"fused": 0}
every_way = pytest.mark.parametrize("way", WAYS)


def make_inputs(length=LENGTH, batch=BATCH):
    """Make every tensor that a scan takes; steps are such that a state lives for some tokens."""
    rng = torch.Generator().manual_seed(0)

    def randn(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    return {
        "x": randn(batch, length, D_INNER),
        "delta": randn(batch, length, D_INNER).abs() / 10,
        "A": -3 * randn(D_INNER, D_STATE).abs(),
        "B": randn(batch, length, D_STATE),
        "C": randn(batch, length, D_STATE),
        "skip": randn(D_INNER),
        "gate": randn(batch, length, D_INNER),
        "state": randn(batch, D_INNER, D_STATE),
    }


@contextmanager
def make_room(way):
    """Let the chunked scan step as many chunks at once as the way has room for."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunked, "WIDTH", WAYS[way])
        yield


def scan_by(way, **inputs):
    """Run a scan in one of the ways, and return its output and state."""
    with make_room(way):
        return selective_scan(**inputs, method=way.split()[0], return_state=True)


def differentiate(way, inputs, mask=None):
    """Differentiate a weighted sum of output and state, by every tensor."""
    leaves = {name: tensor.clone().requires_grad_() for name, tensor in inputs.items()}
    y, last = scan_by(way, **leaves, mask=mask)
    rng = torch.Generator().manual_seed(1)
    weights = [torch.randn(v.shape, generator=rng, dtype=torch.float64) for v in (y, last)]
    loss = (y * weights[0]).sum() + (last * weights[1]).sum()
    with make_room(way):
        grads = torch.autograd.grad(loss, list(leaves.values()), materialize_grads=True)
    return dict(zip(leaves, grads, strict=True))
