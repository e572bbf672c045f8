"""One way to check an exercise: not attempted, wrong and why, or passed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import torch

from mamba_edu.reader import record


class CheckFailed(AssertionError):
    """A check that found a difference; shown as its message alone, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class Mistake(NamedTuple):
    """A wrong answer that readers give, and the sentence that helps whoever gave it."""

    function: Callable
    cause: str


class Exercise(NamedTuple):
    """What a check needs to know.

    Fields:
        notebook: "n01" and so on.
        solve: the solution, named `solve_<exercise>`.
        cases: words -> keyword arguments; the easiest first.
        mistakes: plausible wrong answers; a student's answer that equals one earns its sentence.
        tolerance: the largest relative or absolute difference that still passes.
        observe: turns a function into what is compared, such as its value with its gradient.
    """

    notebook: str
    solve: Callable
    cases: Mapping[str, Mapping[str, Any]]
    mistakes: Sequence[Mistake]
    tolerance: float = 1e-9
    observe: Callable[[Callable], Callable] = lambda function: function

    @property
    def name(self) -> str:
        """The exercise's own name, as the reader's function is called."""
        return self.solve.__name__.removeprefix("solve_")


def find_difference(got: Any, expected: Any, tolerance: float) -> str:
    """Say how an answer differs from the expected one; empty if it does not."""
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if not isinstance(got, type(expected)) and not numbers:
        return f"it returns a {type(got).__name__}, not a {type(expected).__name__}"
    got, expected = torch.as_tensor(got), torch.as_tensor(expected)
    if got.shape != expected.shape:
        return f"its shape is {tuple(got.shape)}, not {tuple(expected.shape)}"
    if got.is_complex() != expected.is_complex():
        return f"its numbers are {got.dtype}, not {expected.dtype}"
    wide = torch.complex128 if expected.is_complex() else torch.float64
    same = torch.isclose(
        got.to(wide), expected.to(wide), rtol=tolerance, atol=tolerance, equal_nan=True
    )
    return "" if same.all() else "its values differ"


def write_value(value: Any) -> str:
    """Write a result on one line, floats to four digits."""
    if isinstance(value, torch.Tensor):
        digits = [write_value(v) for v in value.detach().flatten()[:8].tolist()]
        return "[" + ", ".join(digits) + (", ..." if value.numel() > 8 else "") + "]"
    return f"{value:.4g}" if isinstance(value, float | complex) else repr(value)


def copy_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a case, so that an answer which writes into its input spoils nobody else's."""
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in case.items()}


def guess_cause(exercise: Exercise, got: Any, case: Mapping[str, Any]) -> str:
    """Find the known mistake that gives this very answer."""
    for mistake in exercise.mistakes:
        slip = exercise.observe(mistake.function)(**copy_case(case))
        if not find_difference(got, slip, exercise.tolerance):
            return mistake.cause
    return "not one of the usual slips; print both values for this case and compare."


def run_check(exercise: Exercise, student: Callable) -> None:
    """Compare a student's function with the solution, case by case.

    Prints "not attempted" for the stub and "passed" when every case agrees.

    Raises:
        CheckFailed: at the first case that differs: the case, got, expected, likely cause.
        TypeError: if it is not given a function.
    """
    label = f"check_{exercise.name}"
    if not callable(student):
        raise TypeError(f"{label} needs your function, {exercise.name}; got {student!r}")
    for words, case in exercise.cases.items():
        try:
            got = exercise.observe(student)(**copy_case(case))
        except NotImplementedError:
            print(f"{label}: not attempted yet. Write {exercise.name} above, then run both cells.")
            return
        except Exception as error:
            raise CheckFailed(
                f"{label}: {words}: your function stopped with {type(error).__name__}: {error}"
            ) from None
        compare(exercise, label, words, case, got)
    record("checks", f"{exercise.notebook}.{exercise.name}", "passed")
    print(f"{label}: passed ({len(exercise.cases)} cases)")


def compare(exercise: Exercise, label: str, words: str, case: Mapping, got: Any) -> None:
    """Raise `CheckFailed` with all that helps, if one answer differs from the solution's."""
    expected = exercise.observe(exercise.solve)(**copy_case(case))
    difference = find_difference(got, expected, exercise.tolerance)
    if difference:
        raise CheckFailed(
            f"{label}: {words}: {difference}\n"
            f"  got      {write_value(got)}\n"
            f"  expected {write_value(expected)}\n"
            f"  likely cause: {guess_cause(exercise, got, case)}"
        )
