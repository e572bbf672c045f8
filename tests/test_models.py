"""The whole classifier: what CLS can see, what padding must not do, and that it learns."""

import pytest
import torch
from torch.nn import functional as F
from torch.testing import assert_close

from mamba_edu.layers import check_health
from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS, ReadLast, ReadMax, ReadMean
from mamba_edu.tokens import BlindReadout, make_mask

N_CLASSES, N_SYMBOLS, D_MODEL, LENGTH = 3, 7, 6, 9
READOUTS = {
    "cls first": ReadCLS("first"),
    "cls middle": ReadCLS("middle"),
    "cls last": ReadCLS("last"),
    "last": ReadLast(),
    "mean": ReadMean(),
    "max": ReadMax(),
}
every_readout = pytest.mark.parametrize("readout", READOUTS.values(), ids=READOUTS)


def build(readout=None, **options):
    torch.manual_seed(0)
    sizes = {"d_model": D_MODEL, "n_symbols": N_SYMBOLS, "n_layers": 2, "bias": True}
    return SequenceClassifier(N_CLASSES, readout=readout, allow_blind=True, **sizes | options)


def draw_ids(batch=4, length=LENGTH, seed=0):
    rng = torch.Generator().manual_seed(seed)
    return torch.randint(N_SYMBOLS, (batch, length), generator=rng)


def test_a_blind_classifier_is_not_built():
    """C1, state-spaces/mamba#476."""
    with pytest.raises(BlindReadout, match="allow_blind=True"):
        SequenceClassifier(N_CLASSES, N_SYMBOLS, readout=ReadCLS("first"))


@pytest.mark.parametrize("method", ["chunked", "parallel", "loop"])
def test_cls_in_front_answers_the_same_to_anything(method):
    """C1: the logits are bit-identical, whatever the content."""
    model = build(ReadCLS("first"), method=method)
    logits = model(draw_ids(seed=0))
    for seed in range(1, 5):
        assert torch.equal(model(draw_ids(seed=seed)), logits)
    assert not torch.equal(build(ReadCLS("last"))(draw_ids(seed=1)), logits)


@pytest.mark.parametrize(
    ("position", "seen"),
    [("first", []), ("middle", range(LENGTH // 2)), ("last", range(LENGTH))],
)
@pytest.mark.parametrize("method", ["chunked", "parallel", "loop"])
def test_the_gradient_is_exactly_zero_where_cls_cannot_see(position, seen, method):
    """C1: on every token behind CLS, and on none before it."""
    model = build(ReadCLS(position), d_in=2, n_symbols=None, method=method)
    inputs = torch.randn(4, LENGTH, 2, requires_grad=True)
    model(inputs).square().sum().backward()
    is_seen = torch.zeros(LENGTH, dtype=torch.bool)
    is_seen[list(seen)] = True
    assert (inputs.grad[:, ~is_seen] == 0).all()
    assert (inputs.grad[:, is_seen] != 0).all()


@every_readout
@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_changes_no_logit(readout, side):
    """C3: mixed lengths in one batch equal each row alone."""
    model, ids = build(readout).double(), draw_ids()
    lengths = [4, 9, 1, 6]
    mask = make_mask(lengths, length=LENGTH, side=side)
    padded = torch.full_like(ids, -100)
    padded[mask] = torch.cat([row[:n] for row, n in zip(ids, lengths, strict=True)])
    logits = model(padded, mask)
    for row, n, logit in zip(ids, lengths, logits, strict=True):
        assert_close(model(row[None, :n])[0], logit, rtol=1e-12, atol=1e-12)


def test_a_classifier_is_its_parts():
    model, ids = build(ReadMean()), draw_ids()
    outputs = model.blocks(model.tokens.embed(ids))
    assert_close(model(ids), model.head(outputs.mean(1)))
    tokens, mask = model.tokens(ids)
    assert_close(model.classify(tokens, mask), model(ids), rtol=0, atol=0)


def test_a_readout_is_given_outputs_mask_and_state():
    given = []

    def read(outputs, mask, state):
        given.extend((outputs, mask, state))
        return outputs[:, 0]

    mask = make_mask([4, 9, 1, 6])
    build(read)(draw_ids(), mask)
    outputs, same, state = given
    assert outputs.shape == (4, LENGTH, D_MODEL)
    assert same is mask
    assert [one.h.shape for one in state] == [(4, 2 * D_MODEL, 8)] * 2


def test_a_fresh_classifier_is_healthy_and_as_large_as_it_says():
    model = SequenceClassifier(8, n_symbols=25)
    assert check_health(model) == []
    assert sum(parameter.numel() for parameter in model.parameters()) == 9544
    with pytest.raises(ValueError, match="n_classes must be at least 1; it is 0"):
        SequenceClassifier(0, n_symbols=25)


@every_readout
def test_a_classifier_learns_the_last_symbol_unless_it_is_blind(readout):
    model, losses = build(readout, n_layers=1), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-2)
    for seed in range(60):
        ids = draw_ids(batch=64, length=5, seed=seed)
        loss = F.cross_entropy(model(ids), ids[:, -1] % N_CLASSES)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    sees_the_end = getattr(readout, "cls_position", None) in (None, "last")
    assert (sum(losses[-5:]) / 5 < 0.92) == sees_the_end, losses[-5:]
