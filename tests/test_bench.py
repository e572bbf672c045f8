"""The race of the scans: that all run, agree, and are told apart. Nothing here looks at a clock."""

import subprocess
import sys
from pathlib import Path

import pytest

from mamba_edu.cli import main

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

import scan as race  # noqa: E402
from peers import list_models, list_scans  # noqa: E402


def test_every_way_agrees_with_the_loop_and_is_told_apart():
    scans, skipped = list_scans()
    assert {"fused", "chunked", "parallel", "loop", "official loop"} <= scans.keys()
    assert all("not installed" in reason or "has no" in reason for reason in skipped)
    rows = race.race_scans(40, 1, {}, scans)
    assert [row[1] for row in rows] == list(scans)
    assert all(float(row[-1]) < 1e-6 for row in rows)
    assert rows[0][1:4] == ["fused", "1", "1"]


@pytest.fixture
def scans():
    """Our own: the others need seconds to be imported."""
    return {name: list_scans()[0][name] for name in ("fused", "chunked", "parallel", "loop")}


def test_what_is_too_slow_is_left_out_and_named(scans):
    rows = race.race_scans(16, 1, {"loop": race.PATIENCE + 1}, scans)
    assert "loop" not in [row[1] for row in rows]
    assert race.list_left_out([16], rows, scans) == ["left out, too slow: loop at 16"]


def test_the_gradient_is_weighed_only_where_it_fits(monkeypatch, scans):
    monkeypatch.setattr(race, "MOST_TOKENS", 8)
    with_backward = {row[1]: row[3] for row in race.race_scans(16, 1, {}, scans)}
    assert with_backward["parallel"] == "-"
    assert with_backward["chunked"] != "-"


def test_models_of_one_size_race_a_training_step():
    models, _ = list_models(16, 1)
    sizes = {name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}
    assert max(sizes.values()) < 1.15 * min(sizes.values())


def test_a_stream_adds_the_same_however_long(capsys):
    race.stream_tokens(32, piece=16)
    assert "32 tokens streamed" in capsys.readouterr().out


def test_bench_hands_its_options_on(monkeypatch):
    called = []
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: called.append(words) or done)
    assert main(["bench", "--quick", "--threads", "2"]) == 0
    assert called[0][1:] == [ROOT / "benchmarks" / "scan.py", "--quick", "--threads", "2"]


def test_bench_refuses_no_threads(capsys):
    assert main(["bench", "--threads", "0"]) == 2
    assert capsys.readouterr().out == "bench: --threads must be at least 1; it is 0\n"


@pytest.mark.parametrize("rows", [[["1", "fused", "1", "1", "0", "2", "6e-08"]]])
def test_a_table_stands_in_columns(rows, capsys):
    race.print_table(rows)
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines}) == 1
