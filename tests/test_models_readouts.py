"""Whole classifiers with every read-out: padding, what each register sees, and what is refused."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier, TransformerClassifier
from mamba_edu.readout import READOUTS, ReadMean, take_registers
from mamba_edu.tokens import BlindReadout, make_mask

N_CLASSES, N_SYMBOLS, D_MODEL = 3, 7, 8
LENGTHS = [38, 33, 1, 64]
N_COLUMNS = 66
CAUSAL = list(READOUTS)
BOTH_WAYS = [name for name in READOUTS if name != "state"]  # there is none


def build(kind, name, **options):
    torch.manual_seed(0)
    sizes = {"n_symbols": N_SYMBOLS, "readout": name, "d_model": D_MODEL} | options
    if kind == "attention":
        return TransformerClassifier(N_CLASSES, **sizes)
    sizes |= {"d_state": 3, "allow_blind": True, "bidirectional": kind == "both ways"}
    return SequenceClassifier(N_CLASSES, **sizes)


def list_masks():
    rng = torch.Generator().manual_seed(0)
    gaps = torch.zeros(len(LENGTHS), N_COLUMNS, dtype=torch.bool)
    for row, n in zip(gaps, LENGTHS, strict=True):
        row[torch.randperm(N_COLUMNS, generator=rng)[:n]] = True
    return [*(make_mask(LENGTHS, N_COLUMNS, side) for side in ("right", "left")), gaps]


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *(("causal", name) for name in CAUSAL),
        *(("both ways", name) for name in BOTH_WAYS),
        *(("attention", name) for name in BOTH_WAYS),
    ],
)
def test_padding_changes_no_logit_whatever_is_read(kind, name):
    """C3: rows of several lengths, padded anywhere, equal each row alone, in a batch of 1."""
    model = build(kind, name).double()
    rng = torch.Generator().manual_seed(1)
    rows = [torch.randint(N_SYMBOLS, (n,), generator=rng) for n in LENGTHS]
    with torch.no_grad():
        alone = torch.cat([model(row[None]) for row in rows])
        for mask in list_masks():
            padded = torch.full(mask.shape, -100)
            padded[mask] = torch.cat(rows)
            assert_close(model(padded, mask), alone, rtol=1e-12, atol=1e-12)


class ReadOneRegister(nn.Module):
    """Read the register of one chunk of three tokens."""

    registers_every = 3

    def __init__(self, chunk, restarts):
        super().__init__()
        self.chunk, self.restarts = chunk, restarts

    def forward(self, outputs, mask=None, state=None):
        assert state is None or not self.restarts
        return take_registers(outputs, self.registers_every, mask)[0][:, self.chunk]


@pytest.mark.parametrize("kind", ["causal", "attention"])
@pytest.mark.parametrize("chunk", [0, 1, 3])
@pytest.mark.parametrize("restarts", [False, True])
def test_a_register_sees_its_own_chunk_and_those_before_unless_it_restarts(kind, chunk, restarts):
    """Exactly: the gradient is 0 where nothing is seen. Attention sees what is behind as well."""
    model = build(kind, ReadOneRegister(chunk, restarts), n_symbols=None, d_in=2, n_layers=2)
    inputs = torch.randn(4, 11, 2, requires_grad=True)
    model(inputs).square().sum().backward()
    own = torch.arange(11) // 3
    is_seen = own == chunk if restarts else own <= (chunk if kind == "causal" else 3)
    assert (inputs.grad[:, is_seen] != 0).all()
    assert (inputs.grad[:, ~is_seen] == 0).all()


@pytest.mark.parametrize("kind", ["causal", "attention"])
def test_chunks_are_read_as_sequences_of_their_own(kind):
    model = build(kind, "hierarchy_max").double()
    ids = torch.randint(N_SYMBOLS, (2, 80))
    chunks = torch.stack(
        [model.blocks(model.tokens(piece)[0])[:, -1] for piece in ids.split(32, dim=1)]
    )
    assert_close(model(ids), model.head(chunks.amax(0)), rtol=1e-12, atol=1e-12)


def test_the_heading_is_seen_by_cls_through_the_blocks():
    model = build("causal", "heading_average")
    ids = torch.randint(N_SYMBOLS, (2, 5))
    tokens = model.tokens.embed(ids)
    tokens = torch.cat([tokens.mean(1, keepdim=True), tokens], dim=1)
    with_cls = torch.cat([tokens, model.tokens.cls_token.expand(2, 1, -1)], dim=1)
    assert_close(model(ids), model.head(model.blocks(with_cls)[:, -1]))


def test_a_name_makes_a_readout_of_the_models_own_sizes():
    model = build("causal", "state", expand=3)
    assert model.readout.proj.in_features == 3 * D_MODEL
    assert len(model.readout.query) == 3
    assert build("causal", "registers_concat").head.in_features == 4 * D_MODEL
    assert build("attention", "cls_and_max").head.in_features == 2 * D_MODEL
    assert build("causal", None).readout.cls_position == "last"
    assert isinstance(build("causal", "mean").readout, ReadMean)


def test_what_cannot_work_is_refused(as_reader):
    """C1 by name too; both ends are not blind: one of them sees all."""
    ids = torch.zeros(2, 5, dtype=torch.int64)
    with pytest.raises(BlindReadout, match="allow_blind=True"):
        SequenceClassifier(N_CLASSES, N_SYMBOLS, readout="cls_first")
    SequenceClassifier(N_CLASSES, N_SYMBOLS, readout="cls_both")
    with pytest.raises(ValueError, match=r"readout must be one of .* it is 'cls_end'"):
        SequenceClassifier(N_CLASSES, N_SYMBOLS, readout="cls_end")
    for kind in ("both ways", "attention"):
        with pytest.raises(TypeError, match="A bidirectional model and a Transformer have none"):
            build(kind, "state")(ids)
