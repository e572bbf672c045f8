"""The race of the scans: that all run, agree, and are told apart. Nothing here looks at a clock."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from mamba_edu.cli import main

ROOT = Path(__file__).parents[1]
sys.path.append(str(ROOT / "benchmarks"))

import apart  # noqa: E402
import rounds  # noqa: E402
import scan as race  # noqa: E402
from meters import measure_memory  # noqa: E402
from peers import list_models, list_scans  # noqa: E402
from picture import draw_ratios, save_picture, write_finding  # noqa: E402
from rounds import Entry, Past, Size  # noqa: E402
from whole import STEP, race_training, stream_tokens  # noqa: E402

TINY = Size(1, 5, 40)


@pytest.fixture(autouse=True)
def weigh_nothing(monkeypatch):
    """Spare the tests the search for garbage before each run that is weighed."""
    monkeypatch.setattr(rounds, "measure_memory", lambda run: (run(), 1.0)[1])


def make_entry(way, length=1024, seconds=(1.0, 3.0), batch=1):
    return Entry(Size(batch, 64, length), way, seconds, (0.4, 2.0), (6e-8, None))


def test_every_way_agrees_with_float64_and_is_told_apart():
    """In value and in gradient; two sequences, so that a swapped axis shows."""
    scans, skipped = list_scans()
    assert {"fused", "chunked", "parallel", "loop", "official loop"} <= scans.keys()
    assert "ggml" in skipped[0]
    assert all("not installed" in reason or "has no" in reason for reason in skipped[1:])
    entries, left_out = rounds.race_scans(Size(2, 5, 40), scans, {}, most_rounds=1)
    assert [entry.way for entry in entries] == list(scans)
    assert left_out == []
    assert all(0 < max(entry.errors) < 2e-6 for entry in entries)
    assert all(entry.seconds[1] > 0 for entry in entries)
    assert {entry.mebibytes for entry in entries} == {(1.0, 1.0)}


@pytest.mark.parametrize(
    ("past", "reason"),
    [
        (Past(1, 9.0, 0.0), "a run would take about"),
        (Past(TINY.count(), 0.0, 2.0**40), "it would need about 1073741824 GiB"),
    ],
)
def test_what_does_not_fit_is_left_out_and_named(past, reason):
    scans, _ = list_scans()
    history = {("chunked", False): past, ("chunked", True): past, ("fused", True): past}
    some = {name: scans[name] for name in ("fused", "chunked")}
    entries, left_out = rounds.race_scans(TINY, some, history, most_rounds=1)
    assert [entry.way for entry in entries] == ["fused"]
    assert [line.partition(" at 1 x 5 x 40: ")[0] for line in left_out] == [
        "chunked",
        "chunked, backward,",
    ]
    assert all(reason in line for line in left_out)


def test_a_way_that_ran_is_remembered_and_one_race_may_do_without_it(monkeypatch):
    monkeypatch.setattr(rounds, "MOST_OF_LESSONS", 8)
    scans, _ = list_scans()
    past = {("chunked", True): Past(1, 9.0, 0.0)}
    some = {name: scans[name] for name in ("loop", "fused", "chunked")}
    entries, left_out = rounds.race_scans(TINY, some, past, most_rounds=1)
    assert [(entry.way, entry.seconds[1] is None) for entry in entries] == [
        ("fused", False),
        ("chunked", True),
    ]
    assert left_out[0] == "loop at 1 x 5 x 40: it is written to be read"
    assert past["chunked", False].count == TINY.count()


def test_the_right_answer_comes_in_pieces(monkeypatch):
    inputs = rounds.make_inputs(TINY)
    [whole] = rounds.compute_right(TINY, inputs, is_back=False)
    monkeypatch.setattr(rounds, "PIECE", 7)
    [pieces] = rounds.compute_right(TINY, inputs, is_back=False)
    torch.testing.assert_close(pieces, whole, rtol=1e-12, atol=1e-12)
    monkeypatch.setattr(rounds, "MOST_OF_GRADIENTS", TINY.count() - 1)
    assert rounds.compute_right(TINY, inputs, is_back=True) is None


def test_an_error_is_a_share_of_the_largest_number():
    right = [torch.tensor([[4.0, 1.0, 0.0]]), torch.ones(2, 3)]
    assert rounds.compare([torch.tensor([[4.0, 1.0, 1.0]]), torch.ones(3, 2)], right) == 0.25


def test_models_of_one_size_race_a_training_step():
    models, _ = list_models(16, 1)
    sizes = {name: sum(p.numel() for p in model.parameters()) for name, model in models.items()}
    assert max(sizes.values()) < 1.15 * min(sizes.values())


def test_a_training_step_is_an_entry_of_its_own(monkeypatch):
    def list_ours(d_model, n_layers):
        models, _ = list_models(d_model, n_layers)
        return {name: models[name] for name in ("fused", "chunked")}, ["one is missing"]

    monkeypatch.setattr("whole.list_models", list_ours)
    monkeypatch.setattr("whole.STEP", Size(2, 64, 16))
    entries, left_out = race_training(1)
    assert [entry.way for entry in entries] == ["fused", "chunked"]
    assert all(entry.seconds[0] is None and entry.seconds[1] > 0 for entry in entries)
    assert left_out == ["one is missing"]


def test_the_training_steps_race_in_two_processes_each_with_its_own_memory(monkeypatch, capsys):
    """The processes are played here, one after the other; what they print is read as it is."""
    step, asked = make_entry("fused", batch=32), []
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")

    def play(command, env, **_):
        assert "MALLOC_ARENA_MAX" not in env
        asked.append(json.loads(command[2]))
        assert apart.main(command[2:]) == 0
        return subprocess.CompletedProcess(command, 0, f"a warning\n{capsys.readouterr().out}")

    monkeypatch.setattr(subprocess, "run", play)
    monkeypatch.setattr(apart, "race_training", lambda rounds: ([step], ["one is missing"]))
    monkeypatch.setattr(apart, "has_glibc", lambda: True)
    monkeypatch.setattr(apart, "keep_memory", lambda: True)
    monkeypatch.setattr(torch, "set_num_threads", lambda n: asked.append(n))
    entries, lines, left_out = apart.race_apart(3, 2, [8])
    assert asked[1::2] == [2, 2]
    assert [question["is_kept"] for question in asked[::2]] == [False, True]
    assert entries == [step._replace(memory=memory) for memory in (apart.GIVEN_BACK, apart.KEPT)]
    starts = [line.partition(": fused ")[0] for line in lines]
    assert starts == ["1 x 64 x 8, memory given back", "1 x 64 x 8, memory kept"]
    assert left_out == ["one is missing"]
    monkeypatch.setattr(apart, "has_glibc", lambda: False)
    entries, lines, left_out = apart.race_apart(3, 2, [])
    assert (entries, lines, left_out) == ([step], [], ["one is missing", apart.NO_GLIBC])


def test_a_length_that_does_not_fit_is_left_out(monkeypatch):
    monkeypatch.setattr(apart, "read_free", lambda: 0)
    assert apart.time_fused(TINY, "memory kept").endswith(
        "x 40, memory kept: left out, there is too little of it"
    )


def test_a_stream_says_what_it_costs():
    said = stream_tokens(64, piece=16)
    assert said.startswith("64 tokens streamed in pieces of 16 in ")
    assert " us a token" in said


def test_memory_is_measured_at_its_peak():
    weight = measure_memory(lambda: torch.ones(2**24).sum())
    assert weight is None or 48 < weight < 96


def test_a_row_holds_ratios_and_the_shares_of_the_machine():
    fused, peer = make_entry("fused", seconds=(1e-3, 2e-3)), make_entry("peer", seconds=(0.5, None))
    limits = {fused.size: (4.0, 8.0)}  # GB and billion exps a second
    size = "1 x 64 x 1024"
    row = race.write_row(fused, [fused, peer], limits)
    assert row == [size, "fused", "1", "1", "0", "2", "6e-08", "-", "29%", "13%"]
    row = race.write_row(peer, [fused, peer], limits)
    assert row == [size, "peer", "500", "-", "0", "2", "6e-08", "-", "", ""]
    step = Entry(STEP, "fused", (None, 1.0), (None, 3.0), (None, None))
    assert race.write_row(step, [step], limits)[:4] == ["32 x 64 x 256 step", "fused", "-", "1"]
    kept = step._replace(seconds=(None, 0.5), memory="memory kept")
    peer = kept._replace(way="peer", seconds=(None, 4.0))
    row = race.write_row(peer, [step, kept, peer], limits)
    assert row[:4] == ["32 x 64 x 256 step, memory kept", "peer", "-", "8"]


def test_a_table_stands_in_columns(capsys):
    fused = make_entry("fused")
    race.print_table([race.write_row(fused, [fused], {fused.size: (4.0, 8.0)})])
    lines = capsys.readouterr().out.splitlines()
    assert len({len(line) for line in lines}) == 1


def test_the_picture_shows_ratios_by_length(tmp_path):
    entries = [
        make_entry("fused", 1024),
        make_entry("mambapy", 1024, (9.0, 6.0)),
        make_entry("fused", 4096, (4.0, 9.0)),
        make_entry("mambapy", 4096, (48.0, None)),
    ]
    panels = draw_ratios(entries, "a machine").axes
    drawn = [{line.get_label(): line.get_xydata().tolist() for line in ax.lines} for ax in panels]
    assert drawn[0]["● fused"] == [[1024, 1], [4096, 1]]
    assert drawn[0]["◆ mambapy"] == [[1024, 9], [4096, 12]]
    assert drawn[1]["◆ mambapy"] == [[1024, 2]]
    assert write_finding(entries).startswith("At 4096 tokens mambapy takes 12 times as long")
    save_picture([*entries, make_entry("fused", batch=8)], "a machine", tmp_path / "race.png")
    assert (tmp_path / "race.png").read_bytes().startswith(b"\x89PNG")


def test_a_whole_run_prints_what_it_left_out(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(race, "SHORT", [TINY])
    monkeypatch.setattr(race, "race_apart", lambda *_: ([], ["kept"], ["a model is missing"]))
    monkeypatch.setattr(race, "measure_copy", lambda: 4.0)
    monkeypatch.setattr(race, "measure_exp", lambda: 8.0)
    monkeypatch.setattr(race, "stream_tokens", lambda n: f"{n} streamed")
    plot = tmp_path / "race.png"
    n_threads = torch.get_num_threads()
    assert race.main(["--quick", "--long", "--longer", "--plot", str(plot)]) == 0
    torch.set_num_threads(n_threads)
    said = capsys.readouterr().out
    assert "- ggml (llama.cpp)" in said
    assert "- a model is missing" in said
    assert "\nkept\n" in said
    assert "1048576 streamed\n10485760 streamed\n" in said
    assert plot.exists()


def test_bench_hands_its_options_on(monkeypatch, tmp_path):
    called = []
    done = subprocess.CompletedProcess([], 0)
    monkeypatch.setattr(subprocess, "run", lambda words, **_: called.append(words) or done)
    monkeypatch.chdir(tmp_path)
    words = ["--quick", "--long", "--longer", "--plot", "race.png", "--threads", "2"]
    assert main(["bench", *words]) == 0
    words[4] = str(tmp_path / "race.png")
    assert called[0][1:] == [ROOT / "benchmarks" / "scan.py", *words]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--threads", "0"], "--threads must be at least 1; it is 0"),
        (["--plot", "no/where.png"], "--plot must name a file in a folder that is there; it is no"),
    ],
)
def test_bench_refuses_what_it_cannot_do(words, message, capsys):
    assert main(["bench", *words]) == 2
    assert capsys.readouterr().out.startswith(f"bench: {message}")
