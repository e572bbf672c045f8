"""The parts of the test command: each runs one tool and counts what it found."""

import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from mamba_edu.cli.build import MOST_SECONDS
from mamba_edu.cli.chromium import find_or_install_chromium, is_ci
from mamba_edu.cli.notebook import CELL_SECONDS, course_environment, find_notebooks
from mamba_edu.cli.solutions import solve_notebook

NBVAL = ["--nbval", "--nbval-current-env", f"--nbval-cell-timeout={CELL_SECONDS}"]
SIDE_BY_SIDE = ["-n", "2", "--dist", "loadscope"]  # a file of tests, or a notebook, stays together
BALANCED = ["-n", "2", "--dist", "worksteal"]  # a long file of tests may be shared
FIRST_NUMBERS = ("01", "02", "03")  # pure maths: these must not hang on one kind of CPU


class Counts(NamedTuple):
    """How many tests a part ran; `note` says what a reader of the table should know."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0
    note: str = ""


def run_tool(root: Path, *arguments: str, **settings: str) -> int:
    """Run a tool of this Python in the course's folder, its output shown as it comes."""
    command = [sys.executable, "-m", *arguments]
    environment = course_environment(root) | settings
    return subprocess.run(command, cwd=root, env=environment, check=False).returncode


def run_ruff(root: Path) -> Counts:
    """Check the style of code and notebooks, then its layout: two tests."""
    calls = (["check"], ["format", "--check"])
    apart = ["--extend-exclude", "workbook", "."]  # the reader's own copies
    failed = sum(run_tool(root, "ruff", *call, *apart) != 0 for call in calls)
    return Counts(passed=len(calls) - failed, failed=failed)


def run_pytest(root: Path, *arguments: str, **settings: str) -> Counts:
    """Run pytest and count; a run that broke off or found no test has failed."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        quiet = ["-q", "--no-header", f"--junitxml={report}"]
        status = run_tool(root, "pytest", *quiet, *arguments, **settings)
        counts = count_report(report)
    if status not in (0, 1, 5):
        return counts._replace(failed=counts.failed + 1, note=f"pytest ended with {status}")
    if status == 1 and not counts.failed:
        return counts._replace(failed=1, note="pytest failed outside its tests")
    return counts


def count_report(path: Path) -> Counts:
    """Count the tests of a JUnit report, and name the notebooks that took too long."""
    if not path.is_file():
        return Counts()
    suite = ElementTree.parse(path).getroot().find("testsuite")
    tests, bad, skipped = (
        sum(int(suite.get(name)) for name in names)
        for names in (("tests",), ("failures", "errors"), ("skipped",))
    )
    return Counts(tests - bad - skipped, bad, skipped, note_slow_notebooks(suite))


def note_slow_notebooks(suite: ElementTree.Element) -> str:
    """Name the notebooks of a report that took longer than a notebook may."""
    seconds: dict[str, float] = {}
    for case in suite.iter("testcase"):
        if re.fullmatch(r"Cell \d+", case.get("name")):
            name = case.get("classname")
            seconds[name] = seconds.get(name, 0) + float(case.get("time"))
    slow = [f"{name} {took:.0f} s" for name, took in seconds.items() if took > MOST_SECONDS]
    return f"over {MOST_SECONDS} s: {', '.join(slow)}" if slow else ""


def run_unit_tests(root: Path) -> Counts:
    """Run the unit tests: all but those that need a browser."""
    return run_pytest(root, "tests", "--ignore=tests/browser", *BALANCED, OMP_NUM_THREADS="1")


def run_breaks(root: Path) -> Counts:
    """Break the maths in known ways and see each break caught; it counts on its last line."""
    command = [sys.executable, "tests/mutants.py", "--seen-green"]  # the unit tests come first
    last = ""
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    found = re.search(r"(\d+) passed, (\d+) failed", last)
    counts = Counts(int(found[1]), int(found[2])) if found else Counts()
    if process.returncode and not counts.failed:
        return counts._replace(failed=1, note=f"tests/mutants.py ended with {process.returncode}")
    return counts


def find_late_first(root: Path) -> list[Path]:
    """List the notebooks from the last to the first: two at a time, the longest must not end."""
    return find_notebooks(root, [])[::-1]


def run_nbval(root: Path) -> Counts:
    """Run every notebook and compare it with what is stored; on its own, as nbval wants it."""
    names = [str(path.relative_to(root)) for path in find_late_first(root)]
    return run_pytest(root, *NBVAL, *SIDE_BY_SIDE, *names, OMP_NUM_THREADS="1")


def run_solutions(root: Path) -> Counts:
    """Solve and run every notebook in a folder that goes away, two at a time."""
    paths = find_late_first(root)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        faults = pool.map(lambda path: solve_notebook(path, root, Path(folder), 1), paths)
        failed = sum(map(bool, faults))
    return Counts(passed=len(paths) - failed, failed=failed)


def run_plain_cpu(root: Path) -> Counts:
    """Compare the first notebooks once more as a CPU without vector units computes them."""
    paths = [path for path in find_notebooks(root, []) if path.name[:2] in FIRST_NUMBERS]
    names = [str(path.relative_to(root)) for path in paths]
    return run_pytest(root, *NBVAL, *names, ATEN_CPU_CAPABILITY="default") if names else Counts()


def run_browser(root: Path) -> Counts:
    """Open the course in a real browser; without one, say so (and fail where it must be)."""
    chromium = find_or_install_chromium()
    if chromium is None:
        note = "no Chromium; install it, or name it in the variable CHROMIUM"
        return Counts(failed=1, note=note) if is_ci() else Counts(skipped=1, note=note)
    counts = run_pytest(root, "tests/browser", CHROMIUM=str(chromium))
    if counts.skipped and is_ci():
        failed = counts.failed + counts.skipped
        return counts._replace(failed=failed, skipped=0, note="a skip in CI is a failure")
    return counts
