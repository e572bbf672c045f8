"""A shell script that stands in for Python, venv and pip: nothing is installed or fetched."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

from mamba_edu.cli import set_up

INDEX = "https://index.invalid"
# Each call is noted in the file calls. A file such as pip_says makes that step print it and fail.
SCRIPT = """#!/bin/sh
here='{folder}'
echo "$*" >> "$here/calls"
says() {{ [ -f "$here/$1" ] && cat "$here/$1" && exit 1; exit 0; }}
case "$*" in
    "-m venv "*) mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; says venv_says ;;
    *--index-url*) exit 1 ;;
    *"-m pip "*) [ -f "$here/interrupt" ] && kill -INT $PPID; says pip_says ;;
    *"import torch"*) says torch_says ;;
    *"import sys"*) says python_says ;;
esac
"""


def make_folder(folder, monkeypatch):
    """Fill a course's folder, and make the stand-in this process's Python."""
    (folder / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.x]\nwidth = 1\n')
    (folder / "requirements.lock").write_text("torch==1.0\n")
    stand_in = folder / "python"
    stand_in.write_text(SCRIPT.format(folder=folder))
    stand_in.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(stand_in))
    monkeypatch.setattr(sys, "_base_executable", str(stand_in), raising=False)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1e12))
    return folder


def prepare(folder: Path) -> list[str]:
    """Set up, and list what the stand-in was called with meanwhile."""
    (folder / "calls").unlink(missing_ok=True)
    set_up.prepare_venv(str(folder), ["lab"], INDEX)
    return (folder / "calls").read_text().splitlines()


def find_stamp(folder: Path) -> Path:
    """Return where the mark of a finished set-up stands."""
    return folder / ".venv" / set_up.STAMP
