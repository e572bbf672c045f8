"""Tables of runs on disk: plain CSV, never half written, checked line by line when read."""

import csv
import io
import math
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

Row = dict[str, str | int | float]

FIRST = ("setting", "seed", "plan", "torch", "cpu_seconds")  # then what the run measured
KINDS = ("right", "depth", "snapped", "slowed", "decay", "write", "tau")  # of what is counted
TEXTS = ("setting", "plan", "torch", "versions")


def write_table(path: Path, rows: Sequence[Row]) -> None:
    """Write rows to a CSV file under another name, then give it its own in one move.

    Whoever reads, or pulls the plug, meets the old table or the new one and never half of one.

    Args:
        path: the file; what stood there is replaced.
        rows: one per run, all with the same columns, in any order of columns.

    Raises:
        ValueError: if there is no row, columns are missing or differ, a run is there twice or a
            value is impossible.
    """
    if not rows:
        raise ValueError("rows must hold at least one run; they hold none")
    columns = [*FIRST, *(name for name in rows[0] if name not in FIRST)]
    seen: set[tuple] = set()
    for row in rows:
        try:
            _check_columns(list(row), columns)
            _check_row(row, seen)
        except ValueError as error:
            raise ValueError(f"{row.get('setting')}, seed {row.get('seed')}: {error}") from None
    beside = path.with_name(f"{path.name}.part")
    with beside.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows([_write_cell(row[name]) for name in columns] for row in rows)
        file.flush()
        os.fsync(file.fileno())
    os.replace(beside, path)


def read_table(path: Path) -> list[Row]:
    """Read the rows of a table that `write_table` wrote, and refuse a broken one.

    Returns:
        A dict for each run: texts for setting, plan and torch, whole numbers where there are
        whole numbers, floats elsewhere.

    Raises:
        FileNotFoundError: if there is no such file, with the command that makes it.
        ValueError: for the first broken line, with its number and what is wrong with it.
    """
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} must lie in {path.parent.name}; it does not: make it by "
            f"`python3 course.py sweep {path.stem}`"
        )
    text = path.read_bytes().decode(errors="replace")
    lines = csv.reader(io.StringIO(text), strict=True)
    try:
        rows = _read_rows(lines)
        if not rows or not text.endswith("\n"):
            raise ValueError("the file is cut off here")
    except (ValueError, csv.Error) as error:
        raise ValueError(f"{path.name}, line {lines.line_num}: {error}") from None
    return rows


def _read_rows(lines: Iterable[list[str]]) -> list[Row]:
    """Read the header and every line, up to the first that is broken."""
    columns: list[str] = []
    rows: list[Row] = []
    seen: set[tuple] = set()
    for cells in lines:
        if not columns:
            columns = cells
            _check_columns(columns, [*FIRST, *columns[len(FIRST) :]])
            continue
        row = _read_row(columns, cells)
        _check_row(row, seen)
        rows.append(row)
    return rows


def _check_columns(columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Refuse columns that are not those wanted, in any order, or hold no measure, or a lone one."""
    list_pairs(columns)
    if len(set(columns)) < len(columns):
        raise ValueError(f"its columns must differ; they are {list(columns)}")
    if set(columns) != set(wanted) or len(columns) <= len(FIRST):
        raise ValueError(
            f"its columns must be {list(wanted)} and what was measured; they are {list(columns)}"
        )


def _read_row(columns: Sequence[str], cells: Sequence[str]) -> Row:
    """Turn the cells of a line into a row."""
    if len(cells) != len(columns):
        raise ValueError(f"it must have {len(columns)} cells; it has {len(cells)}")
    pairs = zip(columns, cells, strict=True)
    return {name: cell if name in TEXTS else _read_number(name, cell) for name, cell in pairs}


def _read_number(name: str, cell: str) -> int | float:
    """Read a whole number as such, any other as a float."""
    for kind in (int, float):
        try:
            return kind(cell)
        except ValueError:
            continue
    raise ValueError(f"{name} must be a number; it is {cell!r}")


def _write_cell(value: str | int | float) -> str:
    """Write a value so that reading gives the very same."""
    return value if isinstance(value, str) else repr(value)


def _check_row(row: Row, seen: set[tuple]) -> None:
    """Refuse a row that no run could have measured, or whose run was seen before."""
    for name, value in row.items():
        kinds, wanted = ((str,), "words") if name in TEXTS else ((int, float), "a number")
        if type(value) not in kinds:
            raise ValueError(f"{name} must be {wanted}; it is {value!r}")
        if wanted == "a number" and not math.isfinite(value):
            raise ValueError(f"{name} must be finite; it is {value}")
    run = row["setting"], row["seed"]
    if not row["setting"] or not isinstance(row["seed"], int):
        raise ValueError(f"a run needs a setting and a whole seed; it has {run}")
    if run in seen:
        raise ValueError(f"the run {run} is there twice")
    seen.add(run)
    _check_accuracy(row)
    for ours, of in list_pairs(row):
        _check_count(ours, row[ours], of, row[of])


def _check_count(ours: str, count: object, of: str, n: object) -> None:
    """Refuse more that is right than was asked, and what is no count at all."""
    if not isinstance(count, int) or not isinstance(n, int) or not 0 <= count <= n:
        raise ValueError(f"{ours} must be a whole number from 0 to {of}; it is {count!r} of {n!r}")


def _check_accuracy(row: Row) -> None:
    """Refuse an accuracy that is not some of so many sequences."""
    if "accuracy" not in row:
        return
    share, count = row["accuracy"], row.get("n_sequences")
    if not isinstance(count, int) or count < 1:
        raise ValueError(f"an accuracy needs n_sequences, a whole number above 0; it is {count!r}")
    if not 0 <= share <= 1 or abs(share * count - round(share * count)) > 1e-6:
        raise ValueError(f"accuracy must be some of the {count} sequences; it is {share}")


def list_pairs(columns: Iterable[str]) -> list[tuple[str, str]]:
    """List the pairs of columns that hold a count and of how many, in the order of the columns.

    right_512 goes with n_512, depth_3, the third eighth of the depth, with n_depth_3, and
    snapped_512 or tau2_512, right under another rule for the step sizes, with n_snapped_512.

    Raises:
        ValueError: if one of a pair is missing.
    """
    names = list(columns)
    pairs = [(name, f"n_{name.removeprefix('right_')}") for name in names if _is_count(name)]
    lonely = [ours for ours, of in pairs if of not in names]
    if lonely:
        raise ValueError(f"{lonely[0]} must have a column that says of how many; there is none")
    return pairs


def _is_count(name: str) -> bool:
    """Tell whether a column counts what was right."""
    kind, _, number = name.rpartition("_")
    return kind.rstrip("0123456789") in KINDS and number.isdigit()
