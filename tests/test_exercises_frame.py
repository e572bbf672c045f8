"""A check survives whatever a reader's function does, and says it in one short message."""

import math

import pytest
import torch
from front_end import open_shell

from mamba_edu.exercises import n00, n01, n02, n03, n04
from mamba_edu.exercises.frame import (
    CheckFailed,
    Exercise,
    Mistake,
    find_difference,
    run_check,
    write_value,
)

DOUBLE = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64)


def solve_halve(x):
    """Halve."""
    return x / 2


HALVE = Exercise(
    notebook="n99",
    solve=solve_halve,
    cases={"two numbers": {"x": DOUBLE[:2]}, "three numbers": {"x": DOUBLE}},
    mistakes=(
        Mistake(lambda x: 2 * x, "this doubles."),
        Mistake(lambda x: -x / 2, "the sign is wrong."),
    ),
)


def fail_check(student, exercise=HALVE):
    with pytest.raises(CheckFailed) as caught:
        run_check(exercise, student)
    return str(caught.value)


def stop(*_, **__):
    raise ZeroDivisionError("a bar of\nzero")


CHECKS = [
    n00.check_share_left,
    n00.check_shape_of_states,
    n01.check_steps_to_half,
    n01.check_smooth,
    n01.check_make_oscillator,
    n02.check_tokens_to_half,
    n02.check_from_average,
    n02.check_safe_gain,
    n03.check_pulse_answer,
    n03.check_to_matrix,
    n03.check_raw_missed,
    n04.check_choose_steps,
    n04.check_step_that_keeps,
    n04.check_bias_for,
]


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(
    ("student", "words"),
    [
        (lambda *_, **__: None, "it returns nothing; is its `return` missing?"),
        (stop, "your function stopped with ZeroDivisionError: a bar of\nzero"),
        (lambda *_, **__: "0.5", "it returns a str, not a"),
        (lambda *_, **__: {"a": 1}, "it returns a dict, not a"),
        (lambda *_, **__: [1.0], "it returns a list, not a"),
        (lambda: 3, "your function stopped with TypeError"),
        (Mistake, "your function stopped with TypeError"),
    ],
    ids=["nothing", "stops", "text", "dict", "list", "no arguments", "a class"],
)
def test_every_check_survives_what_is_no_answer(check, student, words):
    with pytest.raises(CheckFailed) as caught:
        check(student)
    said = str(caught.value)
    assert said.startswith(f"{check.__name__}: ")
    assert words in said


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("given", [None, 3, "share_left", DOUBLE])
def test_every_check_needs_a_function(check, given):
    name = check.__name__.removeprefix("check_")
    with pytest.raises(TypeError, match=f"check_{name} needs your function, {name}; got"):
        check(given)


def test_the_first_case_that_differs_is_told_with_both_values_and_the_cause():
    twice_beyond_two = Mistake(lambda x: x / 2 if len(x) == 2 else 2 * x, "this doubles.")
    assert fail_check(twice_beyond_two.function, HALVE._replace(mistakes=(twice_beyond_two,))) == (
        "check_halve: three numbers: its values differ\n"
        "  got      [2, 4, 6]\n"
        "  expected [0.5, 1, 1.5]\n"
        "  likely cause: this doubles."
    )
    assert fail_check(lambda x: x / 3).endswith(
        "likely cause: not one of the usual slips; print both values for this case and compare."
    )


def test_values_that_look_alike_are_written_until_they_differ():
    assert "got      [0.50000001, 1]\n  expected [0.5, 1]" in fail_check(
        lambda x: x / 2 + 1e-8 * (x == 1)
    )
    assert "got      [0.5000000" in fail_check(lambda x: x / 2 + 2e-9)
    assert "; they are torch.float32" in fail_check(lambda x: (x / 2).float() * 1.0000001)


@pytest.mark.parametrize("answer", [lambda x: x.div_(2), lambda x: x.mul_(0.5).clone()])
def test_an_answer_that_writes_into_its_input_spoils_no_other(answer, capsys):
    for _ in range(2):
        run_check(HALVE, answer)
    run_check(HALVE, solve_halve)
    assert capsys.readouterr().out == "check_halve: passed (2 cases)\n" * 3
    assert HALVE.cases["three numbers"]["x"].tolist() == [1, 2, 3]


def test_a_wrong_answer_that_writes_into_its_input_is_explained_all_the_same():
    assert fail_check(lambda x: x.mul_(2)).endswith("this doubles.")


def test_an_answer_that_writes_into_the_gradient_s_input_is_told_so():
    with pytest.raises(CheckFailed, match=r"stopped with RuntimeError: .*in-place"):
        n02.check_safe_gain(lambda z: z.add_(1))


def test_a_half_written_answer_is_not_attempted(capsys):
    def begin(x):
        if len(x) == 3:
            raise NotImplementedError
        return x / 2

    run_check(HALVE, begin)
    assert capsys.readouterr().out.startswith("check_halve: not attempted yet. Write halve above")


def test_an_interrupt_is_not_swallowed():
    def wait(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_check(HALVE, wait)


def test_only_a_pass_is_recorded_and_only_in_a_workbook(tmp_path, monkeypatch):
    (tmp_path / "workbook").mkdir()
    monkeypatch.chdir(tmp_path)
    run_check(HALVE, solve_halve)
    monkeypatch.chdir("workbook")
    fail_check(lambda x: x)
    assert list(tmp_path.glob("**/*.json")) == []
    run_check(HALVE, solve_halve)
    written = (tmp_path / "workbook" / "progress.json").read_text()
    assert '"n99.halve": "passed"' in written


def test_a_failed_check_shows_its_message_and_no_traceback():
    shell = open_shell()
    error = CheckFailed("check_halve: two\n  got 1")
    tracebacks = []
    shell_shows = shell._showtraceback
    shell._showtraceback = lambda kind, value, lines: tracebacks.append(lines)
    try:
        shell.push({"fail": lambda: (_ for _ in ()).throw(error)})
        shell.run_cell("next(iter(fail()))")
    finally:
        shell._showtraceback = shell_shows
    assert tracebacks == [["check_halve: two", "  got 1"]]


@pytest.mark.parametrize(
    ("got", "expected", "difference"),
    [
        (1, 1.0, ""),
        (1.0, 1, ""),
        (1 + 1e-10, 1.0, ""),
        (1 + 1e-8, 1.0, "its values differ"),
        (1e-8, 0.0, "its values differ"),
        (float("nan"), float("nan"), ""),
        (float("nan"), 1.0, "its values differ"),
        (float("inf"), 1.0, "its values differ"),
        (10**400, 1.0, "the int that it returns holds what is no number of torch"),
        (2.0, 2j, "it returns a float, not a complex"),
        (2j, 2.0, "it returns a complex, not a float"),
        ((1, 2.0), (1.0, 2), ""),
        ((1.0,), (1.0, 2.0), "its length is 1, not 2"),
        ((1.0, "2"), (1.0, 2.0), "the tuple that it returns holds what is no number of torch"),
        ((1.0, None), (1.0, 2.0), "the tuple that it returns holds what is no number of torch"),
        ((1.0, (2.0,)), (1.0, 2.0), "the tuple that it returns holds what is no number of torch"),
        (DOUBLE.tolist(), DOUBLE, "it returns a list, not a Tensor"),
        (DOUBLE.numpy(), DOUBLE, "it returns a ndarray, not a Tensor"),
        (DOUBLE[None], DOUBLE, "its shape is (1, 3), not (3,)"),
        (DOUBLE[:1], DOUBLE, "its shape is (1,), not (3,)"),
        (DOUBLE + 0j, DOUBLE, "its numbers are complex, not real"),
        (DOUBLE, DOUBLE + 0j, "its numbers are real, not complex"),
        (DOUBLE.float(), DOUBLE, ""),
        (DOUBLE.float() / 3, DOUBLE / 3, "its values differ; they are torch.float32"),
        (DOUBLE.long(), DOUBLE, ""),
        (DOUBLE.clone().requires_grad_(), DOUBLE, ""),
    ],
)
def test_a_difference_is_told_in_words(got, expected, difference):
    assert find_difference(got, expected, 1e-9) == difference


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1 / 3, "0.3333"),
        (7, "7"),
        (1 / 3 - 2j, "0.3333-2j"),
        ((1 / 3, 2, None), "(0.3333, 2, None)"),
        ([1 / 3], "[0.3333]"),
        (DOUBLE / 3, "[0.3333, 0.6667, 1]"),
        (torch.zeros(2, 4), "[0, 0, 0, 0, 0, 0, 0, 0]"),
        (torch.zeros(3, 3), "[0, 0, 0, 0, 0, 0, 0, 0, ...]"),
        (tuple(range(99)), "(0, 1, 2, 3, 4, 5, 6, 7, ...)"),
        (torch.ones(2).requires_grad_(), "[1, 1]"),
        ("two\n   lines", r"'two\n lines'"),
        ("x" * 999, f"'{'x' * 75} ..."),
        (math.pi * DOUBLE[0], "3.142"),
        (DOUBLE[0] * 1j, "0+1j"),
    ],
)
def test_a_value_is_written_on_one_short_line(value, written):
    assert write_value(value) == written
