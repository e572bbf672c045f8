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
        RuntimeError: if a work raises an error, with what it says.
    """
    check_interval(timeout=timeout)
    if not works:
        raise ValueError("works must hold one function for each rank; it holds none")
    packed = [_pack(rank, work) for rank, work in enumerate(works)]
    context = multiprocessing.get_context(METHOD)
    context.set_forkserver_preload(READY)
    with tempfile.TemporaryDirectory() as folder:
        meeting, watched = str(Path(folder) / "meeting"), []
        for rank, work in enumerate(packed):
            ours, theirs = context.Pipe(duplex=False)
            given = (work, rank, len(works), meeting, timeout, theirs)
            process = context.Process(target=_run, args=given, daemon=True)
            process.start()
            theirs.close()
            watched.append((process, ours))
        try:
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


def _run(
    work: bytes, rank: int, n_ranks: int, meeting: str, timeout: float, pipe: Connection
) -> None:
    """Do a piece of work in a process of its own, and tell what came of it."""
    torch.set_num_threads(1)
    try:
        function = pickle.loads(work)  # before the others wait: it may import much
        told = ("done", function(join_ranks(rank, n_ranks, meeting, timeout)))
    except LostRank as error:
        told = ("lost", str(error))
    except Exception as error:
        told = ("failed", f"{type(error).__name__}: {error}")
    pipe.send_bytes(pickle.dumps(told))  # by value: shared memory would go with this process
    pipe.close()


def _collect(watched: Sequence[tuple[BaseProcess, Connection]]) -> list[Any]:
    """Wait for what each process tells, and name the one that stopped first."""
    waiting = {pipe: rank for rank, (_, pipe) in enumerate(watched)}
    results: dict[int, Any] = {}
    while waiting:
        pipe = wait(list(waiting))[0]
        rank = waiting.pop(pipe)
        kind, results[rank] = _read(pipe, watched[rank][0])
        if kind == "failed":
            raise RuntimeError(f"rank {rank} stopped with {results[rank]}")
        if kind == "lost":
            raise LostRank(_find_dead([process for process, _ in watched]) or results[rank])
    return [results[rank] for rank in range(len(watched))]


def _read(pipe: Connection, process: BaseProcess) -> tuple[str, Any]:
    """Read what a process tells; a pipe that ends without a word is a process that has died."""
    try:
        return pickle.loads(pipe.recv_bytes())
    except EOFError:
        process.join(GRACE)
        return "lost", "a process has stopped without a word"


def _find_dead(processes: Sequence[BaseProcess]) -> str:
    """Name the process that has died by itself, if there is one."""
    until, dead = time.monotonic() + GRACE, []
    while not dead and time.monotonic() < until:
        time.sleep(0.02)
        dead = [rank for rank, one in enumerate(processes) if one.exitcode not in (None, 0)]
    if not dead:
        return ""
    return (
        f"rank {dead[0]} of {len(processes)} has stopped, exit code "
        f"{processes[dead[0]].exitcode}; the others were stopped too"
    )


def _stop(processes) -> None:
    """Stop whatever still runs, and wait until it has."""
    for process in list(processes):
        if process.is_alive():
            process.kill()
        process.join(10)
