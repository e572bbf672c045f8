"""A grid's runs are made once, kept at once, taken up again; another grid's are refused."""

import subprocess
import sys

import pytest
import torch

from mamba_edu.cli import main
from mamba_edu.cli import sweep as cli
from mamba_edu.experiments import SWEEPS, Sweep, load_results, read_table, run_sweep, write_table
from mamba_edu.experiments.shipped import RESULTS

MEASURED = []
TO_COME = {"hard_tasks", "star", "taus"}  # its grid is there, its table not yet


def measure(seed, n_right, of=10):
    """A run that is over at once."""
    MEASURED.append((seed, n_right))
    if n_right < 0:
        raise KeyboardInterrupt
    return {"accuracy": n_right / of, "n_sequences": of, "threads": torch.get_num_threads()}


def make_sweep(**settings):
    settings = settings or {"few": 3, "many": 9}
    return Sweep(measure, {name: {"n_right": n} for name, n in settings.items()}, (0, 4))


@pytest.fixture(autouse=True)
def forget():
    MEASURED.clear()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tiny.csv"


def list_runs(rows):
    return [(row["setting"], row["seed"], row["accuracy"], row["n_sequences"]) for row in rows]


WHOLE = [("few", 0, 0.3, 10), ("few", 4, 0.3, 10), ("many", 0, 0.9, 10), ("many", 4, 0.9, 10)]


def test_a_sweep_runs_every_setting_with_every_seed(path):
    rows = run_sweep(make_sweep(), path)
    assert list_runs(rows) == WHOLE
    assert MEASURED == [(0, 3), (4, 3), (0, 9), (4, 9)]
    assert {row["plan"] for row in rows} == {"n_right=3", "n_right=9"}
    assert {row["torch"] for row in rows} == {str(torch.__version__)}
    assert all(0 <= row["cpu_seconds"] < 5 for row in rows)


def test_what_is_read_is_what_was_returned_and_written(path):
    rows = run_sweep(make_sweep(), path)
    text = path.read_text()
    assert read_table(path) == rows
    write_table(path, read_table(path))
    assert path.read_text() == text
    assert not [other for other in path.parent.iterdir() if other != path]


def test_a_run_has_one_thread_and_gives_the_others_back(path):
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    assert {row["threads"] for row in run_sweep(make_sweep(), path)} == {1}
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def test_a_sweep_goes_on_where_it_was_stopped(path):
    with pytest.raises(KeyboardInterrupt):
        run_sweep(make_sweep(few=3, many=-1), path)
    assert list_runs(read_table(path)) == WHOLE[:2]
    MEASURED.clear()
    assert list_runs(run_sweep(make_sweep(), path)) == WHOLE
    assert MEASURED == [(0, 9), (4, 9)]
    run_sweep(make_sweep(), path)
    assert len(MEASURED) == 2


def test_killed_in_mid_run_nothing_is_lost_and_nothing_twice(path):
    code = f"""
import os, signal
from pathlib import Path
from mamba_edu.experiments import Sweep, run_sweep

def measure(seed, n_right):
    if n_right == 9 and seed == 4:
        os.kill(os.getpid(), signal.SIGKILL)
    return {{"accuracy": n_right / 10, "n_sequences": 10, "threads": 1}}

settings = {{"few": {{"n_right": 3}}, "many": {{"n_right": 9}}}}
run_sweep(Sweep(measure, settings, (0, 4)), Path({str(path)!r}))
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode != 0
    assert list_runs(read_table(path)) == WHOLE[:3]
    assert list_runs(run_sweep(make_sweep(), path)) == WHOLE
    assert MEASURED == [(4, 9)]


def test_the_order_is_the_grid_s_whatever_was_there_first(path):
    run_sweep(make_sweep(many=9), path)
    assert list_runs(run_sweep(make_sweep(), path)) == WHOLE
    assert list_runs(read_table(path)) == WHOLE


def test_runs_in_processes_of_their_own_give_the_same(path):
    told = []
    rows = run_sweep(make_sweep(), path, jobs=2, tell=lambda row, left: told.append(left))
    assert list_runs(rows) == list_runs(read_table(path)) == WHOLE
    assert told == [3, 2, 1, 0]
    assert {row["threads"] for row in rows} == {1}
    assert not MEASURED  # it was not here that they ran


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (make_sweep(few=3), "the table holds 'many', seed 0, which is not in the grid"),
        (make_sweep()._replace(seeds=(0, 1)), "the table holds 'few', seed 4, which is not in"),
        (make_sweep(few=2, many=9), "was made with 'n_right=3'; the grid now says 'n_right=2'"),
    ],
)
def test_rows_of_another_grid_are_refused_unless_it_starts_afresh(path, other, says):
    run_sweep(make_sweep(), path)
    text = path.read_text()
    with pytest.raises(ValueError, match=says):
        run_sweep(other, path)
    assert path.read_text() == text
    rows = run_sweep(other, path, fresh=True)
    assert read_table(path) == rows
    assert len(rows) == len(other.settings) * len(other.seeds)


def test_a_sweep_refuses_no_job_at_all(path):
    with pytest.raises(ValueError, match="jobs must be at least 1; it is 0"):
        run_sweep(make_sweep(), path, jobs=0)


def test_the_command_runs_what_it_is_asked_and_says_so(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(cli, "SWEEPS", {"tiny": make_sweep(), "other": make_sweep(few=1)})
    assert cli.sweep_grids(["tiny"], jobs=1, fresh=False, folder=tmp_path) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "  few, seed 0: 0.3 of 10 (0 s of CPU); 3 left"
    assert said[-1] == f"tiny: 4 runs, in {tmp_path.name}/tiny.csv"
    assert [file.name for file in tmp_path.iterdir()] == ["tiny.csv"]
    assert cli.sweep_grids([], jobs=1, fresh=False, folder=tmp_path) == 0
    assert len(read_table(tmp_path / "other.csv")) == 2
    assert len(MEASURED) == 6
    cli.sweep_grids(["tiny"], jobs=1, fresh=True, folder=tmp_path)
    assert len(MEASURED) == 10


def test_the_command_names_the_grids_that_there_are(capsys):
    assert main(["sweep", "nothing"]) == 2
    assert f"no grid 'nothing'; there are: {', '.join(sorted(SWEEPS))}" in capsys.readouterr().out


@pytest.mark.parametrize("name", sorted(set(SWEEPS) - TO_COME))
def test_a_shipped_table_is_whole_and_of_the_grid_that_ships(name):
    """A row for each setting and seed, made with the keywords that stand in the code now."""
    rows, sweep = load_results(name), SWEEPS[name]
    runs = [(setting, seed) for setting in sweep.settings for seed in sweep.seeds]
    assert [(row["setting"], row["seed"]) for row in rows] == runs
    assert run_sweep(sweep, RESULTS / f"{name}.csv") == rows
    assert len(sweep.seeds) >= 5


def test_a_table_that_does_not_ship_is_refused():
    with pytest.raises(ValueError, match=r"name must be one of .*; it is 'nothing'"):
        load_results("nothing")
