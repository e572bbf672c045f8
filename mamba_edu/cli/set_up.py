"""Make .venv, the one place where the course is installed. Imports only what Python brings."""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import time
import tomllib
from enum import Enum
from pathlib import Path

from mamba_edu.cli.folder_lock import hold_folder
from mamba_edu.cli.set_up_words import (
    DISK_FULL,
    GIGABYTES,
    NO_VENV,
    NoNetworkError,
    SetUpError,
    quote_end,
    read_failure,
)

STAMP = "course-stamp.txt"  # in .venv, written last: only a whole .venv has one
LOG = "course-setup.log"
LOADS = "import torch, numpy, numba, sklearn, matplotlib, jupyterlab, nbval, mamba_edu.cli"


class State(Enum):
    """What can be said of a .venv."""

    READY = "whole, and made for this lock"
    STALE = "whole, but made for another lock"
    BROKEN = "missing, half-made, moved, or of another Python"


def prepare_venv(root: str, argv: list[str], torch_index: str) -> str:
    """Make sure that .venv is whole and up to date, and return its Python.

    Args:
        root: the course's folder.
        argv: what course.py was asked, should it have to start again.
        torch_index: where PyTorch's CPU build is looked for first, on Linux.

    Raises:
        SetUpError: when it cannot be made, with words for the reader.
    """
    folder = Path(root)
    if judge_venv(folder) is not State.READY:
        refuse_missing_parts()
        leave_venv(folder, argv)
        with hold_folder(folder):
            # Judged again: another set-up may just have ended.
            install(folder, judge_venv(folder), torch_index)
    return str(find_python(folder))


def find_python(root: Path) -> Path:
    """Return where .venv's Python is, or would be."""
    place = ("Scripts", "python.exe") if os.name == "nt" else ("bin", "python")
    return root.joinpath(".venv", *place)


def describe_wish(root: Path) -> list[str]:
    """Describe the .venv that is wanted: what only a new one can have, then its content."""
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
        lock = (root / "requirements.lock").read_bytes()
    except ValueError as error:
        raise SetUpError(f"pyproject.toml cannot be read: {error}") from None
    asked = repr([project.get("project"), project.get("build-system")])
    version = ".".join(map(str, sys.version_info[:2]))
    return [
        f"Python {version} on {sysconfig.get_platform()} in {root}",
        hashlib.sha256(lock + asked.encode()).hexdigest(),
    ]


def judge_venv(root: Path) -> State:
    """Tell whether .venv can be used as it is."""
    place, content = describe_wish(root)
    version = sys.version_info[:2]
    check = f"import sys, mamba_edu; sys.exit(sys.version_info[:2] != {version})"
    try:
        stamp = (root / ".venv" / STAMP).read_text(encoding="utf-8").splitlines()
        command = [find_python(root), "-P", "-c", check]
        alive = not subprocess.run(command, capture_output=True, env=clean_environment()).returncode
    except (OSError, ValueError):
        return State.BROKEN
    if not alive or stamp[:1] != [place]:
        return State.BROKEN
    return State.READY if stamp[1:] == [content] else State.STALE


def clean_environment() -> dict[str, str]:
    """Copy the environment without what would lead .venv's Python to other libraries."""
    return {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}


def refuse_missing_parts() -> None:
    """Say what a Linux system took out of Python."""
    if not (importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip")):
        raise SetUpError(NO_VENV)


def leave_venv(root: Path, argv: list[str]) -> None:
    """Start again with the Python outside, if it is .venv's own that runs: it may be replaced."""
    if Path(sys.prefix).resolve() == (root / ".venv").resolve():
        command = [sys._base_executable, str(root / "course.py"), *argv]
        raise SystemExit(subprocess.run(command, env=clean_environment()).returncode)


def install(root: Path, state: State, torch_index: str) -> None:
    """Bring .venv from the state it is in to READY."""
    if state is State.READY:
        return
    start, stamp = time.monotonic(), root / ".venv" / STAMP
    earlier = stamp.read_text(encoding="utf-8") if state is State.STALE else ""
    if state is State.BROKEN:
        make_venv(root)
    stamp.unlink(missing_ok=True)
    try:
        fetch_packages(root, torch_index)
    except NoNetworkError:
        if not earlier:
            raise
        write_stamp(stamp, earlier)
        say("No network: going on with what was installed for an earlier version of the course.")
        return
    check_packages(root)
    write_stamp(stamp, "\n".join(describe_wish(root)))
    say(f"Set up in {time.monotonic() - start:.0f} s.\n")


def make_venv(root: Path) -> None:
    """Make an empty virtual environment where a broken one, or none, was."""
    venv = root / ".venv"
    say(f"Setting up the course in {venv}: once, a few minutes, about {GIGABYTES} GB.")
    if os.path.lexists(venv):
        say("(A .venv is there, but not a whole one of this course here: it is made anew.)")
    say("1/4 a virtual environment")
    clear_folder(venv)
    if shutil.disk_usage(venv if venv.is_dir() else root).free < GIGABYTES * 1e9:
        raise SetUpError(DISK_FULL)
    code, log = run([sys.executable, "-m", "venv", str(venv)], root)
    if code != 0:
        raise read_failure(log, venv)


def clear_folder(folder: Path) -> None:
    """Empty a folder, its stamp first: what is half emptied must not pass for whole."""
    if not folder.is_dir():
        folder.unlink(missing_ok=True)
        return
    (folder / STAMP).unlink(missing_ok=True)
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def fetch_packages(root: Path, torch_index: str) -> None:
    """Install the course with everything that the lock names."""
    venv = root / ".venv"
    pip = [str(find_python(root)), "-m", "pip", "install", "-c", "requirements.lock"]
    say("2/4 PyTorch")
    if sys.platform == "linux":
        quick = ["--no-deps", "--retries", "1", "--timeout", "15", "--index-url", torch_index]
        if run([*pip, *quick, "torch"], root)[0] != 0:
            say("    not from PyTorch's own index; the usual one has a build 3 GB larger")
    say("3/4 JupyterLab and the rest")
    code, log = run([*pip, "-e", ".[course,dev]"], root)
    if code != 0:
        raise read_failure(log, venv)


def check_packages(root: Path) -> None:
    """Load what was installed: a library that the system lacks shows here, not in a notebook."""
    say("4/4 a first look at what was installed")
    code, log = run([str(find_python(root)), "-P", "-c", LOADS], root)
    if code != 0:
        raise SetUpError(f"All is installed, but it does not load:\n{quote_end(log)}")


def run(command: list[str], root: Path) -> tuple[int, str]:
    """Run one step of the set-up and return its exit code and all it printed."""
    printed = []
    pip = {"PIP_USER": "0", "PIP_NO_INPUT": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    pipes = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    with subprocess.Popen(
        command,
        cwd=root,
        env=clean_environment() | pip,
        close_fds=False,
        text=True,
        errors="replace",
        **pipes,
    ) as child:
        for line in child.stdout:
            printed.append(line)
            show_progress(line)
    show_progress("")
    with contextlib.suppress(OSError), open(root / ".venv" / LOG, "a", encoding="utf-8") as file:
        file.writelines([f"$ {' '.join(command)}\n", *printed])
    return child.returncode, "".join(printed)


def show_progress(line: str) -> None:
    """Name what pip is at, in one line that changes; a pipe or a file is spared it."""
    text = ""
    if line.lstrip().startswith(("Collecting", "Downloading", "Installing")):
        text = " ".join(line.split()[:2])
    elif line.startswith("WARNING: Retrying"):
        text = "no answer from the network; trying again"
    if sys.stdout.isatty() and (text or not line):
        print(f"\r    {text[:70]:70}", end="\r", flush=True)


def write_stamp(stamp: Path, text: str) -> None:
    """Write the stamp in one move: it is there whole, or not at all."""
    part = stamp.with_suffix(".part")
    part.write_text(text, encoding="utf-8")
    part.replace(stamp)


def say(text: str) -> None:
    """Print at once, also into a pipe."""
    print(text, flush=True)
