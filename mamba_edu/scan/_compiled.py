"""Where the compiled kernels lie: in a folder named by what they were compiled from.

numba keeps compiled code beside the file that it came from, while that file's path and time last.
So a copy of the files is made, in a folder named by their contents: it is compiled once for all
copies of the course that share an environment, also where the package cannot be written to.
"""

import contextlib
import hashlib
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType

import torch

SMALL = 2**17  # numbers of state that one thread steps sooner than others wake up
FILES = ("_powers", "_kernels", "_reverse")
HERE = Path(__file__).parent


@cache
def load_kernels() -> tuple[ModuleType, ModuleType]:
    """Import the kernels, those forward and those back; each is compiled at its first call.

    Says so in a terminal, unless they have been compiled before.

    Raises:
        ImportError: if numba is not there or does not work.
    """
    import numba  # noqa: F401

    folder = find_folder()
    has_compiled = any(folder.parent.glob(f"{folder.name}*/**/*.nbc"))
    if sys.stderr.isatty() and sys.stdout.isatty() and not has_compiled:
        print("Compiling the fused scan for this machine, once: some seconds.", file=sys.stderr)
    spec = PathFinder.find_spec(folder.name, [str(folder.parent)])
    sys.modules[folder.name] = importlib.util.module_from_spec(spec)
    return tuple(importlib.import_module(f"{folder.name}.{name}") for name in FILES[1:])


def find_folder() -> Path:
    """Find the folder of this version's files, or make it where one may write.

    Returns:
        A folder that lasts; one for this process alone if none can be made.
    """
    texts = {f"{name}.py": (HERE / f"{name}.py").read_bytes() for name in FILES}
    name = "mamba_edu_" + hashlib.sha256(b"".join(texts.values())).hexdigest()[:16]
    for parent in list_parents():
        try:
            return fill_folder(parent / name, texts)
        except OSError:
            continue
    return fill_folder(Path(tempfile.mkdtemp()) / name, texts)


def list_parents() -> Iterator[Path]:
    """List where compiled code may be kept: as told, in a virtual environment, or for the user."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.prefix != sys.base_prefix:
        yield Path(sys.prefix) / "share" / "mamba_edu"
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        if os.environ.get(variable):
            yield Path(os.environ[variable]) / "mamba_edu"
    yield Path(os.path.expanduser("~")) / ".cache" / "mamba_edu"


def fill_folder(folder: Path, texts: dict[str, bytes]) -> Path:
    """Write the files, whole or not at all: another process may be doing the same."""
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        fresh = Path(tempfile.mkdtemp(dir=folder.parent))
        for name, text in texts.items():
            (fresh / name).write_bytes(text)
        with contextlib.suppress(OSError):  # another process was first
            fresh.rename(folder)
        shutil.rmtree(fresh, ignore_errors=True)
    if not os.access(folder, os.W_OK):
        raise PermissionError(folder)
    return folder


def share_items(kernel: Callable[..., None], fixed: tuple, n_items: int, n_steps: int) -> None:
    """Call a kernel on all its items, in as many threads as torch works with.

    Args:
        kernel: takes `fixed` and the first and the last item, and lets go of Python's lock.
        n_steps: how many numbers of state are stepped in all.
    """
    n_threads = min(torch.get_num_threads(), n_items) if n_steps > SMALL else 1
    cuts = [n_items * k // n_threads for k in range(n_threads + 1)]
    others = [
        open_pool(os.getpid(), n_threads).submit(kernel, *fixed, *cuts[k : k + 2])
        for k in range(1, n_threads)
    ]
    kernel(*fixed, *cuts[:2])
    for other in others:
        other.result()


@cache
def open_pool(process: int, n_threads: int) -> ThreadPoolExecutor:
    """Open a pool once; a forked process has none of its parent's threads."""
    return ThreadPoolExecutor(n_threads - 1, thread_name_prefix="mamba_edu")
