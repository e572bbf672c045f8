"""A sweep in slices, on some settings, on a cluster; killed at any moment; one writer at a time."""

import importlib.util
import itertools
import multiprocessing
import os
import random
import sys
import time
import warnings
from types import SimpleNamespace

import pytest

from mamba_edu.cli import main
from mamba_edu.cli import sweep as cli
from mamba_edu.experiments import Sweep, estimate_minutes, read_table, run_sweep, workers
from mamba_edu.experiments.locks import hold_table
from mamba_edu.experiments.sweeping import list_runs

FIRST = {"plan": "n_right=3", "torch": "2", "cpu_seconds": 6.0}


def measure(seed, n_right):
    """A run that is over at once."""
    return {"right_8": n_right, "n_8": 10, "process": os.getpid()}


GRID = Sweep(measure, {f"{name}, {n}": {"n_right": n} for name in "ab" for n in (3, 9)}, (0, 4))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tiny.csv"


def list_settings(rows):
    return [row["setting"] for row in rows]


def test_only_settings_that_hold_the_word_are_run(path):
    assert list_settings(run_sweep(GRID, path, only="b")) == ["b, 3", "b, 3", "b, 9", "b, 9"]
    assert list_settings(run_sweep(GRID, path, only="3")) == ["a, 3", "a, 3", "b, 3", "b, 3"]
    assert list_settings(read_table(path)) == ["a, 3", "a, 3", "b, 3", "b, 3", "b, 9", "b, 9"]
    with pytest.raises(ValueError, match=r"only must be in one of \['a, 3', .*; it is 'c'"):
        run_sweep(GRID, path, only="c")


def test_a_fresh_start_on_a_word_leaves_the_rest_alone(path):
    run_sweep(GRID, path)
    other = GRID._replace(run=lambda seed, n_right: {"right_8": 0, "n_8": 10, "process": 0})
    run_sweep(other, path, fresh=True, only="a")
    assert [row["right_8"] for row in read_table(path)] == [0, 0, 0, 0, 3, 3, 9, 9]


def test_a_row_tells_its_versions_and_its_seconds(path):
    row = run_sweep(GRID, path)[0]
    assert f"python={'.'.join(map(str, sys.version_info[:3]))}" in row["versions"]
    assert all(f" {name}=" in row["versions"] for name in ("numpy", "numba", "mamba_edu"))
    assert 0 <= row["wall_seconds"] < 5


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_slice_begins_no_run_after_its_time_and_the_next_goes_on(path, monkeypatch, jobs):
    """A clock that moves a minute whenever it is asked: it is asked once before each run."""
    ticks = itertools.count()
    clock = SimpleNamespace(**vars(time) | {"monotonic": lambda: 60.0 * next(ticks)})
    monkeypatch.setattr(workers, "time", clock)
    assert len(run_sweep(GRID, path, jobs, minutes=3.5)) == 3
    assert len(read_table(path)) == 3
    assert len(run_sweep(GRID, path)) == 8
    with pytest.raises(ValueError, match="minutes must be a finite number above 0; it is 0"):
        run_sweep(GRID, path, minutes=0)


def test_what_is_left_is_told_with_its_likely_minutes(path):
    assert estimate_minutes(GRID, path) == (list_runs(GRID), None)
    head = "setting,seed,plan,torch,cpu_seconds,right_8,n_8\n"
    body = [f'"{s}",0,n_right=3,2,{t},3,10\n' for s, t in (("a, 3", 6.0), ("b, 3", 60.0))]
    path.write_text(head + "".join(body))
    left, minutes = estimate_minutes(GRID, path)
    assert left == [run for run in list_runs(GRID) if run not in (("a, 3", 0), ("b, 3", 0))]
    # one run more as long as a, 3, one as b, 3, and four unknown ones of their mean
    assert minutes == pytest.approx((6 + 60 + 4 * 33) / 60)
    assert estimate_minutes(GRID, path, only="b, 3")[1] == pytest.approx(1)


def test_a_second_writer_is_refused_and_a_dead_one_is_forgotten(path):
    with hold_table(path):
        with pytest.raises(BlockingIOError, match=f"process {os.getpid()} writes to it now"):
            run_sweep(GRID, path)
        assert not path.exists()
    path.with_name("tiny.csv.lock").write_text("1\n")  # as a killed sweep leaves it
    assert len(run_sweep(GRID, path)) == 8
    assert [file.name for file in path.parent.iterdir()] == ["tiny.csv"]
    with hold_table(path):
        assert len(run_sweep(GRID, path)) == 8  # nothing is left: nothing is written


def measure_slowly(seed, log):
    """A run that leaves a trace of its own, and has much to be written."""
    time.sleep(0.001)
    with open(log, "a") as file:
        file.write(f"{seed}\n")
    return {"right_8": 3, "n_8": 10} | {f"loss_{n}": 1 / 3 for n in range(40)}


def sweep_until_killed(sweep, path, wait):
    """Sweep in a process of its own, and kill it there and then."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of a fork beside threads
        child = multiprocessing.get_context("fork").Process(target=run_sweep, args=(sweep, path))
        child.start()
    child.join(wait)
    child.kill()
    child.join()
    return [row["seed"] for row in read_table(path)] if path.exists() else []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be forked here")
def test_killed_at_any_moment_no_run_is_lost_and_none_is_there_twice(tmp_path, path):
    """What was written stays; at the end each run is there once, and hardly one was made twice."""
    rng, seen, n_killed = random.Random(5), [], 4
    sweep = Sweep(measure_slowly, {"few": {"log": tmp_path / "log"}}, tuple(range(40)))
    for wait in [*(rng.uniform(0.02, 0.3) for _ in range(n_killed)), None]:
        rows = sweep_until_killed(sweep, path, wait)
        assert rows[: len(seen)] == seen
        seen = rows
    assert seen == list(range(40))
    made = [int(line) for line in (tmp_path / "log").read_text().split()]
    assert set(made) == set(range(40))
    assert len(made) <= 40 + n_killed  # what was under way, and nothing else, is made again


def test_a_local_cluster_of_processes_makes_the_runs(path):
    from distributed import LocalCluster

    quiet = {"dashboard_address": None, "silence_logs": 50}
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster:
        rows = run_sweep(GRID, path, dask=cluster.scheduler_address)
    assert [row["right_8"] for row in rows] == [3, 3, 9, 9] * 2
    assert read_table(path) == rows
    assert os.getpid() not in {row["process"] for row in rows}


def test_without_dask_the_command_says_how_to_get_it(path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"python -m pip install 'dask\[distributed\]'"):
        run_sweep(GRID, path, dask="tcp://127.0.0.1:1")


@pytest.fixture
def grids(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "SWEEPS", {"tiny": GRID, "other": GRID})
    return tmp_path


def test_the_command_takes_slices_and_words(grids, capsys):
    assert cli.sweep_grids(["tiny"], only="a", folder=grids) == 0
    assert capsys.readouterr().out.endswith(f"tiny: 4 runs, in {grids.name}/tiny.csv\n")
    assert cli.sweep_grids([], minutes=1e-9, folder=grids) == 0
    said = capsys.readouterr().out
    assert said.splitlines()[0].startswith("tiny: 4 of 8 runs")
    assert cli.sweep_grids([], only="c", folder=grids) == 2
    assert "No setting of tiny, other holds 'c'" in capsys.readouterr().out


def test_a_dry_run_lists_and_runs_nothing(grids, capsys):
    assert cli.list_left(["tiny"], "a", 2, grids) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["  a, 3, seed 0", "  a, 3, seed 4"]
    assert said[-1] == "tiny: 4 runs left; no row yet tells how long they take"
    assert not list(grids.iterdir())
    cli.sweep_grids(["tiny"], only="a", folder=grids)
    capsys.readouterr()
    assert cli.list_left(["tiny"], "", 2, grids) == 0
    assert capsys.readouterr().out.splitlines()[-1] == (
        "tiny: 4 runs left; about 0.0 minutes, 2 at a time"
    )


def test_the_options_reach_the_sweep(monkeypatch):
    told = {}
    monkeypatch.setattr(cli, "sweep_grids", lambda *names, **how: told.update(how) or 0)
    monkeypatch.setattr(cli, "list_left", lambda *asked: told.update(dry=asked) or 0)
    words = "sweep tiny --jobs 2 --only a --minutes 1.5 --dask tcp://h:1 --fresh"
    assert main(words.split()) == 0
    assert told == {"only": "a", "jobs": 2, "fresh": True, "minutes": 1.5, "dask": "tcp://h:1"}
    assert main(["sweep", "tiny", "--dry-run", "--only", "b", "--jobs", "2"]) == 0
    assert told["dry"] == (["tiny"], "b", 2)


def test_the_bar_counts_what_was_there_before():
    said = []
    bar = SimpleNamespace(n=0, total=8, initial=0, write=said.append)
    bar.update = lambda: setattr(bar, "n", bar.n + 1)
    tell = cli.make_teller(bar)
    row = FIRST | {"setting": "a", "seed": 4, "right_8": 3, "n_8": 10, "right_16": 0, "n_16": 0}
    tell(row, 2)
    tell(row, 1)
    assert (bar.n, bar.initial) == (7, 5)
    assert said[0] == "  a, seed 4: 0.3 of 10 at 8 (6 s of CPU); 2 left"
