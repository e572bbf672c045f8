"""The front-end modules: linted, joined as the browser gets them, and tested under node."""

import subprocess
import sys
from pathlib import Path

import pytest
from playwright._impl._driver import compute_driver_executable
from rules.trees import ROOT

from mamba_edu.widgets.packing import FRONT, join_front

NODE = str(compute_driver_executable()[0])  # the browser tests bring it along
TESTS = ROOT / "tests" / "front"
ENTRIES = sorted(p.stem for p in FRONT.glob("*.mjs") if "export default" in p.read_text())


def run(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_modules_are_without_fault_or_doubt():
    linter = str(Path(sys.executable).with_name("oxlint"))
    kinds = [flag for kind in ("correctness", "suspicious", "perf") for flag in ("--deny", kind)]
    run(linter, *kinds, "--deny-warnings", str(FRONT), str(TESTS))


def test_every_module_is_part_of_a_widget():
    joined = "".join(join_front(name) for name in ENTRIES)
    for path in FRONT.glob("*.mjs"):
        exported = [line for line in path.read_text().splitlines() if line.startswith("export ")]
        names = [line.split("(")[0].split("=")[0].split()[-1] for line in exported]
        assert all(name in joined for name in names), path.name


@pytest.mark.parametrize("name", ENTRIES)
def test_a_joined_module_is_one_module(name, tmp_path):
    path = tmp_path / f"{name}.mjs"
    path.write_text(join_front(name))
    run(NODE, "--check", str(path))


@pytest.mark.parametrize("path", sorted(TESTS.glob("*.test.mjs")), ids=lambda path: path.stem)
def test_the_modules_do_as_their_tests_say(path):
    run(NODE, "--test", str(path))
