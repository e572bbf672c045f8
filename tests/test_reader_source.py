"""Sources and solutions are shown as they run; the machine check says what to do."""

import functools
import sys

import pytest
import torch
from front_end import open_front_end

from mamba_edu.reader import inspect_machine, machine, show_solution, show_source


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


def solve_double(x, depth=0):
    """Double: solve_double(3) is 6, unlike solve_doubles."""
    return 2 * x if depth else solve_double(x, 1)


def decorate(function):
    @functools.wraps(function)
    def wrapped(*args):
        return function(*args)

    return wrapped


@decorate
def triple(x):
    return 3 * x


class Compiled:
    """A callable that is no function, as compilers make."""

    def __init__(self, function):
        functools.update_wrapper(self, function)

    def __call__(self, *args):
        return self.__wrapped__(*args)


@Compiled
def quadruple(x):
    return 4 * x


class Counter:
    """Counts."""

    def count(self, n):
        return n + 1


DOUBLE = '''def double(x, depth=0):
    """Double: double(3) is 6, unlike solve_doubles."""
    return 2 * x if depth else double(x, 1)'''


def test_a_source_is_shown_as_it_is_written(shown):
    show_source(solve_double)
    data = shown[0]["data"]
    assert data["text/plain"] == DOUBLE.replace("double(", "solve_double(")
    assert data["text/markdown"] == f"```python\n{data['text/plain']}\n```"


@pytest.mark.parametrize(
    ("function", "first", "last"),
    [
        (triple, "@decorate", "    return 3 * x"),
        (quadruple, "@Compiled", "    return 4 * x"),
        (Counter().count, "def count(self, n):", "    return n + 1"),
        (Counter, "class Counter:", "        return n + 1"),
        (lambda x: 4 * x, "(lambda x: 4 * x", None),
    ],
)
def test_wrapped_functions_methods_and_classes_are_shown_whole(shown, function, first, last):
    show_source(function)
    lines = shown[0]["data"]["text/plain"].splitlines()
    assert lines[0].startswith(first)
    assert last in (None, lines[-1])


def test_a_solution_is_shown_in_a_closed_fold_under_the_exercise_s_name(shown):
    show_solution(solve_double)
    data = shown[0]["data"]
    assert data["text/plain"] == DOUBLE
    page = f"<details><summary>Solution</summary>\n\n```python\n{DOUBLE}\n```\n\n</details>"
    assert data["text/markdown"] == page


def test_a_shown_solution_runs(shown):
    show_solution(solve_double)
    names = {}
    exec(shown[0]["data"]["text/plain"], names)
    assert names["double"](21) == 42


@pytest.mark.parametrize(
    "given", [len, torch.exp, int, 3, "len", None, functools, functools.partial(len)]
)
@pytest.mark.parametrize(("show_it", "name"), [(show_source, "function"), (show_solution, "solve")])
def test_what_has_no_source_in_python_is_refused(shown, show_it, name, given):
    with pytest.raises(TypeError, match=f"^{name} must be a function written in Python; got"):
        show_it(given)
    assert shown == []


def test_a_solution_of_another_name_is_refused():
    with pytest.raises(ValueError, match="named solve_<exercise>; got 'triple'"):
        show_solution(triple)


def test_a_ready_machine_says_so_line_by_line(capsys):
    inspect_machine()
    assert capsys.readouterr().out.splitlines() == [
        "Python: ready",
        "packages: ready",
        "double precision: ready",
        "gradients: ready",
    ]


def test_a_machine_that_is_not_ready_says_what_to_do(monkeypatch, capsys):
    monkeypatch.setattr(machine, "OLDEST", (99, 1))
    monkeypatch.setattr(machine, "NEEDED", ("torch", "no_such_package", "nor_this"))
    monkeypatch.setattr(torch.Tensor, "cumsum", lambda self, dim: self * 9.5)
    inspect_machine()
    here = ".".join(str(part) for part in sys.version_info[:2])
    assert capsys.readouterr().out.splitlines() == [
        f"Python: this kernel runs Python {here}; open the course with python3 course.py",
        "packages: not installed: no_such_package, nor_this; run python3 course.py",
        "double precision: ten times 0.1 gives 0.9500000000000001",
        "gradients: ready",
    ]


def test_a_wrong_gradient_is_said(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "__mul__", lambda self, other: self.pow(3))
    assert machine.check_gradients() == "the gradient of x^2 at 3 came out as 27.0"
