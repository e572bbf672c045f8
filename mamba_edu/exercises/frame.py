"""One way to check an exercise: not attempted, wrong and why, or passed."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

from mamba_edu.reader import record

DIFFERS = "its values differ"
NOT_YET = "not attempted yet. Write {} above, then run both cells."
UNKNOWN = "not one of the usual slips; print both values for this case and compare."


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
        cases: words -> keyword arguments; the first sets the mistakes apart from each other.
        mistakes: plausible wrong answers; an answer that equals one in every case tried earns its
            sentence.
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


def to_double(value: Any) -> torch.Tensor:
    """Turn a number, a tensor or a tuple of numbers into one tensor, real or complex, in double.

    Raises:
        TypeError, ValueError, RuntimeError, OverflowError: if it holds anything but numbers.
    """
    if not isinstance(value, torch.Tensor):
        value = torch.as_tensor(np.asarray(float(value) if isinstance(value, int) else value))
    return value.detach().to(torch.complex128 if value.is_complex() else torch.float64)


def find_difference(got: Any, expected: Any, tolerance: float) -> str:
    """Say how an answer differs from the expected one; empty if it does not."""
    if got is None:
        return "it returns nothing; is its `return` missing?"
    numbers = isinstance(got, int | float) and isinstance(expected, int | float)
    if not isinstance(got, type(expected)) and not numbers:
        return f"it returns a {type(got).__name__}, not a {type(expected).__name__}"
    if isinstance(expected, tuple) and len(got) != len(expected):
        return f"its length is {len(got)}, not {len(expected)}"
    try:
        ours, theirs = to_double(expected), to_double(got)
    except (TypeError, ValueError, RuntimeError, OverflowError):
        return f"the {type(got).__name__} that it returns holds what is no number of torch"
    if theirs.shape != ours.shape:
        return f"its shape is {tuple(theirs.shape)}, not {tuple(ours.shape)}"
    if theirs.dtype != ours.dtype:
        kind = "complex, not real" if theirs.is_complex() else "real, not complex"
        return f"its numbers are {kind}"
    if torch.isclose(theirs, ours, rtol=tolerance, atol=tolerance, equal_nan=True).all():
        return ""
    is_single = getattr(got, "dtype", None) in (torch.float32, torch.complex64)
    return DIFFERS + (f"; they are {got.dtype}" if is_single else "")


def write_value(value: Any, digits: int = 4) -> str:
    """Write a result on one line, floats to some digits, no more than the first eight items."""
    if isinstance(value, torch.Tensor):
        value = value.detach().flatten()[:9].tolist() if value.dim() else value.item()
    if isinstance(value, list | tuple):
        items = [write_value(item, digits) for item in value[:8]]
        ends = "[]" if isinstance(value, list) else "()"
        return ends[0] + ", ".join(items) + (", ..." if len(value) > 8 else "") + ends[1]
    if isinstance(value, float | complex):
        return f"{value:.{digits}g}"
    words = " ".join(repr(value).split())
    return words if len(words) <= 80 else words[:76] + " ..."


def copy_case(case: Mapping[str, Any]) -> dict[str, Any]:
    """Copy a case, so that an answer which writes into its input spoils nobody else's."""
    return {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in case.items()}


def is_same(exercise: Exercise, function: Callable, answers: Sequence[tuple[Mapping, Any]]) -> bool:
    """Tell whether a function gives these very answers, (case, result), in every case."""
    return not any(
        find_difference(got, exercise.observe(function)(**copy_case(case)), exercise.tolerance)
        for case, got in answers
    )


def guess_cause(exercise: Exercise, answers: Sequence[tuple[Mapping, Any]]) -> str:
    """Find the known mistake that gives all these answers, right ones included; else empty."""
    causes = (m.cause for m in exercise.mistakes if is_same(exercise, m.function, answers))
    return next(causes, "")


def is_stub(student: Callable, error: NotImplementedError) -> bool:
    """Tell a stub, which raises the bare error itself, from an error of what it calls."""
    last = error.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    code = getattr(inspect.unwrap(student), "__code__", None)
    return not error.args and last.tb_frame.f_code is code


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
    answers = []
    for words, case in exercise.cases.items():
        got, error = run_case(exercise, student, case)
        if isinstance(error, NotImplementedError) and is_stub(student, error):
            print(f"{label}: {NOT_YET.format(exercise.name)}")
            return
        if error is not None:
            said = f"{type(error).__name__}: {error}"
            raise CheckFailed(f"{label}: {words}: your function stopped with {said}")
        answers.append((case, got))
        compare(exercise, f"{label}: {words}", answers)
    record("checks", f"{exercise.notebook}.{exercise.name}", "passed")
    print(f"{label}: passed ({len(exercise.cases)} cases)")


def run_case(
    exercise: Exercise, student: Callable, case: Mapping[str, Any]
) -> tuple[Any, Exception | None]:
    """Run a student's function on a copy of one case; return its answer, or how it stopped."""
    try:
        return exercise.observe(student)(**copy_case(case)), None
    except Exception as error:
        return None, error


def compare(exercise: Exercise, label: str, answers: Sequence[tuple[Mapping, Any]]) -> None:
    """Raise `CheckFailed` with all that helps, if the last answer differs from the solution's."""
    case, got = answers[-1]
    expected = exercise.observe(exercise.solve)(**copy_case(case))
    difference = find_difference(got, expected, exercise.tolerance)
    if not difference:
        return
    written = [(write_value(got, n), write_value(expected, n)) for n in (4, 8, 17)]
    shown = next((pair for pair in written if pair[0] != pair[1]), written[0])
    lines = [f"{label}: {difference}", f"  got      {shown[0]}", f"  expected {shown[1]}"]
    cause = guess_cause(exercise, answers)
    if cause or difference.startswith(DIFFERS):  # a wrong type or shape explains itself
        lines.append(f"  likely cause: {cause or UNKNOWN}")
    raise CheckFailed("\n".join(lines))
