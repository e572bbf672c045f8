"""What processes tell of their end: the cause is heard, whoever speaks first."""

import pickle
import threading
import time
from multiprocessing import Pipe
from types import SimpleNamespace

import pytest
import torch

from mamba_edu.scan import LostRank, launch


def return_at_once(group):
    """Do nothing."""


def return_lock(group):
    """Return what cannot be sent."""
    return threading.Lock()


def watch(n_ranks):
    """Make processes that never were, and the ends of their pipes that they would write to."""
    pipes = [Pipe(duplex=False) for _ in range(n_ranks)]
    process = SimpleNamespace(join=lambda seconds: None, exitcode=-9)
    return [(process, ours) for ours, _ in pipes], [theirs for _, theirs in pipes]


@pytest.mark.parametrize(
    ("word", "error", "message"),
    [
        (("failed", "ValueError: no"), RuntimeError, "rank 2 stopped with ValueError: no"),
        (None, LostRank, "rank 2 of 3 has stopped, exit code -9; the others were stopped too"),
    ],
)
def test_the_cause_comes_before_the_loss_that_is_told_first(word, error, message):
    watched, pipes = watch(3)
    pipes[0].send_bytes(pickle.dumps(("lost", "rank 2 is silent")))

    def tell_late():
        time.sleep(0.05)
        if word:
            pipes[2].send_bytes(pickle.dumps(word))
        pipes[2].close()

    thread = threading.Thread(target=tell_late)
    thread.start()
    with pytest.raises(error, match=message):
        launch._collect(watched)
    thread.join()


def test_a_loss_without_a_cause_is_told_after_the_grace(monkeypatch):
    monkeypatch.setattr(launch, "GRACE", 0.05)
    watched, pipes = watch(2)
    pipes[1].send_bytes(pickle.dumps(("lost", "rank 0 is silent")))
    with pytest.raises(LostRank, match="rank 0 is silent"):
        launch._collect(watched)


@pytest.mark.parametrize(
    ("work", "word"),
    [(return_lock, ("failed", "TypeError: cannot pickle")), (return_at_once, ("done", None))],
)
def test_the_group_lives_until_the_word_is_sent(work, word, monkeypatch):
    class Group:
        def __del__(self):
            done.append("freed")

    done = []
    monkeypatch.setattr(launch, "join_ranks", lambda *_: Group())
    monkeypatch.setattr(torch, "set_num_threads", lambda _: None)
    pipe = SimpleNamespace(send_bytes=done.append, close=lambda: done.append("closed"))
    launch._run(pickle.dumps(work), 0, 1, "meeting", 1.0, pipe)
    kind, told = pickle.loads(done[0])
    assert done[1:] == ["closed", "freed"]
    assert (kind, told and told[:24]) == word
