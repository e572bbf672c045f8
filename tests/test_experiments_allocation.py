"""Freed memory is kept where it is asked for, and only there."""

import subprocess
import sys

import pytest

from mamba_edu.experiments import allocation, workers

NEEDS_GLIBC = pytest.mark.skipif(not allocation.has_glibc(), reason="the allocator is another")
CODE = f"""
import runpy
from pathlib import Path

allocation = runpy.run_path({allocation.__file__!r})

def free_much():
    "Say how many MiB of 96 are still held once they are freed."
    before = read_size()
    for _ in range(2):
        many = [bytearray(b"x" * 2**25) for _ in range(3)]
        del many
    return read_size() - before

def read_size():
    return int(Path("/proc/self/statm").read_text().split()[1]) / 256

first, agreed, then = free_much(), allocation["keep_memory"](), free_much()
allocation["return_memory"]()
print(round(first), agreed, round(then), round(read_size()))
"""


@NEEDS_GLIBC
def test_memory_is_kept_once_it_is_asked_for_and_given_back_at_the_end():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    first, agreed, then, at_last = done.stdout.split()
    assert agreed == "True"
    assert int(first) < 48 < 80 < int(then)
    assert int(at_last) < 64


def test_another_allocator_is_left_alone(monkeypatch):
    monkeypatch.setattr(allocation.ctypes, "CDLL", lambda name: object())
    assert not allocation.has_glibc()
    assert allocation.keep_memory() is False
    assert allocation.return_memory() is None


@pytest.mark.parametrize(
    ("dask", "order"), [(None, ["keep", "run", "return"]), ("tcp://somewhere:8786", ["run"])]
)
def test_only_processes_of_our_own_keep_memory(monkeypatch, dask, order):
    told = []
    monkeypatch.setattr(workers, "keep_memory", lambda: told.append("keep"))
    monkeypatch.setattr(workers, "return_memory", lambda: told.append("return"))
    monkeypatch.setattr(
        workers, "_call_elsewhere", lambda calls, *_: [make(*given) for make, given, _ in calls]
    )
    runs = {"one": {}}, [("one", 3)]
    [row] = workers.make_rows(lambda seed: told.append("run") or {"n": seed}, *runs, 2, dask=dask)
    assert told == order
    assert row["n"] == 3
