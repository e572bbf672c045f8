"""Masks, where CLS stands, and what an embedding makes of ids, numbers and padding."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.readout import ReadCLS
from mamba_edu.tokens import (
    POSITIONS,
    BlindReadout,
    TokenEmbedding,
    add_cls,
    check_rows,
    locate_rank,
    make_mask,
    refuse_blindness,
)

BATCH, LENGTH, D_MODEL = 2, 7, 3
nan = float("nan")


def to_mask(*rows):
    return torch.tensor([[letter == "x" for letter in row] for row in rows])


@pytest.mark.parametrize("as_tensor", [False, True])
def test_a_mask_says_which_tokens_are_real(as_tensor):
    lengths = torch.tensor([2, 4, 1]) if as_tensor else [2, 4, 1]
    assert_close(make_mask(lengths), to_mask("xx..", "xxxx", "x..."))
    assert_close(make_mask(lengths, side="left"), to_mask("..xx", "xxxx", "...x"))
    assert_close(make_mask(lengths, length=5), to_mask("xx...", "xxxx.", "x...."))
    assert make_mask([]).shape == (0, 0)


def test_a_rank_is_found_among_real_tokens():
    mask = to_mask("..x.xx", "xxxxxx", ".x.x.x")
    for rank, columns in enumerate([[2, 0, 1], [4, 1, 3], [5, 2, 5]]):
        assert locate_rank(mask, torch.full((3,), rank)).tolist() == columns


@pytest.mark.parametrize("length", [1, 2, 7, 8, 64])
@pytest.mark.parametrize("position", POSITIONS)
def test_cls_stands_where_the_length_says(position, length):
    """C2, Vim4Path#4, HiddenMambaAttn#20: derived from the length, never a constant."""
    tokens = torch.arange(1.0, length + 1)[None, :, None].repeat(BATCH, 1, D_MODEL)
    with_cls, mask, cls_index = add_cls(tokens, torch.zeros(D_MODEL), position)
    place = {"first": 0, "middle": length // 2, "last": length}[position]
    assert mask is None
    assert cls_index.tolist() == [place] * BATCH
    right = [*range(1, place + 1), 0, *range(place + 1, length + 1)]
    assert with_cls[1, :, 2].tolist() == right


PADDED = to_mask("xxxxxx", "xxx...", "...xxx", "x..x.x", "x.....")


@pytest.mark.parametrize(
    ("position", "rows"),
    [
        ("first", ["cxxxxxx", "cxxx...", "c...xxx", "cx..x.x", "cx....."]),
        ("middle", ["xxxcxxx", "xcxx...", "...xcxx", "x..cx.x", "cx....."]),
        ("last", ["xxxxxxc", "xxx...c", "...xxxc", "x..x.xc", "x.....c"]),
    ],
)
def test_cls_in_padded_rows_stands_where_each_row_says(position, rows):
    """C2, C3: in the middle of a row's own real tokens."""
    tokens = torch.where(PADDED, 1.0, nan)[..., None]
    with_cls, mask, cls_index = add_cls(tokens, torch.tensor([5.0]), position, PADDED)
    drawn = {1.0: "x", 5.0: "c"}
    assert ["".join(drawn.get(v, ".") for v in row) for row in with_cls[..., 0].tolist()] == rows
    assert_close(mask, ~with_cls[..., 0].isnan())
    assert cls_index.tolist() == [row.index("c") for row in rows]
    assert_close(ReadCLS(position)(with_cls, mask), torch.full((5, 1), 5.0))


def test_cls_learns_from_every_row():
    tokens, cls_token = torch.zeros(BATCH, LENGTH, D_MODEL), torch.ones(D_MODEL).requires_grad_()
    with_cls, _, _ = add_cls(tokens, cls_token, "middle")
    with_cls.sum().backward()
    assert_close(cls_token.grad, torch.full((D_MODEL,), float(BATCH)))


def test_blindness_is_refused_where_it_is_certain():
    """C1, state-spaces/mamba#476: in front of a causal model, and nowhere else."""
    with pytest.raises(BlindReadout, match=r"'first' in a causal model.*Allowed.*'middle'.*'last'"):
        refuse_blindness("first", is_causal=True)
    refuse_blindness("first", is_causal=True, allow_blind=True)
    refuse_blindness("first", is_causal=False)
    for position in ("middle", "last", None):
        refuse_blindness(position, is_causal=True)
    with pytest.raises(ValueError, match=r"cls_position must be one of .* it is 'end'"):
        refuse_blindness("end", is_causal=False)
    assert issubclass(BlindReadout, ValueError)


def test_an_embedding_refuses_a_blind_cls_when_it_is_built():
    with pytest.raises(BlindReadout, match="see none of the tokens"):
        TokenEmbedding(D_MODEL, n_symbols=4, cls_position="first")
    assert TokenEmbedding(D_MODEL, 4, cls_position="first", allow_blind=True).cls_position
    assert TokenEmbedding(D_MODEL, 4, cls_position="first", is_causal=False).cls_position


@pytest.mark.parametrize("kind", ["ids", "numbers"])
def test_an_embedding_makes_tokens_and_never_looks_at_padding(kind):
    torch.manual_seed(0)
    if kind == "ids":
        embedding = TokenEmbedding(D_MODEL, n_symbols=5, cls_position="middle")
        inputs, bad = torch.tensor([[4, 0, 1, 2], [3, 3, 0, 1]]), -100
    else:
        embedding = TokenEmbedding(D_MODEL, d_in=2, cls_position="middle")
        inputs, bad = torch.randn(2, 4, 2), nan
    mask = to_mask("xxxx", "xx..")
    spoiled = inputs.clone()
    spoiled[~mask] = bad
    tokens, with_cls = embedding(spoiled, mask)
    assert with_cls.tolist() == to_mask("xxxxx", "xxx..").tolist()
    assert_close(tokens[0], embedding(inputs)[0][0])
    assert_close(tokens[1, :3], embedding(inputs[1:, :2])[0][0])
    assert_close(tokens[0, 2], embedding.cls_token.detach())
    tokens[with_cls].sum().backward()
    assert all(parameter.grad.isfinite().all() for parameter in embedding.parameters())


def test_an_embedding_without_cls_leaves_the_mask_alone():
    embedding, mask = TokenEmbedding(D_MODEL, n_symbols=5), to_mask("xxx", "xx.")
    tokens, same = embedding(torch.zeros(2, 3, dtype=torch.int64), mask)
    assert same is mask
    assert tokens.shape == (2, 3, D_MODEL)
    assert embedding(torch.zeros(2, 3, dtype=torch.int64))[1] is None
    assert len(list(embedding.parameters())) == 1


def test_tokens_start_large_and_cls_small():
    torch.manual_seed(0)
    embedding = TokenEmbedding(500, n_symbols=50, cls_position="last")
    assert embedding.embed.weight.std().item() == pytest.approx(0.3, rel=0.05)
    assert embedding.cls_token.std().item() == pytest.approx(0.02, rel=0.15)


IDS, NUMBERS = torch.zeros(2, 3, dtype=torch.int64), torch.zeros(2, 3, 4)


def embed_ids(inputs, mask=None):
    return TokenEmbedding(D_MODEL, n_symbols=5)(inputs, mask)


def embed_numbers(inputs, mask=None):
    return TokenEmbedding(D_MODEL, d_in=4)(inputs, mask)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (make_mask, ([2, 0],), ValueError, r"lengths\[1\] must be at least 1; it is 0"),
        (make_mask, ([2, 1.5],), TypeError, r"lengths\[1\] must be an int; it is 1.5"),
        (make_mask, ([2, 5], 4), ValueError, "length must be at least 5; it is 4"),
        (make_mask, ([2], 3, "both"), ValueError, "side must be one of .* it is 'both'"),
        (check_rows, (to_mask("x.", "..", ".."),), ValueError, r"throughout row 1 \(2 of 3 rows"),
        (embed_ids, (NUMBERS,), ValueError, r"inputs must have the axes \(batch, length\);"),
        (embed_ids, (IDS[0],), ValueError, r"inputs must have the axes .* the shape is \(3,\)"),
        (embed_ids, (IDS.float(),), TypeError, "inputs must be ids, .*; they are torch.float32"),
        (embed_ids, (IDS - 1,), ValueError, "ids must be 0 to 4; row 0 holds -1 at token 0"),
        (embed_ids, (IDS + 5,), ValueError, "ids must be 0 to 4; row 0 holds 5 at token 0"),
        (embed_ids, (IDS, IDS), TypeError, "mask must be torch.bool; it is torch.int64"),
        (embed_ids, (IDS, IDS[:1] == 0), ValueError, r"mask must have the shape .*\(1, 3\)"),
        (embed_ids, (IDS, to_mask("xx.", "...")), ValueError, "mask is False throughout row 1"),
        (embed_numbers, (IDS,), ValueError, r"inputs must have the axes \(batch, length, d_in\)"),
        (embed_numbers, (NUMBERS.int(),), TypeError, "inputs must be .*; it is torch.int32"),
        (embed_numbers, (NUMBERS.double(),), TypeError, "inputs must be torch.float32, as the"),
        (embed_numbers, (NUMBERS[..., 1:],), ValueError, "inputs must have d_in = 4 as weight has"),
        (add_cls, (NUMBERS, torch.ones(4), "end"), ValueError, "one of .* it is 'end'"),
        (add_cls, (NUMBERS, torch.ones(5), "last"), ValueError, "cls_token must have d_model = 4"),
        (add_cls, (NUMBERS, torch.ones(4), "last", IDS), TypeError, "mask must be torch.bool"),
        (add_cls, (NUMBERS[:, :0], torch.ones(4), "last"), ValueError, "throughout row 0"),
        (TokenEmbedding, (3,), ValueError, "give either n_symbols, .* n_symbols is None and d_in"),
        (TokenEmbedding, (3, 4, 5), ValueError, "give either n_symbols, .* is 4 and d_in is 5"),
        (TokenEmbedding, (0, 4), ValueError, "d_model must be at least 1; it is 0"),
        (TokenEmbedding, (3, 4.0), TypeError, "n_symbols must be an int; it is 4.0"),
        (TokenEmbedding, (3, None, 0), ValueError, "d_in must be at least 1; it is 0"),
        (TokenEmbedding, (3, 4, None, "end"), ValueError, "cls_position must be one of"),
    ],
)
def test_what_does_not_fit_is_refused(function, arguments, error, message, as_reader):
    """C4, and the like: the row is named."""
    with pytest.raises(error, match=message):
        function(*arguments)
