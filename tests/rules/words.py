"""What no file may hold: the traces of one machine, or too many bytes."""

import re
from pathlib import Path

MOST_BYTES = 500_000
TRACES = [
    (
        "a folder of one machine",
        re.compile(r"(?<![\w.:~/])/(?:work|root|home|Users|private)/[\w.]"),
    ),
    ("a scratch folder", re.compile(r"/tmp/(?:bash|tmp)\w*")),
    (
        "a private address",
        re.compile(r"(?<![\d.])(?:10\.\d+|192\.168|172\.(?:1[6-9]|2\d|3[01]))(?:\.\d+){2}"),
    ),
    ("a private host", re.compile(r"\b[\w-]+\.(?:internal|lan|corp)\b")),
]
INDEX = re.compile(
    r"(?:https?://)[\w.-]+/(?:whl|simple)\b|(?:files\.pythonhosted|download\.pytorch)\.org"
)
MAY_NAME_AN_INDEX = ("course.py", "README")


def find_traces(paths: list[Path]) -> list[str]:
    """List the paths, addresses and hosts that only one machine has."""
    faults = []
    for path in paths:
        text = path.read_text(encoding="utf-8")
        hits = [(what, found) for what, pattern in TRACES if (found := pattern.search(text))]
        if not path.name.startswith(MAY_NAME_AN_INDEX):
            hits += [("a package index", found) for found in [INDEX.search(text)] if found]
        for what, found in hits:
            line = text.count("\n", 0, found.start()) + 1
            faults.append(f"{path.name}:{line}: {what}, {found[0]!r}")
    return faults


def find_heavy_files(paths: list[Path]) -> list[str]:
    """List the files that are too big to be cloned lightly."""
    return [
        f"{path.name}: {path.stat().st_size / 1000:.0f} kB; allowed: {MOST_BYTES / 1000:.0f} kB"
        for path in paths
        if path.stat().st_size > MOST_BYTES
    ]
