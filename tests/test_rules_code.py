"""Each rule on code catches a bad example and lets a good one pass."""

from pathlib import Path

import pytest
from rules import code, coverage, imports, trees, words

GOOD = '"""A module."""\n\n\ndef double(x):\n    """Double."""\n    return 2 * x\n'


def write(folder: Path, name: str, source: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(source)
    return path


@pytest.fixture
def package(tmp_path):
    """A small package whose imports point the right way."""
    write(tmp_path, "mamba_edu/__init__.py", "")
    write(tmp_path, "mamba_edu/discretize.py", "import math\n\nimport torch\n\n" + GOOD)
    write(tmp_path, "mamba_edu/linear/__init__.py", "from mamba_edu.linear.fit import fit\n")
    write(
        tmp_path,
        "mamba_edu/linear/fit.py",
        "from ..discretize import double\n\n\ndef fit():\n    return double(1)\n",
    )
    write(tmp_path, "mamba_edu/cli/__init__.py", "def main():\n    from mamba_edu import linear\n")
    return tmp_path / "mamba_edu"


def test_imports_that_point_the_right_way_pass(package):
    assert imports.find_upward_imports(package) == []
    assert imports.find_strangers(package) == []


@pytest.mark.parametrize(
    "line",
    [
        "from mamba_edu.linear import fit",
        "from mamba_edu import figures",
        "import mamba_edu.reader.picture",
        "from . import linear",
        "from .linear.fit import fit",
        "def lazy():\n    from mamba_edu.cli import main",
        "import importlib\nimportlib.import_module('mamba_edu.widgets')",
    ],
)
def test_an_upward_import_is_caught(package, line):
    write(package, "discretize.py", line + "\n")
    (fault,) = imports.find_upward_imports(package)
    assert fault.startswith("mamba_edu/discretize.py:")
    assert "discretize must not import" in fault


def test_the_package_itself_imports_none_of_its_modules(package):
    write(package, "__init__.py", "from mamba_edu import discretize\n")
    assert "must not import discretize" in imports.find_upward_imports(package)[0]


def test_a_module_outside_the_table_is_caught(package):
    write(package, "helpers.py", "")
    assert imports.find_upward_imports(package) == [
        "helpers.py: helpers stands in no row of the table of modules"
    ]


def test_a_stranger_in_the_maths_is_caught_at_the_top_only(package):
    write(package, "linear/fit.py", "import matplotlib.cbook\n\n\ndef f():\n    import sklearn\n")
    (fault,) = imports.find_strangers(package)
    assert "linear/fit.py: imports matplotlib" in fault


def test_what_git_ignores_is_not_the_repository(tmp_path):
    write(tmp_path, ".gitignore", "workbook/\n*.egg-info/\n\n")
    for name in ("workbook/a.py", "x.egg-info/b.py", ".git/c.py", "tests/d.py", "LICENSE"):
        write(tmp_path, name, "")
    names = [path.relative_to(tmp_path).as_posix() for path in trees.list_texts(tmp_path)]
    assert names == [".gitignore", "LICENSE", "tests/d.py"]


LONG = "def f():\n" + "    x = 1\n" * 25
DOCUMENTED = 'def f():\n    """' + "word\n" * 30 + '    """\n' + "    x = 1\n\n" * 24
DEEP = "def f():\n    for a in b:\n        if a:\n            with c:\n                d()\n"
FLAT = (
    "def f():\n    for a in b:\n        if a:\n            c()\n        elif d:\n            e()\n"
)
LATER = "# TO" + "DO: later\n"
LAZY = "from __future__ import annot" + "ations\n"


@pytest.mark.parametrize(
    ("rule", "bad", "good", "says"),
    [
        (code.find_long_files, "x = 1\n" * 251, "x = 1\n" * 250, "251 lines; allowed: 250"),
        (code.find_long_functions, LONG, DOCUMENTED, "f has 26 lines; allowed: 25"),
        (code.find_deep_functions, DEEP, FLAT, "f nests 3 deep; allowed: 2"),
        (code.find_leftovers, LATER, "# todos los días\n", ":1: TO"),
        (code.find_leftovers, LAZY, "", "import annot"),
    ],
)
def test_a_rule_on_code_tells_bad_from_good(tmp_path, rule, bad, good, says):
    (fault,) = rule([write(tmp_path, "bad.py", bad)])
    assert says in fault
    assert rule([write(tmp_path, "good.py", good)]) == []


def test_a_name_defined_twice_in_the_package_is_caught(package):
    assert code.find_doubled_names(package) == []
    write(package, "cli/suite.py", GOOD + "\n\ndef _own():\n    pass\n")
    write(package, "cli/lab.py", "def _own():\n    pass\n")
    (fault,) = code.find_doubled_names(package)
    assert fault == "double is defined at cli/suite.py:4 and discretize.py:8; allowed: once"


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("see /" + "work/main/x", "a folder of one machine"),
        ("see '/" + "root/.cache'", "a folder of one machine"),
        ("in /" + "tmp/bash_jobs", "a scratch folder"),
        ("at 10." + "3.0.17", "a private address"),
        ("at 192.168" + ".0.7", "a private address"),
        ("from mirror.cor" + "p", "a private host"),
        ("https://a.org/" + "simple", "a package index"),
        ("https://download." + "pytorch.org/whl/cpu", "a package index"),
    ],
)
def test_the_traces_of_one_machine_are_caught(tmp_path, text, what):
    (fault,) = words.find_traces([write(tmp_path, "setup.md", f"A line.\n{text}\n")])
    assert fault.startswith(f"setup.md:2: {what}")


def test_ordinary_words_leave_no_trace(tmp_path):
    text = "see https://a.org/work/x, ~/.local/share, 0.10.3.1, ./work/x; torch 2.13.0, 10.2.0"
    assert words.find_traces([write(tmp_path, "a.md", text)]) == []
    index = "https://download." + "pytorch.org/whl/cpu"
    assert words.find_traces([write(tmp_path, "README.md", index)]) == []


def test_a_heavy_file_is_caught(tmp_path):
    assert words.find_heavy_files([write(tmp_path, "a.bin", "x" * 500_000)]) == []
    (fault,) = words.find_heavy_files([write(tmp_path, "b.bin", "x" * 510_000)])
    assert fault == "b.bin: 510 kB; allowed: 500 kB"


@pytest.mark.parametrize(
    ("name", "source", "lost"),
    [
        ("test_a.py", "def outer():\n    def test_in():\n        pass\n", "test_in"),
        ("test_b.py", "def test_it():\n    pass\n\n\ndef test_it():\n    pass\n", "test_it"),
        ("helpers.py", "def test_away():\n    pass\n", "test_away"),
        ("test_c.py", "class Cases:\n    def test_inside(self):\n        pass\n", "test_inside"),
    ],
)
def test_a_test_that_is_never_collected_is_caught(tmp_path, name, source, lost):
    good = write(
        tmp_path, "test_good.py", "def test_one():\n    pass\n\n\nclass TestX:\n    x = 1\n"
    )
    (fault,) = coverage.find_uncollected_tests([good, write(tmp_path, name, source)])
    assert f"{lost} is never collected" in fault


def test_a_function_of_the_maths_without_a_break_is_caught(package):
    breaks = [("mamba_edu/discretize.py", "2 * x"), ("mamba_edu/linear/fit.py", "3 * x")]
    assert coverage.find_unbroken_functions(package, breaks) == [
        "mamba_edu/linear/fit.py: fit has no row in tests/mutants.py"
    ]
