"""Inputs for the tests of the scan, and the methods that all must agree."""

from contextlib import contextmanager

import pytest
import torch
from hypothesis import strategies as st

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


@st.composite
def draw_inputs(draw):
    """Any sizes, lengths around a chunk, steps and rates from tiny to huge."""
    batch, d_inner = draw(st.integers(0, 3)), draw(st.sampled_from([1, 5, 16, 33, 64, 65, 130]))
    d_state, length = draw(st.integers(0, 5)), draw(st.sampled_from([0, 1, 2, 31, 32, 33, 70]))
    step, rate = 10.0 ** draw(st.integers(-6, 3)), 10.0 ** draw(st.integers(-8, 4))
    rng = torch.Generator().manual_seed(draw(st.integers(0, 99)))

    def randn(*shape):
        return torch.randn(*shape, generator=rng, dtype=torch.float64)

    tokens = {"x": d_inner, "delta": d_inner, "B": d_state, "C": d_state, "gate": d_inner}
    inputs = {name: randn(batch, length, size) for name, size in tokens.items()}
    inputs |= {"A": -rate * randn(d_inner, d_state).abs(), "skip": randn(d_inner)}
    inputs |= {"state": randn(batch, d_inner, d_state), "delta": step * inputs["delta"].abs()}
    left_out = draw(st.sets(st.sampled_from(["skip", "gate", "state"])))
    return {name: v for name, v in inputs.items() if name not in left_out}


def scan_as_channels(x, delta, A, B, C, state):
    """The scan of heads by the loop, each head's step and rate given to its channels and states."""
    n_states = B.shape[-1]
    delta = delta[..., None].expand(x.shape).flatten(2)
    rates = A[:, None, None].expand(*x.shape[2:], n_states).flatten(0, 1)
    given = {"x": x.flatten(2), "delta": delta, "A": rates, "B": B, "C": C}
    y, last = scan_by("loop", **given, state=state.flatten(1, 2))
    return y.unflatten(2, x.shape[2:]), last.unflatten(1, x.shape[2:])


def make_heads(x, delta, A, B, C, state=None, **_):
    """Make heads of two channels out of the inputs of a scan."""
    heads = {"x": torch.stack([x, x.cos()], -1), "delta": delta, "A": A.sum(1), "B": B, "C": C}
    state = x.new_zeros(len(x), x.shape[2], B.shape[-1]) if state is None else state
    return heads | {"state": torch.stack([state, state.sin()], 2)}
