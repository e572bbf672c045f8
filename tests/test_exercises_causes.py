"""A cause is told only if it explains everything, and a stub is told from an error."""

import pytest
from test_exercises_frame import fail_check


def refuse(x):
    raise NotImplementedError


def refuse_in_words(x):
    raise NotImplementedError("no kernel for this type")


@pytest.mark.parametrize("student", [lambda x: refuse(x), refuse_in_words], ids=["call", "words"])
def test_an_error_of_what_an_answer_calls_is_not_taken_for_the_stub(student):
    assert "your function stopped with NotImplementedError" in fail_check(student)


def test_a_mistake_is_told_only_if_it_explains_every_case_so_far():
    said = fail_check(lambda x: x / 2 if len(x) == 2 else 2 * x)
    assert "this doubles" not in said
    assert "not one of the usual slips" in said


@pytest.mark.parametrize(
    "student", [lambda x: None, lambda x: 0.5, lambda x: x[:1], lambda x: x / 2 + 0j]
)
def test_a_result_of_another_kind_needs_no_cause(student):
    assert "likely cause" not in fail_check(student)
