"""Registers, pieces and headings: where they stand, and that padding moves none of them."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.readout import ReadCLS, ReadRegisters, take_registers
from mamba_edu.tokens import TokenEmbedding, add_cls, add_heading, add_registers, cut_pieces

D_MODEL, EVERY = 2, 3
REGISTER = torch.tensor([-1.0, -1.0])
nan = float("nan")


def draw_rows(*rows):
    """Rows of numbered tokens, NaN where there is a dot, and their mask."""
    mask = torch.tensor([[letter == "x" for letter in row] for row in rows])
    number = mask.cumsum(1).float().masked_fill(~mask, nan)
    return number[..., None].repeat(1, 1, D_MODEL), mask


def place_by_hand(n):
    """The numbers 1 .. n with -1 behind every third and behind the last."""
    placed = []
    for number in range(1, n + 1):
        placed += [number, -1] if number % EVERY == 0 or number == n else [number]
    return placed


@pytest.mark.parametrize("length", [1, 2, 3, 4, 6, 7, 64])
def test_registers_stand_where_the_length_says(length):
    """C2: derived from the length; the last token is one, whatever the length."""
    tokens, mask = draw_rows("x" * length)
    longer, same = add_registers(tokens, REGISTER, EVERY)
    assert same is None
    assert longer[0, :, 1].tolist() == place_by_hand(length)
    padded, real = add_registers(tokens, REGISTER, EVERY, mask)
    assert padded[0, real[0], 1].tolist() == place_by_hand(length)


@pytest.mark.parametrize("name", ["right", "left", "gaps"])
def test_registers_are_counted_among_each_rows_own_tokens(name):
    """C3: padding anywhere, and NaN on it, changes neither their number nor their places."""
    rows = {
        "right": ("xxxxxxx", "xxx....", "x......", "xxxx..."),
        "left": ("xxxxxxx", "....xxx", "......x", "...xxxx"),
        "gaps": ("xxxxxxx", "x..x..x", "..x....", "xx..x.x"),
    }[name]
    tokens, mask = draw_rows(*rows)
    longer, real = add_registers(tokens, REGISTER, EVERY, mask)
    for row, own, n in zip(longer, real, (7, 3, 1, 4), strict=True):
        assert row[own, 0].tolist() == place_by_hand(n)
    registers, is_register = take_registers(longer, EVERY, real)
    assert (registers[is_register] == -1).all()
    assert is_register.sum(1).tolist() == [3, 1, 1, 2]
    assert longer.isfinite().all()


def test_pieces_hold_the_real_tokens_in_their_order():
    tokens, mask = draw_rows("xxxxx", ".x.xx", "x....")
    pieces, real = cut_pieces(tokens, 3, mask)
    right = [[[1, 2, 3], [4, 5, 0]], [[1, 2, 3], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]]]
    assert pieces[..., 1].tolist() == right
    assert_close(real, pieces[..., 0] > 0)
    whole, no_mask = cut_pieces(tokens[:1], 5)
    assert no_mask is None
    assert_close(whole, tokens[:1, None])
    uneven, filled = cut_pieces(tokens[:1], 3)
    assert uneven[..., 1].tolist() == right[:1]
    assert filled.tolist() == [[[True, True, True], [True, True, False]]]


def test_a_heading_is_the_mean_of_each_rows_own_tokens():
    tokens, mask = draw_rows("xxxx", "x..x", "..x.")
    longer, real = add_heading(tokens, mask)
    assert longer[:, 0, 1].tolist() == [2.5, 1.5, 1.0]
    assert torch.equal(longer[:, 1:].nan_to_num(), tokens.nan_to_num())
    assert real.tolist() == [[True, *row] for row in mask.tolist()]
    assert add_heading(tokens[:1])[1] is None
    assert_close(add_heading(tokens[:1])[0], longer[:1])


def test_registers_and_heading_learn_from_every_row():
    tokens = torch.ones(2, 7, D_MODEL, requires_grad=True)
    register = torch.ones(D_MODEL, requires_grad=True)
    add_registers(tokens, register, EVERY)[0].sum().backward()
    assert_close(register.grad, torch.full((D_MODEL,), 6.0))
    assert_close(tokens.grad, torch.ones_like(tokens))
    tokens.grad = None
    add_heading(tokens)[0][:, 0].sum().backward()
    assert_close(tokens.grad, torch.full_like(tokens, 1 / 7))


@pytest.mark.parametrize("options", [{"cls_position": "both"}, {"registers_every": 3}, {}])
@pytest.mark.parametrize("heading", [False, True])
def test_an_embedding_puts_what_it_is_asked_for(options, heading):
    embedding = TokenEmbedding(D_MODEL, n_symbols=9, heading=heading, **options)
    ids, mask = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0]]), torch.ones(2, 4, dtype=torch.bool)
    mask[1, 2:] = False
    tokens, real = embedding(ids, mask)
    for row, own, n in zip(tokens, real, (4, 2), strict=True):
        alone = embedding.embed(ids[0 if n == 4 else 1, :n])
        content = [alone.mean(0, keepdim=True), alone] if heading else [alone]
        right = torch.cat(content)[None]
        if "cls_position" in options:
            cls_token = embedding.cls_token[None, None]
            right = torch.cat([cls_token, right, cls_token], dim=1)
        if "registers_every" in options:
            right, _ = add_registers(right, embedding.cls_token, 3)
        assert_close(row[own], right[0])


def test_both_ends_are_read_where_they_were_put():
    tokens, mask = draw_rows("xxxx", ".xx.", "x..x")
    embedding = TokenEmbedding(D_MODEL, d_in=D_MODEL, cls_position="both")
    longer, real = embedding(tokens, mask)
    assert_close(ReadCLS("both")(longer, real), embedding.cls_token.expand(3, -1))
    assert TokenEmbedding(D_MODEL, 4, cls_position="both").cls_position == "both"


TOKENS = torch.ones(2, 3, D_MODEL)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (cut_pieces, (TOKENS, 0), ValueError, "size must be at least 1; it is 0"),
        (cut_pieces, (TOKENS, 2.0), TypeError, "size must be an int; it is 2.0"),
        (cut_pieces, (TOKENS[0], 2), ValueError, "tokens must have the axes"),
        (cut_pieces, (TOKENS, 2, TOKENS[..., 0]), TypeError, "mask must be torch.bool"),
        (cut_pieces, (TOKENS, 2, TOKENS[:1, :, 0] > 0), ValueError, "mask must have the shape"),
        (cut_pieces, (TOKENS, 2, TOKENS[..., 0] > 1), ValueError, "throughout row 0"),
        (cut_pieces, (TOKENS[:, :0], 2), ValueError, r"throughout row 0 \(2 of 2"),
        (add_registers, (TOKENS, torch.ones(5), 2), ValueError, "must have d_model = 2"),
        (add_registers, (TOKENS, REGISTER, 0), ValueError, "size must be at least 1; it is 0"),
        (add_heading, (TOKENS[0],), ValueError, "tokens must have the axes"),
        (add_heading, (TOKENS, TOKENS[..., 0]), TypeError, "mask must be torch.bool"),
        (add_heading, (TOKENS, TOKENS[..., 0] > 1), ValueError, "throughout row 0"),
        (add_heading, (TOKENS[:, :0],), ValueError, "throughout row 0"),
        (add_cls, (TOKENS, REGISTER, "both"), ValueError, "one of .* it is 'both'"),
        (TokenEmbedding, (3, 4, None, "last", True, False, 2), ValueError, "give either cls_pos"),
        (TokenEmbedding, (3, 4, None, None, True, False, 0), ValueError, "registers_every must be"),
        (TokenEmbedding, (3, 4, None, None, True, False, None, 1), TypeError, "heading must be"),
    ],
)
def test_what_cannot_be_placed_is_refused(function, arguments, error, message, as_reader):
    with pytest.raises(error, match=message):
        function(*arguments)


def test_registers_are_read_by_how_far_apart_they_were_put():
    tokens, mask = draw_rows("xxxxxxx", "xx.....")
    longer, real = add_registers(tokens, REGISTER, 2, mask)
    answer = ReadRegisters(D_MODEL, "mean", every=2)(longer, real)
    assert_close(answer, REGISTER.expand(2, -1))
