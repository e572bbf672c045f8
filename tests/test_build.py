"""The build stores what every machine repeats, always in the same form, and refuses the rest."""

import copy
import os
import tempfile
from pathlib import Path

import nbformat
import pytest
from nbformat import NotebookNode
from rules.make import PNG, make_code, make_display, make_notebook, make_stream, make_text

from mamba_edu.cli.build import build
from mamba_edu.cli.faults import find_faults
from mamba_edu.cli.normal import WIDGET_TYPES, normalise
from mamba_edu.cli.notebook import find_notebooks, read_notebook

VIEW = WIDGET_TYPES[0]
PICTURE = {"image/png": PNG, "text/plain": "A line falls from 1.000 to 0.368."}
ALT = "A line falls from 1.000 to 0.368."


@pytest.fixture
def course(tmp_path):
    """A course with one notebook whose outputs come from a wrong, earlier run."""
    source = (
        "from IPython.display import display\n"
        "print('first', flush=True)\n"
        "print('second')\n"
        f"view = {{'{VIEW}': {{'model_id': 'random'}}}}\n"
        "display({**view, 'text/plain': 'a slider', 'text/html': '<p>still</p>'}, raw=True)\n"
        "6 * 7"
    )
    stale = make_code(source, make_stream("stale\n"))
    stale.metadata["scrolled"] = True
    notebook = make_notebook(make_text("# Does it run?"), make_code("value = 3"), stale)
    notebook.metadata.widgets = {"state": {"secret": 1}}
    notebook.metadata.kernelspec.name = "a-kernel-of-mine"
    notebook.cells[1].execution_count = 17
    save(notebook, tmp_path, "07_tiny.ipynb")
    return tmp_path


def save(notebook: NotebookNode, root: Path, name: str) -> Path:
    path = root / "notebooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(nbformat.writes(notebook), encoding="utf-8")
    return path


def test_build_stores_a_run_notebook_and_repeats_it_to_the_byte(course):
    path = course / "notebooks" / "07_tiny.ipynb"
    assert build(course, ["7"]) == 0
    first = path.read_bytes()
    notebook = read_notebook(path)
    assert [cell.get("execution_count") for cell in notebook.cells] == [None, 1, 2]
    stream, view, result = notebook.cells[2].outputs
    assert stream.text == "first\nsecond\n"
    assert dict(view.data) == {"text/plain": "a slider", "text/html": "<p>still</p>"}
    assert result.data["text/plain"] == "42"
    assert [cell.id for cell in notebook.cells] == ["c1", "c2", "c3"]
    assert build(course, []) == 0
    assert path.read_bytes() == first
    assert os.listdir(path.parent) == [path.name]


def test_build_leaves_a_refused_notebook_as_it_was_and_says_why(course, capsys):
    stale = make_code("print(1)", make_stream("an old warning", "stderr"))
    broken = make_notebook(make_text("# Why?"), make_code("1 / 0"), stale)
    path = save(broken, course, "03_broken.ipynb")
    before = path.read_bytes()
    assert build(course, ["03"]) == 1
    assert path.read_bytes() == before
    said = capsys.readouterr().out
    assert "03_broken.ipynb, cell 2 (id c2): found an error, ZeroDivisionError" in said
    assert "old" not in said  # what an earlier run left is no news


def test_build_runs_in_the_folder_of_the_notebook_with_two_threads(course, monkeypatch):
    monkeypatch.setenv("MAMBA_EDU_STAGE", "1")
    source = (
        "import os, sys, mamba_edu\n"
        "from pathlib import Path\n"
        "print(Path('08_where.ipynb').is_file(), os.environ['OMP_NUM_THREADS'])\n"
        f"print('MAMBA_EDU_STAGE' in os.environ, sys.executable == {str(os.sys.executable)!r})"
    )
    path = save(make_notebook(make_code(source)), course, "08_where.ipynb")
    assert build(course, ["08"]) == 0
    assert read_notebook(path).cells[0].outputs[0].text == "True 2\nFalse True\n"


def test_build_names_the_numbers_there_are(course, capsys):
    assert build(course, ["12"]) == 2
    assert "no notebook 12" in capsys.readouterr().out
    with pytest.raises(ValueError, match="there are: 07"):
        find_notebooks(course, [5])


def test_a_file_that_is_no_notebook_is_named(course, capsys):
    path = course / "notebooks" / "09_torn.ipynb"
    path.write_text('{"cells": [')
    assert build(course, ["09"]) == 1
    assert "09_torn.ipynb is not a notebook" in capsys.readouterr().out


def test_normalise_gives_missing_ids_and_separates_doubled_ones():
    notebook = make_notebook(*(make_text(word) for word in "abcd"))
    for cell, name in zip(notebook.cells, ["cell-01", "", "cell-01", "own"], strict=True):
        cell["id"] = name
    del notebook.cells[1]["id"]
    before = copy.deepcopy(notebook)
    ids = [cell.id for cell in normalise(notebook).cells]
    assert ids == ["cell-01", "cell-02", "cell-03", "own"]
    assert notebook == before


def test_normalise_keeps_tags_and_slides_only():
    cell = make_code("1", tags=("live",))
    cell.metadata |= {"slideshow": {"slide_type": "slide"}, "collapsed": True}
    kept = normalise(make_notebook(cell)).cells[0].metadata
    assert dict(kept) == {"tags": ["live"], "slideshow": {"slide_type": "slide"}}


def test_good_outputs_have_no_fault():
    notebook = make_notebook(
        make_code("show()", make_display(PICTURE, ALT), make_stream("tau = 23.412 ms, 1.1e-07\n")),
        make_code("slide()", make_display({**PICTURE, VIEW: {"model_id": "x"}}, ALT)),
        make_code("fold()", make_display({"text/html": "<details><p>4</p></details>"})),
    )
    assert find_faults(notebook) == []


TEXTS = {
    "an object's address": "<torch.Generator at 0x7f3c54a0>",
    "terminal colours": "\x1b[31mred\x1b[0m",
    "overwrites itself": "10%\r20%",
    "a path of one machine": f"saved to {Path('/') / 'home' / 'ada'}/table.csv",
    "a time of one machine": "Wall time: 3.2 s",
    "in SVG": "<svg width=3></svg>",
    "bare repr": "VBox(children=(RadioButtons(",
    "bare repr ": "<Figure size 640x480 with 1 Axes>",
    "bare repr  ": "[<matplotlib.lines.Line2D>]",
    "more decimals": "0.36787944117",
    "the path": tempfile.gettempdir() + " is full" if len(tempfile.gettempdir()) > 6 else "",
}


@pytest.mark.parametrize(("found", "text"), [(key, text) for key, text in TEXTS.items() if text])
def test_a_text_of_one_machine_is_a_fault(found, text):
    for output in (make_stream(text), make_display({"text/plain": text})):
        (fault, *_) = find_faults(make_notebook(make_text("# A?"), make_code("f()", output)))
        assert fault.startswith("cell 2 (id c2): found")
        assert found.strip() in fault
        assert "allowed:" in fault


def test_the_path_of_the_course_is_a_fault():
    notebook = make_notebook(make_code("f()", make_stream("in D_/some/course/notebooks\n")))
    assert find_faults(notebook, Path("D_/some/course"))


OUTPUTS = {
    "an error, ValueError: no": nbformat.v4.new_output(
        "error", ename="ValueError", evalue="no", traceback=[]
    ),
    "on stderr": make_stream("UserWarning: careful", "stderr"),
    "image/svg+xml": make_display({"image/svg+xml": "<x/>", "text/plain": "x"}),
    "application/javascript": make_display({"application/javascript": "1"}),
    "a live widget with only": make_display({VIEW: {}, "text/plain": "a slider"}),
    "a live widget with only ": make_display({VIEW: {}, "text/html": "<p>x</p>"}),
    "without alt text": make_display(PICTURE),
    "lacks its alt text": make_display({"image/png": PNG, "text/plain": "other"}, ALT),
    "is no PNG": make_display({**PICTURE, "image/png": "R0lGODlhAQABAA=="}, ALT),
}


@pytest.mark.parametrize("found", OUTPUTS)
def test_an_output_that_a_fresh_clone_cannot_show_is_a_fault(found):
    (fault,) = find_faults(make_notebook(make_code("f()", OUTPUTS[found])))
    assert found.strip() in fault
    assert "allowed:" in fault


def test_empty_cells_and_heavy_notebooks_are_faults():
    assert "empty code cell" in find_faults(make_notebook(make_code(" ")))[0]
    heavy = make_display({**PICTURE, "image/png": PNG + "A" * 400_000}, ALT)
    assert "found 40" in find_faults(make_notebook(make_code("f()", heavy)))[0]
