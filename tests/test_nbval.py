"""Stored outputs are compared with fresh ones, and nothing passes because it was not stored."""

import base64
import importlib.util
import io
import itertools
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from PIL import Image
from rules.make import PNG, make_code, make_display, make_notebook, make_stream

HOOKS = Path(__file__).parents[1] / "notebooks" / "conftest.py"
DRAW = (
    "from IPython.display import display\n"
    f"display({{'image/png': '{PNG}', 'text/plain': 'a dot'}}, raw=True)"
)
PICTURE = {"image/png": PNG, "text/plain": "a dot"}


def make_png(shades):
    """Draw grey levels into a PNG, in base64."""
    raw = io.BytesIO()
    Image.fromarray(np.asarray(shades, np.uint8)).save(raw, "PNG")
    return base64.b64encode(raw.getvalue()).decode()


def draw_bars(dots=640, every=80, grey=0):
    """Draw upright bars on white, as wide as every second gap."""
    bars = np.arange(dots) // every % 2
    return np.tile(np.where(bars, grey, 255), (dots // 2, 1))


STALE = make_code(DRAW, make_display(PICTURE | {"image/png": make_png([[255]])}))
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
    "another picture": (STALE, False),
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


def test_another_picture_is_named_with_its_difference(report):
    named = r"01_stored\.ipynb, cell 7 \(id c8\): the stored picture is another than the one drawn"
    assert re.search(named + r": they differ by \d+\.\d of 255", report), report


@pytest.fixture(scope="module")
def hooks():
    """The hooks as a module."""
    spec = importlib.util.spec_from_file_location("notebook_hooks", HOOKS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (draw_bars(), ""),
        ((draw_bars() + np.roll(draw_bars(), 1, axis=1)) / 2, ""),  # edges smoothed
        (draw_bars(grey=2), ""),
        (draw_bars(grey=12), r"differ by 6\.0 of 255 grey levels on average, at most 3 is"),
        (draw_bars()[:, ::-1], r"differ by 255\.0 of 255"),
        (
            draw_bars(320, 40),
            r"stored picture has \(320, 160\) dots and the one drawn \(640, 320\)",
        ),
    ],
)
def test_a_difference_is_told_only_where_it_is_to_be_seen(hooks, stored, said):
    told = hooks.tell_difference(make_png(stored), make_png(draw_bars()))
    assert re.search(said, told) if said else told == ""


@pytest.mark.parametrize("broken", ["", "AAAA", make_png(draw_bars())[:400]])
def test_a_broken_stored_picture_is_told(hooks, broken):
    told = hooks.tell_difference(broken, make_png(draw_bars()))
    assert told.startswith("the stored picture cannot be read (")


@pytest.mark.parametrize("path", sorted(HOOKS.parent.glob("*.ipynb")), ids=lambda path: path.stem)
def test_two_swapped_pictures_of_a_notebook_are_told_apart(hooks, path):
    notebook = nbformat.read(path, as_version=4)
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    pictures = [png for cell in cells for png in hooks.list_pictures(cell.outputs)]
    assert len(pictures) > 1
    assert not any(hooks.tell_difference(png, png) for png in pictures)
    assert all(hooks.tell_difference(*pair) for pair in itertools.combinations(pictures, 2))
