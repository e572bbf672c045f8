"""environment.yml and requirements.lock against pyproject.toml, which says what is needed."""

import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
CONDA_NAMES = {"torch": "pytorch-cpu", "matplotlib": "matplotlib-base"}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]


def read_requirements(lines):
    """Map canonical names to what versions are allowed."""
    requirements = (Requirement(line) for line in lines)
    return {canonicalize_name(each.name): each.specifier for each in requirements}


def read_conda():
    """Split environment.yml into what conda and what pip brings."""
    text = (ROOT / "environment.yml").read_text(encoding="utf-8")
    environment = yaml.safe_load(text)
    conda = [line for line in environment["dependencies"] if isinstance(line, str)]
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    return environment, conda, pip


def read_lock():
    """List the lock's lines that pin something."""
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    return [Requirement(line) for line in lines if line and not line.startswith("#")]


NEEDED = read_requirements(PROJECT["dependencies"] + EXTRAS["course"])
INSTALLED = NEEDED | read_requirements(EXTRAS["dev"])  # what course.py installs
LOCKED = {canonicalize_name(pin.name): pin for pin in read_lock()}


def test_conda_brings_what_the_course_needs_in_the_same_versions():
    _, conda, _ = read_conda()
    brought = read_requirements(line for line in conda if line.startswith("python=") is False)
    expected = {CONDA_NAMES.get(name, name): versions for name, versions in NEEDED.items()}
    assert brought == expected | {"pip": read_requirements(["pip"])["pip"]}


def test_what_the_package_ships_is_there():
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    shipped = tools["setuptools"]["package-data"]["mamba_edu"]
    assert [name for name in shipped if not list((ROOT / "mamba_edu").glob(name))] == []


def test_conda_names_its_channels_its_python_and_this_course():
    environment, conda, pip = read_conda()
    assert environment["name"] == PROJECT["name"]
    assert environment["channels"] == ["conda-forge", "nodefaults"]
    (python,) = [line for line in conda if line.startswith("python=")]
    version = python.removeprefix("python=")
    assert Requirement(f"python{PROJECT['requires-python']}").specifier.contains(version)
    assert pip == ["-e ."]


def test_every_line_of_the_lock_is_one_version_and_nothing_else():
    for pin in read_lock():
        (specifier,) = pin.specifier
        assert specifier.operator == "=="
        assert "+" not in specifier.version  # a build of one index; another has none of that name
        assert pin.url is None
        assert not pin.extras
    assert len(LOCKED) == len(read_lock())


@pytest.mark.parametrize("name", sorted(INSTALLED))
def test_the_lock_has_what_is_installed_directly_in_an_allowed_version(name):
    assert name in LOCKED
    (pin,) = LOCKED[name].specifier
    assert INSTALLED[name].contains(pin.version, prereleases=True)
