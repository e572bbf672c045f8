"""course.py: what it refuses and in which words, and whom it hands over to."""

import ast
import contextlib
import errno
import importlib.util
import os
import re
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_in import find_stamp, make_folder, prepare

from mamba_edu.cli import make_parser, set_up, set_up_words

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")

ROOT = Path(__file__).resolve().parents[1]


def load_course():
    """Load course.py, which is no module of the package."""
    spec = importlib.util.spec_from_file_location("course", ROOT / "course.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course's folder whose Python is the stand-in."""
    return make_folder(tmp_path, monkeypatch)


@pytest.fixture
def course(folder, monkeypatch):
    """course.py in that folder; what it would hand over to is returned instead."""
    module = load_course()
    monkeypatch.setattr(module, "ROOT", str(folder))
    monkeypatch.setattr(module, "hand_over", lambda command, environment: command)
    return module


def test_course_speaks_to_python_3_6(monkeypatch, capsys):
    source = (ROOT / "course.py").read_text(encoding="utf-8")
    tree = ast.parse(source, feature_version=(3, 6))
    imported = [name.name for node in tree.body for name in getattr(node, "names", [])]
    assert imported == ["os", "subprocess", "sys"]  # the rest is imported once Python is new
    assert not [node for node in ast.walk(tree) if isinstance(node, ast.NamedExpr | ast.AnnAssign)]

    course = load_course()
    monkeypatch.setattr(course, "sys", SimpleNamespace(version_info=(3, 10, 13)))
    assert course.main(["test"]) == 2
    assert "This is Python 3.10.13; the course needs 3.11 or newer" in capsys.readouterr().out


def test_help_needs_no_set_up_and_names_every_command(course, folder, capsys):
    assert course.main(["test", "--help"]) == 0
    text = capsys.readouterr().out
    (commands,) = (action for action in make_parser()._actions if action.dest == "command")
    assert tuple(commands.choices) == course.COMMANDS
    for name, parser in commands.choices.items():
        assert f"course.py {name}" in text
        options = [word for action in parser._actions for word in action.option_strings]
        assert all(option in text for option in options if option not in ("-h", "--help"))
    assert not (folder / ".venv").exists()


def test_help_does_not_promise_that_nothing_lies_elsewhere(course, capsys):
    assert course.main(["--help"]) == 0
    text = capsys.readouterr().out
    assert "All of it stays" not in text
    assert re.search(r"home\s+folder", text)


@pytest.mark.parametrize("argv", [["lab", "--prot", "1"], ["lab", "--port", "x"], ["reset"]])
def test_a_mistyped_option_is_refused_before_any_set_up(course, folder, argv, capsys):
    with pytest.raises(SystemExit, match="2"):
        course.main(argv)
    assert "usage: course.py" in capsys.readouterr().err
    assert not (folder / ".venv").exists()


def test_an_unknown_command_is_refused_before_any_set_up(course, folder, capsys):
    assert course.main(["tset"]) == 2
    assert "no command 'tset'; there are: lab, test, build, reset, demo" in capsys.readouterr().out
    assert not (folder / ".venv").exists()


def test_set_up_says_its_steps_and_hands_over(course, folder, capsys):
    python = str(folder / ".venv" / "bin" / "python")
    assert course.main(["lab", "01"]) == [python, "-P", "-m", "mamba_edu.cli", "lab", "01"]
    out = capsys.readouterr().out
    assert [f"{step}/4" in out for step in (1, 2, 3, 4)] == [True] * 4
    calls = (folder / "calls").read_text()
    assert "install -c requirements.lock -e .[course,dev]" in calls
    if sys.platform == "linux":  # torch by itself, and its failure forgiven
        assert f"--no-deps --retries 1 --timeout 15 --index-url {course.TORCH_CPU} torch" in calls
    assert calls.count("--index-url") <= 1


FAILURES = {
    "OSError: [Errno 28] No space left on device": "The disk has too little room",
    "There is not enough space on the disk": "The disk has too little room",
    "Retrying after connection broken by 'NewConnectionError'": "The download broke off",
    "Max retries exceeded with url": "The download broke off",
    "certificate verify failed: SSLError": "The download broke off",
    "ERROR: No matching distribution found for torch": "no build for this Python",
    "This may be since Windows Long Path support is off": "shorter folder",
    "OSError: [Errno 13] Permission denied: 'x'": "may not be written",
    "a line\nsomething odd happened": "not foreseen.*\n    a line\n    something odd happened",
}


@pytest.mark.parametrize("said", FAILURES)
def test_what_pip_says_becomes_a_plain_sentence(course, folder, capsys, said):
    (folder / "pip_says").write_text(said)
    assert course.main([]) == 1
    out = capsys.readouterr().out
    assert re.search(FAILURES[said], out)
    assert "Traceback" not in out
    assert not find_stamp(folder).exists()
    (folder / "pip_says").unlink()
    assert f"-m venv {folder / '.venv'}" in prepare(folder)  # half-made, so not trusted


def test_no_python_is_said_to_work_that_was_never_seen():
    assert set(re.findall(r"3\.\d+", set_up_words.TRIED)) == {"3.11", "3.12"}
    assert set_up_words.TRIED in set_up_words.NO_BUILD


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (errno.EACCES, "/x may not be written"),
        (errno.EROFS, "/x may not be written"),
        (errno.ENOSPC, "The disk has too little room"),
        (errno.EIO, "The system refused"),
    ],
)
def test_a_refusal_of_the_system_becomes_a_plain_sentence(number, words):
    error = OSError(number, os.strerror(number), "/x")
    assert words in set_up_words.explain_error(error, "/y")


def test_a_folder_that_may_not_be_written_is_told(course, folder, monkeypatch, capsys):
    @contextlib.contextmanager
    def refuse(root):
        raise PermissionError(errno.EACCES, "Permission denied", str(root))
        yield

    monkeypatch.setattr(set_up, "hold_folder", refuse)
    assert course.main([]) == 1
    assert f"{folder} may not be written" in capsys.readouterr().out


def test_ctrl_c_says_that_it_is_safe_to_start_again(course, folder, capsys):
    (folder / "interrupt").touch()
    assert course.main(["test"]) == 130
    assert "No harm is done: the same command" in capsys.readouterr().out
    assert not find_stamp(folder).exists()


def test_ci_runs_the_test_command_and_nothing_else():
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if line and not line.startswith("#")]
    assert commands == ["set -eu", 'cd "$(dirname "$0")/.."', "exec python3 course.py test"]
