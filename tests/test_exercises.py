"""Every check passes its solution, leaves the stub in peace and says what went wrong."""

import ast
import inspect
import math

import pytest
from rules.trees import list_notebooks
from slip_parts import sum_twenty_terms
from slips import MODULES, SLIPS

from mamba_edu.cli.notebook import read_notebook
from mamba_edu.cli.solutions import list_tags
from mamba_edu.exercises import n00, n02, n04
from mamba_edu.exercises.frame import CheckFailed, Exercise, copy_case, find_difference

EXERCISES = [v for m in MODULES for v in vars(m).values() if isinstance(v, Exercise)]
CHECKS = {check.__name__.removeprefix("check_"): check for check in SLIPS}
STUBS = {
    ast.parse(cell.source).body[0].name: cell.source
    for path in list_notebooks()
    for cell in read_notebook(path).cells
    if "exercise" in list_tags(cell)
}


@pytest.fixture(params=EXERCISES, ids=lambda exercise: exercise.name)
def exercise(request):
    return request.param


def test_every_exercise_has_its_check_its_stub_and_its_slips_here():
    names = [exercise.name for exercise in EXERCISES]
    assert sorted(names) == sorted(set(names)) == sorted(CHECKS) == sorted(STUBS)
    assert all(len(slips) >= 2 for slips in SLIPS.values())


def test_a_check_passes_its_solution(exercise, capsys):
    CHECKS[exercise.name](exercise.solve)
    said = capsys.readouterr().out
    assert said == f"check_{exercise.name}: passed ({len(exercise.cases)} cases)\n"


def test_a_check_leaves_the_notebook_s_stub_in_peace(exercise, capsys):
    names = vars(inspect.getmodule(exercise.solve)).copy()
    exec(STUBS[exercise.name], names)
    CHECKS[exercise.name](names[exercise.name])
    said = capsys.readouterr().out
    assert said.startswith(f"check_{exercise.name}: not attempted yet. Write {exercise.name} above")


def test_a_stub_asks_for_what_the_solution_gives(exercise):
    stub = ast.parse(STUBS[exercise.name]).body[0]
    solution = ast.parse(inspect.getsource(exercise.solve)).body[0]
    for part in (
        lambda f: ast.unparse(f.args),
        lambda f: ast.unparse(f.returns),
        ast.get_docstring,
    ):
        assert part(stub) == part(solution)


@pytest.mark.parametrize(
    ("check", "slip", "words"),
    [(check, *slip) for check, slips in SLIPS.items() for slip in slips],
    ids=lambda part: getattr(part, "__name__", part),
)
def test_a_reader_s_slip_earns_its_sentence(check, slip, words):
    with pytest.raises(CheckFailed) as caught:
        check(slip)
    said = str(caught.value).splitlines()
    assert [line.split()[0] for line in said[1:]] == ["got", "expected", "likely"]
    assert words in said[3]


@pytest.mark.parametrize(
    ("check", "answer"),
    [
        (n00.check_share_left, lambda keep, steps: keep**steps if steps else 0.0),
        (n00.check_share_left, lambda keep, steps: float(steps**keep)),
        (n02.check_safe_gain, sum_twenty_terms),
        (n04.check_step_that_keeps, lambda A, share: math.log(share)),
    ],
    ids=["no step", "power upside down", "series", "no rate"],
)
def test_a_wrong_answer_of_its_own_is_caught_and_told_no_false_cause(check, answer):
    with pytest.raises(CheckFailed, match="not one of the usual slips"):
        check(answer)


def test_mistakes_differ_in_the_first_case(exercise):
    """Else one answer has two causes, and the reader is told the wrong one."""
    case = next(iter(exercise.cases.values()))
    results = [exercise.observe(m.function)(**copy_case(case)) for m in exercise.mistakes]
    right = exercise.observe(exercise.solve)(**copy_case(case))
    wrong = [r for r in results if find_difference(r, right, exercise.tolerance)]
    for i, result in enumerate(wrong):
        assert all(find_difference(result, other, 1e-9) for other in wrong[:i])


def test_every_known_mistake_is_caught_by_its_own_cause(exercise):
    causes = [mistake.cause for mistake in exercise.mistakes]
    assert len(set(causes)) == len(causes) >= 2
    for mistake in exercise.mistakes:
        with pytest.raises(CheckFailed) as caught:
            CHECKS[exercise.name](mistake.function)
        assert str(caught.value).endswith(f"likely cause: {mistake.cause}")


def test_no_mistake_stops_on_a_case(exercise):
    """Else the check itself would stop, while it looks for the cause."""
    for case in exercise.cases.values():
        for mistake in exercise.mistakes:
            assert exercise.observe(mistake.function)(**copy_case(case)) is not None
