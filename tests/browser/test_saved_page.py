"""The explorer as a page from a file: no kernel, no server, a mouse, keys or a finger."""

import re

import pytest
import torch
from playwright.sync_api import expect

from browser.explorer import CODE, PLAYING, count_colours, find_explorer, read_number


@pytest.fixture
def saved(opened, tmp_path):
    """The probe's explorer as a page from a file, its variables, and what went wrong there."""
    names, complaints = {}, []
    exec(CODE, names)
    path = tmp_path / "explorer.html"
    names["explorer"].save_html(path)
    page = opened[0].context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda r: r.url.startswith(("file:", "data:")) or complaints.append(r.url))
    page.goto(path.as_uri())
    yield page, find_explorer(page), names, complaints
    page.close()


def test_a_saved_page_plays_from_a_file_on_any_screen(saved):
    page, root, _, complaints = saved
    assert count_colours(root) > 50
    root.locator(".mamba-timeline").focus()
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    page.wait_for_selector(PLAYING)
    page.set_viewport_size({"width": 390, "height": 844})
    page.wait_for_timeout(200)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert count_colours(root) > 50
    assert complaints == []


def test_the_numbers_on_the_page_are_those_of_the_scan(saved):
    page, root, names, _ = saved
    x, delta, A, B, C = (names[name].double() for name in ("x", "delta", "A", "B", "C"))
    h = torch.zeros(16, 16, dtype=torch.float64)
    for t in range(8):
        h = torch.exp(delta[t, :, None] * A) * h + delta[t, :, None] * B[t] * x[t, :, None]
    root.locator(".mamba-timeline").focus()
    for key in ["Home", *7 * ["ArrowRight"]]:
        page.keyboard.press(key)
    expect(root).to_have_attribute("data-t", "7")
    words = root.locator(".mamba-reading").inner_text().replace("−", "-").replace("\n", " ")
    state, value, quantum = re.search(r"largest h(\d+) = (\S+) \(± (\S+)\)", words).groups()
    told = {name: float(re.search(rf"{name} = (\S+)", words)[1]) for name in ("Δ", "x", "y")}
    true = h[0, int(state) - 1].item()
    assert abs(float(value) - true) <= float(quantum) + 0.005 * abs(true)  # three digits are shown
    assert float(quantum) < 0.005 * h.abs().max() * 10
    assert told["Δ"] == pytest.approx(delta[7, 0].item(), rel=0.005)
    assert told["x"] == pytest.approx(x[7, 0].item(), abs=0.02)
    assert told["y"] == pytest.approx((C[7] @ h[0]).item(), abs=0.02)


def test_a_finger_moves_time_and_the_page_stays(saved):
    page, root, _, complaints = saved
    box = root.locator(".mamba-timeline").bounding_box()
    y = box["y"] + box["height"] / 2
    client = page.context.new_cdp_session(page)

    def touch(kind, *places):
        points = [{"x": box["x"] + share * box["width"], "y": y} for share in places]
        client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 0.3)
    touch("touchMove", 0.5)
    touch("touchMove", 0.6)
    touch("touchEnd")
    page.wait_for_timeout(100)
    assert abs(read_number(root, "t") - 300) > 10
    assert read_number(root, "followed") == 40  # a drag follows nothing anew
    assert page.evaluate("scrollY") == 0
    assert complaints == []
