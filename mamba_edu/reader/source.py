"""Print code as it really is: a function of the package, or an exercise's solution."""

import contextlib
import inspect
import re
import textwrap
from collections.abc import Callable

from IPython.display import display


def get_source(function: Callable, name: str = "function") -> str:
    """Read a function's (or class's) source as the package holds it, whatever wraps it.

    Args:
        function: whose source is read.
        name: what the caller's reader calls that argument.

    Raises:
        TypeError: if it is no function, or not one that is written in Python.
    """
    written = inspect.unwrap(function)
    with contextlib.suppress(TypeError, OSError):  # both say, at length, that there is no source
        if inspect.isroutine(written) or inspect.isclass(written):
            return textwrap.dedent(inspect.getsource(written)).rstrip()
    raise TypeError(f"{name} must be a function written in Python; got {function!r}")


def get_solution(solve: Callable) -> str:
    """Read `solve_<name>` as the exercise wants it: a function called `<name>`.

    Raises:
        TypeError: if it is no function that is written in Python.
        ValueError: if the function's name does not begin with `solve_`.
    """
    source = get_source(solve, "solve")
    name = solve.__name__
    if not name.startswith("solve_"):
        raise ValueError(f"solve must be a function named solve_<exercise>; got {name!r}")
    return re.sub(rf"\b{name}\b", name.removeprefix("solve_"), source)


def show_source(function: Callable) -> None:
    """Show how the package writes a function: the same text that runs."""
    code = get_source(function)
    display({"text/markdown": f"```python\n{code}\n```", "text/plain": code}, raw=True)


def show_solution(solve: Callable) -> None:
    """Show an exercise's solution in a closed fold: the very code that the tests put in."""
    code = get_solution(solve)
    fold = f"<details><summary>Solution</summary>\n\n```python\n{code}\n```\n\n</details>"
    display({"text/markdown": fold, "text/plain": code}, raw=True)
