"""The reader's progress is kept in a workbook and nowhere else, whole, and never lost."""

import json
import os

import pytest
from front_end import open_front_end
from rules.make import make_code, make_notebook, make_text

from mamba_edu.reader import progress, record
from mamba_edu.reader.journal import find_journal, read_journal

BLANK = {"checks": {}, "guesses": {}}


@pytest.fixture
def workbook(tmp_path, monkeypatch):
    folder = tmp_path / "workbook"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def journal(workbook):
    return workbook / "progress.json"


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


def list_names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_course(folder):
    """Write the notebooks of a small course, as a reader left them."""
    stub = "def double(x):\n    raise NotImplementedError"
    course = {
        "00_start.ipynb": make_notebook(
            make_text("# Ready?\n\nYou can. **25 minutes** · 5 CPU seconds"),
            make_code("inspect_machine()"),
            make_code("def help_me():\n    pass\n\n\n" + stub, tags=("exercise",)),
            make_code("n00.check_double(double)"),
            make_code("double = lambda x: 2 * x", tags=("exercise",)),
            make_code("n00.check_triple(triple)\nn00.check_triple(triple)"),
        ),
        "01_next.ipynb": make_notebook(make_text("# How does it go on?")),
        "02_gone.ipynb": make_notebook(),
        "notes.ipynb": make_notebook(make_text("# Mine")),
    }
    for name, notebook in course.items():
        (folder / name).write_text(json.dumps(notebook), encoding="utf-8")
    (folder / "03_half.ipynb").write_text('{"cells": [', encoding="utf-8")


def test_nothing_is_kept_outside_a_workbook(tmp_path, monkeypatch):
    for name in ("notebooks", "workbooks", "workbook.old"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        record("checks", "n99.double", "passed")
        assert find_journal() is None
        assert read_journal() == BLANK
        assert list_names(tmp_path / name) == []


def test_what_is_recorded_is_read_again(workbook, journal):
    assert read_journal() == BLANK
    record("checks", "n99.double", "passed")
    record("guesses", "n99.growth", "both Ä")
    record("guesses", "n99.growth", "neither")
    assert read_journal() == {
        "checks": {"n99.double": "passed"},
        "guesses": {"n99.growth": "neither"},
    }
    assert json.loads(journal.read_text(encoding="utf-8")) == read_journal()
    assert list_names(workbook) == ["progress.json"]


def test_what_a_later_course_keeps_is_left_in_place(journal):
    journal.write_text('{"checks": {"a": "passed"}, "notes": ["x"]}')
    record("guesses", "n99.growth", "both")
    kept = json.loads(journal.read_text())
    assert kept == {"checks": {"a": "passed"}, "guesses": {"n99.growth": "both"}, "notes": ["x"]}


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '"x"', "3", "null", '{"checks": [3]}', '{"guesses": null}', "\xff"]
)
def test_an_unreadable_journal_is_put_aside_not_lost(workbook, journal, text):
    journal.write_bytes(text.encode("latin-1"))
    assert read_journal() == BLANK
    assert list_names(workbook) == ["progress.unreadable.json"]
    record("checks", "n99.double", "passed")
    assert read_journal()["checks"] == {"n99.double": "passed"}
    journal.write_text("again")
    record("checks", "n99.double", "passed")
    assert list_names(workbook) == [
        "progress.json",
        "progress.unreadable.1.json",
        "progress.unreadable.json",
    ]
    assert (workbook / "progress.unreadable.json").read_bytes() == text.encode("latin-1")
    assert (workbook / "progress.unreadable.1.json").read_text() == "again"


def test_a_write_that_breaks_off_leaves_the_old_journal(workbook, journal, monkeypatch, capsys):
    record("checks", "n99.double", "passed")
    before = journal.read_bytes()

    def fill_the_disk(*_, **__):
        raise OSError(28, "No space left on device")

    for name in ("dump", "replace"):
        with monkeypatch.context() as broken:
            broken.setattr(json if name == "dump" else os, name, fill_the_disk)
            record("checks", "n99.triple", "passed")
        assert capsys.readouterr().out == (
            "Your progress could not be noted in progress.json: No space left on device.\n"
        )
        assert journal.read_bytes() == before
        assert list_names(workbook) == ["progress.json"]


def test_a_journal_that_is_a_folder_costs_the_note_only(journal, capsys):
    journal.mkdir()
    record("checks", "n99.double", "passed")
    assert "could not be noted in progress.json" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("kind", "key", "value", "message"),
    [
        ("check", "n99.x", "passed", r"kind must be one of \('checks', 'guesses'\); got 'check'"),
        (["checks"], "n99.x", "passed", r"kind must be one of .*; got \['checks'\]"),
        ("checks", "", "passed", "key must be words.*got ''"),
        ("checks", 3, "passed", "key must be words.*got 3"),
        ("checks", "n99.x", {1}, r"value must be words.*got \{1\}"),
    ],
)
def test_what_cannot_be_recorded_is_refused_everywhere(tmp_path, kind, key, value, message):
    with pytest.raises(ValueError, match=message):
        record(kind, key, value)


def test_the_course_map_counts_what_the_reader_passed(workbook, shown):
    write_course(workbook)
    progress()
    record("checks", "n00.triple", "passed")
    record("checks", "n00.unheard", "passed")
    record("checks", "n01.double", "passed")
    progress()
    before, after = (output["data"] for output in shown)
    assert before["text/plain"].splitlines() == [
        "00  Ready?  (25 min, 0 of 2)",
        "01  How does it go on?  (? min, 0 of 0)",
        "02  02_gone  (? min, 0 of 0)",
        "03  03_half.ipynb cannot be read  (? min, 0 of 0)",
    ]
    assert after["text/plain"].splitlines()[0] == "00  Ready?  (25 min, 1 of 2)"
    assert after["text/markdown"].splitlines()[:3] == [
        "| | question | minutes | exercises passed |",
        "|---|---|---|---|",
        "| 00 | [Ready?](00_start.ipynb) | 25 | 1 of 2 |",
    ]


def test_the_course_map_of_the_stored_notebooks_counts_nothing(tmp_path, monkeypatch, shown):
    write_course(tmp_path)
    (tmp_path / "progress.json").write_text('{"checks": {"n00.double": "passed"}}')
    monkeypatch.chdir(tmp_path)
    progress()
    assert "00  Ready?  (25 min, 0 of 2)" in shown[0]["data"]["text/plain"]


def test_the_course_map_says_when_there_is_nothing(workbook, shown):
    progress()
    assert shown[0]["data"]["text/plain"] == "no notebook here"
