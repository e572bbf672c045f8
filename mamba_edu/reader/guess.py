"""Predict before you run: a question whose answer is computed, never typed."""

import html
from collections.abc import Callable, Sequence
from typing import NamedTuple

import ipywidgets
from IPython.display import display

from mamba_edu.figures.require import is_finite, require_text, require_text_or_empty
from mamba_edu.reader.journal import read_journal, record
from mamba_edu.reader.still import StillBox

LETTERS = "ABCDE"
LATER = "A later notebook asks again and answers."


class Question(NamedTuple):
    """A question to commit to.

    Fields:
        key: where the guess is recorded, such as "n01.after_one_tau".
        asks: the question, one sentence or two.
        choices: what to choose from; one of them is the common mistake.
        answer: computes (index of the right choice, the evidence in words); None if a later
            notebook answers.
        surprised: one sentence for whoever guessed otherwise.
    """

    key: str
    asks: str
    choices: tuple[str, ...]
    answer: Callable[[], tuple[int, str]] | None
    surprised: str = ""


def nearest(value: float, options: Sequence[float]) -> int:
    """Find which option a computed value is nearest to.

    Raises:
        ValueError: if the value is not finite, or there is no option: nothing is nearest then.
    """
    if not is_finite(value) or not isinstance(options, tuple | list) or not options:
        raise ValueError(f"value must be finite and options not empty; got {value} and {options}")
    return min(range(len(options)), key=lambda i: abs(options[i] - value))


def require_question(question: Question) -> None:
    """Refuse what could not be asked."""
    if not isinstance(question, Question):
        raise TypeError(f"question must be a Question of mamba_edu.exercises; got {question!r}")
    require_text("key", question.key)
    require_text("asks", question.asks)
    require_text_or_empty(question.key, surprised=question.surprised)
    choices = question.choices
    if not isinstance(choices, tuple | list) or not 2 <= len(choices) <= len(LETTERS):
        raise ValueError(f"choices must be 2 to {len(LETTERS)}; {question.key} has {choices!r}")
    for choice in choices:
        require_text("choices", choice)
    if len(set(choices)) < len(choices):
        raise ValueError(f"choices must differ; {question.key} has {choices!r}")
    if question.answer is not None and not callable(question.answer):
        raise TypeError(f"answer must be a function or None; {question.key}: {question.answer!r}")


def write_choices(question: Question) -> list[str]:
    """Write each choice behind its letter."""
    return [f"{LETTERS[i]}  {choice}" for i, choice in enumerate(question.choices)]


def tell_answer(question: Question, link: str = ", ") -> str:
    """Compute the answer and say it with its evidence; `link` joins the letter to its choice."""
    if question.answer is None:
        return LATER
    given = question.answer()
    if not isinstance(given, tuple) or [type(part) for part in given] != [int, str]:
        raise TypeError(f"{question.key}: answer must return (index, evidence); got {given!r}")
    index, evidence = given
    if not 0 <= index < len(question.choices):
        raise ValueError(
            f"{question.key}: answer {index} is none of {len(question.choices)} choices"
        )
    surprised = f" If you were surprised: {question.surprised}" if question.surprised else ""
    return f"{LETTERS[index]}{link}{question.choices[index]}. {evidence}{surprised}"


def write_still(question: Question) -> dict[str, str]:
    """Write the question for a page without a kernel, the answer in a closed fold."""
    listed = write_choices(question)
    items = "".join(f"<div>{html.escape(line)}</div>" for line in listed)
    told = tell_answer(question)
    fold = f"<details><summary>Guess first, then open</summary>{html.escape(told)}</details>"
    if question.answer is None:
        fold = f"<div><i>{html.escape(LATER)}</i></div>"
    asked = f"<p><b>Predict.</b> {html.escape(question.asks)}</p>"
    plain = "\n".join([f"Predict. {question.asks}", *listed, f"Answer: {told}"])
    return {"text/html": asked + items + fold + "<br>", "text/plain": plain}


def tell_guess(question: Question, index: int) -> str:
    """Say what the reader guessed and then the answer, or that a later notebook has it."""
    answer = tell_answer(question, ": ")
    return f"You said {LETTERS[index]}. " + ("The answer is " if question.answer else "") + answer


def build_controls(question: Question) -> list[ipywidgets.Widget]:
    """Build the live form: choices, a button, and the answer once the reader has committed."""
    asked = ipywidgets.HTML(f"<b>Predict.</b> {html.escape(question.asks)}")
    choice = ipywidgets.RadioButtons(
        options=write_choices(question), index=None, layout={"width": "auto"}
    )
    commit = ipywidgets.Button(
        description="This is my guess", disabled=True, layout={"width": "auto"}
    )
    told = ipywidgets.HTML()

    def reveal(_) -> None:
        if told.value or choice.index is None:  # a click that came late, or without a choice
            return
        record("guesses", question.key, question.choices[choice.index])
        told.value = html.escape(tell_guess(question, choice.index))
        choice.disabled = commit.disabled = True

    def allow(_) -> None:
        commit.disabled = choice.index is None or bool(told.value)

    choice.observe(allow, "index")
    commit.on_click(reveal)
    return [asked, choice, commit, told]


def predict(question: Question) -> None:
    """Ask the reader to commit to an answer before it is on the page.

    Live it is a form: choose, press, read. On a page without a kernel the choices stand as text
    and the computed answer lies in a closed fold.

    Raises:
        TypeError: if it is not given a `Question`, its answer is no (index, evidence), or its word
            to the surprised is no text.
        ValueError: if its words are missing, its choices are fewer than two, more than five or
            alike, or its answer is none of them.
    """
    require_question(question)
    display(StillBox(build_controls(question), write_still(question)))


def ask(questions: Sequence[Question]) -> None:
    """Ask several questions one after the other, and say how many were answered before.

    Raises:
        TypeError: if it is not given a tuple or list of `Question`s.
    """
    if not isinstance(questions, tuple | list) or isinstance(questions, Question):
        raise TypeError(f"questions must be a tuple of Questions; got {questions!r}")
    before = read_journal()["guesses"]
    for question in questions:
        predict(question)
    known = sum(question.key in before for question in questions)
    if known:
        print(f"Answered before: {known} of {len(questions)}. A new answer replaces the old one.")
