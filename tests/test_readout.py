"""Read-outs of any backbone's outputs: what they read, and that they never read padding."""

import pytest
import torch
from torch import nn
from torch.testing import assert_close

from mamba_edu.readout import ReadCLS, ReadLast, ReadMax, ReadMean, resolve_mask

D_MODEL = 3
nan = float("nan")
READOUTS = {
    "cls first": ReadCLS("first"),
    "cls middle": ReadCLS("middle"),
    "cls last": ReadCLS("last"),
    "last": ReadLast(),
    "mean": ReadMean(),
    "max": ReadMax(),
}
every_readout = pytest.mark.parametrize("readout", READOUTS.values(), ids=READOUTS)


def to_mask(*rows):
    return torch.tensor([[letter == "x" for letter in row] for row in rows])


def pick_by_hand(name, row):
    """The answer for one row of real tokens, in plain Python."""
    columns = list(zip(*row.tolist(), strict=True))
    n = len(row)
    if name == "mean":
        return [sum(column) / n for column in columns]
    if name == "max":
        return [max(column) for column in columns]
    return row[{"cls first": 0, "cls middle": (n - 1) // 2}.get(name, n - 1)].tolist()


@pytest.mark.parametrize("name", READOUTS)
@pytest.mark.parametrize("side", ["none", "right", "left", "gaps"])
def test_a_readout_reads_the_real_tokens_of_each_row(name, side):
    """C3: padding is filled with NaN, so that a single look at it shows."""
    mask = {
        "none": to_mask("xxxxxx", "xxxxxx"),
        "right": to_mask("xxxx..", "x.....", "xxxxxx"),
        "left": to_mask("..xxxx", ".....x", "xxxxxx"),
        "gaps": to_mask("x.x..x", ".xx.x.", "...x.."),
    }[side]
    rng = torch.Generator().manual_seed(0)
    outputs = torch.randn(*mask.shape, D_MODEL, generator=rng, dtype=torch.float64)
    padded = outputs.masked_fill(~mask[..., None], nan).requires_grad_()
    answer = READOUTS[name](padded, None if side == "none" else mask)
    right = [pick_by_hand(name, row[real]) for row, real in zip(outputs, mask, strict=True)]
    assert_close(answer, torch.tensor(right, dtype=torch.float64))
    answer.sum().backward()
    assert (padded.grad[~mask] == 0).all()
    assert padded.grad[mask].sum().item() == pytest.approx(len(mask) * D_MODEL)


def test_the_maximum_of_negative_outputs_is_negative():
    outputs = -torch.ones(1, 2, D_MODEL)
    assert_close(ReadMax()(outputs, to_mask("x.")), -torch.ones(1, D_MODEL))


@every_readout
def test_a_readout_reads_any_backbone(readout):
    """A Transformer's outputs, in half precision too, by the same call."""
    torch.manual_seed(0)
    backbone = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    mask = to_mask("xxxx.", "xxxxx")
    with torch.no_grad():
        outputs = backbone(torch.randn(2, 5, 4), src_key_padding_mask=~mask)
    answer = readout(outputs, mask, state=None)
    assert answer.shape == (2, 4)
    assert readout(outputs.bfloat16(), mask).dtype == torch.bfloat16


def test_only_cls_asks_for_a_cls_token():
    asked = [readout.cls_position for readout in READOUTS.values()]
    assert asked == ["first", "middle", "last", None, None, None]
    with pytest.raises(ValueError, match=r"position must be one of .* it is 'end'"):
        ReadCLS("end")


OUTPUTS = torch.ones(2, 3, D_MODEL)


@pytest.mark.parametrize(
    ("outputs", "mask", "error", "message"),
    [
        (OUTPUTS[0], None, ValueError, r"outputs must have the axes \(batch, length, d_model\)"),
        (OUTPUTS.int(), None, TypeError, "outputs must be .*; it is torch.int32"),
        (OUTPUTS, torch.ones(2, 3), TypeError, "mask must be torch.bool; it is torch.float32"),
        (OUTPUTS, to_mask("xx", "xx"), ValueError, r"mask must have the shape .*\(2, 3\).*\(2, 2"),
        (OUTPUTS, to_mask("xxx", "..."), ValueError, "mask is False throughout row 1"),
        (OUTPUTS[:, :0], None, ValueError, r"throughout row 0 \(2 of 2 rows\)"),
    ],
)
@every_readout
def test_a_readout_refuses_what_it_cannot_read(readout, outputs, mask, error, message, as_reader):
    """C4: another shape, another type, no real token in a row."""
    with pytest.raises(error, match=message):
        readout(outputs, mask)
    with pytest.raises(error, match=message):
        resolve_mask(outputs, mask)
