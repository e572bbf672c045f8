"""Drive a real JupyterLab, opened as a reader opens it, in a real browser."""

import json
import os
import queue
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Locator, Page, sync_playwright
from rules.trees import ROOT

FLAGS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]
OPEN = (
    "import sys; from pathlib import Path; from mamba_edu.cli.lab import open_lab; "
    "open_lab(Path(sys.argv[1]), False, False, int(sys.argv[2]), False, sys.argv[3])"
)
SCROLLER = ".jp-WindowedPanel-outer"
START_SECONDS, RUN_SECONDS = 120, 180


def find_free_port() -> int:
    """Ask the system for a port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def serve_course(root: Path, number: str) -> Iterator[str]:
    """Open a course's workbook as `course.py lab` does, and give its address."""
    settings = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-u", "-c", OPEN, str(root), str(find_free_port()), number]
    with subprocess.Popen(
        command, env=settings, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as server:
        lines: queue.Queue[str] = queue.Queue()
        reader = threading.Thread(target=lambda: [*map(lines.put, server.stdout)], daemon=True)
        reader.start()
        try:
            yield wait_for_address(lines)
        finally:
            server.terminate()
            reader.join(timeout=30)


def wait_for_address(lines: queue.Queue) -> str:
    """Read what the command prints until it prints where it answers."""
    said = []
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        try:
            said.append(lines.get(timeout=1))
        except queue.Empty:
            continue
        if found := re.search(r"http://127\.0\.0\.1:\S+", said[-1]):
            return found[0]
    raise TimeoutError("JupyterLab gave no address; it said:\n" + "".join(said))


@contextmanager
def open_page(chromium: str, profile: Path) -> Iterator[tuple[Page, list[str]]]:
    """Open a browser that has never been used, and note whatever a reader should not get."""
    complaints: list[str] = []
    with sync_playwright() as playwright:
        window = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=chromium,
            args=FLAGS,
            viewport={"width": 1280, "height": 900},
        )
        page = window.pages[0] if window.pages else window.new_page()
        watch(page, complaints)
        yield page, complaints
        window.close()


def watch(page: Page, complaints: list[str]) -> None:
    """Note console errors and requests that leave this machine."""

    def note_message(message) -> None:
        if message.type == "error":
            complaints.append(f"console: {message.text[:200]}")

    def note_request(request) -> None:
        if not re.match(r"(?:https?|wss?)://127\.0\.0\.1[:/]|data:|blob:", request.url):
            complaints.append(f"left this machine: {request.url[:200]}")

    page.on("console", note_message)
    page.on("request", note_request)
    page.on("pageerror", lambda error: complaints.append(f"page error: {error}"))


def open_notebook(page: Page, address: str) -> None:
    """Load a notebook and wait for its cells and its kernel."""
    page.goto(address, timeout=START_SECONDS * 1000)
    page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_SECONDS * 1000)
    page.get_by_text("| Idle").wait_for(timeout=START_SECONDS * 1000)  # the status bar's kernel


def choose_in_menu(page: Page, menu: str, item: str) -> None:
    """Choose an item of a menu by its words."""
    page.locator(".lm-MenuBar-itemLabel").get_by_text(menu, exact=True).click()
    page.locator(".lm-Menu-itemLabel").get_by_text(item, exact=True).click()


def run_all(page: Page) -> None:
    """Run every cell and wait until the last has ended."""
    choose_in_menu(page, "Run", "Run All Cells")
    page.wait_for_selector("[data-status='busy']", timeout=30_000, state="attached")
    quiet, end = 0, time.monotonic() + RUN_SECONDS
    while quiet < 3:
        if time.monotonic() > end:
            raise TimeoutError(f"the notebook still runs after {RUN_SECONDS} s")
        page.wait_for_timeout(500)
        quiet = quiet + 1 if page.locator("[data-status='idle']").count() else 0


def save(page: Page, path: Path) -> None:
    """Save the notebook and wait until the file has changed and stands there whole."""
    before = path.stat().st_mtime_ns
    choose_in_menu(page, "File", "Save Notebook")
    end = time.monotonic() + 30
    while path.stat().st_mtime_ns == before or not is_whole(path):
        if time.monotonic() > end:
            raise TimeoutError(f"{path.name} was not saved within 30 s")
        page.wait_for_timeout(200)


def is_whole(path: Path) -> bool:
    """Tell a notebook from one that is still being written: JupyterLab empties the file first."""
    try:
        json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        return False
    return True


def scroll_to(page: Page, selector: str) -> Locator:
    """Scroll down the notebook until something is on the page: far cells are not even there."""
    page.evaluate("s => { document.querySelector(s).scrollTop = 0; }", SCROLLER)
    for _ in range(80):
        found = page.locator(selector).first
        if found.count():
            found.scroll_into_view_if_needed()
            return found
        scroll_on(page)
    raise AssertionError(f"nothing in the notebook matches {selector}")


def scroll_on(page: Page) -> bool:
    """Scroll one screen down, and tell whether there was one."""
    script = """s => { const e = document.querySelector(s), before = e.scrollTop;
                       e.scrollTop += 0.9 * e.clientHeight; return e.scrollTop > before; }"""
    moved = page.evaluate(script, SCROLLER)
    page.wait_for_timeout(150)
    return moved


def call_server(address: str, path: str, method: str = "GET") -> bytes:
    """Ask the server behind an address for something, with the reader's own token."""
    base, token = re.match(r"(http://[^/]+)/.*token=(\w+)", address).groups()
    headers = {"Authorization": f"token {token}"}
    request = urllib.request.Request(f"{base}/api/{path}", method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=30) as answer:
        return answer.read()


def stop_kernel(address: str, name: str) -> None:
    """Stop the kernel of one notebook, as a reader does in the list of running ones."""
    for session in json.loads(call_server(address, "sessions")):
        if session["path"].endswith(name):
            call_server(address, f"sessions/{session['id']}", "DELETE")
