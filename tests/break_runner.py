"""Run one deliberate break after another in a copy of the course; tests/mutants.py asks for it.

What every break needs is done once: the copy, pytest's start, and the import of those rows of the
package that stand below the broken file's, where nothing can notice it. Then the process forks.
"""

import contextlib
import gc
import importlib
import io
import os
import select
import shutil
import signal
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from rules.imports import COMPILED_FILES, PACKAGE, ROWS

LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "workbook", "build")
SECONDS = 60  # for one break
HEARD = "heard: "  # an answer that says nothing against a break is not empty
NO_PROOF = (ImportError, NameError, SyntaxError)
MAY_FORK = sys.platform == "linux"  # elsewhere some libraries do not live through it

for _name in [name for name in sys.modules if name.partition(".")[0] == "rules"]:
    del sys.modules[_name]  # each copy has its own


class Break(NamedTuple):
    """One deliberate break: in which file, what for what, which test sees it, and what it is."""

    file: str  # none: several tests, a line each, must be green
    old: str
    new: str
    test: str
    breaks: str

    def find_row(self) -> int:
        """Find the row of the package that the broken file stands in; what is no row is first."""
        folder, _, inside = self.file.partition("/")
        row = inside.partition("/")[0].removesuffix(".py")
        return ROWS.index(row) if folder == PACKAGE and row in ROWS else 0


class Runner:
    """A pytest plugin that runs breaks, each in a fork, in place of what pytest was called for."""

    def __init__(self, jobs: Iterable[tuple[int, Break]], root: Path, copy: Path, tell: Callable):
        self.jobs, self.root, self.copy, self.tell = jobs, root, copy, tell
        self.n_rows = 0  # imported so far
        self.job, self.pipe = None, None  # in the fork: what it runs, and where it answers
        self.passed = 0
        self.caught: list[str] = []
        self.astray: list[str] = []

    def pytest_collection(self, session):
        for number, row in self.jobs:
            self.import_rows(row.find_row())
            fault = self.make_break(row)
            pid, pipe = (None, None) if fault else fork()
            if pid == 0:  # let pytest go on, with this break's tests
                self.job, self.pipe = (number, row), pipe
                session.config.args[:] = row.test.splitlines()
                forget_shrinking()
                return None
            self.tell((number, fault or hear_answer(pid, pipe, row)))
            self.mend(row)
        return True  # nothing is left to collect

    def pytest_runtest_logreport(self, report):
        self.passed += report.when == "call" and report.passed

    def pytest_exception_interact(self, node, call, report):
        error = call.excinfo
        is_proof = getattr(report, "when", "collect") == "call" and not error.errisinstance(
            NO_PROOF
        )
        said = error.exconly().splitlines()[-1].removeprefix("E").strip()
        (self.caught if is_proof else self.astray).append(f"{node.name}: {said}")

    def import_rows(self, n_rows: int) -> None:
        """Import the rows below a break's, from the copy, as its test would."""
        names = [n for row in ROWS[self.n_rows : n_rows] for n in list_names(self.copy, row)]
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        self.n_rows = max(self.n_rows, n_rows)
        gc.freeze()  # the forks need not look through all that

    def make_break(self, row: Break) -> str:
        """Write the broken file into the copy; say why it cannot be broken, or nothing."""
        if not row.file:
            return ""
        source = (self.root / row.file).read_text(encoding="utf-8")
        if source.count(row.old) != 1:
            return f"the old text occurs {source.count(row.old)} times, not once"
        forget_bytecode(self.copy / row.file)
        (self.copy / row.file).write_text(source.replace(row.old, row.new), encoding="utf-8")
        return ""

    def mend(self, row: Break) -> None:
        """Write the whole file again."""
        if row.file:
            shutil.copy2(self.root / row.file, self.copy / row.file)
            forget_bytecode(self.copy / row.file)

    def judge(self) -> str:
        """Say what speaks against the break, or nothing if its test turned red."""
        package = sys.modules.get(PACKAGE)
        if package and not Path(package.__file__).is_relative_to(self.copy):
            return f"no proof: {package.__file__} was tested, not the copy"
        if self.astray:
            return f"no proof: {self.astray[0]}"
        if not self.job[1].file:
            return self.caught[0] if self.caught else "" if self.passed else "no such test"
        if self.caught:
            return ""
        return "the test stays green" if self.passed else "no such test"


def list_names(copy: Path, row: str) -> list[str]:
    """List the dotted names of a row's modules, but for those that numba compiles elsewhere."""
    home = copy / PACKAGE
    paths = [home / f"{row}.py", *sorted((home / row).rglob("*.py"))]
    apart = COMPILED_FILES | {"__main__.py"}
    paths = [path for path in paths if path.is_file() and path.name not in apart]
    dotted = (".".join(path.relative_to(copy).with_suffix("").parts) for path in paths)
    return [name.removesuffix(".__init__") for name in dotted]


def work(jobs: Iterable[tuple[int, Break]], root: Path, tell: Callable) -> None:
    """Run breaks in a copy of their own, and tell of each what is wrong with it, or nothing.

    Args:
        jobs: their numbers and they, the lowest rows first; only one where no process may fork.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / root.name
        shutil.copytree(root, copy, ignore=LEFT_OUT)
        os.chdir(copy)
        os.environ["PYTHONPATH"] = str(copy)
        sys.path.insert(0, str(copy))
        runner = Runner(jobs, root, copy, tell)
        with contextlib.redirect_stdout(io.StringIO()):
            call_pytest(runner, ["tests", f"--basetemp={folder}/scratch"])
        if runner.pipe:
            os.write(runner.pipe, (HEARD + runner.judge()).encode())
            os._exit(0)  # the folder is the parent's
        if runner.job:
            tell((runner.job[0], runner.judge()))
        os.chdir(root)


def call_pytest(runner: Runner, arguments: list[str]) -> None:
    """Run pytest in this process; what goes wrong in pytest itself proves nothing either."""
    import pytest

    # pytest wants to have imported its plugins itself, to rewrite their assertions
    options = "-x --tb=no -W ignore::pytest.PytestAssertRewriteWarning"
    # the second searches all of torch for lost objects, which takes longer than most tests
    options += " -p no:cacheprovider -p no:unraisableexception -p no:threadexception -p no:anyio"
    try:
        pytest.main([*arguments, *options.split()], plugins=[runner])
    except Exception as error:
        runner.astray.append(f"pytest: {error!r}")


def forget_shrinking() -> None:
    """Let hypothesis be content with the first example against a break, not the smallest."""
    from hypothesis import Phase, settings

    kept = [Phase.explicit, Phase.generate]
    settings.register_profile("break", settings.default, phases=kept)
    settings.load_profile("break")


def fork() -> tuple[int, int | None]:
    """Fork, if one may: the other process, or 0 in it, and the end of the pipe between them."""
    if not MAY_FORK:
        return 0, None
    reading, writing = os.pipe()
    pid = os.fork()
    os.close(writing if pid else reading)
    return pid, reading if pid else writing


def hear_answer(pid: int, pipe: int, row: Break) -> str:
    """Hear what a fork says against its break; one that takes too long is ended."""
    seconds = SECONDS * min(5, len(row.test.splitlines()))
    in_time = select.select([pipe], [], [], seconds)[0]
    if not in_time:
        os.kill(pid, signal.SIGKILL)
    with open(pipe, "rb") as answer:
        said = answer.read().decode()
    os.waitpid(pid, 0)
    if said:
        return said.removeprefix(HEARD)
    return "no proof: " + ("the process crashed" if in_time else f"took more than {seconds} s")


def forget_bytecode(path: Path) -> None:
    """Delete what was compiled from a file: a change within a second would go unseen."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*"):
        compiled.unlink()
