"""The runner of deliberate breaks believes nothing but a test that turns red by itself."""

import re
import subprocess
import sys
from pathlib import Path

RUNNER = Path(__file__).with_name("mutants.py")
MODULE = "def double(x):\n    return 2 * x\n"
TESTS = """
from mamba_edu.sums import double

def test_double_is_even():
    assert double(3) % 2 == 0

def test_double_is_twice():
    assert double(3) == 6
"""
BREAKS = [  # old text, new text, test, and how the runner must judge
    ("2 * x", "3 * x", "test_double_is_twice", "row 0"),
    ("2 * x", "4 * x", "test_double_is_even", "the test stays green"),
    ("2 * x", "2 *", "test_double_is_twice", "no proof: .*SyntaxError"),
    ("2 * x", "2 * y", "test_double_is_twice", "no proof: .*NameError"),
    ("def double", "def treble", "test_double_is_twice", "no proof: .*ImportError"),
    ("5 * x", "3 * x", "test_double_is_twice", "occurs 0 times"),
    ("x", "y", "test_double_is_twice", "occurs 2 times"),
    ("2 * x", "3 * x", "test_halve", "no such test"),
    ("2 * x", "__import__('os')._exit(0)", "test_double_is_twice", "the process crashed"),
]
# In a Python that has imported none of the course's libraries, since this course needs none.
RUN = "import sys, mutants; mutants.SLOW_IMPORTS.clear(); sys.exit(mutants.main())"


def make_course(root: Path):
    rows = [
        f'[[break]]\nfile = "mamba_edu/sums.py"\nold = "{old}"\nnew = "{new}"\n'
        f'test = "tests/test_sums.py::{test}"\nbreaks = "row {number}"\n'
        for number, (old, new, test, _) in enumerate(BREAKS)
    ]
    files = {
        "mamba_edu/__init__.py": "",
        "mamba_edu/sums.py": MODULE,
        "tests/test_sums.py": TESTS,
        "tests/breaks/sums.toml": "\n".join(rows),
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_runner_tells_a_red_test_from_everything_else(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(RUNNER.parent))
    make_course(tmp_path)
    command = [sys.executable, "-c", RUN, "--root", str(tmp_path), "--jobs", "1"]
    run = subprocess.run(command, capture_output=True, text=True, check=False, timeout=100)
    lines = run.stdout.splitlines()
    rows = "\n".join(lines).split("mamba_edu/sums.py ")[1:]
    assert len(rows) == len(BREAKS), run.stderr
    for row, (*_, judgement) in zip(rows, BREAKS, strict=True):
        assert re.search(judgement, row)
    assert sum(line.startswith("caught") for line in lines) == 1
    # One row names no test at all, which spoils the run without any break too.
    assert lines[0].startswith("RED")
    assert lines[-1] == f"1 passed, {len(BREAKS)} failed"
    assert run.returncode == 1
    assert (tmp_path / "mamba_edu" / "sums.py").read_text() == MODULE
