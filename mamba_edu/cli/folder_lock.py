"""Let one set-up at a time work in the course's folder."""

import contextlib
import errno
import os
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def hold_folder(root: Path) -> Iterator[None]:
    """Keep other set-ups out. The system lets them in again, however this one ends."""
    with open(root / ".course.lock", "w") as file:
        os.set_inheritable(file.fileno(), True)  # a pip that outlives us goes on holding it
        wait_for_lock(file.fileno())
        yield


def wait_for_lock(number: int) -> None:
    """Return when the open file is ours."""
    told = False
    while not try_lock(number):
        if not told:
            print("Another set-up is at work in this folder; waiting for it to end.", flush=True)
        told = True
        time.sleep(0.5)


def try_lock(number: int) -> bool:
    """Tell whether the open file is ours now; on a disk that knows no locks, it is."""
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(number, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EAGAIN, errno.EACCES, errno.EDEADLK)
    return True
