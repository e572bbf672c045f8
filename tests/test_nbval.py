"""Stored outputs are compared with fresh ones, and nothing passes because it was not stored."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from rules.make import PNG, make_code, make_display, make_notebook, make_stream

HOOKS = Path(__file__).parents[1] / "notebooks" / "conftest.py"
DRAW = (
    "from IPython.display import display\n"
    f"display({{'image/png': '{PNG}', 'text/plain': 'a dot'}}, raw=True)"
)
PICTURE = {"image/png": PNG, "text/plain": "a dot"}

CELLS = {  # what is stored: whether nbval, with the hooks, must let it through
    "as printed": (make_code("print('0.368')", make_stream("0.368\n")), True),
    "another digit": (make_code("print('0.368')", make_stream("0.367\n")), False),
    "unrun": (make_code("number = 1"), False),
    "unrun, though a tag skips its output": (
        make_code("print(1)", tags=("nbval-ignore-output",)),
        False,
    ),
    "as drawn": (make_code(DRAW, make_display(PICTURE)), True),
    "no picture": (make_code(DRAW, make_display({"text/plain": "a dot"})), False),
    "a picture nobody draws": (
        make_code("display({'text/plain': 'a dot'}, raw=True)", make_display(PICTURE)),
        False,
    ),
    "a warning": (make_code("import sys; print('careful', file=sys.stderr)"), True),
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What one nbval call says about a notebook with all these cells."""
    folder = tmp_path_factory.mktemp("stored")
    shutil.copy(HOOKS, folder)
    notebook = make_notebook(*(cell for cell, _ in CELLS.values()))
    for cell, words in zip(notebook.cells, CELLS, strict=True):
        if words.startswith("unrun"):
            cell.execution_count = None
    (folder / "01_stored.ipynb").write_text(nbformat.writes(notebook))
    options = ["--nbval", "--nbval-current-env", "--nbval-cell-timeout=60", "-rA", "--color=no"]
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options, "."]
    alone = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "nbval.plugin"}
    kept = {"cwd": folder, "env": alone, "capture_output": True, "text": True}
    return subprocess.run(command, **kept, timeout=120, check=False).stdout


@pytest.mark.parametrize("words", CELLS)
def test_a_stored_cell_passes_only_if_it_was_run_and_gives_the_same(report, words):
    number = list(CELLS).index(words)
    result = re.search(rf"^(PASSED|FAILED) \S*::Cell {number}\b", report, re.MULTILINE)
    assert result, report
    assert (result[1] == "PASSED") == CELLS[words][1], report


def test_an_unrun_cell_and_a_missing_picture_are_named(report):
    assert "01_stored.ipynb, cell 2 (id c3): stored unrun" in report
    assert "01_stored.ipynb, cell 5 (id c6): draws 1 pictures and 0 are stored" in report
