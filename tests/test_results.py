"""Tables are summed up with intervals; some rows are made again and must come out the same."""

import pytest

from mamba_edu.cli import main, results
from mamba_edu.cli import sweep as cli
from mamba_edu.experiments import (
    Sweep,
    bootstrap_interval,
    find_changes,
    find_count,
    find_strays,
    list_counts,
    list_depths,
    run_sweep,
    summarize,
)

RIGHT = {0: 90, 1: 95, 2: 92, 3: 97, 4: 91}


def measure(seed, off=0):
    """A run of two lengths; the fifth seed stops after the first, the seeds from 1000 on agree."""
    right = RIGHT.get(seed, 93) - off
    counts = {"right_8": right, "n_8": 100, "right_32": right - 50, "n_32": 80}
    counts |= {"right_32": 0, "n_32": 0} if seed == 4 else {}
    return counts | {"depth_1": 3, "n_depth_1": 4}


GRID = Sweep(measure, {"needle, max": {}, "needle, mean": {"off": 40}})


@pytest.fixture
def tables(monkeypatch, tmp_path):
    monkeypatch.setattr(cli, "SWEEPS", {"tiny": GRID})
    monkeypatch.setattr(results, "SWEEPS", {"tiny": GRID})
    monkeypatch.setattr(results.random, "randrange", lambda n: 7)
    run_sweep(GRID, tmp_path / "tiny.csv")
    return tmp_path


def spoil(monkeypatch, run):
    monkeypatch.setattr(results, "SWEEPS", {"tiny": GRID._replace(run=run)})


ROW = {"setting": "a", "seed": 0} | measure(1)
OLD = {"accuracy": 0.25, "n_sequences": 8, "accuracy_512": 0.5}


def test_counts_are_found_by_length():
    assert list_counts(ROW) == {"8": (95, 100), "32": (45, 80)}
    assert find_count(ROW, 32) == (45, 80)
    assert list_counts(OLD) == {"": (2, 8), "512": (4, 8)}
    assert find_count(OLD, "") == (2, 8)
    with pytest.raises(ValueError, match=r"counts at length 64; it has \['8', '32'\]"):
        find_count(ROW, 64)


def test_counts_by_depth_are_found_from_front_to_back():
    row = {"n_depth_2": 9, "depth_2": 5, "depth_1": 3, "n_depth_1": 4, "depth_3": 0, "n_depth_3": 0}
    assert list_depths(row) == [(3, 4), (5, 9), (0, 0)]
    for silent in ({"right_8": 1, "n_8": 2}, {"depth_1": 0, "n_depth_1": 0}):
        with pytest.raises(ValueError, match="must have counts by depth; 'a' has none"):
            list_depths({"setting": "a"} | silent)


def test_a_run_that_stopped_counts_with_its_last_length():
    row = measure(4)
    assert list_counts(row) == {"8": (91, 100)}
    assert find_count(row, 32) == (91, 100)
    with pytest.raises(ValueError, match="it has"):
        find_count({"right_8": 0, "n_8": 0}, 8)


def test_a_summary_has_a_line_for_each_setting_and_length(tables):
    lines = summarize(run_sweep(GRID, tables / "tiny.csv"))
    assert [(line.setting, line.length) for line in lines] == [
        (f"needle, {name}", length) for name in ("max", "mean") for length in ("8", "32")
    ]
    assert lines[0].accuracy == pytest.approx(0.93)
    assert (lines[0].n_seeds, lines[0].n_stopped, lines[1].n_stopped) == (5, 0, 1)
    assert lines[1].accuracy == pytest.approx((0.5 + 45 / 80 + 42 / 80 + 47 / 80 + 0.91) / 5)
    counts = [(right, 100) for right in RIGHT.values()]
    assert lines[0][3:5] == bootstrap_interval(counts)


def test_the_command_prints_the_summary(tables, capsys):
    assert results.summarize_tables(["tiny"], "max", tables) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith("tiny: mean over seeds [95 % interval")
    assert said[1] == "  needle, max (5 seeds)"
    assert said[2].split()[:2] == ["8", "0.930"]
    assert said[3].endswith("1 stopped before")
    assert len(said) == 4
    assert results.summarize_tables(["huge"], folder=tables) == 2


@pytest.mark.parametrize(("apart", "n_faults"), [(0, 0), (2, 0), (-2, 0), (3, 1), (-3, 1)])
def test_a_run_made_again_may_differ_by_two_sequences(apart, n_faults):
    faults = find_changes(ROW, ROW | {"right_32": 45 + apart})
    assert len(faults) == n_faults
    assert all(fault.startswith("32: 45 of 80 in the table, now") for fault in faults)


def test_what_else_may_not_change_and_what_may():
    assert find_changes(ROW, ROW | {"depth_1": 0})[0].startswith("depth_1: 3 of 4 in the table")
    assert find_changes(ROW, ROW | {"n_32": 79})
    assert not find_changes(ROW, ROW | {"right_32": 0, "n_32": 0})  # it stopped earlier
    with pytest.raises(ValueError, match=r"of the same run; they are of \('a', 0\) and \('a', 1\)"):
        find_changes(ROW, ROW | {"seed": 1})


def test_a_new_seed_strays_if_it_lies_outside_what_the_others_predict():
    rows = [measure(seed) for seed in range(5)]
    assert not find_strays(rows, measure(1000))
    (stray,) = find_strays(rows, measure(1000) | {"right_8": 60})
    assert stray.startswith("length 8: 0.600 of 100, outside 0.783 to 1.000")


def test_the_command_makes_rows_again_and_tries_new_seeds(tables, capsys):
    assert results.verify_tables(["tiny"], n_runs=99, folder=tables) == 0
    said = capsys.readouterr().out
    assert said.count("same seed") == said.count("as it stands") == 10
    assert "tiny, new seed: needle, max, seed 1007: where it should be (0.93 of 100 at 8" in said
    assert results.verify_tables(["tiny"], "mean", n_runs=3, folder=tables) == 0
    said = capsys.readouterr().out
    assert (said.count("same seed"), said.count("new seed")) == (3, 1)


def test_a_table_that_does_not_come_out_again_fails(tables, monkeypatch, capsys):
    spoil(monkeypatch, lambda seed, off=0: measure(seed, off + 3 * (seed == 2)))
    assert results.verify_tables(["tiny"], n_runs=99, folder=tables) == 1
    said = capsys.readouterr().out
    assert said.count("CHANGED") == 2
    assert "    8: 92 of 100 in the table, now 89 of 100\n" in said
    assert said.endswith("2 runs did not come out as they stand in the tables.\n")


def test_a_new_seed_that_lies_elsewhere_is_a_warning_only(tables, monkeypatch, capsys):
    spoil(monkeypatch, lambda seed, off=0: measure(seed, off + 30 * (seed > 999)))
    assert results.verify_tables(["tiny"], n_runs=99, folder=tables) == 0
    assert capsys.readouterr().out.count("WARNING, elsewhere") == 2


def test_what_cannot_be_verified_is_refused(tables, monkeypatch):
    with pytest.raises(ValueError, match="--runs must be at least 1; it is 0"):
        results.verify_tables(["tiny"], n_runs=0, folder=tables)
    monkeypatch.setattr(results, "SWEEPS", {"tiny": GRID._replace(settings={})})
    with pytest.raises(ValueError, match=r"tiny.csv holds 'needle, m.*', which is not in the grid"):
        results.verify_tables(["tiny"], folder=tables)


def test_the_options_reach_the_command(monkeypatch):
    told = []
    monkeypatch.setattr(results, "summarize_tables", lambda *asked: told.append(asked) or 0)
    monkeypatch.setattr(results, "verify_tables", lambda *asked: told.append(asked) or 1)
    assert main(["results", "summary", "tiny", "--only", "max"]) == 0
    assert main(["results", "verify", "--runs", "5"]) == 1
    assert told == [(["tiny"], "max"), ([], "", 5)]
