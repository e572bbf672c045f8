"""The reference Transformer: against attention written out, its places, its size, its refusals."""

import math

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.models import (
    AttentionBlock,
    AttentionStack,
    SequenceClassifier,
    TransformerClassifier,
)
from mamba_edu.models.rotary import place_tokens, rotate_by_place

BATCH, LENGTH, D_MODEL, N_HEADS = 2, 5, 24, 3
D_HEAD = D_MODEL // 2 // N_HEADS


def build(**options):
    torch.manual_seed(0)
    return AttentionBlock(D_MODEL, N_HEADS, **options).double()


def draw(*shape):
    rng = torch.Generator().manual_seed(1)
    return torch.randn(*shape, generator=rng, dtype=torch.float64)


def turn_by_complex_numbers(vector, place):
    """RoPE by its definition: pair i is one complex number, turned by a power of e."""
    n_pairs = len(vector) // 2
    turned = [
        complex(vector[i], vector[i + n_pairs]) * complex(math.cos(angle), math.sin(angle))
        for i in range(n_pairs)
        for angle in [place * 10_000 ** (-i / n_pairs)]
    ]
    return torch.tensor([z.real for z in turned] + [z.imag for z in turned], dtype=torch.float64)


def run_by_hand(block, tokens, rotary):
    """One sequence, token by token and head by head."""
    normed = block.norm(tokens)
    heads = []
    for head in range(N_HEADS):
        first = head * D_HEAD
        q, k, v = (
            normed @ block.in_proj.weight[start + first : start + first + D_HEAD].T
            for start in (0, N_HEADS * D_HEAD, 2 * N_HEADS * D_HEAD)
        )
        if rotary:
            q, k = (
                torch.stack([turn_by_complex_numbers(row.tolist(), t) for t, row in enumerate(x)])
                for x in (q, k)
            )
        scores = torch.exp(q @ k.T / math.sqrt(D_HEAD))
        heads.append(scores @ v / scores.sum(1, keepdim=True))
    tokens = tokens + torch.cat(heads, dim=1) @ block.out_proj.weight.T
    hidden = block.norm_up(tokens) @ block.up.weight.T
    hidden = hidden * (1 + torch.erf(hidden / math.sqrt(2))) / 2
    return tokens + hidden @ block.down.weight.T


@pytest.mark.parametrize("rotary", [False, True])
def test_a_block_is_attention_written_out(rotary):
    block, tokens = build(rotary=rotary), draw(BATCH, LENGTH, D_MODEL)
    with torch.no_grad():
        right = torch.stack([run_by_hand(block, row, rotary) for row in tokens])
        assert_close(block(tokens), right, rtol=1e-12, atol=1e-12)
        stack = AttentionStack(D_MODEL, 3, N_HEADS, rotary).double()
        one, two, three = stack.layers
        assert_close(stack(tokens), stack.norm_f(three(two(one(tokens)))))


def test_padding_is_neither_read_nor_counted():
    """C3: NaN on padding anywhere, a row of padding alone, and each row alone answers the same."""
    block, tokens = build(), draw(3, LENGTH, D_MODEL)
    mask = torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 1, 1], [0, 0, 0, 0, 0]]).bool()
    spoiled = tokens.masked_fill(~mask[..., None], float("nan")).requires_grad_()
    y = block(spoiled, mask)
    for row, own, real in zip(y[:2], tokens, mask, strict=False):
        assert_close(row[real], block(own[real][None])[0], rtol=1e-12, atol=1e-12)
    assert (y[~mask] == 0).all()
    y.square().sum().backward()
    assert (spoiled.grad[~mask] == 0).all()
    assert all(parameter.grad.isfinite().all() for parameter in block.parameters())
    assert place_tokens(tokens, mask)[0, mask[0]].tolist() == [0, 1, 2]
    assert place_tokens(tokens)[1].tolist() == [0, 1, 2, 3, 4]


def test_only_how_far_apart_two_tokens_stand_counts():
    q, k = draw(2, 1, 1, LENGTH, 6)
    places = torch.arange(LENGTH, dtype=torch.float64)[None]

    def score(shift):
        return rotate_by_place(q, places + shift) @ rotate_by_place(k, places + shift).mT

    assert_close(score(1000), score(0), rtol=1e-9, atol=1e-9)
    assert not torch.allclose(score(0), q @ k.mT)


@pytest.mark.parametrize("rotary", [False, True])
def test_order_counts_only_where_places_are_told(rotary):
    torch.manual_seed(0)
    model = TransformerClassifier(3, 9, d_model=8, rotary=rotary).double()
    ids = torch.tensor([[1, 2, 3, 4, 5, 6]])
    same = torch.allclose(model(ids), model(ids.flip(1)), rtol=1e-9, atol=1e-12)
    assert same != rotary


@pytest.mark.parametrize("name", ["cls_first", "cls_middle", "cls_last", "cls_both"])
def test_cls_sees_all_from_any_place(name):
    torch.manual_seed(0)
    model = TransformerClassifier(3, d_in=2, readout=name, d_model=8)
    inputs = torch.randn(4, 7, 2, requires_grad=True)
    model(inputs).square().sum().backward()
    assert (inputs.grad != 0).all()


@pytest.mark.parametrize("d_model", [8, 16, 32, 64, 128])
@pytest.mark.parametrize("n_symbols", [7, 33])
def test_both_classifiers_have_the_same_size(d_model, n_symbols):
    """DESIGN asks for 15 %; two attention blocks against one Mamba block."""
    sizes = [
        sum(parameter.numel() for parameter in kind(8, n_symbols, d_model=d_model).parameters())
        for kind in (TransformerClassifier, SequenceClassifier)
    ]
    assert 0.85 <= sizes[0] / sizes[1] <= 1.15
    assert len(TransformerClassifier(8, n_symbols, d_model=d_model).blocks.layers) == 2


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (AttentionBlock, (12, 2), ValueError, "a multiple of 4 n_heads = 8; it is 12"),
        (AttentionBlock, (8, 0), ValueError, "n_heads must be at least 1; it is 0"),
        (AttentionBlock, (8, 2, 1), TypeError, "rotary must be True or False; it is 1"),
        (AttentionStack, (8, 0), ValueError, "n_layers must be at least 1; it is 0"),
        (TransformerClassifier, (0, 4), ValueError, "n_classes must be at least 1; it is 0"),
        (TransformerClassifier, (3,), ValueError, "give either n_symbols"),
        (TransformerClassifier, (3, 4, None, "best"), ValueError, "readout must be one of"),
        (rotate_by_place, (draw(1, 1, 2, 3), draw(1, 2)), ValueError, "an even number of channels"),
        (place_tokens, (draw(1, 2, 3), draw(1, 2)), TypeError, "mask must be torch.bool"),
        (place_tokens, (draw(1, 2, 3), draw(1, 3) > 0), ValueError, "mask must have the shape"),
    ],
)
def test_what_does_not_fit_a_transformer_is_refused(function, arguments, error, message, as_reader):
    with pytest.raises(error, match=message):
        function(*arguments)
