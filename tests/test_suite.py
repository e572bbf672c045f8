"""The test command runs every part, counts what ran, and never calls nothing a success."""

from pathlib import Path

import nbformat
import pytest
from rules.make import make_code, make_notebook, make_stream

from mamba_edu.cli import parts, suite
from mamba_edu.cli.parts import Counts
from mamba_edu.cli.suite import Part, run_suite

PASSING = "def test_one():\n    pass\n\n\ndef test_two():\n    pass\n"
FAILING = "def test_three():\n    assert 1 == 2\n"
SKIPPED = "import pytest\n\n\ndef test_four():\n    pytest.skip('not here')\n"


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course without notebooks: two good tests, a bad one, and a skipped one in the browser."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # two seconds a call saved
    monkeypatch.setenv("PYTEST_PLUGINS", "xdist.plugin")
    (tmp_path / "tests" / "browser").mkdir(parents=True)
    (tmp_path / "tests" / "browser" / "test_lab.py").write_text(SKIPPED)
    (tmp_path / "tests" / "test_tiny.py").write_text(PASSING + "\n\n" + FAILING)
    return tmp_path


def test_run_pytest_counts_what_passed_and_failed_outside_the_browser(course):
    assert parts.run_unit_tests(course) == Counts(passed=2, failed=1)


def test_a_run_that_breaks_off_has_failed(course):
    (course / "tests" / "test_torn.py").write_text("def test_(:\n")
    assert parts.run_unit_tests(course).failed
    assert parts.run_pytest(course, "--no-such-option").failed


@pytest.mark.parametrize(
    ("script", "counts"),
    [
        ("print('row'); print('9 passed, 1 failed'); raise SystemExit(1)", Counts(9, 1)),
        ("print('9 passed, 0 failed')", Counts(9, 0)),
        ("print('9 passed, 0 failed'); raise SystemExit(3)", Counts(9, 1)),
        ("print('no count here')", Counts(0, 0)),
    ],
)
def test_run_breaks_believes_the_last_line_and_the_exit_status(course, script, counts):
    (course / "tests" / "mutants.py").write_text(script)
    assert parts.run_breaks(course)[:2] == counts[:2]


def test_run_plain_cpu_compares_the_first_three_without_vector_units(course, monkeypatch):
    monkeypatch.setenv("PYTEST_PLUGINS", "nbval.plugin")
    (course / "notebooks").mkdir()
    seen = "import os\nprint(os.environ.get('ATEN_CPU_CAPABILITY'))"
    for name, stored in (("02_first", "default\n"), ("03_wrong", "None\n"), ("09_later", "None\n")):
        cell = make_code(seen, make_stream(stored))
        text = nbformat.writes(make_notebook(cell))
        (course / "notebooks" / f"{name}.ipynb").write_text(text)
    assert parts.run_plain_cpu(course)[:2] == (1, 1)


def test_run_nbval_takes_all_notebooks_on_its_own_the_last_ones_first(course, monkeypatch):
    told = []
    (course / "notebooks").mkdir()
    for name in ("00_short", "11_long", "02_between"):
        (course / "notebooks" / f"{name}.ipynb").write_text(nbformat.writes(make_notebook()))
    monkeypatch.setattr(
        parts, "run_pytest", lambda _, *words, **settings: told.append((words, settings))
    )
    parts.run_nbval(course)
    words = "--nbval --nbval-current-env --nbval-cell-timeout=120 -n 2 --dist loadscope"
    words += "".join(f" notebooks/{n}.ipynb" for n in ("11_long", "02_between", "00_short"))
    assert told == [(tuple(words.split()), {"OMP_NUM_THREADS": "1"})]


def test_slow_notebooks_are_named(tmp_path):
    path = tmp_path / "report.xml"
    cases = "".join(
        f'<testcase classname="notebooks/{name}" name="Cell {i}" time="31"/>'
        for name, cells in (("01_slow", 2), ("02_fast", 1))
        for i in range(cells)
    )
    suites = '<testsuites><testsuite tests="3" failures="0" errors="0" skipped="0">'
    path.write_text(f"{suites}{cases}</testsuite></testsuites>")
    assert parts.count_report(path) == Counts(3, note="over 60 s: notebooks/01_slow 62 s")


@pytest.mark.parametrize(
    ("ci", "counts"), [("true", (0, 1, 0)), ("1", (0, 1, 0)), ("0", (0, 0, 1))]
)
@pytest.mark.parametrize("found", [None, Path("a-browser")])
def test_a_browser_test_left_out_is_a_failure_in_ci(course, monkeypatch, ci, counts, found):
    monkeypatch.setattr(parts, "find_or_install_chromium", lambda: found)
    monkeypatch.setenv("CI", ci)
    assert parts.run_browser(course)[:3] == counts


def run_parts(monkeypatch, capsys, *results, quick=False):
    chosen = [Part(f"Part {i}", 60, result) for i, result in enumerate(results)]
    monkeypatch.setattr(suite, "PARTS", chosen)
    return run_suite(None, quick), capsys.readouterr().out


def test_run_suite_goes_on_after_a_failure_and_sums_up_alone_on_the_last_line(monkeypatch, capsys):
    def crash(root):
        raise RuntimeError("no kernel")

    status, said = run_parts(
        monkeypatch, capsys, lambda _: Counts(5, 1), crash, lambda _: Counts(7, 0, 2, "as wanted")
    )
    assert status == 1
    assert said.splitlines()[-1] == "12 passed, 2 failed"
    assert "RuntimeError: no kernel" in said
    assert "== Part 2 ==" in said
    assert said.count("as wanted") == 1


def test_a_part_that_ran_no_test_has_failed(monkeypatch, capsys):
    status, said = run_parts(monkeypatch, capsys, lambda _: Counts(), lambda _: Counts(skipped=3))
    assert status == 1
    assert said.splitlines()[-1] == "0 passed, 2 failed"
    assert "no test ran" in said


def test_a_part_over_its_budget_is_named_and_quick_leaves_the_slow_ones_out(monkeypatch, capsys):
    monkeypatch.setattr(suite.time, "perf_counter", iter(range(0, 1000, 61)).__next__)
    status, said = run_parts(monkeypatch, capsys, *[lambda _: Counts(1)] * 4, quick=True)
    assert status == 0
    assert said.splitlines()[-1] == "2 passed, 0 failed"
    assert said.count("budget 60 s") == 2


def test_the_parts_are_those_of_the_design():
    titles = [part.title for part in suite.PARTS]
    words = ["ruff", "Unit", "breaks", "nbval", "solutions", "plain CPU", "browser"]
    assert len(titles) == len(words)
    assert all(word in title for word, title in zip(words, titles, strict=True))
