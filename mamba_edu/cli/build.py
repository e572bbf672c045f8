"""Run notebooks and store them executed, or say why one must not be stored."""

from pathlib import Path

from nbformat import NotebookNode

from mamba_edu.cli.faults import find_faults
from mamba_edu.cli.normal import normalise
from mamba_edu.cli.notebook import (
    THREADS,
    clear_outputs,
    find_notebooks,
    read_notebook,
    run_notebook,
    write_notebook,
)

MOST_SECONDS = 60


def build(root: Path, numbers: list[str]) -> int:
    """Run the notebooks with these numbers (all, if none) and store them with their outputs.

    Returns:
        0 if every notebook was stored, 1 if one was refused, 2 if a number is unknown.
        A refused notebook stays as it was.
    """
    try:
        paths = find_notebooks(root, numbers)
    except ValueError as error:
        print(f"Not built: {error}")
        return 2
    refused = [path.name for path in paths if not build_notebook(path, root)]
    if refused:
        print(f"Refused, and left as they were: {', '.join(refused)}")
    return 1 if refused else 0


def build_notebook(path: Path, root: Path) -> bool:
    """Run one notebook, store it if nothing is wrong with it, and tell whether it was."""
    try:
        notebook = read_notebook(path)
    except ValueError as error:
        print(f"  {error}")
        return False
    seconds, faults = execute(notebook, path.parent, root)
    print(f"{path.name}: {seconds:.0f} s{'' if not faults else ', refused'}", flush=True)
    for fault in faults:
        print(f"  {path.name}, {fault}")
    if not faults:
        write_notebook(normalise(notebook), path)
    return not faults


def execute(
    notebook: NotebookNode, folder: Path, root: Path, threads: int = THREADS
) -> tuple[float, list[str]]:
    """Run a notebook from nothing, in place.

    Returns:
        The seconds it took, and what keeps it from being stored.
    """
    clear_outputs(notebook)
    seconds, reason = run_notebook(notebook, folder, root, threads)
    faults = find_faults(notebook, root)
    if reason and not any("found an error" in fault for fault in faults):
        faults.insert(0, f"stopped: {reason}")
    if seconds > MOST_SECONDS:
        print(f"  this took {seconds:.0f} s; a notebook's budget is {MOST_SECONDS} s on two cores")
    return seconds, faults
