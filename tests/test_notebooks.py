"""Every stored notebook keeps the rules; tests/rules has a bad example for each."""

import pytest
from rules import anatomy, cells, exercises, prose, symbols
from rules.trees import ROOT, hold, list_notebooks

from mamba_edu.cli.faults import find_faults
from mamba_edu.cli.normal import WIDGET_TYPES, normalise
from mamba_edu.cli.notebook import read_notebook

PATHS = list_notebooks()


@pytest.fixture(scope="module", params=PATHS, ids=lambda path: path.stem)
def notebook(request):
    notebook = read_notebook(request.param)
    notebook["number"] = request.param.name[:2]
    return notebook


@pytest.fixture(scope="module")
def package_names():
    return prose.list_package_names(ROOT / "mamba_edu")


def test_there_are_notebooks_numbered_in_order():
    numbers = [path.name[:2] for path in PATHS]
    unwritten = set()
    wanted = [f"{i:02d}" for i in range(len(numbers) + len(unwritten))]
    assert numbers == [number for number in wanted if number not in unwritten]
    assert len(PATHS) >= 2


@pytest.mark.parametrize(
    "rule",
    [
        anatomy.find_heading_faults,
        anatomy.find_title_faults,
        anatomy.find_cell_budget_faults,
        anatomy.find_wordless_runs,
        anatomy.find_section_faults,
        cells.find_unrun_cells,
        cells.find_odd_metadata,
        cells.find_hidden_actions,
        cells.find_rebound_names,
        cells.find_changes_from_afar,
        exercises.find_stub_faults,
        exercises.find_unchecked_exercises,
        exercises.find_uses_of_exercises,
        symbols.find_untold_symbols,
    ],
)
def test_a_notebook_keeps_its_form(notebook, rule):
    hold(rule(notebook))


@pytest.mark.parametrize(
    "rule",
    [prose.find_measured_numbers, prose.find_silent_pictures, prose.find_control_characters],
)
def test_a_notebook_says_it_well(notebook, rule):
    hold(rule(prose.join_markdown(notebook)))


def test_a_notebook_names_what_is_there(notebook, package_names):
    text = prose.join_markdown(notebook)
    known = package_names | prose.list_notebook_names(notebook)
    hold(prose.find_lost_files(text, prose.list_paths(ROOT)))
    hold(prose.find_lost_names(text, known))
    hold(prose.find_lost_pictures(text, ROOT / "notebooks"))


def test_a_notebook_stores_what_every_machine_repeats(notebook):
    hold(find_faults(notebook, ROOT))
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert not any(kind in output.get("data", {}) for output in outputs for kind in WIDGET_TYPES)


def test_a_notebook_is_stored_as_the_build_stores_it(notebook):
    is_built = normalise(notebook) == notebook
    hold([] if is_built else ["its metadata or outputs are not normal: run `course.py build`"])
