"""JupyterLab: whom it listens to, what it opens, what it saves, what it says first."""

import json
import os
import socket
import sys
from pathlib import Path

import pytest
from jupyter_server.services.contents.largefilemanager import LargeFileManager
from rules.make import PNG, make_code, make_display, make_notebook

from mamba_edu.cli import lab
from mamba_edu.cli.notebook import read_notebook, write_notebook

VIEW = {"application/vnd.jupyter.widget-view+json": {"model_id": "m", "version_major": 2}}


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course of one notebook, an environment to change, and no JupyterLab to start."""
    write_notebook(make_notebook(make_code("1")), tmp_path / "notebooks" / "00_start.ipynb")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    monkeypatch.setattr(lab, "serve", lambda arguments: arguments)
    monkeypatch.setattr(lab, "announce", lambda *_: None)
    return tmp_path


def open_lab(course, **choices):
    """Open JupyterLab as a reader without wishes does, or with these."""
    plain = {"stored": False, "stage": False, "port": None, "browser": True, "notebook": "00"}
    return lab.open_lab(course, **(plain | choices))


def find_defaults(course):
    """Return where JupyterLab looks for its defaults."""
    return course / "venv" / "share" / "jupyter" / "lab" / "settings" / "overrides.json"


def test_lab_listens_on_this_machine_only_and_keeps_a_token(course):
    arguments = open_lab(course)
    assert "--ServerApp.ip=127.0.0.1" in arguments
    assert not [word for word in arguments if "token" in word or "password" in word]
    token = os.environ["JUPYTER_TOKEN"]
    assert len(token) == 48
    open_lab(course)
    assert os.environ["JUPYTER_TOKEN"] != token


def test_lab_opens_the_workbook_and_keeps_its_own_things_there(course):
    arguments = open_lab(course)
    assert f"--ServerApp.root_dir={course / 'workbook'}" in arguments
    assert "--LabApp.default_url=/lab/tree/00_start.ipynb" in arguments
    assert (course / "workbook" / "00_start.ipynb").is_file()
    kept = ("JUPYTER_CONFIG_DIR", "JUPYTERLAB_WORKSPACES_DIR", "IPYTHONDIR")
    assert all(os.environ[name].startswith(str(course / "workbook")) for name in kept)


def test_lab_stored_opens_the_notebooks_themselves_and_says_so(course, capsys):
    assert f"--ServerApp.root_dir={course / 'notebooks'}" in open_lab(course, stored=True)
    assert "what you save here changes the course itself" in capsys.readouterr().out
    assert not (course / "workbook" / "00_start.ipynb").exists()


def test_lab_on_stage_is_in_large_print_and_elsewhere_is_not(course):
    open_lab(course)
    plain = os.environ["JUPYTERLAB_SETTINGS_DIR"]
    assert "MAMBA_EDU_STAGE" not in os.environ
    open_lab(course, stage=True)
    stage = os.environ["JUPYTERLAB_SETTINGS_DIR"]
    assert os.environ["MAMBA_EDU_STAGE"] == "1"
    sizes = json.loads((Path(stage) / lab.LARGE_PRINT_FILE).read_text())["overrides"]
    assert all(20 <= int(size.removesuffix("px")) <= 22 for size in sizes.values())
    assert not (Path(plain) / lab.LARGE_PRINT_FILE).exists()


def test_large_print_names_every_size_that_jupyterlab_has():
    """Code, prose, and what is neither: widgets and tables take the size of the interface."""
    schemas = Path(sys.prefix) / "share" / "jupyter" / "lab" / "schemas"
    schema = schemas / lab.LARGE_PRINT_FILE.replace(":", "/").replace("jupyterlab-settings", "json")
    known = json.loads(schema.read_text())["definitions"]["cssOverrides"]["properties"]
    assert lab.LARGE_PRINT["overrides"].keys() == {name for name in known if "font-size" in name}


def test_lab_is_quiet_and_leaves_the_defaults_of_others_alone(course):
    open_lab(course)
    path = find_defaults(course)
    assert json.loads(path.read_text()) == lab.QUIET
    path.write_text('{"another:plugin": {"a": 1}}')
    open_lab(course)
    assert json.loads(path.read_text()) == {"another:plugin": {"a": 1}} | lab.QUIET
    path.write_text("broken {")
    open_lab(course)
    assert json.loads(path.read_text()) == lab.QUIET


def test_lab_opens_where_a_class_may_not_write_the_environment(course, monkeypatch):
    open_lab(course)
    monkeypatch.setattr(Path, "write_text", lambda *_, **__: 1 / 0)
    open_lab(course)


def test_lab_names_a_notebook_that_changed(course, capsys):
    open_lab(course)
    write_notebook(make_notebook(make_code("2")), course / "notebooks" / "00_start.ipynb")
    open_lab(course)
    out = capsys.readouterr().out
    assert "00 has changed since your copy was made: `python3 course.py reset 00` fetches" in out


def test_lab_takes_the_next_port_when_one_is_in_use_and_says_so(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        taken = server.getsockname()[1]
        port = lab.choose_port(taken)
    assert port > taken
    assert f"Port {taken} is in use; JupyterLab takes {port}." in capsys.readouterr().out
    assert lab.choose_port(port) == port


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_lab_refuses_a_port_that_is_none(port):
    with pytest.raises(ValueError, match=f"from 1 to 65535; {port} was given"):
        lab.choose_port(port)


def test_lab_says_when_no_port_is_left(monkeypatch):
    monkeypatch.setattr(lab, "is_free", lambda port: False)
    with pytest.raises(ValueError, match=r"no port from 8888 to 8937 .* name another with --port"):
        lab.choose_port(None)


@pytest.mark.skipif(os.name == "nt", reason="Windows knows no root")
def test_lab_tells_root_what_it_does_and_nobody_else(course, monkeypatch, capsys):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert "--allow-root" in open_lab(course)
    assert "You are root" in capsys.readouterr().out
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert "--allow-root" not in open_lab(course)
    assert "root" not in capsys.readouterr().out


def test_lab_opens_a_browser_only_where_it_is_seen(course, monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(lab.webbrowser, "get", lambda: None)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        os.environ.pop(name, None)
    assert "--ServerApp.open_browser=False" in open_lab(course)
    os.environ["DISPLAY"] = ":0"
    assert "--ServerApp.open_browser=True" in open_lab(course)
    assert "--ServerApp.open_browser=False" in open_lab(course, browser=False)


def test_announce_prints_the_address_once_somebody_answers(capsys):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        lab.announce(port, "http://127.0.0.1/lab?token=t", browser=False)
    assert "    http://127.0.0.1/lab?token=t\n" in capsys.readouterr().out


def save_with_jupyter(folder, notebook):
    """Save as JupyterLab does, and read the file."""
    hook = f"{lab.__name__}.drop_widget_views"
    manager = LargeFileManager(root_dir=str(folder), pre_save_hook=hook)
    manager.save({"type": "notebook", "format": "json", "content": notebook}, "saved.ipynb")
    return read_notebook(folder / "saved.ipynb")


@pytest.mark.parametrize(
    "still", [{"text/html": "<p>"}, {"image/png": PNG}, {"text/plain": "a slider"}]
)
def test_saving_drops_live_views_that_a_still_stands_in_for(tmp_path, still):
    notebook = make_notebook(make_code("1", make_display(VIEW | still)))
    notebook.metadata["widgets"] = {"state": {}}
    saved = save_with_jupyter(tmp_path, notebook)
    assert saved.cells[0].outputs[0].data == still
    assert "widgets" not in saved.metadata


def test_saving_keeps_a_view_that_nothing_stands_in_for_and_files_that_are_no_notebooks(tmp_path):
    saved = save_with_jupyter(tmp_path, make_notebook(make_code("1", make_display(VIEW))))
    assert saved.cells[0].outputs[0].data == VIEW
    text = {"type": "file", "content": "x"}
    lab.drop_widget_views(text)
    assert text == {"type": "file", "content": "x"}
