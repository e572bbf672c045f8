"""The lens and the race in a real browser: in JupyterLab, and as pages from a file."""

import re

import pytest
import torch
from playwright.sync_api import expect

from browser.explorer import count_colours, write_probe
from browser.lab import SCROLLER, START_SECONDS, open_notebook, run_all, watch
from mamba_edu.widgets.lens import ClsLens
from mamba_edu.widgets.race import explore_race

CODE = """
import torch

from mamba_edu.widgets.lens import ClsLens
from mamba_edu.widgets.race import explore_race

sizes = torch.rand(25, 24, generator=torch.Generator().manual_seed(0)) + 0.01
display(ClsLens(sizes.tril(-1), sizes, start={"position": 12}), explore_race(start=3))
"""
LENS, RACE = "section.mamba[data-place]", "section.mamba[data-round]"
SCROLLED = "s => document.querySelector(s).scrollTop"


@pytest.fixture(scope="module")
def shown(opened, address, course):
    """A page of its own with a lens and a race, and what went wrong there."""
    path = course / "workbook" / "stage_probe.ipynb"
    path.parent.mkdir(exist_ok=True)
    write_probe(path, CODE)
    page, complaints = opened[0].context.new_page(), []
    watch(page, complaints)
    before, _, query = address.partition("?")
    open_notebook(page, f"{before.rsplit('/', 1)[0]}/{path.name}?{query}")
    run_all(page)
    page.locator(RACE).wait_for(timeout=START_SECONDS * 1000)
    yield page, complaints
    page.close()


@pytest.fixture
def file_page(opened, tmp_path):
    """Open the saved page of a widget; whatever asks for more than a file is a complaint."""
    page, complaints = opened[0].context.new_page(), []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: r.url.startswith(("file:", "data:")) or complaints.append(r.url))

    def open_file(widget):
        widget.save_html(tmp_path / "widget.html")
        page.goto((tmp_path / "widget.html").as_uri())
        root = page.locator("section.mamba")
        root.wait_for()
        return page, root

    yield open_file
    assert complaints == []
    page.close()


def press(page, root, *keys):
    root.locator("canvas").focus()
    for key in keys:
        page.keyboard.press(key)


def find_middle(root, share_x, share_y):
    box = root.locator("canvas").bounding_box()
    return box["x"] + share_x * box["width"], box["y"] + share_y * box["height"]


def test_the_lens_moves_and_turns_by_keys_in_a_notebook(shown):
    page, complaints = shown
    root = page.locator(LENS)
    root.scroll_into_view_if_needed()
    assert count_colours(root) > 50
    expect(root.locator(".mamba-reading")).to_have_text(
        "CLS at 12 of 24 sees 12 tokens; 12 are exactly 0 (causal)"
    )
    scrolled = page.evaluate(SCROLLED, SCROLLER)
    press(page, root, *7 * ["ArrowLeft"])
    expect(root.locator(".mamba-reading")).to_have_text(
        "CLS at 5 of 24 sees 5 tokens; 19 are exactly 0 (causal)"
    )
    press(page, root, "b")
    expect(root.locator(".mamba-reading")).to_contain_text("24 tokens; 0 are exactly 0 (bidirec")
    press(page, root, "End", "Shift+ArrowLeft", "ArrowUp", "PageDown")
    expect(root).to_have_attribute("data-place", "13")
    assert page.evaluate(SCROLLED, SCROLLER) == scrolled
    assert complaints == []


def test_the_race_runs_by_keys_in_a_notebook(shown):
    page, complaints = shown
    root = page.locator(RACE)
    root.scroll_into_view_if_needed()
    assert count_colours(root) > 30
    press(page, root, "ArrowRight", "ArrowRight")
    expect(root.locator(".mamba-reading")).to_contain_text("Round 5 of 15")
    press(page, root, "End")
    expect(root.locator(".mamba-reading")).to_contain_text("all three hold the same 16 states")
    press(page, root, "Home", "ArrowDown")
    expect(root.locator(".mamba-reading")).to_contain_text("cell 0: sequential: h =")
    assert complaints == []


def test_cls_is_dragged_and_bars_are_read(file_page):
    sizes = torch.rand(25, 24).tril(-1)
    page, root = file_page(ClsLens(sizes, labels=list("abcdefghijklmnopqrstuvwx")))
    expect(root).to_have_attribute("data-place", "24")
    y = root.locator("canvas").bounding_box()["y"] + 30
    page.mouse.move(find_middle(root, 0.9, 0)[0], y)
    page.mouse.down()
    for share in (0.7, 0.5, 0.2):
        page.mouse.move(find_middle(root, share, 0)[0], y)
    page.mouse.up()
    expect(root).to_have_attribute("data-place", re.compile("^[2-7]$"))
    dragged = int(root.get_attribute("data-place"))
    page.mouse.click(*find_middle(root, 0.8, 0.25))
    expect(root).to_have_attribute("data-place", str(dragged))
    expect(root.locator(".mamba-reading")).to_contain_text("influence exactly 0")
    page.mouse.click(*find_middle(root, 0.5, 0.9))
    expect(root).to_have_attribute("data-place", re.compile("^(19|2[0-4])$"))


def test_the_race_plays_to_its_end_and_words_follow(file_page):
    _page, root = file_page(explore_race(8, 2, start=4))
    root.get_by_label("speed").select_option("4 rounds/s")
    root.get_by_role("button", name="Play").click()
    expect(root).to_have_attribute("data-round", "7", timeout=10_000)
    expect(root).to_have_attribute("data-playing", "false")
    expect(root.get_by_role("status")).to_contain_text("Round 7 of 7")
    expect(root.locator("canvas")).to_have_attribute("aria-valuenow", "7")


@pytest.mark.parametrize("make", [lambda: ClsLens(torch.ones(25, 24)), explore_race])
def test_a_narrow_page_is_not_overflown_and_a_dark_one_is_dark(file_page, make):
    page, root = file_page(make())
    page.set_viewport_size({"width": 390, "height": 844})
    page.emulate_media(color_scheme="dark", reduced_motion="reduce")
    page.reload()
    page.wait_for_timeout(300)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    corner = "c => [...c.getContext('2d').getImageData(0, 0, 1, 1).data]"
    assert root.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(20, 20, 22)"
    assert root.locator("canvas").evaluate(corner)[3] == 0
    assert count_colours(root) > 5


def test_keys_fill_the_screen_and_leave_it(file_page):
    page, root = file_page(explore_race(8))
    press(page, root, "f")
    page.wait_for_function("document.fullscreenElement !== null")
    press(page, root, "f")
    page.wait_for_function("document.fullscreenElement === null")
