"""The READMEs tell the truth about commands and notebooks, and the same in both languages."""

import re

import pytest
from rules import readme
from rules.trees import ROOT, hold, list_notebooks

from mamba_edu.cli import make_parser
from mamba_edu.experiments import write_jobs

ENGLISH, CHINESE = (ROOT / name for name in ("README.md", "README.zh.md"))
PAGES = [ENGLISH, CHINESE]
COMMANDS = ["lab", "test", "build", "reset", "demo", "sweep", "results", "bench"]


def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_readme_names_commands_that_exist_and_all_of_them(path):
    assert {words.split()[0] for words in readme.list_commands(read(path)) if words} == {*COMMANDS}
    hold(readme.find_unknown_commands(read(path)))


def test_every_option_is_in_the_readme():
    (choices,) = (a.choices for a in make_parser()._actions if a.dest == "command")
    options = {word for each in choices.values() for word in each._option_string_actions}
    options -= {"-h", "--help"}
    assert {word for word in options if word not in read(ENGLISH)} == set()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_readme_lists_the_notebooks_that_are_there(path):
    hold(readme.find_wrong_rows(read(path), list_notebooks(), is_english=path == ENGLISH))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_readme_draws_the_modules_as_they_import(path):
    hold(readme.find_wrong_chain(read(path), ROOT / "mamba_edu"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_readme_holds_what_the_runs_say_of_each_job(path):
    told = [row for row in read(path).splitlines() if re.match(r"\|.*\d\.\d\d", row)]
    made = write_jobs().splitlines()[2:]
    numbers = [[re.findall(r"\d\.\d\d", row) for row in rows] for rows in (told, made)]
    assert numbers[0] == numbers[1]
    if path == ENGLISH:
        assert write_jobs() in read(path)


def test_both_readmes_say_the_same_and_lead_to_each_other():
    hold(readme.find_differences(read(ENGLISH), read(CHINESE)))
    for page, other in (PAGES, PAGES[::-1]):
        assert f"]({other.name})" in read(page)


def test_a_picture_of_the_course_stands_near_the_top():
    start = read(ENGLISH)[:2000]
    (name,) = re.findall(r"!\[[^\]]{40,}\]\(([^)]+)\)", start)
    assert (ROOT / name).stat().st_size <= 200_000


def test_contributing_is_short():
    text = read(ROOT / "CONTRIBUTING.md")
    assert len(text.splitlines()) < 50
    assert len(re.findall(r"(?m)^\| (?!to change)\w", text)) >= 5  # what to change, edit, run


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ("course.py reset 01", "course.py restart 01", "invalid choice: 'restart'"),
        ("lab 01 --stage", "lab 01 --projector", "unrecognized arguments: --projector"),
        ("course.py test --quick", "course.py test 01", "unrecognized arguments: 01"),
        ("--port 9000", "--port high", "invalid int value: 'high'"),
    ],
)
def test_a_command_that_does_not_exist_is_caught(good, bad, says):
    text = read(ENGLISH)
    assert good in text
    (fault,) = readme.find_unknown_commands(text.replace(good, bad, 1))
    assert says in fault


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ("02_discretization.ipynb", "02_steps.ipynb", "told are"),
        ("How does a bucket remember?", "How does a bucket forget?", "the row is"),
        ("01_linear_ssm.ipynb) | 60", "01_linear_ssm.ipynb) | 45", "45"),
        ("| 14 |", "| 15 |", "must be 00 to 14"),
        ("| 25 | ready |", "| 25 | planned |", "planned, and yet has a link"),
        ("on your own data? | | planned", "on your own data? | | ready", "told are"),
    ],
)
def test_a_wrong_row_is_caught(good, bad, says):
    text = read(ENGLISH)
    assert text.count(good) == 1
    faults = readme.find_wrong_rows(text.replace(good, bad), list_notebooks(), is_english=True)
    assert any(says in fault for fault in faults)


def test_a_wrong_order_of_modules_is_caught():
    text = read(ENGLISH).replace("tasks ─▶ models", "models ─▶ tasks")
    (fault,) = readme.find_wrong_chain(text, ROOT / "mamba_edu")
    assert "drawn are" in fault


@pytest.mark.parametrize(
    ("good", "bad", "says"),
    [
        ("`python3 course.py lab 01`", "`python3 course.py lab 02`", "commands"),
        ("01_linear_ssm.ipynb) | 60", "01_linear_ssm.ipynb) | 45", "notebooks"),
        ("`LICENSE`", "LICENSE", "backticks"),
        ("## 三条路线", "# 三条路线", "headings"),
        ("| 14 |", "14 |", "tables"),
        ("](notebooks/course.png)", "](course.png)", "pictures"),
    ],
)
def test_a_difference_between_the_languages_is_caught(good, bad, says):
    text = read(CHINESE)
    assert text.count(good) == 1
    faults = readme.find_differences(read(ENGLISH), text.replace(good, bad))
    assert any(says in fault for fault in faults)
