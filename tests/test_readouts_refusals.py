"""What a read-out refuses to read, and what it cannot be made of."""

import pytest
import torch

from mamba_edu.readout import (
    READOUTS,
    ReadAttention,
    ReadCLS,
    ReadCLSAndMax,
    ReadGated,
    ReadHierarchy,
    ReadRegisters,
    ReadState,
    make_readout,
)
from mamba_edu.readout.real import check_fit

D_MODEL, D_INNER, D_STATE = 3, 6, 5
every_name = pytest.mark.parametrize("name", READOUTS)


def to_mask(*rows):
    return torch.tensor([[letter == "x" for letter in row] for row in rows])


OUTPUTS, H = torch.ones(2, 3, D_MODEL), torch.ones(2, D_INNER, D_STATE)


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
@every_name
def test_every_readout_refuses_what_it_cannot_read(name, outputs, mask, error, message, as_reader):
    """C4: another shape, another type, no real token in a row."""
    with pytest.raises(error, match=message):
        make_readout(name, D_MODEL, D_INNER, D_STATE)(outputs, mask, H)


@pytest.mark.parametrize("name", ["attention", "length_mix", "cls_and_max"])
def test_cls_without_content_is_refused(name):
    with pytest.raises(ValueError, match="a real token before CLS; row 1 has CLS alone"):
        make_readout(name, D_MODEL, D_INNER, D_STATE)(OUTPUTS, to_mask("x.x", ".x."))


@pytest.mark.parametrize("name", ["attention", "gated", "hierarchy_mamba"])
def test_outputs_of_another_type_or_width_are_refused(name, as_reader):
    readout = make_readout(name, D_MODEL, D_INNER, D_STATE)
    with pytest.raises(TypeError, match=r"outputs must be torch\.float32, .* are torch\.float64"):
        readout(OUTPUTS.double())
    with pytest.raises(ValueError, match=r"outputs must have d_model = 3 channels.*\(2, 3, 2\)"):
        readout(OUTPUTS[..., :2])
    with pytest.raises(TypeError, match=r"outputs must be .*; it is torch\.int32"):
        check_fit(OUTPUTS.int(), torch.ones(1, D_MODEL))


@pytest.mark.parametrize(
    ("state", "error", "message"),
    [
        (None, TypeError, "its type is NoneType. A bidirectional model and a Transformer have"),
        ([], TypeError, "state must be a list of MambaState, .*; its type is list"),
        (H[:1], ValueError, r"\(batch, d_inner, d_state\) = \(2, 6, 5\); it is \(1, 6, 5\)"),
        (H.mT, ValueError, r"h must have the shape .* it is \(2, 5, 6\)"),
        (H.double(), TypeError, r"h must be torch\.float32, as the query is; it is torch\.float64"),
        (H.int(), TypeError, "h must be .*; it is torch.int32"),
    ],
)
def test_what_is_no_state_is_refused(state, error, message, as_reader):
    with pytest.raises(error, match=message):
        ReadState(D_MODEL, D_INNER, D_STATE)(OUTPUTS, None, state)


@pytest.mark.parametrize(
    ("function", "arguments", "error", "message"),
    [
        (make_readout, ("best", 3, 6, 5), ValueError, "readout must be one of .* it is 'best'"),
        (make_readout, ("mean", 3, 6.0, 5), TypeError, "d_inner must be an int; it is 6.0"),
        (ReadCLS, ("last", "yes"), TypeError, "heading must be True or False; it is 'yes'"),
        (ReadAttention, (0,), ValueError, "d_model must be at least 1; it is 0"),
        (ReadGated, (3.0,), TypeError, "d_model must be an int; it is 3.0"),
        (ReadCLSAndMax, (0,), ValueError, "d_model must be at least 1; it is 0"),
        (ReadState, (3, 6, 0), ValueError, "d_state must be at least 1; it is 0"),
        (ReadRegisters, (3, "sum"), ValueError, "combine must be one of .* it is 'sum'"),
        (ReadRegisters, (3, "max", 1), TypeError, "restarts must be True or False; it is 1"),
        (ReadRegisters, (3, "max", True, 0), ValueError, "every must be at least 1; it is 0"),
        (ReadHierarchy, (3, 7, 5), ValueError, "d_inner must be a multiple of .* 3; it is 7"),
    ],
)
def test_what_a_readout_cannot_be_made_of_is_refused(
    function, arguments, error, message, as_reader
):
    with pytest.raises(error, match=message):
        function(*arguments)
