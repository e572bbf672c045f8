"""Which browser the tests drive, and when one may be installed."""

import os
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from mamba_edu.cli import chromium


@pytest.fixture
def machine(monkeypatch):
    """A machine with no browser, and what it was told to run."""
    calls, programs = [], {"apt-get": "/usr/bin/apt-get"}
    for name in ("CHROMIUM", "CI"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(chromium.shutil, "which", programs.get)
    monkeypatch.setattr(os, "geteuid", lambda: 0, raising=False)

    def run(command, **_):
        calls.append(command[3:])
        if "install" in command:
            programs["chromium"] = "/usr/bin/chromium"
        return SimpleNamespace(returncode=0, stderr="")

    monkeypatch.setattr(subprocess, "run", run)
    return SimpleNamespace(calls=calls, programs=programs)


def test_the_variable_comes_before_the_path(machine, monkeypatch, capsys):
    machine.programs |= {"google-chrome": "/opt/chrome", "/my/chromium": "/my/chromium"}
    assert chromium.find_or_install_chromium() == Path("/opt/chrome")
    monkeypatch.setenv("CHROMIUM", "/my/chromium")
    assert chromium.find_or_install_chromium() == Path("/my/chromium")
    monkeypatch.setenv("CHROMIUM", "/not/there")
    monkeypatch.setenv("CI", "true")
    assert chromium.find_or_install_chromium() is None
    assert "CHROMIUM names '/not/there', which is no program" in capsys.readouterr().out
    assert machine.calls == []


def test_nothing_is_installed_on_a_readers_machine(machine, monkeypatch, capsys):
    assert chromium.find_or_install_chromium() is None
    assert "none of chromium, chromium-browser, google-chrome" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert chromium.find_or_install_chromium() is None
    assert machine.calls == []


@pytest.mark.parametrize("ci", ["true", "True", "1"])
def test_ci_as_root_installs_one(machine, monkeypatch, ci):
    monkeypatch.setenv("CI", ci)
    assert chromium.find_or_install_chromium() == Path("/usr/bin/chromium")
    assert machine.calls == [list(step) for step in chromium.STEPS]


def test_a_failed_installation_says_what_apt_said(machine, monkeypatch, capsys):
    monkeypatch.setenv("CI", "true")
    failed = SimpleNamespace(returncode=100, stderr="E: first\nE: no such package")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: failed)
    assert chromium.find_or_install_chromium() is None
    assert "apt-get update failed and said: E: no such package" in capsys.readouterr().out
