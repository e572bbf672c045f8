"""A stream killed and resumed: the same answer, or a clear refusal."""

from functools import partial

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier, StreamState, load_state, resume_stream, save_state
from mamba_edu.models._states import name_tensors
from mamba_edu.readout import ReadMean
from mamba_edu.steps import apply_step_rule, dead_zone_step, snap

BATCH, LENGTH, PIECE, N_SYMBOLS = 2, 23, 4, 7
EXACT, TIGHT = {"rtol": 0, "atol": 0}, {"rtol": 1e-12, "atol": 1e-12}


def make_model(seed=0, readout="cls_last"):
    torch.manual_seed(seed)
    sizes = {"n_symbols": N_SYMBOLS, "readout": readout, "d_model": 6, "n_layers": 2}
    return SequenceClassifier(5, **sizes).double()


def draw_ids(length=LENGTH):
    return torch.randint(N_SYMBOLS, (BATCH, length), generator=torch.Generator().manual_seed(1))


@pytest.fixture
def saved(tmp_path):
    """A model, and a file with what its stream left behind after two pieces."""
    model, path = make_model(), tmp_path / "state.safetensors"
    _, state = model.stream(draw_ids()[:, : 2 * PIECE], piece=PIECE, return_state=True)
    save_state(state, model, path)
    return model, path, state


def test_a_state_is_the_same_from_a_file(saved):
    model, path, state = saved
    loaded = load_state(model, path)
    assert isinstance(loaded, StreamState)
    assert_close(name_tensors(loaded), name_tensors(state), **EXACT)
    rest = draw_ids()[:, 2 * PIECE :]
    assert_close(model.stream(rest, state=loaded), model.stream(rest, state=state), **TIGHT)


@pytest.mark.parametrize(
    ("readout", "n_pieces"), [("cls_last", 0), ("cls_last", 1), ("mean", 4), ("max", 6)]
)
def test_killed_in_the_middle_and_resumed_gives_the_same_answer(
    readout, n_pieces, tmp_path, monkeypatch
):
    model, ids, path = make_model(readout=readout), draw_ids(), tmp_path / "state.safetensors"
    right = resume_stream(model, ids, tmp_path / "whole.safetensors", PIECE)
    assert_close(right, model(ids).detach(), **TIGHT)
    calls, stream = [], model.stream

    def be_killed(part, **more):
        calls.append(part.shape[1])
        if len(calls) > n_pieces and not is_back:
            raise KeyboardInterrupt
        return stream(part, **more)

    is_back = False
    monkeypatch.setattr(model, "stream", be_killed)
    with pytest.raises(KeyboardInterrupt):
        resume_stream(model, ids, path, PIECE)
    is_back = calls.clear() is None
    assert_close(resume_stream(model, ids, path, PIECE), right, **TIGHT)
    assert sum(calls) == LENGTH - min(LENGTH, n_pieces * PIECE)  # nothing is read again
    assert_close(resume_stream(model, ids, path, PIECE), right, **TIGHT)  # nor when all is read


def test_a_state_half_written_is_never_met(saved, monkeypatch):
    """The power goes while the file is written: the one before is still whole."""
    model, path, state = saved
    _, later = model.stream(draw_ids()[:, 8:12], state=state, return_state=True)

    def lose_power(*_):
        raise OSError("no power")

    monkeypatch.setattr("pathlib.Path.replace", lose_power)
    with pytest.raises(OSError, match="no power"):
        save_state(later, model, path)
    assert_close(name_tensors(load_state(model, path)), name_tensors(state), **EXACT)
    assert [file.name for file in path.parent.iterdir()] == [path.name]


def test_a_broken_or_foreign_file_is_refused(saved):
    model, path, _ = saved
    with pytest.raises(FileNotFoundError, match=r"a state that was saved; there is no gone\.st"):
        load_state(model, path.with_name("gone.st"))
    with pytest.raises(ValueError, match="must be of this model; one of other weights"):
        load_state(make_model(seed=1), path)
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"state\.safetensors must be a whole safetensors file"):
        load_state(model, path)
    save_file({"weight": torch.ones(3)}, path)
    with pytest.raises(ValueError, match=r"hold the state of a stream; it holds \['weight'\]"):
        load_state(model, path)


def take_mean(model):
    model.readout = ReadMean()


def widen(model):
    model.blocks.layers[1].mixer.step_rule = partial(dead_zone_step, width=0.2)


def zero(model, width):
    model.blocks.layers[1].mixer.step_rule = NumberedRule(width)


class NumberedRule(torch.nn.Module):
    """A rule that holds a number which is no weight."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, delta_raw):
        return dead_zone_step(delta_raw, self.width)


def snap_on_top(model, tau=0.01):
    apply_step_rule(model, partial(snap, tau=tau))


WAYS = [
    take_mean,
    widen,
    partial(zero, width=0.2),
    partial(zero, width=0.3),
    snap_on_top,
    partial(snap_on_top, tau=0.02),
]


@pytest.mark.parametrize("left", [None, *WAYS])
def test_a_state_left_under_another_readout_or_rule_is_refused(left, tmp_path):
    model, path = make_model(), tmp_path / "state.safetensors"
    if left:
        left(model)
    _, state = model.stream(draw_ids()[:, :PIECE], return_state=True)
    save_state(state, model, path)
    for way in WAYS:
        other = make_model()
        way(other)
        if way is left:
            load_state(other.eval(), path)
            continue
        with pytest.raises(ValueError, match="another read-out or another step rule left it"):
            load_state(other, path)


def test_a_file_that_lacks_a_part_is_refused(saved):
    model, path, _ = saved
    with safe_open(path, "pt") as file:
        told = file.metadata()
    parts = {k: v for k, v in load_file(path).items() if k != "blocks.1.h"}
    save_file(parts | {"blocks.1.g": torch.ones(1)}, path, told)
    with pytest.raises(ValueError, match=r"hold the state of a stream; it lacks 'blocks\.1\.h'"):
        load_state(model, path)


def test_a_state_that_is_none_or_not_finite_is_not_saved(saved, as_reader):
    model, path, state = saved
    with pytest.raises(TypeError, match="state must be a StreamState; its type is list"):
        save_state(list(state), model, path)
    with pytest.raises(ValueError, match="read must be finite; NaN values: 12 of 12"):
        save_state(state._replace(read=state.read * torch.nan), model, path)


def test_a_stream_is_not_resumed_on_other_inputs(saved):
    model, path, _ = saved
    has_read = r"has read \[8\] of 2 sequences"
    with pytest.raises(ValueError, match=rf"whole pieces of 5 of \(2, 23\) inputs; it {has_read}"):
        resume_stream(model, draw_ids(), path, 5)
    with pytest.raises(ValueError, match=rf"whole pieces of 4 of \(2, 7\) inputs; it {has_read}"):
        resume_stream(model, draw_ids(7), path, PIECE)
    with pytest.raises(ValueError, match=rf"of 4 of \(1, 23\) inputs; it {has_read}"):
        resume_stream(model, draw_ids()[:1], path, PIECE)
