"""The race as a widget: what it is sent is what was combined; its words, picture and page."""

import numpy as np
import pytest
import torch

from mamba_edu.figures.race import DONE, NOTHING, OWN, PART, draw_race
from mamba_edu.probes import LANES, race_scans
from mamba_edu.widgets.race import ScanRace, cover_cells, explore_race

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

KEEP = torch.linspace(0.5, 0.9, 8).double()
WRITE = torch.linspace(-1, 1, 8).double()


def read(widget, name):
    """Read an array as the front end does."""
    place = widget.arrays[name]
    count = int(np.prod(place["shape"]))
    values = np.frombuffer(widget.data, place["dtype"], count, place["offset"])
    return values.reshape(place["shape"])


@pytest.mark.parametrize("chunk", [1, 3, 8])
def test_the_front_end_gets_every_combination_in_order(chunk):
    widget = ScanRace(KEEP, WRITE, chunk)
    lanes = race_scans(KEEP, WRITE, chunk)
    right = [
        (lane, number, one)
        for lane, name in enumerate(LANES)
        for number, made in enumerate(lanes[name], start=1)
        for one in made
    ]
    spans, values = read(widget, "spans"), read(widget, "values")
    assert spans.tolist() == [[a, n, one.first, one.split, one.last] for a, n, one in right]
    np.testing.assert_allclose(values, [one[3:] for *_, one in right], rtol=1e-6)
    np.testing.assert_allclose(read(widget, "steps"), torch.stack([KEEP, WRITE], 1), rtol=1e-6)
    counted = [(lane["rounds"], lane["operations"]) for lane in widget.options["lanes"]]
    assert counted == [(len(made), sum(map(len, made))) for made in lanes.values()]


def test_the_last_values_of_all_lanes_are_the_states_of_the_loop():
    widget = explore_race(13, 4)
    spans, values = read(widget, "spans"), read(widget, "values")
    h, (keep, write) = 0.0, read(widget, "steps").T.astype(float)
    for t in range(13):
        h = keep[t] * h + write[t]
        for lane in range(3 if t else 0):
            mine = (spans[:, 0] == lane) & (spans[:, 4] == t) & (spans[:, 2] == 0)
            np.testing.assert_allclose(values[mine][-1, 1], h, rtol=1e-5)


def test_the_words_count_rounds_and_operations():
    said = repr(explore_race(start=4)).splitlines()[0]
    assert "16 tokens, chunks of 4." in said
    assert "Sequential: 15 operations in 15 rounds, at most 1 at once." in said
    assert "Tree: 26 operations in 7 rounds, at most 8 at once." in said
    assert "Chunked: 29 operations in 9 rounds, at most 4 at once." in said
    assert "States ready after round 4: 5 sequential, 5 tree, 1 chunked." in said
    assert said.endswith("All three end with the same states.")


def test_cells_cover_what_they_have_taken_in():
    rounds = race_scans(KEEP, WRITE, 4)["tree"]
    start, one, end = (cover_cells(rounds, 8, shown) for shown in (0, 1, 9))
    assert (start == np.diag([DONE] + 7 * [OWN])).all()
    assert one[3].tolist() == [NOTHING, NOTHING, PART, PART, *4 * [NOTHING]]
    assert one[1].tolist() == [DONE, DONE, *6 * [NOTHING]]
    assert (end == DONE * np.tril(np.ones((8, 8)))).all()


@pytest.mark.parametrize("start", range(8))
@pytest.mark.usefixtures("real_pictures")
def test_every_round_has_a_still(start):
    widget = ScanRace(KEEP, WRITE, 4, start=start)
    assert widget.options["start"] == start
    assert widget.to_png().startswith(b"\x89PNG")
    assert widget.measure_display() < 150_000


@pytest.mark.parametrize("length", [8, 16])
@pytest.mark.parametrize("chunk", [1, 5, 8])
def test_the_shortest_and_the_longest_race_run_with_any_chunk(length, chunk):
    assert explore_race(length, chunk).options["labels"] == [str(t) for t in range(length)]


def test_a_saved_page_holds_the_race(tmp_path):
    explore_race(title="Who is first?").save_html(tmp_path / "race.html")
    page = (tmp_path / "race.html").read_text(encoding="utf-8")
    assert "<title>Who is first?</title>" in page
    assert "function drawRounds" in page


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"keep": KEEP[1:]}, ValueError, r"keep must be 8 to 16 real numbers.*\(7,\)"),
        ({"write": torch.ones(17)}, ValueError, r"write must be 8 to 16 real numbers.*\(17,\)"),
        ({"write": torch.ones(9)}, ValueError, r"keep and write must have one length.*\[8, 9\]"),
        ({"keep": KEEP[None]}, ValueError, r"keep must be 8 to 16 real numbers.*\(1, 8\)"),
        ({"keep": "no"}, TypeError, "keep must hold"),
        ({"keep": KEEP * 1j}, TypeError, "keep must hold real numbers"),
        ({"write": WRITE / 0}, ValueError, "write must be finite; infinite values: 8"),
        ({"chunk": 0}, ValueError, "chunk must be at least 1; it is 0"),
        ({"chunk": 9}, ValueError, "chunk must be 1 to 8, the number of tokens; it is 9"),
        ({"start": -1}, ValueError, "start must be at least 0; it is -1"),
        ({"start": 8}, ValueError, "start must be a round, 0 to 7; it is 8"),
        ({"start": None}, TypeError, "start must be an int; it is None"),
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"caption": " "}, ValueError, "caption must be words"),
        ({"keep": 1e80 * KEEP}, ArithmeticError, "must end with the states of the loop"),
    ],
)
def test_a_race_refuses_what_it_cannot_show(changes, error, message, as_reader):
    with pytest.raises(error, match=message):
        ScanRace(**{"keep": KEEP, "write": WRITE} | changes)


def test_a_still_race_refuses_lanes_that_do_not_match():
    grid = np.eye(8)
    with pytest.raises(ValueError, match="one entry a lane, the grids square; there are 2, 1"):
        draw_race(["a", "b"], [[1]], [grid], 1, "Title")
    with pytest.raises(ValueError, match="the grids square"):
        draw_race(["a"], [[1]], [grid[1:]], 1, "Title")
    with pytest.raises(ValueError, match="title must be words"):
        draw_race(["a"], [[1]], [grid], 1, "")
