"""One sequence over several processes: equal to one, and a lost one is an error, not a wait."""

import re
import time
from functools import partial
from types import SimpleNamespace

import pytest
import torch
from rank_threads import run_ranks
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier, stream_ranks
from mamba_edu.scan import (
    LostRank,
    cut_power,
    join_ranks,
    launch_ranks,
    receive_tensors,
    scan_ranks,
    selective_scan,
    send_tensors,
    work_alone,
)

BATCH, LENGTH, D_INNER, D_STATE = 2, 13, 3, 4
TIGHT = {"rtol": 1e-12, "atol": 1e-12}
CUTS = [5, 0, 1, 7]  # of LENGTH tokens: one rank has none
TOKENS = ("x", "delta", "B", "C", "gate")


@pytest.fixture
def inputs():
    rng = torch.Generator().manual_seed(0)
    wide, narrow = (BATCH, LENGTH, D_INNER), (BATCH, LENGTH, D_STATE)
    shapes = {"x": wide, "delta": wide, "A": (D_INNER, D_STATE), "B": narrow, "C": narrow}
    shapes |= {"skip": (D_INNER,), "gate": wide}
    drawn = {k: torch.rand(v, generator=rng, dtype=torch.float64) for k, v in shapes.items()}
    return drawn | {"A": -drawn["A"]}


def cut(inputs, sizes):
    parts = {k: v.split(sizes, dim=1) for k, v in inputs.items() if k in TOKENS}
    whole = {k: v for k, v in inputs.items() if k not in TOKENS}
    return [whole | {k: v[n] for k, v in parts.items()} for n in range(len(sizes))]


@pytest.mark.parametrize("wait", [False, True])
@pytest.mark.parametrize("options", [("skip", "gate"), ()])
def test_pieces_in_ranks_equal_the_whole_scan(inputs, wait, options, tmp_path):
    inputs = {k: v for k, v in inputs.items() if k not in ("skip", "gate") or k in options}
    y, end = selective_scan(**inputs, return_state=True, method="loop")
    works = [partial(scan_ranks, wait=wait, **piece) for piece in cut(inputs, CUTS)]
    answers = run_ranks(works, tmp_path)
    assert_close(torch.cat([piece for piece, _ in answers], dim=1), y, **TIGHT)
    assert_close(answers[-1][1], end, **TIGHT)
    first = {k: v[:, :5] if k in TOKENS else v for k, v in inputs.items()}
    assert_close(answers[0][1], selective_scan(**first, return_state=True)[1], **TIGHT)


def test_no_rank_waits_before_it_has_scanned_its_piece(inputs, tmp_path):
    """All but the first send what they keep and make of a state that comes late."""
    done = []

    def come_late(group):
        while len(done) < 1:
            time.sleep(0.01)
        send_tensors(group, 1, torch.ones(BATCH, D_INNER, D_STATE, dtype=torch.float64))

    def scan(group, piece):
        group = Watched(group, done)
        return scan_ranks(group, **piece)

    _, (y, end) = run_ranks([come_late, partial(scan, piece=inputs)], tmp_path)
    state = torch.ones_like(end)
    right = selective_scan(**inputs, state=state, return_state=True)
    assert_close((y, end), right, **TIGHT)


class Watched:
    """A group that notes when something is first waited for."""

    def __init__(self, group, done):
        self.group, self.done = group, done

    def __getattr__(self, name):
        return getattr(self.group, name)

    def recv(self, *given):
        self.done.append("waits")
        return self.group.recv(*given)


@pytest.mark.parametrize("readout", ["cls_last", "mean", "max", "last"])
def test_a_classifier_in_ranks_answers_as_one(readout, tmp_path):
    torch.manual_seed(0)
    model = SequenceClassifier(5, n_symbols=7, readout=readout, d_model=6, n_layers=2).double()
    ids = torch.randint(7, (BATCH, LENGTH), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids, dtype=torch.bool)
    mask[1, :9] = False  # its first rank has nothing of this row
    works = [
        partial(stream_ranks, model=model, inputs=part, mask=own, piece=3)
        for part, own in zip(ids.split([6, 3, 4], 1), mask.split([6, 3, 4], 1), strict=True)
    ]
    with torch.no_grad():
        logits = model(ids, mask)
    for answer in run_ranks(works, tmp_path):
        assert_close(answer, logits, **TIGHT)


def test_a_rank_that_is_silent_is_an_error_in_time(inputs, tmp_path):
    begun = time.monotonic()

    def wait_long(group):
        time.sleep(0.8)

    answers = run_ranks([wait_long, partial(scan_ranks, **inputs)], tmp_path, timeout=0.3)
    assert isinstance(answers[1], LostRank)
    assert "rank 0 must send a tensor of shape (2, 3, 4) in time" in str(answers[1])
    assert "says rank 1: Timed out" in str(answers[1])
    assert time.monotonic() - begun < 10


def test_what_is_sent_arrives_as_it_was(tmp_path):
    sent = torch.arange(6).view(2, 3).T, torch.ones(1, dtype=torch.float64), torch.zeros(0, 2)

    def receive(group):
        return receive_tensors(group, 0, *(torch.zeros_like(one) for one in sent))

    _, received = run_ranks([lambda group: send_tensors(group, 1, *sent), receive], tmp_path)
    assert_close(received, list(sent), rtol=0, atol=0)


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        (torch.zeros(2, 3), r"torch\.float32 of shape \(2, 3\)"),
        (torch.zeros(6, dtype=torch.float64), r"torch\.float64 of shape \(6,\)"),
        (torch.zeros(3, 2, dtype=torch.float64), r"torch\.float64 of shape \(3, 2\)"),
    ],
)
def test_what_is_sent_otherwise_than_wanted_is_refused(sent, given, tmp_path):
    like = torch.zeros(2, 3, dtype=torch.float64)
    works = [lambda group: send_tensors(group, 1, sent), lambda g: receive_tensors(g, 0, like)]
    _, error = run_ranks(works, tmp_path, timeout=0.3)
    with pytest.raises(ValueError, match=rf"rank 0 must send .*\(2, 3\), says rank 1; .* {given}"):
        raise error


@pytest.mark.parametrize("tensor", [torch.zeros(2, dtype=torch.cfloat), torch.zeros([1] * 9)])
def test_what_cannot_be_told_of_is_not_sent(tensor):
    with pytest.raises(ValueError, match="of at most 8 axes, to be sent; one is torch"):
        send_tensors(None, 1, tensor)


def test_ranks_that_leave_at_once_do_not_cut_the_greeting_of_others(tmp_path, monkeypatch):
    """Once with sockets, and once where one greets late."""
    (tmp_path / "late").mkdir()
    assert run_ranks([return_at_once] * 4, tmp_path) == [None] * 4
    done = []

    def greet(store, rank, n_ranks, timeout):
        time.sleep(0.1 * rank)
        done.append(rank)

    monkeypatch.setattr("torch.distributed.ProcessGroupGloo", greet)
    assert run_ranks([lambda group: len(done)] * 4, tmp_path / "late") == [4] * 4


def test_a_rank_that_leaves_is_named_with_the_reason(inputs, tmp_path):
    answers = run_ranks([return_at_once, partial(scan_ranks, **inputs)], tmp_path)
    assert isinstance(answers[1], LostRank)
    assert "rank 0 must send a tensor of shape (2, 3, 4) in time" in str(answers[1])
    reason = r"says rank 1: (\w.*)?(Connection (closed|reset) by peer|Broken pipe)"
    assert re.search(reason, str(answers[1]))


def test_a_scan_in_ranks_has_no_gradient(inputs):
    group = SimpleNamespace(rank=lambda: 0, size=lambda: 1)
    y, end = scan_ranks(group, **inputs | {"x": inputs["x"].requires_grad_()})
    assert not y.requires_grad
    assert not end.requires_grad


def test_processes_work_on_one_sequence_and_a_lost_one_is_named_at_once(inputs):
    """As readers run it: real processes; the second time one is killed."""
    works = [partial(scan_ranks, **piece) for piece in cut(inputs, [6, 7])]
    answers = launch_ranks(works)
    y = torch.cat([piece for piece, _ in answers], dim=1)
    assert_close(y, selective_scan(**inputs), **TIGHT)
    begun = time.monotonic()
    with pytest.raises(LostRank, match=r"rank 0 of 2 has stopped, exit code -?\d+; the others"):
        launch_ranks([cut_power, works[1]], timeout=600.0)
    assert time.monotonic() - begun < 60
    wrong = partial(scan_ranks, **cut(inputs, [6, 7])[0] | {"A": -inputs["A"]})
    with pytest.raises(RuntimeError, match=r"rank 0 stopped with ValueError: A must have real"):
        launch_ranks([wrong, works[1]])


def return_at_once(group):
    """Do nothing."""


def test_power_is_cut_once_the_file_is_there(tmp_path, monkeypatch):
    told, path = [], tmp_path / "state"

    def come(_):
        told.append("waits")
        path.write_text("")

    monkeypatch.setattr("time.sleep", come)
    monkeypatch.setattr("os.kill", lambda *_: told.append("killed"))
    cut_power(None, when=path)
    assert told == ["waits", "killed"]
    assert work_alone(lambda: 7, None) == 7


def test_what_no_other_process_can_run_is_refused(tmp_path, as_reader):
    with pytest.raises(ValueError, match="that of rank 1 is not"):
        launch_ranks([cut_power, lambda group: None])
    with pytest.raises(ValueError, match="one function for each rank; it holds none"):
        launch_ranks([])
    with pytest.raises(ValueError, match="timeout must be a finite number above 0; it is 0"):
        launch_ranks([cut_power], timeout=0)
    with pytest.raises(ValueError, match="rank must be 0 to 1, of 2; it is 2"):
        join_ranks(2, 2, tmp_path / "meeting")
    with pytest.raises(TypeError, match="wait must be True or False; it is 1"):
        scan_ranks(None, *[None] * 5, wait=1)
