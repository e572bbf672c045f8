"""Measure the hidden-state explorer in a real JupyterLab, without its kernel, and as a page.

    python benchmarks/explorer.py

Prints one line a place; run it on a quiet machine. Needs Chromium and what the tests need.
"""

import statistics
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT)]

from browser.explorer import CODE, find_explorer, open_probe, write_probe  # noqa: E402
from browser.lab import call_server, open_page, serve_course  # noqa: E402
from playwright.sync_api import Locator, Page  # noqa: E402

from mamba_edu.cli.chromium import find_or_install_chromium  # noqa: E402

MOVES, SECONDS = 200, 4
SLIDE = """async (root, moves) => {
    const slider = root.querySelector("input[aria-label='step size']"), times = [];
    for (let k = 0; k < moves; k++) {
        await new Promise((go) => setTimeout(go, 20 * Math.random()));
        slider.value = `${k % 7}`;
        const start = performance.now();
        slider.dispatchEvent(new Event("input"));
        await new Promise((go) => requestAnimationFrame(go));
        times.push(performance.now() - start);
    }
    return times; }"""
PLAY = """async (root, seconds) => {
    root.querySelector(".mamba-timeline").focus();
    const press = (key) => root.querySelector(".mamba-timeline").dispatchEvent(
        new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    press("Home"); press(" ");
    let frames = 0;
    const start = performance.now();
    while (performance.now() - start < 1000 * seconds) {
        await new Promise((go) => requestAnimationFrame(go));
        frames += root.dataset.playing === "true";
    }
    press(" ");
    return frames / seconds; }"""


def measure_heap(page: Page) -> float:
    """Collect the page's garbage and read its heap in megabytes."""
    client = page.context.new_cdp_session(page)
    client.send("HeapProfiler.collectGarbage")
    used = client.send("Runtime.getHeapUsage")["usedSize"] / 1e6
    client.detach()
    return used


def measure(page: Page, root: Locator, place: str) -> None:
    """Slide, play and slide on; print what it took."""
    sent: list[dict] = []
    client = page.context.new_cdp_session(page)
    client.send("Network.enable")
    times = root.evaluate(SLIDE, MOVES)
    client.on("Network.webSocketFrameSent", lambda frame: sent.append(frame))
    frames = root.evaluate(PLAY, SECONDS)
    size = sum(len(frame["response"]["payloadData"]) for frame in sent)
    before = measure_heap(page)
    root.evaluate(SLIDE, 1000)
    after = measure_heap(page)
    print(
        f"{place:24} slider to picture {statistics.median(times):5.1f} ms (95 % within "
        f"{statistics.quantiles(times, n=20)[-1]:.1f})   play {frames:4.1f} frames/s, {size} bytes "
        f"sent   heap {before:.1f} -> {after:.1f} MB in 1000 moves",
        flush=True,
    )


def save_page(path: Path) -> int:
    """Save the probe's explorer as a page; return the bytes of a first display."""
    scope: dict = {}
    exec(CODE, scope)
    scope["explorer"].save_html(path)
    return scope["explorer"].measure_display()


def main() -> None:
    """Measure in the three places where a reader meets it."""
    chromium = find_or_install_chromium() or sys.exit("there is no Chromium here")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "notebooks").symlink_to(ROOT / "notebooks")
        (home / "workbook").mkdir()
        probe = home / "workbook" / "probe.ipynb"
        write_probe(probe)
        with serve_course(home, "00") as address, open_page(chromium, home / "p") as (page, _):
            root = open_probe(page, address, probe)
            measure(page, root, "JupyterLab")
            call_server(address, "shutdown", "POST")
            page.wait_for_timeout(2000)
            measure(page, root, "its server stopped")
            print(f"first display: {save_page(home / 'page.html') / 1e6:.3f} MB")
            page.goto((home / "page.html").as_uri())
            measure(page, find_explorer(page), "a saved page")


if __name__ == "__main__":
    main()
