"""Pages for a live demonstration: each widget alone, full of its page, with no kernel behind it."""

import hashlib
import html
import json
import os
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from mamba_edu._files import replace_file
from mamba_edu.cli.lab import has_browser
from mamba_edu.cli.workbook import FOLDER

PACKAGE = Path(__file__).parents[1]
SOURCES = ("*.py", "*.mjs", "*.css", "*.mplstyle", "*.safetensors")
INDEX = "index"
STAMPS = "built.json"  # by name, the code that a page was built by


class Demo(NamedTuple):
    """One page: what it shows in a few words, and who builds its widget."""

    words: str
    build: Callable


# Each imports what it needs when it is built, so that a list of them is there at once.


def build_bucket():
    """Build the leaky bucket."""
    from mamba_edu.widgets.makers import explore_bucket

    return explore_bucket()


def build_oscillator():
    """Build the kicked oscillator."""
    from mamba_edu.widgets.makers import explore_oscillator

    return explore_oscillator()


def build_linear():
    """Build the time-invariant filter."""
    from mamba_edu.widgets.makers import explore_linear

    return explore_linear()


def build_selective():
    """Build the scan whose clock stands still but at marks."""
    from mamba_edu.widgets.makers import explore_marked

    return explore_marked()


def build_block():
    """Build the inside of the trained classifier, on a needle among filler."""
    from mamba_edu.tasks import sample_needle
    from mamba_edu.training import load_needle
    from mamba_edu.widgets.block import explore_block

    ids = sample_needle(1, 255, seed=12, depth=0.2).inputs[0]
    return explore_block(load_needle(), ids, n_needles=8)


def build_lens():
    """Build the view of a CLS token from everywhere in a sequence."""
    from mamba_edu.widgets.lens import explore_cls

    return explore_cls()


def build_race():
    """Build the race of three ways to scan."""
    from mamba_edu.widgets.race import explore_race

    return explore_race()


DEMOS = {
    "bucket": Demo("a leaky bucket: one state that fills and empties", build_bucket),
    "oscillator": Demo("one complex state that turns as it shrinks", build_oscillator),
    "linear": Demo("a fixed filter that treats all tokens alike", build_linear),
    "selective": Demo("a clock that moves at marked tokens only", build_selective),
    "block": Demo("the true state inside a trained layer", build_block),
    "lens": Demo("what a CLS token can see from where it stands", build_lens),
    "race": Demo("the scan as a loop, a tree and in chunks, round by round", build_race),
}


def open_demo(root: Path, name: str | None, browser: bool) -> int:
    """Build the page of a demo, or of all with a list of them, and open it.

    Args:
        root: the course's folder; the pages lie in its workbook.
        name: one of DEMOS; all if not given.
        browser: whether to open it where a browser would be seen.

    Returns:
        The exit code.

    Raises:
        ValueError: if there is no such demo.
        OSError: if a page cannot be written.
    """
    if name is not None and name not in DEMOS:
        raise ValueError(f"no demo {name!r}; there are: {', '.join(DEMOS)}")
    folder = root / FOLDER / "demo"
    names = list(DEMOS) if name is None else [name]
    for each in names:
        print(f"{each}: {build_page(each, folder)}", flush=True)
    if name is None:
        replace_file(folder / f"{INDEX}.html", write_index().encode())
    page = folder / f"{name or INDEX}.html"
    is_open = browser and has_browser() and webbrowser.open(page.resolve().as_uri())
    print("It opens in your browser." if is_open else "Open this file in a browser:")
    print(f"\n    {page}\n\nNo kernel is behind it. F shows it full screen, Esc ends that.")
    return 0


def list_demos() -> int:
    """Print what there is."""
    width = max(map(len, DEMOS))
    print("\n".join(f"{name:{width}}  {demo.words}" for name, demo in DEMOS.items()))
    return 0


def build_page(name: str, folder: Path) -> str:
    """Build a page unless this very code has built it before, and say which."""
    page, stamp = folder / f"{name}.html", hash_code()
    stamps = read_stamps(folder)
    if page.is_file() and stamps.get(name) == stamp:
        return "built before"
    DEMOS[name].build().save_html(page)
    written = json.dumps(stamps | {name: stamp}, indent=2)
    replace_file(folder / STAMPS, f"{written}\n".encode())
    return "built"


def hash_code() -> str:
    """Hash all that a page is made from: the package itself, and the setting for projectors."""
    told = hashlib.sha256(os.environ.get("MAMBA_EDU_STAGE", "").encode())
    for path in sorted(path for pattern in SOURCES for path in PACKAGE.rglob(pattern)):
        told.update(path.relative_to(PACKAGE).as_posix().encode())
        told.update(path.read_bytes())
    return told.hexdigest()[:16]


def read_stamps(folder: Path) -> dict[str, str]:
    """Read which code has built which page; a file that is missing or broken knows of none."""
    try:
        return dict(json.loads((folder / STAMPS).read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        return {}


def write_index() -> str:
    """Write the page that leads to all others."""
    rows = "\n".join(
        f'<li><a href="{name}.html">{name}</a>: {html.escape(demo.words)}</li>'
        for name, demo in DEMOS.items()
    )
    return INDEX_PAGE.format(rows=rows)


INDEX_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Watch the hidden state</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 1.4rem/1.8 system-ui, sans-serif; margin: 4vh auto; max-width: 45rem; }}
main {{ padding: 0 1rem; }}
</style>
</head>
<body>
<main>
<h1>Watch the hidden state</h1>
<ul>
{rows}
</ul>
<p>Each page works by itself: no kernel, no network. F shows it full screen, Esc ends that.</p>
</main>
</body>
</html>
"""
