"""One writer at a time for a table, and none that is dead keeps the next one out."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from mamba_edu._files import try_lock


@contextlib.contextmanager
def hold_table(path: Path) -> Iterator[None]:
    """Keep other writers away from a table for as long as this block runs.

    The system holds the lock for a process, not the file for its name: when a process dies,
    however it dies, the lock is free, and a file that it left behind keeps nobody out.

    Args:
        path: the table; the lock lies beside it, and is gone afterwards.

    Raises:
        BlockingIOError: if another process writes to the table, with that process's number.
    """
    beside = path.with_name(f"{path.name}.lock")
    file = _open_own(beside, path.name)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            beside.unlink()
        file.close()


def _open_own(beside: Path, name: str):
    """Open the lock's file so that it is ours, or say whose it is."""
    while True:
        file = open(beside, "a+", encoding="utf-8")  # noqa: SIM115  the caller closes it
        if not try_lock(file.fileno()):
            file.seek(0)
            owner = file.read().strip() or "unknown"
            file.close()
            raise BlockingIOError(
                f"{name} must have one writer at a time; process {owner} writes to it now"
            )
        if _is_there(file.fileno(), beside):
            file.truncate(0)
            file.write(f"{os.getpid()}\n")
            file.flush()
            return file
        file.close()  # its last owner has just taken the name away: this lock guards nothing


def _is_there(number: int, path: Path) -> bool:
    """Tell whether the open file still has its name."""
    try:
        return os.path.samestat(os.fstat(number), path.stat())
    except FileNotFoundError:
        return False
