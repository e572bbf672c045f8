"""What is read inside a block is what its scan is given: fed again, it gives the block's output."""

import pytest
import torch
from torch.nn.functional import silu
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import read_block
from mamba_edu.scan import selective_scan

LENGTH, D_MODEL = 7, 6
SCAN = ("x", "delta", "A", "B", "C", "skip")


def scan_again(read, gate):
    """Run the scan that was read, and let its gate through."""
    y = selective_scan(**{name: getattr(read, name) for name in SCAN}, mask=read.mask)
    return y * silu(gate)


def make_block():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        block = MambaBlock(D_MODEL, d_state=5).double()
        return block, torch.randn(2, LENGTH, D_MODEL, dtype=torch.float64)


def make_model(position="last"):
    from mamba_edu.readout import ReadCLS

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = SequenceClassifier(3, n_symbols=9, readout=ReadCLS(position), n_layers=2, d_state=5)
        return model, torch.randint(9, (2, LENGTH))


@pytest.mark.parametrize("n_padded", [0, 2])
def test_a_block_is_its_scan_between_two_projections(n_padded):
    block, tokens = make_block()
    mask = torch.ones(2, LENGTH, dtype=torch.bool)
    mask[0, 1 : 1 + n_padded] = False  # amid real tokens, where the convolution would see it
    read = read_block(block, tokens, mask if n_padded else None)
    gate = block.in_proj(tokens)[..., 2 * D_MODEL :]
    assert_close(block.out_proj(scan_again(read, gate)), block(tokens, read.mask))
    assert not read.delta.requires_grad


@pytest.mark.parametrize("layer", [0, 1])
def test_a_layer_of_a_classifier_reads_what_those_before_it_say(layer):
    model, ids = make_model()
    tokens, _ = model.tokens(ids)
    for before in model.blocks.layers[:layer]:
        tokens = before(tokens)
    read = read_block(model, ids, layer=layer)
    found = model.blocks.layers[layer]
    gate = found.mixer.in_proj(found.norm(tokens)).chunk(2, dim=-1)[1]
    assert read.x.shape == (2, LENGTH + 1, 64)
    assert_close(tokens + found.mixer.out_proj(scan_again(read, gate)), found(tokens))


def test_padding_moves_no_clock():
    model, ids = make_model("middle")
    mask = torch.ones(2, LENGTH, dtype=torch.bool)
    mask[1, 4:] = False
    read = read_block(model, ids, mask)
    assert read.mask.sum(1).tolist() == [LENGTH + 1, 5]
    assert (read.delta[~read.mask] == 0).all()
    assert (read.delta[read.mask] > 0).all()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"model": torch.nn.Linear(1, 1)}, "model must be a MambaBlock or a SequenceClassifier"),
        ({"layer": 2}, "layer must be 0 to 1; it is 2"),
        ({"layer": -1}, "layer must be at least 0; it is -1"),
        ({"layer": 0.5}, "layer must be an int; it is 0.5"),
        ({"inputs": torch.zeros(2, 3)}, "inputs must be ids"),
    ],
)
@pytest.mark.usefixtures("as_reader")
def test_reading_refuses_what_it_cannot_open(changed, message):
    model, ids = make_model()
    with pytest.raises((TypeError, ValueError), match=message):
        read_block(**{"model": model, "inputs": ids} | changed)


@pytest.mark.parametrize(("direction", "name"), [("forward", "mixer"), ("backward", "mixer_back")])
@pytest.mark.parametrize("n_padded", [0, 2])
def test_a_model_that_reads_both_ways_is_read_the_way_that_is_named(direction, name, n_padded):
    """A mixer alone, given the tokens in its own order, is the oracle for both."""
    torch.manual_seed(0)
    model = SequenceClassifier(3, n_symbols=9, d_model=6, n_layers=2, bidirectional=True)
    ids = torch.randint(9, (2, LENGTH))
    mask = torch.ones(2, LENGTH, dtype=torch.bool)
    mask[0, 1 : 1 + n_padded] = False
    tokens, real = model.tokens(ids, mask)
    found = model.blocks.layers[1]
    tokens = found.norm(model.blocks.layers[0](tokens, real))
    tokens, real = (v.flip(1) if direction == "backward" else v for v in (tokens, real))
    own = read_block(getattr(found, name), tokens, real)
    read = read_block(model, ids, mask, layer=1, direction=direction)
    assert_close(tuple(read), tuple(own))


@pytest.mark.usefixtures("as_reader")
def test_a_direction_that_is_not_there_or_not_named_is_refused():
    model, ids = make_model()
    with pytest.raises(ValueError, match=r"\(None, 'forward'\) for a model that reads forward"):
        read_block(model, ids, direction="backward")
    torch.manual_seed(0)
    both = SequenceClassifier(3, n_symbols=9, d_model=6, bidirectional=True)
    for direction in (None, "back"):
        with pytest.raises(ValueError, match=r"\('forward', 'backward'\) for a model that reads b"):
            read_block(both, ids, direction=direction)


@pytest.mark.usefixtures("as_reader")
def test_a_model_whose_state_starts_afresh_is_not_read_as_one_scan():
    model, ids = make_model()
    model.readout.restarts = True
    with pytest.raises(ValueError, match="state start afresh behind each register"):
        read_block(model, ids)
