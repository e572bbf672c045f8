"""What the READMEs say: commands that exist, notebooks that are there, in both languages alike."""

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

from mamba_edu.cli import make_parser
from mamba_edu.reader.journal import read_title
from rules.imports import ROWS
from rules.prose import list_spans

READY = ("ready", "可用")
STANDS_FOR = {"NN": "01", "N": "9000", "DIR": "build"}  # as the help writes them
COMMAND = re.compile(r"python3 course\.py([^`\n]*)")
ROW = re.compile(r"(?m)^\| (\d\d) \| (.+) \| (?:(\d+) )?\| (ready|planned|可用|计划中) \|$")
LINK = re.compile(r"\[(.+)\]\(notebooks/(.+)\)")
CHAIN = re.compile(r"(?m)^ *\w+(?: ─▶ \w+)+(?: ─▶)?$")  # may go on in the next line


class Row(NamedTuple):
    """One line of the table of notebooks."""

    number: str
    question: str
    file: str
    minutes: str
    is_ready: bool


def list_commands(text: str) -> list[str]:
    """List what stands behind `python3 course.py`, in code blocks and in backticks."""
    return [words.strip() for words in COMMAND.findall(text)]


def find_unknown_commands(text: str) -> list[str]:
    """List the commands that course.py would not take."""
    judged = {words: find_objection(words) for words in list_commands(text)}
    return [f"course.py {words}: {fault}" for words, fault in judged.items() if fault]


def find_objection(words: str) -> str:
    """Return what course.py has against some words, or nothing."""
    given = [STANDS_FOR.get(word, word) for word in words.split()] or ["lab"]
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            make_parser().parse_args(given)
    except SystemExit as end:
        return said.getvalue().strip().splitlines()[-1] if end.code else ""
    return ""


def list_rows(text: str) -> list[Row]:
    """Read the table of notebooks."""
    rows = []
    for number, question, minutes, word in ROW.findall(text):
        link = LINK.fullmatch(question)
        words, file = link.groups() if link else (question, "")
        rows.append(Row(number, words, file, minutes, word in READY))
    return rows


def find_wrong_rows(text: str, notebooks: list[Path], is_english: bool) -> list[str]:
    """List the rows that differ from the notebooks; a question's words are compared in English."""
    rows = list_rows(text)
    faults = []
    if [row.number for row in rows] != [f"{n:02}" for n in range(15)]:
        faults.append(f"the rows must be 00 to 14; they are {[row.number for row in rows]}")
    told = {row.file: row for row in rows if row.is_ready}
    if sorted(told) != [path.name for path in notebooks]:
        faults.append(f"ready are {[path.name for path in notebooks]}; told are {sorted(told)}")
    early = [row.number for row in rows if row.file and not row.is_ready]
    faults += [f"{number} is planned, and yet has a link" for number in early]
    for path in notebooks:
        title, minutes, _ = read_title(path)
        row = told.get(path.name, Row(path.name[:2], title, path.name, minutes, True))
        asked = row.question if is_english else title
        if (path.name[:2], title, minutes) != (row.number, asked, row.minutes):
            faults.append(f"{path.name} is {title!r}, {minutes} minutes; the row is {row}")
    return faults


def find_wrong_chain(text: str, package: Path) -> list[str]:
    """List how the modules drawn in a row differ from those there, highest first."""
    drawn = [name for line in CHAIN.findall(text) for name in re.findall(r"\w+", line)]
    files = {path.stem for path in package.iterdir() if path.stem != "__init__"}
    there = [row for row in reversed(ROWS) if row in files]
    return [] if drawn == there else [f"the modules are {there}; drawn are {drawn}"]


def find_differences(one: str, other: str) -> list[str]:
    """List in which kinds of things two languages of one page differ."""
    kinds = {
        "commands": lambda text: sorted(list_commands(text)),
        "notebooks": lambda text: [row._replace(question="") for row in list_rows(text)],
        "words in backticks": lambda text: sorted(set(list_spans(text))),
        "levels of headings": lambda text: re.findall(r"(?m)^#+(?= )", text),
        "rows of tables": lambda text: len(re.findall(r"(?m)^\|", text)),
        "pictures": lambda text: re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text),
    }
    return [f"they differ in {kind}" for kind, read in kinds.items() if read(one) != read(other)]
