"""Every slider of every notebook is moved over its whole range, without a front end."""

import pytest
import torch
from front_end import open_front_end
from rules.trees import ROOT, list_notebooks

from mamba_edu.cli.notebook import read_notebook
from mamba_edu.cli.solutions import list_tags
from mamba_edu.widgets import slider

WITH_SLIDERS = [path for path in list_notebooks() if "explore(" in path.read_text(encoding="utf-8")]


def list_needed_cells(path):
    """List a notebook's code cells up to its last slider, without live runs.

    No slider needs a later cell, and notebook 04 trains there; nbval runs every cell.
    """
    code = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
    last = max(place for place, cell in enumerate(code) if "explore(" in cell.source)
    return [cell for cell in code[: last + 1] if "live" not in list_tags(cell)]


def run_cells(path):
    """Run in this process what a notebook's sliders need."""
    names = {"__name__": path.stem}
    for cell in list_needed_cells(path):
        exec(compile(cell.source, f"{path.name}, {cell.id}", "exec"), names)


@pytest.fixture
def sliders(monkeypatch):
    """Collect the slider figures that cells make with `explore`."""
    made = []

    class WatchedFigure(slider.SliderFigure):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            made.append(self)

    monkeypatch.setattr(slider, "SliderFigure", WatchedFigure)
    return made


def test_notebooks_have_sliders():
    assert len(WITH_SLIDERS) >= 4


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize("path", WITH_SLIDERS, ids=lambda path: path.stem)
def test_every_position_of_every_slider_draws_a_picture_of_its_own(path, sliders, monkeypatch):
    monkeypatch.chdir(ROOT / "notebooks")
    with torch.random.fork_rng(), open_front_end():
        run_cells(path)
    assert len(sliders) == path.read_text(encoding="utf-8").count('"explore(')
    for box in sliders:
        positions = sum(len(control.values) for control in box.controls)
        assert box.sweep() == positions - len(box.controls) + 1
