"""The operator of the parallel scan: associative, not commutative, and the tree made of it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scan_inputs import make_inputs
from torch.testing import assert_close
from torch.utils._python_dispatch import TorchDispatchMode

from mamba_edu.scan import accumulate_steps, combine_steps

KEEP, WRITE = torch.tensor([0.5, 0.9, 0.1]), torch.tensor([1.0, 2.0, 3.0])
numbers = st.lists(st.floats(-1, 1), min_size=6, max_size=6)


class CountCalls(TorchDispatchMode):
    """Count the products, each of which a machine with enough lanes does in one step."""

    def __init__(self):
        super().__init__()
        self.products = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.products += func.overloadpacket is torch.ops.aten.mul
        return func(*args, **(kwargs or {}))


def list_steps():
    return list(zip(KEEP, WRITE, strict=True))


def test_three_steps_end_where_the_hand_says():
    """S6, state-spaces/mamba#716: from 0, 1 then 0.9 + 2 then 0.29 + 3."""
    first, second, third = list_steps()
    keep, write = combine_steps(combine_steps(first, second), third)
    assert write.item() == pytest.approx(3.29)
    assert keep.item() == pytest.approx(0.045)


def test_swapped_operands_end_elsewhere():
    """S6, state-spaces/mamba#716: the same three steps, each combination with its sides swapped."""
    first, second, third = list_steps()
    assert combine_steps(third, combine_steps(second, first))[1].item() == pytest.approx(3.35)


@given(numbers)
def test_any_bracketing_gives_the_same(values):
    a, b, c, d, e, f = torch.tensor(values, dtype=torch.float64)
    left = combine_steps(combine_steps((a, b), (c, d)), (e, f))
    right = combine_steps((a, b), combine_steps((c, d), (e, f)))
    assert_close(left, right)


@pytest.mark.parametrize("length", [*range(10), 31, 32, 33])
def test_accumulated_steps_equal_those_combined_one_by_one(length):
    inputs = make_inputs(length)
    keep, write = torch.exp(-inputs["delta"]), inputs["x"]
    expected, so_far = [], None
    for step in zip(keep.unbind(1), write.unbind(1), strict=True):
        so_far = step if so_far is None else combine_steps(so_far, step)
        expected.append(so_far)
    found = accumulate_steps(keep, write)
    assert found[0].shape == found[1].shape == keep.shape
    for t, (keep_t, write_t) in enumerate(expected):
        assert_close((found[0][:, t], found[1][:, t]), (keep_t, write_t))


def test_the_tree_is_as_high_as_the_logarithm_of_the_length():
    keep, write = torch.rand(1, 1024, 1), torch.rand(1, 1024, 1)
    with CountCalls() as counter:
        accumulate_steps(keep, write)
    assert counter.products == 2 * 2 * 10  # up and down the tree, two products a combination
