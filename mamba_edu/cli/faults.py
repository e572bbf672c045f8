"""Find what must not be stored in a notebook: whatever another machine would not repeat."""

import base64
import binascii
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from mamba_edu.cli.normal import WIDGET_TYPES

MOST_BYTES = 400_000
ALLOWED_TYPES = {"text/plain", "text/html", "text/markdown", "text/latex", "image/png"}
PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"

# What is found, how it looks, what may stand there instead: in any text.
ANYWHERE = [
    ("an object's address", r"\bat 0x[0-9a-fA-F]+", "text that is the same in every run"),
    ("terminal colours", r"\x1b\[", "plain text"),
    ("a line that overwrites itself", r"[\r\x08](?!\n)", "one line printed once"),
    (
        "a path of one machine",
        r"(?<![\w.:/])/(?:home|root|Users|tmp|var|opt|usr|mnt|private)/[\w.\-]+|\b[A-Z]:\\\w+",
        "paths relative to the course",
    ),
    (
        "a time of one machine",
        r"Wall time|CPU times:|\bit/s\b|\d+ loops? each|\b[Ee]lapsed\b"
        r"|\b\d\d:\d\d:\d\d\b|\b20\d\d-\d\d-\d\d\b",
        "no clock and no date",
    ),
    ("a picture in SVG or a script in HTML", r"<svg\b|<script\b", "a PNG"),
]
# The same, in what front ends without pictures show.
IN_PLAIN_TEXT = [
    (
        "a bare repr of a class",
        r"<(?:Figure|Axes|module|function|class|bound method|built-in|generator|\w+ object)\b"
        r"|\b[A-Z]\w*\((?:children|value|layout|description|options)=|\bOutput\(\)"
        r"|\bText\(\d|\[?<matplotlib\.",
        "a fixed text, or nothing: end the cell with a call that returns None",
    ),
    (
        "more decimals than two machines share",
        r"\d\.\d{7,}",
        "at most 6 decimals of a float64 number",
    ),
]


def find_faults(notebook: NotebookNode, root: Path | None = None) -> list[str]:
    """List what must not be stored: cell, what was found, what is allowed.

    Args:
        notebook: as executed, before `normalise`, which hides live views.
        root: the course's folder; its path must not be stored either.
    """
    faults = []
    for number, cell in enumerate(notebook.cells, start=1):
        place = f"cell {number} (id {cell.get('id', 'none')})"
        faults += [f"{place}: {fault}" for fault in find_cell_faults(cell, root)]
    size = len(nbformat.v4.writes(notebook).encode())
    if size > MOST_BYTES:
        found = f"found {size / 1000:.0f} kB with its outputs"
        faults.append(f"whole notebook: {found}; allowed: {MOST_BYTES / 1000:.0f} kB")
    return faults


def find_cell_faults(cell: NotebookNode, root: Path | None) -> Iterator[str]:
    """Go through one code cell's outputs."""
    if cell.cell_type != "code":
        return
    if not cell.source.strip():
        yield "found an empty code cell; allowed: a cell that does something"
    for output in cell.outputs:
        if output.output_type == "error":
            found = f"{output.ename}: {output.evalue}".strip()
            yield f"found an error, {found[:200]}; allowed: a caught and printed one"
        elif output.get("name") == "stderr":
            yield f"found on stderr {output.text[:200]!r}; allowed: no warning at all"
        else:
            yield from find_text_faults(output, root)
            yield from find_type_faults(output)
            yield from find_picture_faults(output)


def gather_texts(output: NotebookNode) -> dict[str, str]:
    """Map every text in an output to its type; a stream counts as plain text."""
    if output.output_type == "stream":
        return {"text/plain": output.text}
    return {kind: text for kind, text in output.data.items() if kind.startswith("text/")}


def find_text_faults(output: NotebookNode, root: Path | None) -> Iterator[str]:
    """Find addresses, reprs, clocks and paths in the text of one output."""
    for kind, text in gather_texts(output).items():
        patterns = ANYWHERE + (IN_PLAIN_TEXT if kind == "text/plain" else [])
        finds = [(what, re.search(p, text), allowed) for what, p, allowed in patterns]
        yield from (
            f"found {what}, {quote(text, match.start())}; allowed: {allowed}"
            for what, match, allowed in finds
            if match
        )
        yield from (
            f"found the path {folder!r}; allowed: paths relative to the course"
            for folder in list_own_folders(root)
            if folder in text
        )


def list_own_folders(root: Path | None) -> list[str]:
    """List folders of this machine that no general pattern knows."""
    folders = {str(Path.home()), tempfile.gettempdir(), *([str(root)] if root else [])}
    return sorted(folder for folder in folders if len(folder) > 6)


def quote(text: str, start: int) -> str:
    """Show the surroundings of a find."""
    return repr(text[max(0, start - 20) : start + 40])


def find_type_faults(output: NotebookNode) -> Iterator[str]:
    """Find kinds of output that a fresh clone does not show or that change every time."""
    data = output.get("data", {})
    for kind in sorted(set(data) - ALLOWED_TYPES - set(WIDGET_TYPES)):
        yield f"found output of type {kind}; allowed: {', '.join(sorted(ALLOWED_TYPES))}"
    still = {"image/png", "text/html"} & set(data)
    if WIDGET_TYPES[0] in data and not (still and data.get("text/plain", "").strip()):
        there = ", ".join(sorted(data))
        yield f"found a live widget with only {there}; allowed: with a still image/png or " + (
            "text/html, and with text/plain, so that it shows without a kernel"
        )


def find_picture_faults(output: NotebookNode) -> Iterator[str]:
    """Find pictures that are broken or that a blind reader would miss."""
    data, metadata = output.get("data", {}), output.get("metadata", {})
    if "image/png" not in data:
        return
    if not is_png(data["image/png"]):
        yield "found an image/png that is no PNG; allowed: PNG bytes in base64"
    alt = metadata.get("image/png", {}).get("alt") or metadata.get("alt") or ""
    if not alt.strip():
        yield "found a picture without alt text in its metadata; allowed: show(fig, caption, alt)"
    elif alt.strip() not in data.get("text/plain", ""):
        yield f"found a picture whose text/plain lacks its alt text {alt[:60]!r}; allowed: both"


def is_png(encoded: str) -> bool:
    """Tell whether base64 text holds a PNG."""
    try:
        return base64.b64decode(encoded).startswith(PNG_SIGNATURE)
    except (binascii.Error, ValueError):
        return False
