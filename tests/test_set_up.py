"""The set-up: what it trusts, what it makes anew, and what it leaves alone."""

import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from stand_in import INDEX, find_stamp, make_folder, prepare

from mamba_edu.cli import folder_lock, set_up
from mamba_edu.cli.set_up_words import SetUpError

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in is a shell script")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A course's folder whose Python is the stand-in."""
    return make_folder(tmp_path, monkeypatch)


def test_a_second_set_up_calls_no_pip(folder):
    assert any("pip install" in call for call in prepare(folder))
    again = prepare(folder)
    assert len(again) == 1
    assert "import sys, mamba_edu" in again[0]


@pytest.mark.parametrize("damage", ["no stamp", "torn stamp", "other place", "dead", "a file"])
def test_a_broken_venv_is_made_anew(folder, damage):
    prepare(folder)
    leftover = folder / ".venv" / "leftover"
    leftover.mkdir()
    python = folder / ".venv" / "bin" / "python"
    {
        "no stamp": lambda: find_stamp(folder).unlink(),
        "torn stamp": lambda: find_stamp(folder).write_bytes(b"\xff\xfe"),
        "other place": lambda: find_stamp(folder).write_text("Python 3.11 elsewhere\nhash"),
        "dead": lambda: python.unlink(),
        "a file": lambda: (shutil.rmtree(folder / ".venv"), (folder / ".venv").write_text("x")),
    }[damage]()
    assert f"-m venv {folder / '.venv'}" in prepare(folder)
    assert find_stamp(folder).is_file()
    assert not leftover.exists()


def test_a_venv_whose_python_changed_is_made_anew(folder):
    prepare(folder)
    (folder / "python_says").write_text("no module named mamba_edu")
    assert any("-m venv" in call for call in prepare(folder))


def test_a_new_lock_is_installed_into_the_same_venv(folder):
    prepare(folder)
    (folder / "requirements.lock").write_text("torch==1.1\n")
    calls = prepare(folder)
    assert any("pip install" in call for call in calls)
    assert not any("-m venv" in call for call in calls)
    assert len(prepare(folder)) == 1


def test_an_update_that_broke_off_leaves_nothing_to_trust(folder):
    prepare(folder)
    (folder / "requirements.lock").write_text("torch==1.1\n")
    (folder / "interrupt").touch()
    with pytest.raises(KeyboardInterrupt):
        prepare(folder)
    assert not find_stamp(folder).exists()


def test_what_is_half_cleared_is_not_trusted(folder, monkeypatch):
    prepare(folder)
    (folder / "python_says").write_text("no module named mamba_edu")

    def break_off(path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "iterdir", break_off)
    with pytest.raises(KeyboardInterrupt):
        prepare(folder)
    assert not find_stamp(folder).exists()


def test_a_change_of_tool_settings_asks_for_no_set_up(folder):
    prepare(folder)
    project = folder / "pyproject.toml"
    project.write_text(project.read_text().replace("width = 1", "width = 2"))
    assert len(prepare(folder)) == 1
    project.write_text(project.read_text().replace('"x"', '"y"'))
    assert len(prepare(folder)) > 1


def test_without_network_an_older_set_up_is_kept_and_used(folder, capsys):
    prepare(folder)
    before = find_stamp(folder).read_text()
    (folder / "requirements.lock").write_text("torch==1.1\n")
    (folder / "pip_says").write_text("connection broken by NewConnectionError")
    prepare(folder)
    assert "going on with what was installed" in capsys.readouterr().out
    assert find_stamp(folder).read_text() == before


def test_a_failed_venv_and_a_library_that_does_not_load_are_told(folder):
    (folder / "torch_says").write_text("libgomp.so.1: cannot open shared object file")
    with pytest.raises(SetUpError, match=r"does not load:\n.*libgomp"):
        prepare(folder)
    (folder / "venv_says").write_text(
        "not created successfully because ensurepip is not\navailable"
    )
    with pytest.raises(SetUpError, match="sudo apt install"):
        prepare(folder)
    (folder / "venv_says").write_text("No space left on device")
    with pytest.raises(SetUpError, match="The disk has too little room"):
        prepare(folder)
    assert not find_stamp(folder).exists()


def test_a_python_without_ensurepip_gets_the_apt_line(folder, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name != "ensurepip" or None)
    version = f"python3.{sys.version_info[1]}-venv"
    with pytest.raises(SetUpError, match=f"sudo apt install {version}"):
        prepare(folder)
    assert not (folder / ".venv").exists()


def test_a_small_disk_is_refused_before_the_download(folder, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1e9))
    with pytest.raises(SetUpError, match=r"takes about 2\.5 GB"):
        prepare(folder)
    assert not (folder / "calls").exists()


def test_one_set_up_at_a_time_also_when_its_pip_outlives_it(tmp_path):
    with open(tmp_path / ".course.lock", "w") as other:
        with folder_lock.hold_folder(tmp_path):
            assert not folder_lock.try_lock(other.fileno())
            pip = subprocess.Popen(["cat"], stdin=subprocess.PIPE, close_fds=False)
        assert not folder_lock.try_lock(other.fileno())
        pip.communicate()
        assert folder_lock.try_lock(other.fileno())


def test_set_up_steps_out_of_the_venv_that_it_replaces(folder, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(folder / ".venv"))
    with pytest.raises(SystemExit):
        set_up.prepare_venv(str(folder), ["reset", "01"], INDEX)
    assert f"{folder / 'course.py'} reset 01" in (folder / "calls").read_text()


def test_other_libraries_on_pythonpath_are_left_out(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    assert not {"PYTHONPATH", "PYTHONHOME"} & set_up.clean_environment().keys()


def test_progress_is_one_short_line_on_a_terminal_and_nothing_in_a_pipe(monkeypatch, capsys):
    line = "Collecting torch>=2.6 (from mamba_edu==0.1.0)\n"
    set_up.show_progress(line)
    assert capsys.readouterr().out == ""
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    set_up.show_progress(line)
    set_up.show_progress("WARNING: Retrying (Retry(total=4))\n")
    set_up.show_progress("Requirement already satisfied: numpy\n")
    shown = [text.strip() for text in capsys.readouterr().out.split("\r") if text.strip()]
    assert shown == ["Collecting torch>=2.6", "no answer from the network; trying again"]
