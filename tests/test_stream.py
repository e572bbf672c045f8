"""Streams: the answers of the whole sequence, wherever it is cut, in memory that stays."""

import weakref

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.testing import assert_close

from mamba_edu.layers import MambaStack, cut_stream, stream_pieces
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS, ReadLast, ReadMax, ReadMean
from mamba_edu.tokens import make_mask

BATCH, LENGTH, D_MODEL, N_SYMBOLS, N_CLASSES = 3, 13, 6, 7, 4
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
SIZES = [0, 1, 5, 0, 4, 3]  # of LENGTH tokens
READERS = [ReadCLS("last"), ReadLast(), ReadMax(), ReadMean()]
every_reader = pytest.mark.parametrize("readout", READERS, ids=lambda one: type(one).__name__)


def make_stack(**options):
    torch.manual_seed(0)
    return MambaStack(D_MODEL, 2, d_state=5, delta_rank=3, bias=True, **options).double()


def make_classifier(readout=None, **options):
    torch.manual_seed(0)
    options = {"n_symbols": N_SYMBOLS, "d_model": D_MODEL, "n_layers": 2} | options
    return SequenceClassifier(N_CLASSES, readout=readout, bias=True, **options).double()


def draw_tokens():
    rng = torch.Generator().manual_seed(1)
    return torch.randn(BATCH, LENGTH, D_MODEL, generator=rng, dtype=torch.float64)


def draw_ids():
    rng = torch.Generator().manual_seed(2)
    return torch.randint(N_SYMBOLS, (BATCH, LENGTH), generator=rng)


def flatten(states):
    return [tensor for one in states for tensor in one]


@pytest.mark.parametrize("method", ["auto", "chunked"])
@pytest.mark.parametrize("is_padded", [False, True])
def test_a_stream_equals_the_whole(method, is_padded):
    """S9, through two layers: in pieces of any size, 0 among them, and where a row only waits."""
    stack, tokens = make_stack(method=method), draw_tokens()
    mask = make_mask([2, 13, 7], side="left") if is_padded else None
    masks = None if mask is None else mask.split(SIZES, dim=1)
    y, end = stack(tokens, mask, return_state=True)
    for pieces in (stack.stream(tokens.split(SIZES, dim=1), masks), stack.stream(tokens, mask)):
        outputs, states = zip(*pieces, strict=True)
        assert_close(torch.cat(outputs, dim=1), y, **TIGHT)
        assert_close(flatten(states[-1]), flatten(end), **TIGHT)
        assert not outputs[0].requires_grad


@pytest.mark.parametrize("piece", [1, 3, LENGTH, 99])
def test_one_tensor_is_cut_in_pieces_with_its_mask(piece):
    ids, mask = draw_ids(), make_mask([2, 13, 7])
    parts, masks = zip(*cut_stream(ids, mask, piece), strict=True)
    assert {part.shape[1] for part in parts[:-1]} <= {piece}
    assert torch.equal(torch.cat(parts, dim=1), ids)
    assert torch.equal(torch.cat(masks, dim=1), mask)
    assert [mask for _, mask in cut_stream(ids, piece=piece)] == [None] * len(parts)
    assert [part.shape for part, _ in cut_stream(ids[:, :0])] == [(BATCH, 0)]


def test_a_stream_is_resumed_from_any_state_it_handed_out():
    """S10: twice from the same one too; and none holds on to its piece."""
    stack, tokens = make_stack(), draw_tokens()
    y = stack(tokens)
    for n_seen, (_, states) in enumerate(stack.stream(tokens, piece=1), start=1):
        for _ in range(2):
            rest = [outputs for outputs, _ in stack.stream(tokens[:, n_seen:], state=states)]
            assert_close(torch.cat(rest, dim=1), y[:, n_seen:], **TIGHT)
    held = [tensor.untyped_storage().nbytes() for tensor in flatten(states)]
    assert held == [8 * tensor.numel() for tensor in flatten(states)]


def test_a_stream_keeps_no_piece_and_no_output():
    stack, living = make_stack(), weakref.WeakSet()

    def read():
        for _ in range(9):
            piece = torch.randn(1, 4, D_MODEL, dtype=torch.float64)
            living.add(piece)
            yield piece

    for outputs, _ in stack.stream(read()):
        living.add(outputs)
        assert len(living) <= 4
        assert torch.is_grad_enabled()  # while the caller works on it


def test_any_layers_are_run_over_pieces():
    block, tokens = make_stack().layers[0], draw_tokens()

    def run(piece, mask, state, return_state):
        y, own = block(piece, mask, None if state is None else state[0], return_state)
        return y, [own]

    outputs = [y for y, _ in stream_pieces(run, cut_stream(tokens, piece=4))]
    assert_close(torch.cat(outputs, dim=1), block(tokens), **TIGHT)


@every_reader
@pytest.mark.parametrize("is_padded", [False, True])
def test_a_classifier_answers_a_stream_as_the_whole(readout, is_padded):
    """CLS is put once, behind all pieces; a row may be nothing but padding in some of them."""
    model, ids = make_classifier(readout), draw_ids()
    mask = make_mask([2, 13, 7], side="left") if is_padded else None
    masks = None if mask is None else mask.split(SIZES, dim=1)
    logits = model(ids, mask)
    assert_close(model.stream(ids.split(SIZES, dim=1), masks), logits, **TIGHT)
    assert_close(model.stream(ids, mask, piece=4), logits, **TIGHT)
    assert not model.stream(ids).requires_grad


@every_reader
def test_a_classifier_goes_on_where_it_stopped(readout):
    """Behind the content, not behind the CLS token that the first answer put there."""
    model, ids = make_classifier(readout), draw_ids()
    state = None
    for start, end in ((0, 5), (5, 6), (6, LENGTH)):
        logits, state = model.stream(ids[:, start:end], state=state, return_state=True)
        assert_close(logits, model(ids[:, :end]), **TIGHT)
    assert state.n_real.tolist() == [LENGTH] * BATCH


@settings(max_examples=20)
@given(st.lists(st.integers(0, 4), min_size=1, max_size=6), st.integers(0, 2**30))
def test_a_classifier_answers_however_it_is_cut(sizes, seed):
    rng = torch.Generator().manual_seed(seed)
    numbers = torch.randn(2, sum(sizes) + 1, 3, generator=rng, dtype=torch.float64)
    mask = torch.rand(numbers.shape[:2], generator=rng) < 0.5
    mask[:, torch.randint(len(mask[0]), (1,), generator=rng)] = True
    numbers[~mask] = torch.nan
    model = make_classifier(ReadMean(), n_symbols=None, d_in=3, n_layers=1)
    pieces, masks = (v.split([1, *sizes], dim=1) for v in (numbers, mask))
    assert_close(model.stream(pieces, masks), model(numbers, mask), **TIGHT)


def test_what_cannot_be_streamed_is_refused(as_reader):
    stack, ids = make_stack(bidirectional=True), draw_ids()
    with pytest.raises(ValueError, match="must be given the whole sequence at once"):
        stack.stream(draw_tokens())
    with pytest.raises(ValueError, match="must be given the whole sequence at once"):
        make_classifier(ReadLast(), bidirectional=True).stream(ids)
    with pytest.raises(ValueError, match=r"ReadMax or ReadMean; the read-out is ReadCLS\('mid"):
        make_classifier(ReadCLS("middle")).stream(ids)
    with pytest.raises(ValueError, match=r"the read-out is ReadCLS\('last'\) behind a heading"):
        make_classifier(ReadCLS("last", heading=True)).stream(ids)
    with pytest.raises(ValueError, match="read-out is function"):
        make_classifier(lambda outputs, mask, state: outputs[:, 0]).stream(ids)
    with pytest.raises(ValueError, match="inputs yields none"):
        make_classifier().stream([])
    with pytest.raises(ValueError, match=r"throughout row 1 \(1 of 3 rows\)"):
        make_classifier().stream(ids, torch.tensor([[True], [False], [True]]).expand(-1, LENGTH))
    with pytest.raises(TypeError, match="state must be a StreamState; its type is list"):
        make_classifier().stream(ids, state=[])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((7,), "a stream must be a torch.Tensor or an iterable of them; its type is int"),
        (([draw_ids(), [1, 2]],), "torch.Tensors; piece 1 is of type list"),
        ((draw_ids().numpy(),), "torch.Tensors; piece 0 is of type ndarray"),
        (([draw_ids()], draw_ids() > 1), "mask a piece, as the sequence comes in pieces"),
        (([draw_ids()], 3), "mask a piece, as the sequence comes in pieces; its type is int"),
        ((draw_ids(), [None]), "mask must be a torch.Tensor; its type is list"),
        ((draw_ids(), None, 2.0), "piece must be an int; it is 2.0"),
    ],
)
def test_a_stream_of_something_else_is_refused(given, message, as_reader):
    with pytest.raises(TypeError, match=message):
        list(cut_stream(*given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((torch.ones(3),), r"must have the axes \(batch, length, ...\); its shape is \(3,\)"),
        ((draw_ids(), draw_ids()[:, 1:] > 1), "mask must have the shape"),
        ((draw_ids(), None, 0), "piece must be at least 1; it is 0"),
        (([draw_ids()] * 2, [None]), "there is none for piece 1"),
        (([draw_ids()], [None] * 2), "it holds more than 1"),
    ],
)
def test_a_stream_that_does_not_fit_is_refused(given, message, as_reader):
    with pytest.raises(ValueError, match=message):
        list(cut_stream(*given))
