"""The reader's own progress: kept beside the workbook, never beside the stored notebooks."""

import itertools
import json
import os
import re
import tempfile
from pathlib import Path

from IPython.display import display

from mamba_edu.figures import require_text

JOURNAL = "progress.json"
KINDS = ("checks", "guesses")


def find_journal() -> Path | None:
    """Find where to keep the journal: in the working folder, if it is a workbook."""
    here = Path.cwd()
    return here / JOURNAL if here.name == "workbook" else None


def read_journal() -> dict[str, dict[str, str]]:
    """Read what is recorded: {"checks": {name: "passed"}, "guesses": {key: choice}}."""
    path = find_journal()
    if path is None or not path.exists():
        return {kind: {} for kind in KINDS}
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return kept | {kind: dict(kept.get(kind, {})) for kind in KINDS}
    except (ValueError, TypeError, AttributeError):
        set_aside(path)
        return {kind: {} for kind in KINDS}


def set_aside(path: Path) -> None:
    """Keep an unreadable journal under a name that is still free, so that a new one can begin."""
    numbers = (f".{n}" if n else "" for n in itertools.count())
    names = (path.with_suffix(f".unreadable{number}.json") for number in numbers)
    path.replace(next(name for name in names if not name.exists()))


def record(kind: str, key: str, value: str) -> None:
    """Note one thing in the reader's journal; outside a workbook nothing is kept.

    Args:
        kind: "checks" or "guesses".
        key: which check or question.
        value: what came of it.

    A folder that cannot be written to costs the note, not the reader's check.

    Raises:
        ValueError: if `kind` is another word, or key or value is no text.
    """
    if kind not in KINDS:
        raise ValueError(f"kind must be one of {KINDS}; got {kind!r}")
    require_text("key", key)
    require_text("value", value)
    path = find_journal()
    if path is None:
        return
    try:
        journal = read_journal()
        journal[kind][key] = value
        write_journal(path, journal)
    except OSError as error:
        print(f"Your progress could not be noted in {path.name}: {error.strerror}.")


def write_journal(path: Path, journal: dict[str, dict[str, str]]) -> None:
    """Write the journal whole or not at all: into a file beside it, then in its place."""
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(journal, file, indent=1, sort_keys=True)
        os.replace(name, path)
    finally:
        Path(name).unlink(missing_ok=True)


def read_title(path: Path) -> tuple[str, str, list[str]]:
    """Read a notebook's question, its minutes and the names of its exercises.

    It is the reader's own copy: cells may be gone, stubs rewritten, the file half saved.
    """
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        sources = ["".join(cell["source"]) for cell in cells] or [""]
    except (ValueError, TypeError, KeyError):
        return f"{path.name} cannot be read", "?", []
    heading = re.search(r"^# (.+)", sources[0], re.MULTILINE)
    minutes = re.search(r"(\d+) minutes", sources[0])
    calls = re.findall(rf"\bn{path.name[:2]}\.check_(\w+)\(", "\n".join(sources))
    question = heading[1] if heading else path.stem
    return question, minutes[1] if minutes else "?", list(dict.fromkeys(calls))


def progress() -> None:
    """Show the course map: every notebook here, its question, its minutes, what is done."""
    passed = read_journal()["checks"]
    rows = []
    for path in sorted(Path.cwd().glob("[0-9][0-9]_*.ipynb")):
        question, minutes, names = read_title(path)
        done = sum(f"n{path.name[:2]}.{name}" in passed for name in names)
        rows.append((path.name, question, minutes, f"{done} of {len(names)}"))
    head = "| | question | minutes | exercises passed |\n|---|---|---|---|\n"
    table = head + "\n".join(f"| {n[:2]} | [{q}]({n}) | {m} | {d} |" for n, q, m, d in rows)
    plain = "\n".join(f"{n[:2]}  {q}  ({m} min, {d})" for n, q, m, d in rows)
    display({"text/markdown": table, "text/plain": plain or "no notebook here"}, raw=True)
