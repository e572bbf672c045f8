"""Let one set-up at a time work in the course's folder."""

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from mamba_edu._files import try_lock


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
