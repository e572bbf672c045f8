"""Open JupyterLab on the course, on this machine only, with everything it keeps in this folder."""

import contextlib
import json
import os
import secrets
import socket
import sys
import threading
import time
import webbrowser
from pathlib import Path

from mamba_edu.cli.notebook import find_notebooks
from mamba_edu.cli.workbook import FOLDER, fill_workbook

HOST = "127.0.0.1"
FIRST_PORT = 8888
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
STILLS = {"text/html", "image/png", "text/plain"}  # what can stand in for a live view

# JupyterLab's own news and updates are not the reader's concern.
QUIET = {
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}
}
# Widgets and tables take the size of the interface. Made for a screen 1920 pixels wide.
SIZES = {"code-font-size": "21px", "content-font-size1": "22px", "ui-font-size1": "20px"}
LARGE_PRINT = {"overrides": SIZES}
LARGE_PRINT_FILE = "@jupyterlab/apputils-extension/themes.jupyterlab-settings"


def open_lab(
    root: Path, stored: bool, stage: bool, port: int | None, browser: bool, notebook: str
) -> int:
    """Open JupyterLab at a notebook and serve it until the reader ends it."""
    (source,) = find_notebooks(root, [notebook])
    port = choose_port(port)
    if stored:
        print("These are the stored notebooks: what you save here changes the course itself.")
    else:
        announce_changes(fill_workbook(root))
    token = secrets.token_hex(24)
    address = f"http://{HOST}:{port}/lab/tree/{source.name}?token={token}"
    browser = browser and has_browser()
    prepare_environment(root, token, stored, stage)
    folder = source.parent if stored else root / FOLDER
    arguments = list_arguments(folder / source.name, port, browser)
    if stage:
        print("Ctrl+B hides JupyterLab's list of files, Ctrl+Shift+D all but one notebook.")
    threading.Thread(target=announce, args=(port, address, browser), daemon=True).start()
    return serve(arguments)


def announce_changes(numbers: list[str]) -> None:
    """Name the notebooks that are newer than the reader's copies."""
    for number in numbers:
        print(
            f"{number} has changed since your copy was made: "
            f"`python3 course.py reset {number}` fetches the new one and keeps yours."
        )


def choose_port(wanted: int | None) -> int:
    """Return the port to listen on: the wanted one, or else the next free one, and say so.

    Raises:
        ValueError: if there is no such port, or none that this user may take.
    """
    first = FIRST_PORT if wanted is None else wanted
    if not 1 <= first <= 65535:
        raise ValueError(f"a port is a number from 1 to 65535; {first} was given")
    ports = range(first, min(first + 50, 65536))
    port = next(filter(is_free, ports), None)
    if port is None:
        raise ValueError(
            f"no port from {first} to {ports[-1]} can be had (those under 1024 need an "
            "administrator); name another with --port"
        )
    if port != first:
        print(f"Port {first} is in use; JupyterLab takes {port}.")
    return port


def is_free(port: int) -> bool:
    """Tell whether this machine lets us listen on a port."""
    with socket.socket() as probe, contextlib.suppress(OSError):
        if os.name == "posix":  # a port just left is free; on Windows the same option would steal
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind((HOST, port))
        return True
    return False


def answers(port: int) -> bool:
    """Tell whether somebody listens on a port."""
    with socket.socket() as probe:
        return probe.connect_ex((HOST, port)) == 0


def has_browser() -> bool:
    """Tell whether a page opened here would be seen: not on a server, not in a bare WSL."""
    screens = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")
    if sys.platform.startswith("linux") and not any(map(os.environ.get, screens)):
        return False
    try:
        webbrowser.get()
    except webbrowser.Error:
        return False
    return True


def prepare_environment(root: Path, token: str, stored: bool, stage: bool) -> None:
    """Keep what Jupyter keeps in this folder, apart from what the reader uses elsewhere."""
    home = root / FOLDER / ".jupyter"
    home.mkdir(parents=True, exist_ok=True)
    os.environ |= {
        "JUPYTER_TOKEN": token,  # not an argument: every user of a machine sees those
        "JUPYTER_CONFIG_DIR": str(home),
        "JUPYTER_PREFER_ENV_PATH": "1",  # this .venv's kernel, before one of the same name
        "JUPYTERLAB_SETTINGS_DIR": str(home / ("stage" if stage else "settings")),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / ("layout-stored" if stored else "layout")),
        "IPYTHONDIR": str(root / FOLDER / ".ipython"),
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # the debugger's warning at each kernel's start
    }
    if stage:
        os.environ["MAMBA_EDU_STAGE"] = "1"
        # JupyterLab takes sizes from a user's settings only, never from defaults.
        add_settings(home / "stage" / LARGE_PRINT_FILE, LARGE_PRINT)
    defaults = Path(sys.prefix) / "share" / "jupyter" / "lab" / "settings"
    add_settings(defaults / "overrides.json", QUIET)


def add_settings(path: Path, settings: dict[str, dict]) -> None:
    """Add settings to a file, beside those of others."""
    there = read_settings(path)
    if there | settings == there:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(f".{os.getpid()}")
    part.write_text(json.dumps(there | settings, indent=2) + "\n", encoding="utf-8")
    part.replace(path)


def read_settings(path: Path) -> dict[str, dict]:
    """Read settings; a file that is missing or broken holds none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def list_arguments(notebook: Path, port: int, browser: bool) -> list[str]:
    """List what JupyterLab is told: where, what to open, whom to listen to, what to save."""
    arguments = [
        f"--ServerApp.root_dir={notebook.parent}",
        f"--LabApp.default_url=/lab/tree/{notebook.name}",
        f"--ServerApp.open_browser={browser}",
        f"--ServerApp.ip={HOST}",
        f"--ServerApp.port={port}",
        "--ServerApp.port_retries=0",  # the address printed must stay true
        "--KernelManager.transport_encryption=auto",  # others on this machine cannot listen
        "--Application.log_level=ERROR",
        "--LabApp.extension_manager=readonly",  # what is installed stays what was tested
        f"--ContentsManager.pre_save_hook={__name__}.{drop_widget_views.__name__}",
    ]
    if getattr(os, "geteuid", lambda: 1)() == 0:
        print("You are root: JupyterLab is told --allow-root, and its notebooks may do anything.")
        arguments.append("--allow-root")
    return arguments


def announce(port: int, address: str, browser: bool) -> None:
    """Print the address once somebody answers there."""
    for _ in range(600):
        if answers(port):
            break
        time.sleep(0.1)
    else:
        return
    opens = "It opens in your browser; if not, copy" if browser else "Copy"
    print(f"JupyterLab is ready. {opens} this address into a browser on this machine:")
    print(f"\n    {address}\n")
    if not browser:
        print(f"Sitting at another one? There first: ssh -L {port}:{HOST}:{port} THIS-MACHINE")
    print("To end it, press Ctrl-C here twice.", flush=True)


def serve(arguments: list[str]) -> int:
    """Run JupyterLab in this process, so that it ends when this process does."""
    from jupyterlab.labapp import LabApp  # after prepare_environment: it reads that on import

    try:
        LabApp.launch_instance(argv=arguments)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0


def drop_widget_views(model: dict, **_: object) -> None:
    """Take live views out of what JupyterLab saves: without a kernel they show only an error.

    Their still picture or text stays. Called by JupyterLab before each save.
    """
    content = model.get("content")
    if model.get("type") != "notebook" or not content:
        return
    content.get("metadata", {}).pop("widgets", None)
    outputs = [output for cell in content.get("cells", []) for output in cell.get("outputs", [])]
    for data in (output.get("data", {}) for output in outputs):
        if STILLS & data.keys():
            data.pop(WIDGET_VIEW, None)
