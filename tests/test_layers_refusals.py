"""What the layers refuse, in which words."""

import pytest
import torch

from mamba_edu.layers import (
    MambaBlock,
    MambaStack,
    MambaState,
    ResidualBlock,
    RMSNorm,
    convolve_depthwise,
    start_rates,
)

BATCH, LENGTH, D_MODEL, D_STATE = 2, 7, 6, 5
TOKENS, MASK = torch.ones(BATCH, LENGTH, D_MODEL), torch.ones(BATCH, LENGTH, dtype=torch.bool)
TAIL, H = torch.ones(BATCH, 3, 12), torch.ones(BATCH, 12, D_STATE)


def run(kind):
    model = kind(D_MODEL, d_state=D_STATE)

    def call(tokens=TOKENS, mask=MASK, tail=TAIL, h=H):
        state = MambaState(tail, h)
        return model(tokens, mask, [state] if kind is MambaStack else state)

    return call


SPOILED = [
    ({"tokens": TOKENS[0]}, ValueError, r"axes \(batch, length, d_model\); .* \(7, 6\)"),
    ({"tokens": TOKENS[..., 1:]}, ValueError, "must have d_model = 6 as"),
    ({"tokens": TOKENS.long()}, TypeError, "tokens must be .*; it is torch.int64"),
    ({"tokens": TOKENS.double()}, TypeError, "tokens must be torch.float32, as the block's"),
    ({"tokens": [[1.0]]}, TypeError, "tokens must be a torch.Tensor; its type is list"),
    ({"mask": MASK.long()}, TypeError, "mask must be torch.bool; it is torch.int64"),
    ({"mask": MASK[:1]}, ValueError, r"mask must have the shape .* \(2, 7\) of .*\(1, 7\)"),
    ({"tail": TAIL[:, 1:]}, ValueError, r"tail must have the shape .* = \(2, 3, 12\); .*\(2, 2,"),
    ({"h": H[..., 1:]}, ValueError, "state.h must have d_state = 5 as A_log has"),
    ({"h": H[:1]}, ValueError, "state.h must have batch = 2 as tokens has"),
]


@pytest.mark.parametrize(("spoiled", "error", "message"), SPOILED)
def test_a_block_refuses_what_does_not_fit(spoiled, error, message, as_reader):
    with pytest.raises(error, match=message):
        run(MambaBlock)(**spoiled)


@pytest.mark.parametrize("kind", [ResidualBlock, MambaStack])
@pytest.mark.parametrize(("spoiled", "error", "message"), SPOILED[5:])
def test_what_holds_a_block_refuses_the_same(kind, spoiled, error, message, as_reader):
    with pytest.raises(error, match=message):
        run(kind)(**spoiled)


@pytest.mark.parametrize("kind", [MambaBlock, ResidualBlock, MambaStack])
def test_a_block_takes_what_fits(kind):
    """The refusals above owe nothing to the arguments that were not spoiled."""
    assert run(kind)().shape == TOKENS.shape


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: MambaBlock(0), ValueError, "d_model must be at least 1; it is 0"),
        (lambda: MambaBlock(6, d_state=0), ValueError, "d_state must be at least 1; it is 0"),
        (lambda: MambaBlock(6, d_conv=0), ValueError, "d_conv must be at least 1; it is 0"),
        (lambda: MambaBlock(6, expand=1.5), TypeError, "expand must be an int; it is 1.5"),
        (lambda: MambaBlock(6, delta_rank=0), ValueError, "delta_rank must be at least 1; it is 0"),
        (lambda: MambaBlock(6, delta_rank="all"), TypeError, "delta_rank must be an int"),
        (lambda: MambaBlock(6, delta_range=(1.0, 0.1)), ValueError, "delta_range must be"),
        (lambda: MambaStack(6, 0), ValueError, "n_layers must be at least 1; it is 0"),
        (lambda: RMSNorm(0), ValueError, "d_model must be at least 1; it is 0"),
        (lambda: start_rates(3, 0), ValueError, "d_state must be at least 1; it is 0"),
    ],
)
def test_sizes_that_make_no_block_are_refused(build, error, message, as_reader):
    with pytest.raises(error, match=message):
        build()


def test_an_unknown_method_is_refused_when_it_is_needed(as_reader):
    with pytest.raises(ValueError, match="method must be"):
        MambaBlock(6, method="fast")(TOKENS)


def test_a_stack_refuses_another_number_of_states():
    with pytest.raises(ValueError, match="one entry for each of the 2 layers; it holds 1"):
        MambaStack(D_MODEL, n_layers=2)(TOKENS, state=[MambaState(TAIL, H)])


def test_a_state_of_another_kind_is_refused(as_reader):
    with pytest.raises(TypeError, match=r"state must be a MambaState, .*; its type is Tensor"):
        MambaStack(D_MODEL, n_layers=2)(TOKENS, state=MambaState(TAIL, H))
    with pytest.raises(TypeError, match="its type is list"):
        MambaBlock(D_MODEL)(TOKENS, state=[MambaState(TAIL, H)])
    with pytest.raises(TypeError, match=r"state.tail must be a torch.Tensor"):
        run(MambaBlock)(tail=None)


def test_the_norm_refuses_another_width(as_reader):
    with pytest.raises(ValueError, match=r"d_model = 6 as its last axis; its shape is \(2, 7, 5"):
        RMSNorm(D_MODEL)(TOKENS[..., 1:])


@pytest.mark.parametrize(
    ("x", "weight", "message"),
    [
        (TOKENS[0], torch.ones(6, 4), r"x must have the axes \(batch, length, d_inner\)"),
        (TOKENS, torch.ones(5, 4), "weight must have d_inner = 6 as x has"),
        (TOKENS, torch.ones(6, 1, 4), r"weight must have the axes \(d_inner, d_conv\)"),
    ],
)
def test_the_convolution_refuses_other_shapes(x, weight, message, as_reader):
    with pytest.raises(ValueError, match=message):
        convolve_depthwise(x, weight)
