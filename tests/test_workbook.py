"""The reader's copies: made once, without outputs, never overwritten, put aside on reset."""

from datetime import date

import pytest
from rules.make import make_code, make_notebook, make_stream

from mamba_edu.cli import main, workbook
from mamba_edu.cli.notebook import read_notebook, write_notebook
from mamba_edu.cli.workbook import fill_workbook, reset

DAY = date(2026, 3, 1)


def write(root, name, source, printed="1\n"):
    """Store an executed notebook of one cell."""
    notebook = make_notebook(make_code(source, make_stream(printed)))
    write_notebook(notebook, root / "notebooks" / name)


def read_source(path):
    """Return the source of the only cell."""
    return read_notebook(path).cells[0].source


@pytest.fixture
def course(tmp_path):
    """A course of two notebooks and the reader's copies of them."""
    write(tmp_path, "00_start.ipynb", "print(1)")
    write(tmp_path, "01_bucket.ipynb", "print(1)")
    assert fill_workbook(tmp_path) == []
    return tmp_path


def test_copies_have_the_source_and_no_outputs(course):
    stored = read_notebook(course / "notebooks" / "01_bucket.ipynb")
    copy = read_notebook(course / "workbook" / "01_bucket.ipynb")
    assert stored.cells[0].outputs
    assert stored.cells[0].execution_count == 1
    assert copy.cells[0].outputs == []
    assert copy.cells[0].execution_count is None
    assert copy.cells[0].source == "print(1)"
    assert copy.metadata.kernelspec == stored.metadata.kernelspec


def test_a_copy_is_never_overwritten(course):
    mine = course / "workbook" / "00_start.ipynb"
    mine.write_text("what the reader wrote")
    (course / "workbook" / "01_bucket.ipynb").unlink()
    write(course, "00_start.ipynb", "print(2)")
    fill_workbook(course)
    assert mine.read_text() == "what the reader wrote"
    assert (course / "workbook" / "01_bucket.ipynb").is_file()


def test_a_newer_source_is_told_and_newer_outputs_are_not(course):
    write(course, "00_start.ipynb", "print(1)", printed="one\n")
    write(course, "01_bucket.ipynb", "print(2)")
    assert fill_workbook(course) == ["01"]
    reset(course, "01", DAY)
    assert fill_workbook(course) == []


def test_the_readers_own_changes_are_not_taken_for_newer_sources(course):
    path = course / "workbook" / "01_bucket.ipynb"
    mine = read_notebook(path)
    mine.cells[0].source = "print('mine')"
    write_notebook(mine, path)
    assert fill_workbook(course) == []


def test_reset_keeps_each_copy_under_a_date(course):
    path = course / "workbook" / "01_bucket.ipynb"
    kept = []
    for words in ("first", "second"):
        mine = read_notebook(path)
        mine.cells[0].source = words
        write_notebook(mine, path)
        kept.append(reset(course, "1", DAY))
        assert read_source(path) == "print(1)"
    names = ["01_bucket-2026-03-01.ipynb", "01_bucket-2026-03-01-2.ipynb"]
    assert [place.name for place in kept] == names
    assert [read_source(place) for place in kept] == ["first", "second"]


def test_reset_makes_a_copy_where_there_is_none(course):
    path = course / "workbook" / "01_bucket.ipynb"
    path.unlink()
    assert reset(course, "01", DAY) is None
    assert read_source(path) == "print(1)"


@pytest.mark.parametrize("number", ["99", "bucket", "-1"])
def test_reset_refuses_an_unknown_number_and_names_the_known(course, number):
    with pytest.raises(ValueError, match=r"no notebook .* there are: 00, 01"):
        reset(course, number, DAY)


def test_the_reset_command_says_where_the_copy_went(course, monkeypatch, capsys):
    monkeypatch.setattr("mamba_edu.cli.ROOT", course)
    monkeypatch.setattr(workbook, "date", type("Day", (), {"today": lambda: DAY}))
    assert main(["reset", "01"]) == 0
    out = capsys.readouterr().out.replace("\\", "/")
    assert "Yours is kept: workbook/kept/01_bucket-2026-03-01.ipynb" in out
    assert main(["reset", "99"]) == 2
    assert "no notebook 99" in capsys.readouterr().out
