"""The solutions build solves copies only, and believes no check that does not say "passed"."""

import nbformat
import pytest
from rules.make import make_code, make_notebook, make_text

from mamba_edu.cli.notebook import read_notebook
from mamba_edu.cli.solutions import build_solutions, find_failed_checks, solve_cell

STUB = 'def double(x):\n    """Return twice x."""\n    raise NotImplementedError'
CHECK = (
    "def check_double(student):\n"
    "    try:\n"
    "        print('check_double: passed' if student(3) == 6 else 'check_double: wrong')\n"
    "    except NotImplementedError:\n"
    "        print('check_double: not attempted')"
)
SOLUTION = (
    "def solve_double(x: float, depth=0):\n    return solve_double(x, 1) if not depth else 2 * x\n"
)


@pytest.fixture
def course(tmp_path):
    """A course with one exercise, as its reader gets it."""
    notebook = make_notebook(
        make_text("# Twice?"),
        make_code(CHECK),
        make_code(STUB.replace("(x)", "(x, depth=0)"), tags=("exercise",)),
        make_code("check_double(double)"),
        make_code("raise RuntimeError('a live cell ran')", tags=("live",)),
    )
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "05_twice.ipynb").write_text(nbformat.writes(notebook))
    (tmp_path / "mamba_edu" / "exercises").mkdir(parents=True)
    (tmp_path / "mamba_edu" / "exercises" / "n05.py").write_text(SOLUTION)
    return tmp_path


def test_solutions_are_put_in_and_every_check_passes(course, tmp_path_factory):
    before = (course / "notebooks" / "05_twice.ipynb").read_bytes()
    target = tmp_path_factory.mktemp("solved") / "deep"
    assert build_solutions(course, target, []) == 0
    solved = read_notebook(target / "05_twice.ipynb")
    assert len(solved.cells) == 4
    assert solved.cells[2].source.startswith("def double(x: float, depth=0):\n    return double(")
    assert solved.cells[3].outputs[0].text == "check_double: passed\n"
    assert (course / "notebooks" / "05_twice.ipynb").read_bytes() == before


def test_a_solution_that_its_own_check_rejects_is_not_written(course, capsys):
    path = course / "mamba_edu" / "exercises" / "n05.py"
    path.write_text(SOLUTION.replace("2 * x", "3 * x"))
    assert build_solutions(course, course / "build" / "solved", ["5"]) == 1
    assert "cell 4: check_double must print 'passed'; it printed" in capsys.readouterr().out
    assert list((course / "build" / "solved").iterdir()) == []


@pytest.mark.parametrize("folder", ["notebooks", "notebooks/solved", ".", "workbook", "builds"])
def test_solutions_never_lie_where_the_course_lies(course, folder, capsys):
    assert build_solutions(course, course / folder, []) == 2
    said = capsys.readouterr().out
    assert "among the course's own files" in said
    assert "allowed is" in said


def test_an_exercise_without_solution_is_named(course, capsys):
    (course / "mamba_edu" / "exercises" / "n05.py").unlink()
    assert build_solutions(course, course / "build", []) == 1
    assert "exercise double has no solution; solve_double" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("stub", "message"),
    [
        ("import os\n" + STUB, "one function and no more"),
        (STUB + "\n\n\n" + STUB.replace("double", "triple"), "one function and no more"),
        (STUB, r"takes \['x'\] and its solution \['x', 'depth'\]"),
    ],
)
def test_a_stub_that_its_solution_cannot_replace_is_refused(stub, message):
    with pytest.raises(ValueError, match=message):
        solve_cell(stub, SOLUTION)


@pytest.mark.parametrize("call", ["check_double(double)", "n05.check_double(double)"])
def test_a_check_that_prints_nothing_has_failed(call):
    others = make_code("check_machine()\ncheck_health(double)")
    assert find_failed_checks(make_notebook(others, make_code(call))) == [
        "cell 2: check_double must print 'passed'; it printed 'nothing'"
    ]
