"""Make the runs of a grid: here, in processes of this machine, or on a cluster."""

import functools
import importlib.metadata
import importlib.util
import itertools
import math
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import torch

from mamba_edu.experiments.allocation import keep_memory, return_memory
from mamba_edu.experiments.tables import Row

Run = tuple[str, int]
NAMED = ("numpy", "numba", "mamba_edu")  # their versions go into each row; torch has its own column


def make_rows(
    measure: Callable[..., Mapping[str, int | float]],
    settings: Mapping[str, Mapping[str, Any]],
    runs: Sequence[Run],
    jobs: int = 1,
    minutes: float | None = None,
    dask: str | None = None,
) -> Iterator[Row]:
    """Make the runs, some at a time, and hand out each row as soon as it is ready.

    Args:
        measure, settings: as a Sweep has them.
        runs: (setting, seed) of each.
        jobs: how many at a time, each in a process of its own with one thread.
        minutes: after so many no run is begun; those that run are waited for. None: no end.
        dask: the address of a Dask scheduler, whose workers then make the runs, as many at a time
            as they have threads; they must have this course installed.

    Raises:
        ModuleNotFoundError: if Dask is asked for and not installed, with the command that does it.
    """
    end = math.inf if minutes is None else time.monotonic() + 60 * minutes
    timely = itertools.takewhile(lambda _: time.monotonic() < end, runs)
    if jobs == 1 and dask is None:
        return (make_row(measure, settings[setting], setting, seed) for setting, seed in timely)
    from joblib import delayed  # here, so that the maths imports without joblib

    make = _make_row_alone if dask is None else make_row  # a cluster's processes are not ours
    calls = (delayed(make)(measure, settings[setting], setting, s) for setting, s in timely)
    return _call_elsewhere(calls, jobs, dask)


def _call_elsewhere(calls: Iterator, jobs: int, dask: str | None) -> Iterator[Row]:
    """Make the calls in other processes; each is sent when a place is free, never in a bundle."""
    from joblib import Parallel, parallel_config

    where = {"backend": "loky", "n_jobs": jobs}
    if dask is not None:
        _require_dask()
        where = {"backend": "dask", "n_jobs": -1, "scheduler_host": dask}
    with parallel_config(**where):
        pool = Parallel(return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1)
        yield from pool(calls)


def _require_dask() -> None:
    """Refuse a cluster where nothing speaks to one."""
    if importlib.util.find_spec("distributed") is None:
        raise ModuleNotFoundError(
            "a Dask cluster needs dask[distributed]; it is not installed: python -m pip install "
            "'dask[distributed]'"
        )


def _make_row_alone(*arguments: Any) -> Row:
    """Make one run in a process of its own: it keeps what it frees until the run is over."""
    keep_memory()
    try:
        return make_row(*arguments)
    finally:
        return_memory()  # else the pool takes what is kept for a leak, and ends the process


def make_row(
    measure: Callable[..., Mapping[str, int | float]],
    keywords: Mapping[str, Any],
    setting: str,
    seed: int,
) -> Row:
    """Make one run on one thread, and write down how it was made and what it took.

    Returns:
        The row: setting, seed, plan, torch, cpu_seconds, versions, wall_seconds, then what was
        measured.
    """
    threads, began, clock = torch.get_num_threads(), time.process_time(), time.perf_counter()
    torch.set_num_threads(1)  # small models: several threads wait more than they help
    try:
        measured = measure(seed=seed, **keywords)
    finally:
        torch.set_num_threads(threads)
    return {
        "setting": setting,
        "seed": seed,
        "plan": write_plan(keywords),
        "torch": str(torch.__version__),
        "cpu_seconds": round(time.process_time() - began, 1),
        "versions": _write_versions(),
        "wall_seconds": round(time.perf_counter() - clock, 1),
        **measured,
    }


def write_plan(keywords: Mapping[str, Any]) -> str:
    """Write the keywords of a setting on one line."""
    return " ".join(f"{name}={value}" for name, value in keywords.items())


@functools.cache
def _write_versions() -> str:
    """Name what a run's numbers may hang on, beside torch."""
    found = {"python": platform.python_version()}
    for name in NAMED:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found[name] = "none"
    return write_plan(found)
