"""Break the package on purpose, one line at a time, and see the named test turn red.

    python tests/mutants.py [--jobs 2] [--seen-green] [WORD ...]   (breaks that hold every WORD)

The breaks stand in tests/breaks/*.toml. Each is made in a copy of the repository in a process of
its own, where the test must fail by itself: a copy that cannot be imported proves nothing.
"""

import argparse
import contextlib
import gc
import importlib
import multiprocessing
import os
import sys
import tomllib
from collections.abc import Iterator
from multiprocessing import connection
from pathlib import Path

from break_runner import MAY_FORK, SECONDS, Break, work

ROOT = Path(__file__).resolve().parent.parent
# What tests import without being able to change it; torch.testing asks for the second.
SLOW_IMPORTS = ["torch", "torch.distributed.tensor", "nbval.plugin", "hypothesis", "beartype"]
SLOW_IMPORTS += ["torch._dynamo", "anywidget"]  # the first is asked for by torch's optimizers
SLOW_IMPORTS += ["scipy.optimize", "matplotlib.pyplot", "numba"]
SLOW_IMPORTS += ["IPython.core.interactiveshell", "ipywidgets", "nbclient", "sklearn.isotonic"]


def load_breaks(folder: Path = ROOT / "tests" / "breaks") -> list[Break]:
    """Read the breaks of every file in the folder."""
    return [
        Break(**row)
        for path in sorted(folder.glob("*.toml"))
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["break"]
    ]


def share_jobs(rows: list[Break], counter) -> Iterator[tuple[int, Break]]:
    """Give whoever asks the next break that nobody has."""
    while True:
        with counter.get_lock():
            number = counter.value
            counter.value += 1
        if number >= len(rows):
            return
        yield number, rows[number]


def judge_in_forks(rows: list[Break], root: Path, jobs: int) -> Iterator[tuple[int, str]]:
    """Judge breaks in as many processes as told, which fork for each: its number, its fault."""
    context = multiprocessing.get_context("fork")
    counter = context.Value("i", 0)
    readers = []
    for _ in range(min(jobs, len(rows))):
        reader, writer = context.Pipe(duplex=False)
        given = (share_jobs(rows, counter), root, writer.send)
        context.Process(target=work, args=given, daemon=True).start()
        writer.close()  # so that the end of the process is heard
        readers.append(reader)
    while readers:
        reader = connection.wait(readers)[0]
        try:
            yield reader.recv()
        except EOFError:
            readers.remove(reader)


def judge_alone(job: tuple[int, Break, Path]) -> tuple[int, str]:
    """Judge one break in this process, where forking is not safe."""
    *numbered, root = job
    faults = []
    work([tuple(numbered)], root, faults.append)
    return faults[0]


def judge_one_by_one(rows: list[Break], root: Path, jobs: int) -> Iterator[tuple[int, str]]:
    """Judge each break in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(jobs, maxtasksperchild=1) as pool:
        faults = pool.imap(judge_alone, [(n, row, root) for n, row in enumerate(rows)])
        for _ in rows:
            yield faults.next(6 * SECONDS)  # a process that crashed would never answer


def run_breaks(breaks: list[Break], root: Path, jobs: int, seen_green: bool = False) -> int:
    """Judge every break, print a line each and the counts, and return how many failed.

    The tests must be green without a break; whoever has just seen that need not see it again.
    """
    tests = "\n".join(sorted({row.test for row in breaks}))
    whole = [] if seen_green else [Break("", "", "", tests, "without any break")]
    rows = [*whole, *sorted(breaks, key=Break.find_row)]
    judge = judge_in_forks if MAY_FORK else judge_one_by_one
    faults = dict.fromkeys(range(len(rows)), "no proof: nothing answered")
    for number, fault in judge(rows, root, jobs):
        faults[number] = fault
        print_verdict(rows[number], fault)
    failed = sum(bool(fault) for fault in faults.values())
    print(f"{len(rows) - failed} passed, {failed} failed")
    return failed


def print_verdict(row: Break, fault: str) -> None:
    """Print a break's line, and what speaks against it."""
    if not row.file:
        print(f"RED       without any break: {fault}" if fault else "green     without any break")
        return
    told = f"\n{'':10}{row.test}: {fault}" if fault else ""
    print(f"{'SURVIVED' if fault else 'caught':8}  {row.file:32}  {row.breaks}{told}", flush=True)


def warm_up() -> None:
    """Do once what the forked processes share, and what costs more than most tests."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in SLOW_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    if "numba" in sys.modules:
        sys.modules["numba"].njit(lambda: 0)()  # the first call wakes the compiler
    gc.collect()
    gc.freeze()  # the copies of this process need not look through all that again


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("words", nargs="*", help="only the breaks that hold every word")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--seen-green", action="store_true", help="all tests have just passed")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository to break")
    arguments = parser.parse_args()
    root = arguments.root.resolve()
    breaks = [
        row
        for row in load_breaks(root / "tests" / "breaks")
        if all(word in " ".join(row) for word in arguments.words)
    ]
    if MAY_FORK:
        warm_up()
    return min(run_breaks(breaks, root, arguments.jobs, arguments.seen_green), 1)


if __name__ == "__main__":
    sys.exit(main())
