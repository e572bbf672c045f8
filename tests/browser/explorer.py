"""What the tests of the explorer, and its benchmark, do with it in a browser."""

import nbformat
from playwright.sync_api import Locator, Page

from browser.lab import START_SECONDS, open_notebook, run_all

CODE = """
import torch

from mamba_edu.widgets.explorer import StateExplorer

rng = torch.Generator().manual_seed(0)
length, d_inner, d_state = 512, 16, 16
delta = torch.exp(0.6 * torch.randn(length, d_inner, generator=rng) - 4.5)
x, B, C = (torch.randn(length, n, generator=rng) for n in (d_inner, d_state, d_state))
A = -torch.arange(1.0, d_state + 1).repeat(d_inner, 1)
kinds = ["filler"] * 40 + ["needle"] + ["filler"] * 470 + ["cls"]
explorer = StateExplorer(
    *(x, delta, A, B, C),
    title="A state forgets", caption="Press Play.", kinds=kinds,
    start={"t": 300, "channel": 0, "followed": 40},
)
explorer
"""
PLAYING = "section.mamba[data-playing='true']"
TALL = "line\n\n" * 60  # enough words for a page that could jump
INKED = """canvas => {
    const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    const seen = new Set(), codes = new Uint32Array(data.buffer);
    for (let k = 0; k < codes.length; k += 7) seen.add(codes[k]);
    return seen.size; }"""


def write_probe(path, code=CODE):
    """Write a notebook with one explorer between words."""
    cells = [
        nbformat.v4.new_markdown_cell(TALL),
        nbformat.v4.new_code_cell(code),
        nbformat.v4.new_markdown_cell(TALL),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3 (ipykernel)"}
    nbformat.write(notebook, path)


def open_probe(page: Page, address: str, path) -> Locator:
    """Open that notebook beside the course's, run it and find the explorer."""
    before, _, query = address.partition("?")
    open_notebook(page, f"{before.rsplit('/', 1)[0]}/{path.name}?{query}")
    run_all(page)
    return find_explorer(page)


def find_explorer(page: Page) -> Locator:
    """Find the explorer on the page and wait until it has drawn."""
    page.locator("section.mamba[data-t]").first.wait_for(timeout=START_SECONDS * 1000)
    root = page.locator("section.mamba").first
    root.scroll_into_view_if_needed()
    return root


def count_colours(root: Locator, canvas: str = ".mamba-timeline") -> int:
    """Count the colours on a canvas: one means that it is blank."""
    return root.locator(canvas).evaluate(INKED)


def read_number(root: Locator, name: str) -> int:
    """Read where the explorer stands: t, scale, channel or followed."""
    return int(root.get_attribute(f"data-{name}"))
