"""Break the package on purpose, one line at a time, and see the named test turn red.

    python tests/mutants.py [--jobs 2] [--seen-green] [WORD ...]   (breaks that hold every WORD)

The breaks stand in tests/breaks/*.toml. Each is made in a copy of the repository in a process of
its own, where the test must fail by itself: a copy that cannot be imported proves nothing.
"""

import argparse
import contextlib
import gc
import importlib
import io
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "workbook", "build")
# What tests import without being able to change it; torch.testing asks for the second.
SLOW_IMPORTS = ["torch", "torch.distributed.tensor", "nbval.plugin", "hypothesis", "beartype"]
SLOW_IMPORTS += ["scipy.optimize", "matplotlib.pyplot", "numba"]
SLOW_IMPORTS += ["IPython.core.interactiveshell", "ipywidgets", "nbclient", "sklearn.isotonic"]
SECONDS = 60  # for one break
NO_PROOF = (ImportError, NameError, SyntaxError, TimeoutError)


class Break(NamedTuple):
    """One deliberate break: in which file, what for what, which test sees it, and what it is."""

    file: str
    old: str
    new: str
    test: str
    breaks: str


class Watcher:
    """A pytest plugin that counts what passed and keeps the errors of what did not."""

    def __init__(self):
        self.passed = 0
        self.caught: list[str] = []
        self.astray: list[str] = []

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed

    def pytest_exception_interact(self, node, call, report):
        error = call.excinfo
        is_proof = getattr(report, "when", "collect") == "call" and not error.errisinstance(
            NO_PROOF
        )
        said = error.exconly().splitlines()[-1].removeprefix("E").strip()
        (self.caught if is_proof else self.astray).append(f"{node.name}: {said}")


def load_breaks(folder: Path = ROOT / "tests" / "breaks") -> list[Break]:
    """Read the breaks of every file in the folder."""
    return [
        Break(**row)
        for path in sorted(folder.glob("*.toml"))
        for row in tomllib.loads(path.read_text(encoding="utf-8"))["break"]
    ]


def judge_break(job: tuple[Break, Path]) -> str:
    """Make one break in a copy and run its test: say what is wrong, or nothing if it turned red."""
    deliberate, root = job
    source = (root / deliberate.file).read_text(encoding="utf-8")
    if source.count(deliberate.old) != 1:
        return f"the old text occurs {source.count(deliberate.old)} times, not once"
    broken = source.replace(deliberate.old, deliberate.new)
    watcher = run_tests(root, [deliberate.test], {deliberate.file: broken}, SECONDS)
    if watcher.astray:
        return f"no proof: {watcher.astray[0]}"
    if watcher.caught:
        return ""
    return "the test stays green" if watcher.passed else "no such test"


def judge_whole(job: tuple[list[str], Path]) -> str:
    """Run the named tests on an unbroken copy: say what is wrong, or nothing if all are green."""
    tests, root = job
    watcher = run_tests(root, tests, {}, 5 * SECONDS)
    if watcher.astray or watcher.caught:
        return (watcher.astray + watcher.caught)[0]
    return "" if watcher.passed else "no test ran: is one of the names wrong?"


def run_tests(root: Path, tests: list[str], changed: dict[str, str], seconds: int) -> Watcher:
    """Run tests in a copy of the repository. For a process that ends afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        shutil.copytree(root, copy, ignore=LEFT_OUT)
        for file, text in changed.items():
            (copy / file).write_text(text, encoding="utf-8")
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path.insert(0, str(copy))
        sys.dont_write_bytecode = True
        with contextlib.redirect_stdout(io.StringIO()), limit_time(seconds):
            watcher = call_pytest([*tests, f"--basetemp={folder}/scratch"])
        package = sys.modules.get("mamba_edu")
        if package and not Path(package.__file__).is_relative_to(copy):
            watcher.astray.insert(0, f"{package.__file__} was tested, not the copy")
        os.chdir(root)
    return watcher


def call_pytest(arguments: list[str]) -> Watcher:
    """Run pytest in this process; what goes wrong in pytest itself proves nothing either."""
    import pytest

    # pytest wants to have imported its plugins itself, to rewrite their assertions
    options = "-x --tb=no -W ignore::pytest.PytestAssertRewriteWarning"
    # the second searches all of torch for lost objects, which takes longer than most tests
    options += " -p no:cacheprovider -p no:unraisableexception -p no:threadexception -p no:anyio"
    watcher = Watcher()
    try:
        pytest.main([*arguments, *options.split()], plugins=[watcher])
    except Exception as error:
        watcher.astray.append(f"pytest: {error!r}")
    return watcher


@contextlib.contextmanager
def limit_time(seconds: int):
    """Stop a test that a break sends round in circles, where the system has alarms."""

    def stop(*_):
        raise TimeoutError(f"took more than {seconds} s")

    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, stop)
        signal.alarm(seconds)
        yield
        signal.alarm(0)
    else:
        yield


def run_breaks(breaks: list[Break], root: Path, jobs: int, seen_green: bool = False) -> int:
    """Judge every break, print a line each and the counts, and return how many failed.

    The tests must be green without a break; whoever has just seen that need not see it again.
    """
    tests = sorted({row.test for row in breaks})
    # Forked processes share torch, whose import costs more than most tests.
    start = "fork" if sys.platform == "linux" else "spawn"
    failed = 0
    with multiprocessing.get_context(start).Pool(jobs, maxtasksperchild=1) as pool:
        whole = None if seen_green else pool.apply_async(judge_whole, [(tests, root)])
        faults = pool.imap(judge_break, [(row, root) for row in breaks], chunksize=1)
        for row in breaks:
            fault = faults.next(6 * SECONDS)  # a process that crashed would never answer
            failed += bool(fault)
            word = "SURVIVED" if fault else "caught"
            told = f"\n{'':10}{row.test}: {fault}" if fault else ""
            print(f"{word:8}  {row.file:32}  {row.breaks}{told}", flush=True)
        fault = whole.get() if whole else ""
    if fault:
        failed += 1
        print(f"RED       without any break: {fault}")
    print(f"{len(breaks) + (not seen_green) - failed} passed, {failed} failed")
    return failed


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
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    for name in SLOW_IMPORTS:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    gc.freeze()  # the copies of this process need not look through all that again
    return min(run_breaks(breaks, root, arguments.jobs, arguments.seen_green), 1)


if __name__ == "__main__":
    sys.exit(main())
