"""The reader's own copies of the notebooks: made once, without outputs, never overwritten."""

import hashlib
import json
from datetime import date
from pathlib import Path

from nbformat import NotebookNode

from mamba_edu.cli.notebook import clear_outputs, find_notebooks, read_notebook, write_notebook

FOLDER = "workbook"
KEPT = "kept"  # in it: copies that `reset` put aside
NOTE = "mamba_edu"  # in a copy's metadata: what it was made from


def fill_workbook(root: Path) -> list[str]:
    """Make the copies that are missing.

    Returns:
        The numbers of the notebooks that changed since the reader's copies were made.
    """
    changed = []
    for source in find_notebooks(root, []):
        copy = root / FOLDER / source.name
        notebook = read_notebook(source)
        if not copy.exists():
            write_copy(notebook, copy)
        elif read_note(copy) not in (hash_source(notebook), None):
            changed.append(source.name[:2])
    return changed


def reset(root: Path, number: str, today: date | None = None) -> Path | None:
    """Give the reader a fresh copy of a notebook.

    Args:
        root: the course's folder.
        number: of the notebook, as in 01.
        today: dates the copy that is put aside; the clock's date, if not given.

    Returns:
        Where the reader's copy is kept now; nothing, if there was none.

    Raises:
        ValueError: if there is no such notebook.
    """
    (source,) = find_notebooks(root, [number])
    copy = root / FOLDER / source.name
    notebook = read_notebook(source)
    kept = None
    if copy.exists():
        kept = choose_name(root / FOLDER / KEPT, f"{copy.stem}-{today or date.today()}")
        kept.parent.mkdir(exist_ok=True)
        copy.rename(kept)
    write_copy(notebook, copy)
    return kept


def write_copy(notebook: NotebookNode, target: Path) -> None:
    """Write a notebook without its outputs, with a note of what it was made from."""
    note = hash_source(notebook)
    clear_outputs(notebook)
    notebook.metadata[NOTE] = NotebookNode(source=note)
    write_notebook(notebook, target)


def hash_source(notebook: NotebookNode) -> str:
    """Hash what a reader reads and runs; outputs and counts do not count."""
    cells = [(cell.cell_type, cell.source) for cell in notebook.cells]
    return hashlib.sha256(json.dumps(cells).encode()).hexdigest()[:16]


def read_note(copy: Path) -> str | None:
    """Read what a copy was made from; nothing, if it does not say or cannot be read."""
    try:
        metadata = json.loads(copy.read_text(encoding="utf-8"))["metadata"]
        return metadata[NOTE]["source"]
    except (ValueError, KeyError, TypeError):
        return None


def choose_name(folder: Path, stem: str) -> Path:
    """Return the first free name for a notebook: stem, stem-2, stem-3, ..."""
    path, count = folder / f"{stem}.ipynb", 1
    while path.exists():
        count += 1
        path = folder / f"{stem}-{count}.ipynb"
    return path
