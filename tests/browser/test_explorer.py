"""The hidden-state explorer in a real JupyterLab: drawn, played, moved, filled, alone."""

import pytest
from playwright.sync_api import expect

from browser.explorer import (
    PLAYING,
    count_colours,
    open_probe,
    read_number,
    write_probe,
)
from browser.lab import SCROLLER, choose_in_menu, open_notebook, save, scroll_to, stop_kernel, watch

LOST = "Error displaying widget"
SCROLLED = "s => document.querySelector(s).scrollTop"


@pytest.fixture(scope="module")
def probe(course):
    path = course / "workbook" / "explorer_probe.ipynb"
    path.parent.mkdir(exist_ok=True)
    write_probe(path)
    return path


@pytest.fixture(scope="module")
def shown(opened, address, probe):
    """A page of its own with one explorer, the explorer, and what went wrong there."""
    page, complaints = opened[0].context.new_page(), []
    watch(page, complaints)
    yield page, open_probe(page, address, probe), complaints
    page.close()


def move_range(page, root, label, key, times):
    slider = root.get_by_label(label, exact=True)
    slider.focus()
    for _ in range(times):
        page.keyboard.press(key)


def test_the_explorer_draws_where_the_text_says(shown):
    _, root, complaints = shown
    assert count_colours(root) > 50
    assert count_colours(root, ".mamba-side") > 20
    stands = [read_number(root, name) for name in ("t", "scale", "channel", "followed")]
    assert stands == [300, 3, 0, 40]
    expect(root.locator(".mamba-reading")).to_contain_text("left of token 40")
    assert complaints == []


def test_play_moves_time_and_sends_nothing(shown):
    page, root, complaints = shown
    sent = []
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))
    root.get_by_role("button", name="Play").click()
    page.wait_for_timeout(1500)
    root.get_by_role("button", name="Pause").click()
    expect(root).to_have_attribute("data-playing", "false")
    assert 300 < read_number(root, "t") <= 511
    assert sent == []
    client.detach()
    assert complaints == []


def test_keys_move_time_and_leave_the_page_where_it_is(shown):
    page, root, complaints = shown
    page.keyboard.press("Escape")  # command mode, where JupyterLab takes arrows for itself
    before = page.evaluate(SCROLLED, SCROLLER)
    timeline = root.locator(".mamba-timeline")
    timeline.evaluate("e => e.focus({ preventScroll: true })")
    keys = [("Home", "t", 0), ("ArrowRight", "t", 1), ("Shift+ArrowRight", "t", 11)]
    keys += [("PageUp", "t", 62), ("ArrowLeft", "t", 61), ("End", "t", 511), ("+", "scale", 4)]
    keys += [("-", "scale", 3), ("ArrowDown", "channel", 1), ("ArrowUp", "channel", 0)]
    for key, name, value in [*keys, ("Enter", "followed", 511)]:
        page.keyboard.press(key)
        expect(root).to_have_attribute(f"data-{name}", str(value))
    page.keyboard.press("Space")
    page.wait_for_selector(PLAYING)
    page.keyboard.press("Space")
    expect(root).to_have_attribute("data-playing", "false")
    assert page.evaluate(SCROLLED, SCROLLER) == before
    assert complaints == []


def test_sliders_take_arrows_and_change_what_is_drawn(shown):
    page, root, complaints = shown
    move_range(page, root, "t", "Home", 1)
    expect(root).to_have_attribute("data-t", "0")
    scale = read_number(root, "scale")
    picture = root.locator(".mamba-timeline").evaluate("c => c.toDataURL()")
    move_range(page, root, "t", "ArrowRight", 3)
    move_range(page, root, "step size", "ArrowLeft", 2)
    expect(root).to_have_attribute("data-scale", str(scale - 2))
    expect(root).to_have_attribute("data-t", "3")
    assert root.locator(".mamba-timeline").evaluate("c => c.toDataURL()") != picture
    assert complaints == []


def test_a_pressed_token_is_followed_and_a_pointer_is_read(shown):
    page, root, complaints = shown
    box = root.locator(".mamba-timeline").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(x, y)
    followed = read_number(root, "followed")
    assert followed == read_number(root, "t")
    page.mouse.move(x + 60, y)
    expect(root).not_to_have_attribute("data-t", str(followed))
    expect(root.locator(".mamba-reading")).to_contain_text(f"left of token {followed}")
    page.mouse.move(5, 5)
    expect(root).to_have_attribute("data-t", str(followed))
    assert complaints == []


def test_fast_dragging_leaves_nothing_behind(shown):
    page, root, complaints = shown
    before = page.evaluate(SCROLLED, SCROLLER)
    box = root.locator(".mamba-timeline").bounding_box()
    left, y = box["x"] + 0.2 * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(left, y)
    page.mouse.down()
    for k in range(200):
        page.mouse.move(left + 0.5 * box["width"] * (k % 40) / 40, y)
    page.mouse.up()
    page.mouse.move(5, 5)
    page.wait_for_timeout(50)  # three frames
    t = read_number(root, "t")
    page.wait_for_timeout(300)
    assert read_number(root, "t") == t
    assert page.evaluate(SCROLLED, SCROLLER) == before
    assert complaints == []


def test_full_screen_is_filled_with_large_letters(shown):
    page, root, complaints = shown
    size = "e => parseFloat(getComputedStyle(e).fontSize)"
    small = root.evaluate(size)
    root.get_by_role("button", name="Full screen").click()
    page.wait_for_function("document.fullscreenElement !== null")
    page.wait_for_timeout(200)
    assert root.evaluate(size) > small
    assert count_colours(root) > 50
    fits = "e => e.scrollHeight <= e.clientHeight + 1 && e.scrollWidth <= e.clientWidth + 1"
    assert root.evaluate(fits)
    page.keyboard.press("f")
    page.wait_for_function("document.fullscreenElement === null")
    assert complaints == []


def test_the_dark_theme_is_followed(shown):
    page, root, complaints = shown
    paper = "e => getComputedStyle(e).backgroundColor"
    light, picture = (
        root.evaluate(paper),
        root.locator("canvas").first.evaluate("c => c.toDataURL()"),
    )
    choose_in_menu(page, "Settings", "Theme")
    page.locator(".lm-Menu-itemLabel").get_by_text("JupyterLab Dark", exact=True).click()
    page.wait_for_selector("body[data-jp-theme-light='false']", state="attached")
    page.wait_for_timeout(300)
    assert root.evaluate(paper) != light
    assert root.locator("canvas").first.evaluate("c => c.toDataURL()") != picture
    assert complaints == []


def test_without_its_kernel_the_explorer_goes_on(shown, address, probe):
    page, root, _ = shown
    save(page, probe)
    stop_kernel(address, probe.name)
    page.wait_for_timeout(500)
    t = read_number(root, "t")
    move_range(page, root, "t", "ArrowLeft", 2)
    expect(root).to_have_attribute("data-t", str(t - 2))
    root.get_by_role("button", name="Play").click()
    page.wait_for_selector(PLAYING)


def test_reopened_without_a_kernel_the_still_picture_stands(shown, address, probe):
    page, _, _ = shown
    before, _, query = address.partition("?")
    open_notebook(page, f"{before.rsplit('/', 1)[0]}/{probe.name}?{query}")
    scroll_to(page, ".jp-OutputArea-output img")
    assert LOST not in page.locator(".jp-Notebook").inner_text()
