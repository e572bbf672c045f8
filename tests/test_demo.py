"""The demo command builds pages that work alone, once, and opens them where a browser is."""

import re

import pytest

from mamba_edu.cli import demo, main

FOLDER = ("workbook", "demo")


class Page:
    """A widget that says how often it was built."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return self

    def save_html(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"page {self.count}")


@pytest.fixture
def page(monkeypatch):
    page = Page()
    monkeypatch.setattr(demo, "DEMOS", {name: demo.Demo("words", page) for name in ("one", "two")})
    return page


@pytest.fixture
def opened(monkeypatch):
    opened = []
    monkeypatch.setattr(demo.webbrowser, "open", lambda uri: opened.append(uri) or True)
    monkeypatch.setattr(demo, "has_browser", lambda: True)
    return opened


def test_a_page_is_built_once_by_the_same_code(page, opened, tmp_path, monkeypatch, capsys):
    folder = tmp_path.joinpath(*FOLDER)
    assert demo.open_demo(tmp_path, "one", browser=True) == 0
    assert "one: built\n" in capsys.readouterr().out
    assert demo.open_demo(tmp_path, "one", browser=True) == 0
    assert "one: built before\n" in capsys.readouterr().out
    assert page.count == 1
    assert opened == [(folder / "one.html").resolve().as_uri()] * 2
    monkeypatch.setattr(demo, "hash_code", lambda: "other code")
    demo.open_demo(tmp_path, "one", browser=False)
    assert (folder / "one.html").read_text() == "page 2"
    demo.open_demo(tmp_path, "two", browser=False)
    (folder / "one.html").unlink()
    demo.open_demo(tmp_path, "one", browser=False)
    assert page.count == 4
    (folder / demo.STAMPS).write_text("{")
    demo.open_demo(tmp_path, "one", browser=False)
    assert page.count == 5


@pytest.mark.usefixtures("page")
def test_all_pages_come_with_a_list_of_them(opened, tmp_path, capsys):
    assert demo.open_demo(tmp_path, None, browser=True) == 0
    folder = tmp_path.joinpath(*FOLDER)
    assert opened == [(folder / "index.html").resolve().as_uri()]
    links = re.findall(r'href="([^"]+)"', (folder / "index.html").read_text(encoding="utf-8"))
    assert links == ["one.html", "two.html"]
    assert all((folder / link).is_file() for link in links)
    said = capsys.readouterr().out
    assert "It opens in your browser." in said
    assert str(folder / "index.html") in said


@pytest.mark.usefixtures("page")
@pytest.mark.parametrize(("browser", "has"), [(False, True), (True, False)])
def test_without_a_browser_the_file_is_named(opened, tmp_path, monkeypatch, capsys, browser, has):
    monkeypatch.setattr(demo, "has_browser", lambda: has)
    demo.open_demo(tmp_path, "two", browser=browser)
    assert opened == []
    assert "Open this file in a browser:" in capsys.readouterr().out


def test_the_command_lists_names_and_refuses_others(capsys):
    assert main(["demo", "--list"]) == 0
    names = [line.split()[0] for line in capsys.readouterr().out.splitlines()]
    assert names == list(demo.DEMOS)
    assert main(["demo", "buckets"]) == 2
    listed = ", ".join(demo.DEMOS)
    assert capsys.readouterr().out == f"demo: no demo 'buckets'; there are: {listed}\n"


def test_the_code_is_hashed_with_all_that_a_page_is_made_from(monkeypatch, tmp_path):
    one = demo.hash_code()
    assert demo.hash_code() == one
    monkeypatch.setenv("MAMBA_EDU_STAGE", "1")
    assert demo.hash_code() != one
    (tmp_path / "front").mkdir()
    (tmp_path / "front" / "a.mjs").write_text("1")
    monkeypatch.setattr(demo, "PACKAGE", tmp_path)
    before = demo.hash_code()
    (tmp_path / "front" / "a.mjs").write_text("2")
    assert demo.hash_code() != before


@pytest.mark.parametrize("name", demo.DEMOS)
def test_each_demo_is_a_page_that_asks_for_nothing(name, tmp_path):
    demo.DEMOS[name].build().save_html(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert re.findall(r"https?:", text) == []
    assert '<body class="mamba-page">' in text
