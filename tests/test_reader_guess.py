"""A guess comes before its answer and counts once; what cannot be asked is refused by name."""

import json
import re

import pytest
from front_end import open_front_end

from mamba_edu.reader import Question, ask, guess, nearest, predict
from mamba_edu.reader.still import VIEW

QUESTION = Question(
    key="n99.growth",
    asks="Is x < y & growing?",
    choices=("no <b>", "only y", "both"),
    answer=lambda: (1, "y is 3 > 2."),
    surprised="x <i>falls</i>.",
)
TOLD = "B, only y. y is 3 > 2. If you were surprised: x <i>falls</i>."


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


@pytest.fixture
def forms(monkeypatch):
    """The live forms, as objects that can be clicked."""
    boxes = []
    monkeypatch.setattr(guess, "display", boxes.append)
    return boxes


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    folder = tmp_path / "workbook"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder / "progress.json"


def read_guesses(journal):
    return json.loads(journal.read_text(encoding="utf-8"))["guesses"]


def test_a_stored_question_is_plain_text_with_its_computed_answer(shown):
    predict(QUESTION)
    (output,) = shown
    assert output["data"]["text/plain"].splitlines() == [
        "Predict. Is x < y & growing?",
        "A  no <b>",
        "B  only y",
        "C  both",
        f"Answer: {TOLD}",
    ]
    assert set(output["data"]) == {"text/html", "text/plain", VIEW}


def test_a_page_without_a_kernel_hides_the_answer_in_a_closed_fold(shown):
    predict(QUESTION)
    page = shown[0]["data"]["text/html"]
    before, fold = page.split("<details>")  # a fold that is open says so in its tag
    assert "y is 3" not in before
    assert "y is 3 &gt; 2." in fold.split("</details>")[0]
    assert before.count("<div>") == 3


def test_no_words_of_a_question_are_taken_for_html(shown, forms):
    predict(QUESTION)
    (box,) = forms
    asked, choice, commit, told = box.children
    choice.index = 1
    commit.click()
    for page in (box.still["text/html"], asked.value, told.value):
        words = re.sub(r"</?(p|b|div|details|summary|br)>", "", page.replace("no <b>", "BAD"))
        assert "<" not in words
        assert "BAD" not in words


def test_the_answer_is_computed_when_it_is_told(shown):
    answers = iter([(0, "It is 1."), (2, "It is 9.")])
    for _ in range(2):
        predict(QUESTION._replace(answer=lambda: next(answers)))
    one, other = (output["data"]["text/plain"].splitlines()[-1] for output in shown)
    assert one.startswith("Answer: A, no <b>. It is 1.")
    assert other.startswith("Answer: C, both. It is 9.")


def test_a_live_form_waits_for_a_choice_and_tells_after_the_press(forms):
    predict(QUESTION)
    _, choice, commit, told = forms[0].children
    assert (choice.index, commit.disabled, told.value) == (None, True, "")
    choice.index = 2
    assert (commit.disabled, told.value) == (False, "")
    choice.index = None
    assert commit.disabled
    choice.index = 0
    commit.click()
    assert told.value.startswith("You said A. The answer is B: only y. y is 3 &gt; 2.")
    assert (choice.disabled, commit.disabled) == (True, True)


def test_a_guess_is_recorded_once(forms, workbook):
    predict(QUESTION)
    _, choice, commit, told = forms[0].children
    commit.click()  # nothing is chosen yet
    assert not workbook.exists()
    choice.index = 2
    commit.click()
    assert read_guesses(workbook) == {"n99.growth": "both"}
    commit.click()  # the second half of a double click
    choice.index = 1  # another tab that shows the same form
    assert commit.disabled
    commit.click()
    assert told.value.startswith("You said C.")
    assert read_guesses(workbook) == {"n99.growth": "both"}


def test_a_question_for_later_tells_no_answer(shown, forms):
    predict(QUESTION._replace(answer=None))
    _, choice, commit, told = forms[0].children
    assert "<details>" not in forms[0].still["text/html"]
    assert forms[0].still["text/plain"].endswith(f"Answer: {guess.LATER}")
    choice.index = 0
    commit.click()
    assert told.value == f"You said A. {guess.LATER}"


def test_asking_again_says_what_was_answered_before(forms, workbook, capsys):
    six = [QUESTION._replace(key=f"n99.{i}", answer=None) for i in range(3)]
    ask(six)
    assert len(forms) == 3
    assert capsys.readouterr().out == ""
    _, choice, commit, _ = forms[1].children
    choice.index = 0
    commit.click()
    ask(tuple(six))
    assert capsys.readouterr().out.startswith("Answered before: 1 of 3.")


@pytest.mark.parametrize(("value", "index"), [(-5, 0), (0.2, 0), (0.3, 1), (0.74, 1), (99, 2)])
def test_nearest_finds_the_nearest(value, index):
    assert nearest(value, (0.0, 0.5, 1.0)) == index
    assert nearest(value, (1.0, 0.5, 0.0)) == 2 - index


@pytest.mark.parametrize(
    ("value", "options"),
    [(float("nan"), (0, 1)), (float("-inf"), (0, 1)), ("B", (0, 1)), (0.5, ()), (0.5, None)],
)
def test_nothing_is_nearest_to_what_is_no_number(value, options):
    with pytest.raises(
        ValueError, match=f"value must be finite and options not empty; got {value}"
    ):
        nearest(value, options)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"key": ""}, "key must be words.*got ''"),
        ({"asks": None}, "asks must be words.*got None"),
        ({"choices": ("one",)}, r"choices must be 2 to 5; n99.growth has \('one',\)"),
        ({"choices": tuple("abcdef")}, "choices must be 2 to 5; n99.growth has"),
        ({"choices": "ABC"}, "choices must be 2 to 5; n99.growth has 'ABC'"),
        ({"choices": None}, "choices must be 2 to 5; n99.growth has None"),
        ({"choices": ("one", 2)}, "choices must be words.*got 2"),
        ({"choices": ("one", " ")}, "choices must be words.*got ' '"),
        ({"choices": ("one", "two", "one")}, "choices must differ; n99.growth has"),
        (
            {"answer": (1, "typed")},
            r"answer must be a function or None; n99.growth: \(1, 'typed'\)",
        ),
        ({"surprised": None}, "surprised must be words or empty; n99.growth has None"),
        ({"surprised": ["x"]}, r"surprised must be words or empty; n99.growth has \['x'\]"),
        ({"answer": lambda: 1}, r"n99.growth: answer must return \(index, evidence\); got 1"),
        (
            {"answer": lambda: ("B", "x")},
            r"answer must return \(index, evidence\); got \('B', 'x'\)",
        ),
        ({"answer": lambda: (True, "x")}, r"answer must return \(index, evidence\); got \(True"),
        ({"answer": lambda: (3, "x")}, "n99.growth: answer 3 is none of 3 choices"),
        ({"answer": lambda: (-1, "x")}, "n99.growth: answer -1 is none of 3 choices"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(shown, changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        predict(QUESTION._replace(**changed))
    assert shown == []


@pytest.mark.parametrize("given", ["n99.growth", None, ("n99", "x")])
def test_only_questions_are_asked(given):
    with pytest.raises(
        TypeError, match=r"question must be a Question of mamba_edu\.exercises; got"
    ):
        predict(given)
    with pytest.raises(TypeError, match=r"questions? must be a"):
        ask(given)
    with pytest.raises(TypeError, match="questions must be a tuple of Questions; got Question"):
        ask(QUESTION)
