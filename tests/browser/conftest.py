"""One JupyterLab and one browser for all the tests here."""

import shutil

import pytest
from rules.trees import ROOT

from browser.lab import open_notebook, open_page, serve_course
from mamba_edu.cli.chromium import find_or_install_chromium

NUMBER = "01"


@pytest.fixture(scope="session")
def chromium():
    path = find_or_install_chromium()
    if path is None:
        pytest.skip("there is no Chromium here")
    return path


@pytest.fixture(scope="session")
def course(tmp_path_factory):
    """A copy of the stored notebooks, so that no test writes into anybody's workbook."""
    root = tmp_path_factory.mktemp("course")
    shutil.copytree(ROOT / "notebooks", root / "notebooks")
    return root


@pytest.fixture(scope="session")
def address(course):
    with serve_course(course, NUMBER) as address:
        yield address


@pytest.fixture(scope="session")
def opened(address, chromium, tmp_path_factory):
    """The reader's copy of the notebook on the page, and what went wrong there so far."""
    with open_page(chromium, tmp_path_factory.mktemp("profile")) as (page, complaints):
        open_notebook(page, address)
        yield page, complaints


@pytest.fixture(scope="session")
def copy(course, address):
    """The file of the reader's copy."""
    (path,) = (course / "workbook").glob(f"{NUMBER}_*.ipynb")
    return path
