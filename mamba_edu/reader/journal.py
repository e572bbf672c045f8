"""The reader's own progress: kept beside the workbook, never beside the stored notebooks."""

import json
import os
import re
import tempfile
from pathlib import Path

from IPython.display import display

JOURNAL = "progress.json"


def find_journal() -> Path | None:
    """Find where to keep the journal: in the working folder, if it is a workbook."""
    here = Path.cwd()
    return here / JOURNAL if here.name == "workbook" else None


def read_journal() -> dict[str, dict[str, str]]:
    """Read what is recorded: {"checks": {name: "passed"}, "guesses": {key: choice}}."""
    path = find_journal()
    blank = {"checks": {}, "guesses": {}}
    if path is None or not path.exists():
        return blank
    try:
        return blank | json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, TypeError):
        path.replace(path.with_suffix(".unreadable.json"))  # kept, not lost; a new one begins
        return blank


def record(kind: str, key: str, value: str) -> None:
    """Note one thing in the reader's journal; outside a workbook nothing is kept.

    Args:
        kind: "checks" or "guesses".
        key: which check or question.
        value: what came of it.

    Raises:
        ValueError: if `kind` is another word.
    """
    journal = read_journal()
    if kind not in journal:
        raise ValueError(f"kind must be one of {sorted(journal)}; got {kind!r}")
    path = find_journal()
    if path is None:
        return
    journal[kind][key] = value
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        json.dump(journal, file, indent=1, sort_keys=True)
    os.replace(name, path)


def read_title(path: Path) -> tuple[str, str, list[str]]:
    """Read a notebook's question, its minutes and the names of its exercises."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    first = "".join(cells[0]["source"])
    minutes = re.search(r"(\d+) minutes", first)
    stubs = [
        "".join(cell["source"])
        for cell in cells
        if "exercise" in cell.get("metadata", {}).get("tags", [])
    ]
    names = [re.search(r"^def (\w+)", stub, re.MULTILINE)[1] for stub in stubs]
    return first.splitlines()[0].lstrip("# "), minutes[1] if minutes else "?", names


def progress() -> None:
    """Show the course map: every notebook here, its question, its minutes, what is done."""
    passed = read_journal()["checks"]
    rows = []
    for path in sorted(Path.cwd().glob("[0-9][0-9]_*.ipynb")):
        question, minutes, names = read_title(path)
        done = sum(f"n{path.name[:2]}.{name}" in passed for name in names)
        rows.append(
            (path.name[:2], f"[{question}]({path.name})", minutes, f"{done} of {len(names)}")
        )
    head = "| | question | minutes | exercises passed |\n|---|---|---|---|\n"
    table = head + "\n".join("| " + " | ".join(row) + " |" for row in rows)
    plain = "\n".join(f"{n}  {q[1 : q.index(']')]}  ({m} min, {d})" for n, q, m, d in rows)
    display({"text/markdown": table, "text/plain": plain or "no notebook here"}, raw=True)
