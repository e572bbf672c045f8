"""Processes on this machine that work on one sequence together, started and watched."""

import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import torch

from mamba_edu._checks import check_interval
from mamba_edu.scan.ranks import LostRank, join_ranks

GRACE = 1.0  # seconds in which the one that stopped first shows itself
CAUSES = {"failed": RuntimeError, "dead": LostRank}  # why others are lost
# Where processes can be copied, all are copied from one that has imported torch already.
METHOD = "forkserver" if sys.platform == "linux" else "spawn"
READY = ["mamba_edu.scan", "mamba_edu.scan._kernels"]


def launch_ranks(works: Sequence[Callable[[Any], Any]], timeout: float = 60.0) -> list[Any]:
    """Start a process for each piece of work, let them meet, and wait for all of them.

    If one stops, the others are stopped too, and the error says which it was: nobody waits for
    ever.

    Args:
        works: for each rank a function of its process group that can be pickled, such as
            functools.partial(scan_ranks, x=x, delta=delta, A=A, B=B, C=C); one that was defined
            in a notebook cannot.
        timeout: seconds that one may be silent when another waits for it.

    Returns:
        What each of them returned, in the order of the ranks.

    Raises:
        ValueError: if there is no work, or a work cannot be pickled.
        LostRank: if a process has stopped, or is silent for too long.
        RuntimeError: if a work raises an error, or its result cannot be pickled; with what it
            says. An error of its own comes before what others say who wait for it.
    """
    check_interval(timeout=timeout)
    if not works:
        raise ValueError("works must hold one function for each rank; it holds none")
    packed = [_pack(rank, work) for rank, work in enumerate(works)]
    context = multiprocessing.get_context(METHOD)
    context.set_forkserver_preload(READY)
    with tempfile.TemporaryDirectory() as folder:
        watched: list[tuple[BaseProcess, Connection]] = []
        try:
            _start(watched, context, packed, str(Path(folder) / "meeting"), timeout)
            return _collect(watched)
        finally:
            _stop(process for process, _ in watched)


def work_alone(work: Callable[[], Any], group: Any) -> Any:
    """Do what needs no group: launch_ranks([partial(work_alone, work), ...])."""
    return work()


def cut_power(group: Any, when: str | Path | None = None) -> None:
    """Stop this process at once, without a word to the others, as a power cut would.

    Args:
        group: nobody is told.
        when: a file; the power goes as soon as it is there. At once if not given.
    """
    while when is not None and not Path(when).exists():
        time.sleep(0.01)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))


def _pack(rank: int, work: Callable[[Any], Any]) -> bytes:
    """Pickle a work by value; what stays behind in this process cannot be sent."""
    try:
        return pickle.dumps(work)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise ValueError(
            f"works must be functions that another process can import; that of rank {rank} is "
            f"not: {error}"
        ) from None


def _start(
    watched: list[tuple[BaseProcess, Connection]],
    context: Any,
    packed: Sequence[bytes],
    meeting: str,
    timeout: float,
) -> None:
    """Start the processes; each is watched from its start on."""
    for rank, work in enumerate(packed):
        ours, theirs = context.Pipe(duplex=False)
        given = (work, rank, len(packed), meeting, timeout, theirs)
        process = context.Process(target=_run, args=given, daemon=True)
        process.start()
        watched.append((process, ours))
        theirs.close()


def _run(
    work: bytes, rank: int, n_ranks: int, meeting: str, timeout: float, pipe: Connection
) -> None:
    """Do a piece of work in a process of its own, and tell what came of it."""
    torch.set_num_threads(1)
    try:
        function = pickle.loads(work)  # before the others wait: it may import much
        group = join_ranks(rank, n_ranks, meeting, timeout)  # lives until the word is sent
        told = pickle.dumps(("done", function(group)))  # by value: memory goes with this process
    except LostRank as error:
        told = pickle.dumps(("lost", str(error)))
    except Exception as error:
        told = pickle.dumps(("failed", f"{type(error).__name__}: {error}"))
    pipe.send_bytes(told)
    pipe.close()


def _collect(watched: Sequence[tuple[BaseProcess, Connection]]) -> list[Any]:
    """Wait for what each process tells, and name the one that stopped first."""
    waiting = {pipe: rank for rank, (_, pipe) in enumerate(watched)}
    told: dict[int, tuple[str, Any]] = {}
    until = None
    while waiting and (until is None or time.monotonic() < until):
        for pipe in wait(list(waiting), until and max(0, until - time.monotonic())):
            rank = waiting.pop(pipe)
            told[rank] = _read(pipe, f"rank {rank} of {len(watched)}", watched[rank][0])
        _raise_cause(told, CAUSES)
        if until is None and any(kind == "lost" for kind, _ in told.values()):
            until = time.monotonic() + GRACE
    _raise_cause(told, {"lost": LostRank})
    return [told[rank][1] for rank in range(len(watched))]


def _read(pipe: Connection, name: str, process: BaseProcess) -> tuple[str, Any]:
    """Read what a process tells; a pipe that ends without a word is a process that has died."""
    try:
        return pickle.loads(pipe.recv_bytes())
    except (EOFError, OSError):
        process.join(GRACE)
        code = process.exitcode
        return "dead", f"{name} has stopped, exit code {code}; the others were stopped too"


def _raise_cause(told: dict[int, tuple[str, Any]], causes: dict[str, type[Exception]]) -> None:
    """Raise what a process has told, if it is one of these causes, the first of them first."""
    found = [(kind, rank) for kind in causes for rank in told if told[rank][0] == kind]
    for kind, rank in found[:1]:
        word = told[rank][1]
        raise causes[kind](f"rank {rank} stopped with {word}" if kind == "failed" else word)


def _stop(processes) -> None:
    """Stop whatever still runs, and wait until it has."""
    for process in list(processes):
        if process.is_alive():
            process.kill()
        process.join(10)
