"""Gradients of every way to scan: right, and as cheap as the scan itself."""

import pytest
import torch
from scan_inputs import (
    CHUNK,
    D_INNER,
    D_STATE,
    LENGTHS,
    differentiate,
    every_way,
    make_inputs,
    make_room,
    scan_by,
)
from torch.autograd import gradcheck, gradgradcheck
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from mamba_edu.scan import selective_scan


class CountNumbers(TorchDispatchMode):
    """Count the numbers that every operation writes: a cost that needs no clock."""

    def __init__(self):
        super().__init__()
        self.count = self.largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor) and not func.is_view:
            self.count += result.numel()
            self.largest = max(self.largest, result.numel())
        return result


def count_backward(scan, length, way="chunked"):
    inputs = {k: v.requires_grad_() for k, v in make_inputs(length).items()}
    loss = scan(inputs).sum()
    with make_room(way), CountNumbers() as counter:
        loss.backward()
    return counter.count


def scan_by_index(inputs):
    """The loop as it is often written; its backward is quadratic."""
    delta, x, B, C = (inputs[name] for name in ("delta", "x", "B", "C"))
    keep = torch.exp(delta[..., None] * inputs["A"])
    write = (delta * x)[..., None] * B[:, :, None]
    h, y = inputs["state"], []
    for t in range(x.shape[1]):
        h = keep[:, t] * h + write[:, t]
        y.append((h * C[:, t, None]).sum(-1))
    return torch.stack(y, dim=1)


@every_way
@pytest.mark.parametrize("length", LENGTHS)
def test_every_gradient_equals_that_of_the_loop(way, length):
    """S7, state-spaces/mamba#368: by every tensor; the loop itself answers to gradcheck below."""
    inputs = make_inputs(length)
    right = differentiate("loop", inputs)
    grads = differentiate(way, inputs)
    for name, grad in grads.items():
        scale = right[name].abs().max().item() if right[name].numel() else 1.0
        assert_close(grad, right[name], rtol=0, atol=1e-12 * max(scale, 1.0), msg=name)


@every_way
@pytest.mark.parametrize("length", [1, 3, CHUNK + 2])
def test_gradients_equal_finite_differences(way, length):
    inputs = make_inputs(length, batch=1)
    names = list(inputs)

    def scan(*tensors):
        return scan_by(way, **dict(zip(names, tensors, strict=True)))

    assert gradcheck(scan, [v.requires_grad_() for v in inputs.values()], fast_mode=length > 3)


@pytest.mark.parametrize("way", ["loop", "parallel"])
def test_the_plain_ways_can_be_differentiated_twice(way):
    inputs = make_inputs(3, batch=1)
    names = list(inputs)

    def scan(*tensors):
        return scan_by(way, **dict(zip(names, tensors, strict=True)))

    assert gradgradcheck(scan, [v.requires_grad_() for v in inputs.values()], fast_mode=True)


def test_the_chunked_way_says_that_it_cannot_be_differentiated_twice():
    inputs = {name: v.requires_grad_() for name, v in make_inputs().items()}
    y = selective_scan(**inputs, method="chunked")
    (grad,) = torch.autograd.grad(y.square().sum(), inputs["A"], create_graph=True)
    with pytest.raises(RuntimeError, match="differentiate twice"):
        grad.sum().backward()


@every_way
def test_no_gradient_comes_from_padding(way):
    """C3: not even NaN, which a product with 0 would let through."""
    inputs = make_inputs(CHUNK + 3)
    mask = torch.ones(2, CHUNK + 3, dtype=torch.bool)
    mask[1, 9:] = mask[0, :4] = False
    right = differentiate(way, inputs, mask)
    for name in ("x", "delta", "B", "C", "gate"):
        inputs[name][~mask] = float("nan")
        assert (right[name][~mask] == 0).all()
    assert_close(differentiate(way, inputs, mask), right, rtol=0, atol=0)


@every_way
def test_gradients_pass_from_piece_to_piece(way):
    """S9, state-spaces/mamba#233, mamba.py#38: cutting a signal changes no gradient either."""
    inputs = {name: v.requires_grad_() for name, v in make_inputs(CHUNK + 9).items()}
    whole = scan_by(way, **inputs)[0].square().sum()
    right = torch.autograd.grad(whole, list(inputs.values()))
    state, loss = inputs["state"], 0
    for cut in (slice(0, CHUNK - 2), slice(CHUNK - 2, None)):
        tokens = {name: inputs[name][:, cut] for name in ("x", "delta", "B", "C", "gate")}
        y, state = scan_by(way, **inputs | tokens | {"state": state})
        loss = loss + y.square().sum()
    assert_close(torch.autograd.grad(loss, list(inputs.values())), right, rtol=1e-11, atol=1e-11)


@every_way
def test_the_backward_pass_costs_as_much_again_for_twice_the_length(way):
    """S8, mamba-minimal, the official reference, transformers: linear in what it writes."""

    def scan(inputs):
        return scan_by(way, **inputs)[0]

    short, long = (count_backward(scan, length, way) for length in (4 * CHUNK, 8 * CHUNK))
    assert 1.9 < long / short < 2.1


def test_the_count_sees_a_quadratic_backward_pass():
    """S8, mamba-minimal: each index into a tensor fills a whole one on the way back."""
    short, long = (count_backward(scan_by_index, length) for length in (4 * CHUNK, 8 * CHUNK))
    assert long / short > 3.5


def test_the_chunked_way_keeps_few_states_for_the_backward_pass():
    length = 20 * CHUNK
    n_states = 2 * length * D_INNER * D_STATE
    inputs = {k: v for k, v in make_inputs(length).items() if k not in ("skip", "gate")}
    n_given = sum(v.numel() for v in inputs.values())
    kept = {"chunked in twos": 0, "loop": 0}
    for way in kept:

        def keep(tensor, way=way):
            kept[way] += tensor.numel()
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            scan_by(way, **{name: v.requires_grad_() for name, v in inputs.items()})
    assert kept["chunked in twos"] <= n_given + n_states / CHUNK
    assert kept["loop"] >= n_given + 2 * n_states


def test_the_chunked_way_never_holds_all_states_at_once():
    length = 20 * CHUNK
    inputs = {name: v.requires_grad_() for name, v in make_inputs(length).items()}
    largest = {}
    for way in ("chunked", "parallel"):
        with CountNumbers() as counter:
            scan_by(way, **inputs)[0].sum().backward()
        largest[way] = counter.largest
    assert largest["chunked"] <= 2 * length * D_STATE  # B or C, folded
    assert largest["parallel"] >= 2 * length * D_STATE * D_INNER
