"""Find, read, run and write notebooks: what both builds share."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import nbformat
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode

CELL_SECONDS = 120  # a cell that takes longer hangs: a whole notebook may take 60 s
THREADS = 2  # what the course promises to run on


def find_notebooks(root: Path, numbers: list[str]) -> list[Path]:
    """List the notebooks with these numbers, or all of them, in reading order."""
    paths = sorted((root / "notebooks").glob("[0-9][0-9]_*.ipynb"))
    known = {path.name[:2]: path for path in paths}
    wanted = [f"{number!s:0>2}" for number in numbers] or sorted(known)
    unknown = [number for number in wanted if number not in known]
    if unknown or not known:
        there = ", ".join(sorted(known)) or "none"
        missing = ", ".join(unknown) or "of any number"
        raise ValueError(f"no notebook {missing} in {root / 'notebooks'}; there are: {there}")
    return [known[number] for number in wanted]


def read_notebook(path: Path) -> NotebookNode:
    """Read a notebook as it stands: nothing is repaired, no random identifier is added."""
    try:
        notebook = nbformat.v4.reads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is not a notebook: {error}") from None
    if notebook.get("nbformat") != 4:
        version = notebook.get("nbformat")
        raise ValueError(f"{path} is in notebook format {version}; only format 4 is read")
    return notebook


def write_notebook(notebook: NotebookNode, path: Path) -> None:
    """Write a notebook beside its place and rename it: a reader never meets half a file."""
    nbformat.validate(notebook)
    text = nbformat.writes(notebook) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.stem}-", suffix=".part")
    part = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        part.chmod(0o644)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def clear_outputs(notebook: NotebookNode) -> None:
    """Take out what an earlier run stored, so that nothing stale survives a build."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None


def run_notebook(
    notebook: NotebookNode, folder: Path, root: Path, threads: int = THREADS
) -> tuple[float, str]:
    """Run every cell in this Python's own kernel, in place.

    Returns:
        The seconds it took, and why it stopped before its last cell ("" when it did not).
    """
    specs = KernelSpecManager(kernel_dirs=[])  # nobody else's kernel of the same name
    manager = AsyncKernelManager(kernel_name="python3", kernel_spec_manager=specs)
    client = NotebookClient(
        notebook,
        km=manager,
        timeout=CELL_SECONDS,
        resources={"metadata": {"path": str(folder)}},
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
    )
    start = time.perf_counter()
    reason = run_client(client, course_environment(root, threads))
    return time.perf_counter() - start, reason


def run_client(client: NotebookClient, environment: dict[str, str]) -> str:
    """Run to the end or to the first failure, and say in words what that was."""
    with tempfile.TemporaryDirectory() as profile:
        try:
            settings = environment | {"IPYTHONDIR": profile}
            client.execute(env=settings, stderr=subprocess.DEVNULL, cleanup_kc=True)
        except CellExecutionError as error:
            return f"{error.ename}: {error.evalue}".strip()
        except CellTimeoutError:
            return f"a cell ran longer than {CELL_SECONDS} s"
        except DeadKernelError:
            return "the kernel died: memory may have run out"
    return ""


def course_environment(root: Path, threads: int = THREADS) -> dict[str, str]:
    """Give a process this course's package, its threads, and no habits of whoever started it."""
    personal = {"MAMBA_EDU_STAGE", "MPLBACKEND", "PYTHONWARNINGS", "PYTHONSTARTUP"}
    kept = {name: value for name, value in os.environ.items() if name not in personal}
    search = [str(root), *filter(None, [kept.get("PYTHONPATH")])]
    own = {"PYTHONPATH": os.pathsep.join(search)}
    return kept | own | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
