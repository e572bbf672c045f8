"""Notebook 01 as its reader meets it: in JupyterLab, in their workbook, in this order."""

from playwright.sync_api import expect

from browser.lab import open_notebook, run_all, save, scroll_on, scroll_to, stop_kernel
from mamba_edu.cli.notebook import read_notebook

PICTURE = ".jp-OutputArea-output img"
LOST = "Error displaying widget"


def list_outputs(path):
    notebook = read_notebook(path)
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def count_pictures(path):
    return sum("image/png" in output.get("data", {}) for output in list_outputs(path))


def test_notebook_01_runs_wholly_and_without_a_complaint(opened, copy):
    page, complaints = opened
    assert list_outputs(copy) == []  # predictions are not given away
    run_all(page)
    save(page, copy)
    outputs = list_outputs(copy)
    assert count_pictures(copy) >= 3
    assert [output for output in outputs if output.output_type == "error"] == []
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    assert complaints == []


def test_an_answer_shows_once_the_reader_has_committed(opened):
    page, complaints = opened
    choice = scroll_to(page, ".jp-OutputArea-output .widget-radio-box input")
    form = page.locator(".jp-OutputArea-output", has=page.locator(".widget-radio-box")).first
    button = form.get_by_role("button", name="This is my guess")
    expect(button).to_be_disabled()
    assert "You said" not in form.inner_text()
    choice.check()
    button.click()
    expect(form).to_contain_text("You said A")
    assert complaints == []


def test_a_moved_slider_draws_another_picture(opened):
    page, complaints = opened
    handle = scroll_to(page, ".jp-OutputArea-output .noUi-handle")
    output = page.locator(".jp-OutputArea-output", has=page.locator(".noUi-handle")).first
    picture = output.locator("img")
    before, words = picture.get_attribute("src"), output.inner_text()
    handle.focus()
    page.keyboard.press("ArrowRight")
    expect(picture).not_to_have_attribute("src", before, timeout=10_000)
    assert output.inner_text() != words
    assert complaints == []


def test_a_saved_notebook_shows_its_pictures_without_its_kernel(opened, address, copy, course):
    page, complaints = opened
    save(page, copy)
    stop_kernel(address, copy.name)
    complaints.clear()  # the page may say that its kernel is gone
    open_notebook(page, address)
    scroll_to(page, PICTURE)
    seen, moves = set(), True
    while moves:
        seen |= {image.get_attribute("src") for image in page.locator(PICTURE).all()}
        assert LOST not in page.locator(".jp-Notebook").inner_text()
        moves = scroll_on(page)
    assert len(seen) == count_pictures(copy) == count_pictures(course / "notebooks" / copy.name)
    assert complaints == []
