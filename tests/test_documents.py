"""Packed documents: each comes out as if it were alone, and knows nothing of its neighbours."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock, MambaStack, MambaState, ResidualBlock
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS, ReadMean
from mamba_edu.tokens import batch_documents, locate_documents, pack, run_packed, unpack

D_MODEL, LENGTH, N_SYMBOLS, N_CLASSES = 6, 9, 7, 4
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
LENGTHS = [1, 5, 9, 2, 1, 4, 8]
KINDS = pytest.mark.parametrize("kind", [MambaBlock, ResidualBlock, MambaStack])
lengths_of_documents = st.lists(st.integers(1, LENGTH), min_size=1, max_size=9)


def make_blocks(kind=MambaStack, **options):
    torch.manual_seed(0)
    options |= {"n_layers": 2} if kind is MambaStack else {}
    return kind(D_MODEL, d_state=5, delta_rank=3, bias=True, **options).double()


def draw_documents(lengths=LENGTHS, seed=1):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(n, D_MODEL, generator=rng, dtype=torch.float64) for n in lengths]


def draw_ids(lengths=LENGTHS, seed=2):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randint(N_SYMBOLS, (n,), generator=rng) for n in lengths]


def flatten(state):
    return (
        [*state] if isinstance(state, MambaState) else [tensor for one in state for tensor in one]
    )


@given(lengths_of_documents)
def test_documents_are_packed_tightly_and_taken_out_again(lengths):
    documents = draw_ids(lengths)
    packed, segment = pack(documents, LENGTH)
    assert [one.tolist() for one in unpack(packed, segment)] == [one.tolist() for one in documents]
    assert [unpack(segment, segment)[k].unique().tolist() for k in range(len(lengths))] == [
        [k] for k in range(len(lengths))
    ]
    assert (packed[segment == -1] == 0).all()
    filled = (segment >= 0).sum(1)
    assert (filled.sort().values[:2].sum() > LENGTH) | (len(filled) < 2)  # no two would fit one


def test_each_document_is_found_in_its_row():
    segment = torch.tensor([[2, 2, -1, 0], [-1, 1, 1, 1]])
    places = [place.tolist() for place in locate_documents(segment)]
    assert places == [[0, 1, 0], [3, 1, 0], [1, 3, 2]]
    assert [one.tolist() for one in unpack(segment, segment)] == [[0], [1, 1, 1], [2, 2]]


@KINDS
def test_a_packed_document_is_as_if_alone(kind):
    """Outputs, convolution tails and states; lengths from one token to a whole row."""
    blocks, documents = make_blocks(kind), draw_documents()
    packed, segment = pack(documents, LENGTH)
    packed = packed.masked_fill((segment == -1)[..., None], torch.nan)
    y, state = run_packed(blocks, packed, segment, return_state=True)
    assert (y[segment == -1] == 0).all()
    for k, (document, outputs) in enumerate(zip(documents, unpack(y, segment), strict=True)):
        alone, end = blocks(document[None], return_state=True)
        assert_close(outputs, alone[0], **TIGHT)
        assert_close([tensor[k, None] for tensor in flatten(state)], flatten(end), **TIGHT)
    assert_close(run_packed(blocks, packed, segment), y, rtol=0, atol=0)


@settings(max_examples=20)
@given(lengths_of_documents, st.integers(0, 2**30))
def test_packed_documents_of_any_lengths_are_as_if_alone(lengths, seed):
    blocks, documents = make_blocks(method="chunked"), draw_documents(lengths, seed)
    packed, segment = pack(documents, LENGTH)
    shuffled = torch.randperm(len(packed), generator=torch.Generator().manual_seed(seed))
    y = run_packed(blocks, packed[shuffled], segment[shuffled])
    for document, outputs in zip(documents, unpack(y, segment[shuffled]), strict=True):
        assert_close(outputs, blocks(document[None])[0], **TIGHT)


def test_packed_documents_that_are_read_both_ways_are_as_if_alone():
    blocks, documents = make_blocks(bidirectional=True), draw_documents()
    packed, segment = pack(documents, LENGTH)
    for document, outputs in zip(
        documents, unpack(run_packed(blocks, packed, segment), segment), strict=True
    ):
        assert_close(outputs, blocks(document[None])[0], **TIGHT)


def test_no_document_sees_another_one():
    """Neither a number nor a gradient: exactly, not by a tolerance."""
    blocks, documents = make_blocks(), draw_documents()
    packed, segment = pack(documents, LENGTH)
    own = segment == 6  # beside another one in its row, and run together with number 2
    assert len(segment[own.any(1)].unique()) > 1
    y = run_packed(blocks, packed, segment)
    others = packed.masked_fill(~own[..., None], torch.inf).requires_grad_()
    assert torch.equal(run_packed(blocks, others, segment)[own], y[own])
    packed.requires_grad_()
    run_packed(blocks, packed, segment)[own].square().sum().backward()
    assert (packed.grad[own] != 0).all()
    assert (packed.grad[~own] == 0).all()


@pytest.mark.parametrize("readout", [ReadCLS("last"), ReadCLS("middle"), ReadMean()])
def test_each_packed_document_is_classified_by_its_own_cls(readout):
    torch.manual_seed(0)
    sizes = {"d_model": D_MODEL, "n_layers": 2, "bias": True}
    model = SequenceClassifier(N_CLASSES, N_SYMBOLS, readout=readout, **sizes).double()
    documents = draw_ids()
    logits = model.classify_packed(*pack(documents, LENGTH))
    alone = torch.cat([model(document[None]) for document in documents])
    assert_close(logits, alone, **TIGHT)


@given(lengths_of_documents)
def test_documents_run_beside_others_of_about_their_length(lengths):
    documents, seen = draw_ids(lengths), []
    for numbers, rows, mask in batch_documents(documents):
        real = torch.ones_like(rows, dtype=torch.bool) if mask is None else mask
        assert (real.sum(1) >= 0.75 * rows.shape[1]).all()
        assert [row[own].tolist() for row, own in zip(rows, real, strict=True)] == [
            documents[k].tolist() for k in numbers
        ]
        seen += numbers
    assert sorted(seen) == list(range(len(lengths)))


@pytest.mark.parametrize(
    ("documents", "message"),
    [
        ([], "documents must hold at least one; it is empty"),
        ([torch.ones(3), torch.ones(0)], "1 to 9 tokens, as a row has; document 1 has 0"),
        ([torch.ones(3), torch.ones(10)], "1 to 9 tokens, as a row has; document 1 has 10"),
        ([torch.ones(3, 2), torch.ones(3)], r"alike but for n_tokens; document 1 is \(3,\)"),
        ([torch.ones(3), torch.ones(3).int()], "document 1 is .* of torch.int32"),
        ([torch.tensor(1.0)], r"\(n_tokens, ...\), alike but for n_tokens; document 0 is \(\)"),
    ],
)
def test_documents_that_fit_no_row_are_refused(documents, message, as_reader):
    with pytest.raises(ValueError, match=message):
        pack(documents, LENGTH)


@pytest.mark.parametrize(
    ("segment", "message"),
    [
        ([[0, 0], [1, -2]], "row 1 holds -2 at token 1"),
        ([[0, 1, 0]], "document 0 stands in row 0 from token 0 and row 0 from token 2"),
        ([[0, 0, -1], [0, 1, 1]], "document 0 stands in row 0 from token 0 and row 1 from token 0"),
        ([[0, 0, -1], [2, 3, 3]], "from 0 on; 1 is left out, and row 1 holds 2"),
        ([0, 1], r"segment must have the axes \(batch, length\)"),
    ],
)
def test_a_segment_that_makes_no_sense_is_refused(segment, message, as_reader):
    with pytest.raises(ValueError, match=message):
        locate_documents(torch.tensor(segment))


def test_what_is_no_document_is_refused(as_reader):
    packed, segment = pack(draw_documents(), LENGTH)
    with pytest.raises(TypeError, match="document 1 is of type list"):
        pack([torch.ones(3), [1.0]], LENGTH)
    with pytest.raises(TypeError, match=r"segment must be torch.int32 or torch.int64; it is tor"):
        locate_documents(segment.double())
    with pytest.raises(ValueError, match=r"segment must have the shape \(batch, length\)"):
        unpack(packed, segment[:, 1:])
    with pytest.raises(ValueError, match="a document to run; segment is -1 throughout"):
        run_packed(make_blocks(), packed, torch.full_like(segment, -1))
