"""The repository keeps its own rules: see tests/rules, where each has its bad example."""

import pytest
from mutants import load_breaks
from rules import code, coverage, exercises, imports, prose, words
from rules.trees import ROOT, hold, list_files, list_notebooks, list_python, list_texts

from mamba_edu.cli.notebook import read_notebook

PACKAGE = ROOT / "mamba_edu"
TESTS = ROOT / "tests"
PAGES = [path for path in list_files(ROOT) if path.suffix == ".md"]
MEASURED_PAGES = [path for path in PAGES if path.name != "CHANGELOG.md"]


def name_page(path):
    return path.relative_to(ROOT).as_posix()


def test_imports_point_to_earlier_rows():
    hold(imports.find_upward_imports(PACKAGE))


def test_the_maths_needs_few_packages():
    hold(imports.find_strangers(PACKAGE))


@pytest.mark.parametrize(
    "rule",
    [
        code.find_long_files,
        code.find_long_functions,
        code.find_deep_functions,
        code.find_leftovers,
    ],
)
def test_code_is_short_flat_and_finished(rule):
    hold(rule(list_python(ROOT)))


def test_a_name_is_defined_once_in_the_package():
    hold(code.find_doubled_names(PACKAGE))


def test_no_file_holds_the_traces_of_one_machine():
    hold(words.find_traces(list_texts(ROOT)))


def test_no_file_is_heavy():
    hold(words.find_heavy_files(list_files(ROOT)))


def test_every_test_is_collected():
    paths = [path for path in list_python(ROOT) if TESTS in path.parents]
    assert len(paths) > 10
    hold(coverage.find_uncollected_tests(paths))


def test_every_function_of_the_maths_has_a_deliberate_break():
    assert len(coverage.list_maths_functions(PACKAGE)) > 10
    breaks = [(row.file, row.old) for row in load_breaks()]
    hold(coverage.find_unbroken_functions(PACKAGE, breaks))


def test_every_check_is_called_in_a_notebook_and_in_a_test():
    notebooks = [
        cell.source
        for path in list_notebooks()
        for cell in read_notebook(path).cells
        if cell.cell_type == "code"
    ]
    paths = [*TESTS.glob("test_*.py"), *TESTS.glob("slips*.py")]
    tests = [path.read_text(encoding="utf-8") for path in paths]
    modules = sorted((PACKAGE / "exercises").glob("n[0-9][0-9].py"))
    assert modules
    for module in modules:
        hold(exercises.find_exercise_module_faults(module, notebooks, tests))


@pytest.mark.parametrize("path", PAGES, ids=name_page)
def test_a_page_names_what_is_there(path):
    text = path.read_text(encoding="utf-8")
    known = prose.list_package_names(PACKAGE)
    hold(prose.find_lost_files(text, prose.list_paths(ROOT)))
    hold(prose.find_lost_names(text, known))
    hold(prose.find_lost_pictures(text, path.parent))
    hold(prose.find_silent_pictures(text))
    hold(prose.find_control_characters(text))


@pytest.mark.parametrize("path", MEASURED_PAGES, ids=name_page)
def test_a_page_holds_no_measured_number_of_ours(path):
    hold(prose.find_measured_numbers(path.read_text(encoding="utf-8")))
