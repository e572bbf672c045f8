"""What reaches CLS: against finite differences, against changed tokens, and where nothing can."""

from itertools import product

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.layers import MambaStack
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import measure_influence, open_classifier
from mamba_edu.readout import ReadCLS, ReadMean

LENGTH, D_MODEL = 5, 4
BOTH = pytest.mark.parametrize("is_both", [False, True])


def rand(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def make_blocks(is_both, **options):
    torch.manual_seed(0)
    return MambaStack(D_MODEL, 2, is_both, d_state=3, **options).double()


TOKENS, CLS = rand(LENGTH, D_MODEL), rand(D_MODEL, seed=1)


def answer(blocks, tokens, position):
    """Say what comes out at CLS, without a gradient."""
    row = torch.cat([tokens[:position], CLS[None], tokens[position:]])
    with torch.no_grad():
        return blocks(row[None])[0, position]


@BOTH
def test_influence_equals_finite_differences(is_both):
    blocks, step = make_blocks(is_both), 1e-5
    influence = measure_influence(blocks, TOKENS, CLS)
    assert influence.shape == (LENGTH + 1, LENGTH)
    moves = step * torch.eye(LENGTH * D_MODEL).double().reshape(LENGTH, D_MODEL, *TOKENS.shape)
    for position, s in product(range(LENGTH + 1), range(LENGTH)):
        ends = [[answer(blocks, TOKENS + k * move, position) for k in (1, -1)] for move in moves[s]]
        size = torch.stack([(there - here) / (2 * step) for there, here in ends]).norm()
        assert_close(influence[position, s], size, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("method", ["loop", "parallel", "chunked"])
def test_a_causal_cls_is_reached_by_exactly_the_tokens_before_it(method):
    """Zero gradient and the same bits, whatever stands behind; each token before changes it."""
    blocks = make_blocks(False, method=method)
    is_before = torch.arange(LENGTH) < torch.arange(LENGTH + 1)[:, None]
    assert torch.equal(measure_influence(blocks, TOKENS, CLS) != 0, is_before)
    for position in range(LENGTH + 1):
        for s in range(LENGTH):
            changed = TOKENS.clone()
            changed[s] = -1e6
            is_same = torch.equal(*(answer(blocks, t, position) for t in (TOKENS, changed)))
            assert is_same == (s >= position)


def test_a_bidirectional_cls_is_reached_by_all_tokens_from_anywhere():
    influence = measure_influence(make_blocks(True), TOKENS, CLS)
    assert (influence > 1e-6).all()


def test_chosen_positions_are_rows_of_the_whole_map():
    blocks = make_blocks(True)
    whole = measure_influence(blocks, TOKENS, CLS)
    assert_close(measure_influence(blocks, TOKENS, CLS, [3, 0]), whole[[3, 0]])


def test_no_sum_of_outputs_cancels_and_no_square_underflows():
    """Each channel's answer undoes the other's, and both are smaller than any square root."""

    def blocks(tokens):
        told = 1e-200 * tokens.sum(dim=(1, 2), keepdim=True)
        return torch.cat([told, -told], dim=-1).expand(-1, tokens.shape[1], -1)

    influence = measure_influence(blocks, TOKENS[:, :2], CLS[:2], [2])
    assert_close(influence / 1e-200, torch.full((1, LENGTH), 2.0, dtype=torch.float64))


def test_what_does_not_hang_on_the_tokens_is_reached_by_none():
    influence = measure_influence(torch.ones_like, TOKENS, CLS)
    assert torch.equal(influence, torch.zeros(LENGTH + 1, LENGTH, dtype=torch.float64))


def test_measuring_changes_nothing():
    blocks, tokens = make_blocks(False), TOKENS.clone().requires_grad_()
    with torch.no_grad():
        influence = measure_influence(blocks, tokens, CLS, [LENGTH])
    assert not influence.requires_grad
    assert tokens.grad is None
    assert all(parameter.grad is None for parameter in blocks.parameters())


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"tokens": TOKENS[0]}, ValueError, "tokens must have the axes"),
        ({"tokens": TOKENS[:0]}, ValueError, "number of tokens must be at least 1; it is 0"),
        ({"tokens": TOKENS.float()}, TypeError, "all must be single precision or all double"),
        ({"cls_token": CLS[1:]}, ValueError, "cls_token must have d_model = 4 as tokens has"),
        ({"positions": [6]}, ValueError, "position must be 0 to 5; it is 6"),
        ({"positions": [-1]}, ValueError, "position must be at least 0; it is -1"),
        ({"positions": [1.5]}, TypeError, "position must be an int; it is 1.5"),
        ({"blocks": lambda t: t[:, 1:]}, ValueError, "blocks must keep the shape"),
    ],
)
def test_influence_refuses_what_does_not_fit(changes, error, message, as_reader):
    given = {"blocks": make_blocks(False), "tokens": TOKENS, "cls_token": CLS}
    with pytest.raises(error, match=message):
        measure_influence(**given | changes)


@BOTH
def test_a_classifier_is_taken_apart_into_what_its_cls_sees(is_both):
    torch.manual_seed(0)
    model = SequenceClassifier(3, 7, d_model=D_MODEL, bidirectional=is_both)
    ids = torch.tensor([0, 6, 2, 2, 5])
    blocks, tokens, cls_token = open_classifier(model, ids)
    own, _ = model.double().tokens(ids[None])
    assert_close(torch.cat([tokens, cls_token[None]]), own[0])
    assert_close(blocks(own), model.blocks(own))
    assert blocks is not model.blocks


def test_a_classifier_is_opened_in_double_precision_and_left_as_it_is():
    torch.manual_seed(0)
    model = SequenceClassifier(3, d_in=2, readout=ReadCLS("middle"), d_model=D_MODEL)
    blocks, tokens, cls_token = open_classifier(model, torch.ones(5, 2))
    kinds = {tensor.dtype for tensor in (tokens, cls_token, *blocks.parameters())}
    assert kinds == {torch.float64}
    assert {p.dtype for p in model.parameters()} == {torch.float32}
    assert not tokens.requires_grad


def test_what_has_no_cls_is_not_opened(as_reader):
    model = SequenceClassifier(3, 7, readout=ReadMean(), d_model=D_MODEL)
    with pytest.raises(ValueError, match="must have a CLS token"):
        open_classifier(model, torch.tensor([1]))
    with pytest.raises(TypeError, match="must be a SequenceClassifier; it is a MambaStack"):
        open_classifier(make_blocks(False), torch.tensor([1]))
    with pytest.raises(ValueError, match="ids must be 0 to 6; row 0 holds 7"):
        open_classifier(SequenceClassifier(3, 7, d_model=D_MODEL), torch.tensor([7]))
