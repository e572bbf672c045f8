"""A table is written whole or not at all, and a broken line is named."""

import pytest

from mamba_edu.experiments import load_results, read_table, shipped, write_table

ROW = {"setting": "a, b", "seed": 3, "plan": "lengths=(4, 8)", "torch": "2.13", "cpu_seconds": 1.5}
ROW |= {"accuracy": 2 / 3, "n_sequences": 3}
GOOD = """setting,seed,plan,torch,cpu_seconds,accuracy,n_sequences
one,0,steps=3,2.13,1.5,0.75,4
one,1,steps=3,2.13,1.25,1.0,4
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.csv"


def test_a_table_is_loaded_anew_once_it_has_changed_and_its_rows_are_one_s_own(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(shipped, "RESULTS", tmp_path)
    write_table(tmp_path / "scale.csv", [ROW])
    first = load_results("scale")
    first[0]["seed"] = 9
    assert [row["seed"] for row in load_results("scale")] == [3]
    write_table(tmp_path / "scale.csv", [ROW | {"seed": 4}])
    assert [row["seed"] for row in load_results("scale")] == [4]


def test_a_good_table_is_read_with_its_types(path):
    path.write_text(GOOD)
    first, second = read_table(path)
    assert first["setting"] == "one"
    assert first["torch"] == "2.13"
    assert (first["seed"], first["accuracy"], first["n_sequences"]) == (0, 0.75, 4)
    assert [type(second[name]) for name in ("seed", "accuracy", "n_sequences")] == [int, float, int]


def test_commas_and_every_digit_survive(path):
    write_table(path, [ROW, ROW | {"seed": 4, "accuracy": 1.0}])
    assert read_table(path) == [ROW, ROW | {"seed": 4, "accuracy": 1.0}]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("one,1,steps=3,", "one,1,", r"table\.csv, line 3: it must have 7 cells; it has 6"),
        ("0.75", "much", "line 2: accuracy must be a number; it is 'much'"),
        ("0.75", "nan", "line 2: accuracy must be finite; it is nan"),
        ("1.25", "inf", "line 3: cpu_seconds must be finite; it is inf"),
        ("0.75", "0.7", "line 2: accuracy must be some of the 4 sequences; it is 0.7"),
        ("0.75", "1.25", "line 2: accuracy must be some of the 4 sequences; it is 1.25"),
        ("0.75,4", "0.75,4.0", "line 2: an accuracy needs n_sequences, a whole number above 0"),
        ("1.0,4", "1.0,0", "line 3: an accuracy needs n_sequences, .*; it is 0"),
        ("one,1", "one,0", r"line 3: the run \('one', 0\) is there twice"),
        (
            "one,1",
            "one,1.5",
            r"line 3: a run needs a setting and a whole seed; it has \('one', 1.5\)",
        ),
        ("one,1", ",1", r"line 3: a run needs a setting and a whole seed; it has \('', 1\)"),
        ("one,1", '"one,1', "line 3: unexpected end of data"),
        ("1.0,4\n", "1.0,4", "line 3: the file is cut off here"),
        (GOOD[GOOD.index("one") :], "", "line 1: the file is cut off here"),
        ("setting,seed", "seed", "line 1: its columns must be .*'setting', 'seed'"),
        (",accuracy,n_sequences\n", "\n", "line 1: its columns must be .* and what was measured"),
        ("n_sequences\n", "accuracy\n", "line 1: its columns must differ"),
        (GOOD, "", "line 0: the file is cut off here"),
        ("one,0", "one,0\n", "line 2: it must have 7 cells; it has 2"),
    ],
)
def test_a_broken_line_is_named(path, old, new, says):
    assert GOOD.count(old) == 1
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(ValueError, match=says):
        read_table(path)


@pytest.mark.parametrize(
    ("changed", "says"),
    [
        ({"right_8": 5, "n_8": 4}, "right_8 must be a whole number from 0 to n_8; it is 5 of 4"),
        ({"right_8": -1, "n_8": 4}, "it is -1 of 4"),
        ({"right_8": 0.5, "n_8": 4}, "it is 0.5 of 4"),
        ({"depth_1": 2, "n_depth_1": 1}, "from 0 to n_depth_1; it is 2 of 1"),
        ({"right_8": 1}, "right_8 must have a column that says of how many; there is none"),
        ({"depth_1": 1}, "depth_1 must have a column that says of how many; there is none"),
    ],
)
def test_more_right_than_asked_is_neither_written_nor_read(path, changed, says):
    with pytest.raises(ValueError, match=says):
        write_table(path, [ROW | changed])
    names = ["setting", "seed", "plan", "torch", "cpu_seconds", *changed]
    cells = ["one", "0", "p", "2", "1.0", *map(str, changed.values())]
    path.write_text(f"{','.join(names)}\n{','.join(cells)}\n")
    with pytest.raises(ValueError, match=says):
        read_table(path)


def test_counts_are_read_as_they_were_written(path):
    row = ROW | {"right_8": 0, "n_8": 0, "depth_1": 3, "n_depth_1": 3, "versions": "a=1 b=2"}
    write_table(path, [row])
    assert read_table(path) == [row]


def test_a_missing_table_says_how_it_is_made(path):
    with pytest.raises(FileNotFoundError, match=r"by `python3 course\.py sweep table`"):
        read_table(path)


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        ([], "rows must hold at least one run"),
        ([{**ROW, "accuracy": 0.5}], "a, b, seed 3: accuracy must be some of the 3 sequences"),
        ([{**ROW, "accuracy": "0.5"}], "accuracy must be a number; it is '0.5'"),
        ([{**ROW, "accuracy": True}], "accuracy must be a number; it is True"),
        ([{**ROW, "plan": 3}], "plan must be words; it is 3"),
        ([ROW, ROW], "is there twice"),
        ([ROW, {**ROW, "seed": 4, "loss": 1.0}], "seed 4: its columns must be"),
        ([{"setting": "one", "seed": 0, "accuracy": 1.0}], "its columns must be .*'plan'"),
    ],
)
def test_what_could_not_be_read_is_not_written(path, rows, says):
    path.write_text(GOOD)
    with pytest.raises(ValueError, match=says):
        write_table(path, rows)
    assert path.read_text() == GOOD


def test_a_table_stands_until_the_new_one_is_whole(path, monkeypatch):
    write_table(path, [ROW])

    def fail(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="the disk is full"):
        write_table(path, [ROW | {"seed": 4}])
    assert read_table(path) == [ROW]
