"""The block's parts against other ways to compute them; streams and padding change nothing."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from mamba_edu.layers import (
    MambaBlock,
    MambaStack,
    MambaState,
    ResidualBlock,
    RMSNorm,
    convolve_depthwise,
)
from mamba_edu.layers.convolution import hide_padding, take_tokens
from mamba_edu.tokens import make_mask

BATCH, LENGTH, D_MODEL, D_STATE, D_CONV = 2, 7, 6, 5, 4
nan = float("nan")


def rand(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make_block(kind=MambaBlock, **options):
    torch.manual_seed(0)
    return kind(D_MODEL, d_state=D_STATE, delta_rank=3, bias=True, **options).double()


KINDS = pytest.mark.parametrize("kind", [MambaBlock, ResidualBlock, MambaStack])


def list_state(state):
    """List the tensors of one block's state, or of a stack's."""
    states = [state] if isinstance(state, MambaState) else state
    return [tensor for one in states for tensor in one]


@pytest.mark.parametrize("scale", [1.0, 1e-4, 0.0])
def test_the_norm_equals_torchs(scale):
    norm = RMSNorm(D_MODEL, eps=1e-3).double()
    torch.nn.init.uniform_(norm.weight)
    x = scale * rand(BATCH, LENGTH, D_MODEL)
    assert_close(norm(x), F.rms_norm(x, (D_MODEL,), norm.weight, eps=1e-3))


def test_the_norm_squares_half_precision_where_it_cannot_overflow():
    x = torch.full((1, D_MODEL), 3e4, dtype=torch.float16)
    assert_close(RMSNorm(D_MODEL).half()(x), torch.ones_like(x))


@pytest.mark.parametrize("d_conv", [1, 2, 4, 9])
def test_the_convolution_equals_torchs(d_conv):
    x, weight, bias = rand(BATCH, LENGTH, 3), rand(3, d_conv, seed=1), rand(3, seed=2)
    padded = F.pad(x.transpose(1, 2), (d_conv - 1, 0))
    right = F.conv1d(padded, weight[:, None], bias, groups=3).transpose(1, 2)
    y, tail = convolve_depthwise(x, weight, bias)
    assert_close(y, right)
    assert_close(tail, padded.transpose(1, 2)[:, LENGTH:])
    assert_close(convolve_depthwise(x, weight)[0], right - bias)


def test_the_convolution_passes_over_padding():
    """C3: a real token sees the real tokens before it, wherever padding stands between them."""
    rows = [[1, 1, 0, 0, 1, 0, 1], [0, 0, 1, 1, 1, 1, 0], [0, 0, 0, 0, 0, 0, 0]]
    mask = torch.tensor(rows, dtype=torch.bool)
    x, old = rand(3, LENGTH, 4), rand(3, D_CONV - 1, 4, seed=3)
    weight, bias = rand(4, D_CONV, seed=1), rand(4, seed=2)
    y, tail = convolve_depthwise(x.masked_fill(~mask[..., None], nan), weight, bias, old, mask)
    for row in range(3):
        right, last = convolve_depthwise(x[row, mask[row]][None], weight, bias, old[row, None])
        assert_close(y[row, mask[row]], right[0])
        assert_close(tail[row], last[0])
    assert (y[~mask] == 0).all()


def test_tokens_are_taken_at_each_rows_own_places():
    tokens = torch.arange(12.0).reshape(2, 3, 2)
    taken = take_tokens(tokens, torch.tensor([[2, 0], [1, 1]]))
    assert taken.tolist() == [[[4, 5], [0, 1]], [[8, 9], [8, 9]]]


def test_hidden_padding_is_zero_with_no_gradient():
    tokens = rand(2, 3, 4).requires_grad_()
    mask = torch.tensor([[True, False, True], [False, False, True]])
    hidden = hide_padding(tokens / mask[..., None], mask)  # infinite on padding
    assert_close(hidden, torch.where(mask[..., None], tokens, 0))
    assert hide_padding(tokens, None) is tokens


def test_the_block_equals_its_equations():
    """Token by token, channel by channel, in the words of the docstring."""
    block = make_block()
    tokens = rand(1, LENGTH, D_MODEL)
    y, (tail, last) = block(tokens, return_state=True)
    x, gate = F.linear(tokens[0], block.in_proj.weight, block.in_proj.bias).chunk(2, dim=-1)
    assert_close(tail[0], x[1 - D_CONV :])
    h = torch.zeros_like(last[0])
    for t in range(LENGTH):
        taps = block.conv1d.weight[:, 0]
        mixed = sum(taps[:, k] * x[t - 3 + k] for k in range(D_CONV) if t - 3 + k >= 0)
        mixed = F.silu(mixed + block.conv1d.bias)
        low, B, C = (block.x_proj.weight @ mixed).split([3, D_STATE, D_STATE])
        delta = F.softplus(block.dt_proj.weight @ low + block.dt_proj.bias)[:, None]
        h = torch.exp(-delta * block.A_log.exp()) * h + delta * B * mixed[:, None]
        answer = (h @ C + block.D * mixed) * F.silu(gate[t])
        assert_close(y[0, t], block.out_proj.weight @ answer + block.out_proj.bias)
    assert_close(last[0], h)


def test_the_residual_block_adds_and_the_stack_repeats():
    tokens = rand(BATCH, LENGTH, D_MODEL)
    stack = make_block(MambaStack, n_layers=2)
    for layer in stack.layers:
        torch.nn.init.uniform_(layer.norm.weight)
    by_hand = tokens
    for layer in stack.layers:
        right = by_hand + layer.mixer(layer.norm(by_hand))
        assert_close(layer(by_hand), right)
        by_hand = right
    assert_close(stack(tokens), stack.norm_f(by_hand))


def test_a_deeper_stack_starts_with_smaller_answers():
    def measure(n_layers):
        weights = make_block(MambaStack, n_layers=n_layers).layers[0].mixer.out_proj.weight
        return weights.abs().max().item() * n_layers**0.5

    assert measure(9) == pytest.approx(measure(1), rel=0.2)


@KINDS
@pytest.mark.parametrize("cut", [0, 1, 2, LENGTH - 1, LENGTH])
def test_two_pieces_equal_the_whole(kind, cut):
    """S9, state-spaces/mamba#233, #441, #641, mamba.py#38, through the convolution too."""
    model, tokens = make_block(kind), rand(BATCH, LENGTH, D_MODEL)
    whole, end = model(tokens, return_state=True)
    first, state = model(tokens[:, :cut], return_state=True)
    second, last = model(tokens[:, cut:], state=state, return_state=True)
    assert_close(torch.cat([first, second], dim=1), whole, rtol=1e-12, atol=1e-12)
    assert_close(list_state(last), list_state(end), rtol=1e-12, atol=1e-12)


@KINDS
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-6)])
def test_steps_equal_the_whole_over_500_tokens(kind, dtype, tolerance, as_reader):
    """S10, state-spaces/mamba#500, #683, #1024. Without the hook: it takes longer than a step."""
    model, tokens = make_block(kind).to(dtype), rand(BATCH, 500, D_MODEL).to(dtype)
    state, steps = None, []
    with torch.no_grad():
        whole, end = model(tokens, return_state=True)
        for token in tokens.unbind(1):
            y, state = model.step(token, state)
            steps.append(y)
    assert_close(torch.stack(steps, dim=1), whole, rtol=tolerance, atol=tolerance)
    assert_close(list_state(state), list_state(end), rtol=tolerance, atol=tolerance)


@KINDS
def test_a_step_leaves_its_state_and_repeats(kind):
    """S10, state-spaces/mamba#500, #683, #1024: twice from one state is twice the same."""
    model, token = make_block(kind), rand(BATCH, D_MODEL)
    _, state = model.step(token)
    before = [tensor.clone() for tensor in list_state(state)]
    (y, end), (again, same) = model.step(token, state), model.step(token, state)
    assert_close(again, y, rtol=0, atol=0)
    assert_close(list_state(same), list_state(end), rtol=0, atol=0)
    assert_close(list_state(state), before, rtol=0, atol=0)


@pytest.mark.parametrize(("batch", "length"), [(0, LENGTH), (BATCH, 0)])
def test_an_empty_sequence_returns_an_empty_answer_and_the_state(batch, length):
    """S5, mamba.py#26."""
    state = MambaState(rand(batch, D_CONV - 1, 2 * D_MODEL), rand(batch, 2 * D_MODEL, D_STATE))
    block = make_block()
    y, end = block(rand(batch, length, D_MODEL), state=state, return_state=True)
    assert y.shape == (batch, length, D_MODEL)
    assert length or torch.equal(end.tail, state.tail)
    assert length or torch.equal(end.h, state.h)


def test_the_state_stays_single_precision_in_a_half_precision_block():
    """S4, state-spaces/mamba#6, #352."""
    block, tokens = make_block().bfloat16(), rand(BATCH, LENGTH, D_MODEL).bfloat16()
    y, state = block(tokens, return_state=True)
    assert y.dtype == torch.bfloat16
    assert state.h.dtype == torch.float32
    assert_close(block.compute_rates(), -torch.exp(block.A_log.float()))


def test_a_step_rule_is_obeyed():
    """With a clock that stands still, only the skip term is left of the scan."""
    block = make_block()
    block.step_rule = torch.zeros_like
    delta, _, _ = block.select(rand(BATCH, LENGTH, 2 * D_MODEL))
    assert (delta == 0).all()
    _, state = block(rand(BATCH, LENGTH, D_MODEL), return_state=True)
    assert (state.h == 0).all()


def test_the_masks_of_several_lengths_are_one_table():
    assert make_mask([1, 3]).int().tolist() == [[1, 0, 0], [1, 1, 1]]
