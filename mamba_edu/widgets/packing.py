"""Arrays into one buffer of bytes, and modules into one text: what a front end is sent."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FRONT = Path(__file__).parent / "front"
DTYPES = ("int8", "uint8", "uint16", "float32")
ALIGNMENT = 8  # bytes: every typed array of a browser may begin there
NO_NUMBER = -128  # the code of what is not a finite number
LARGEST = float(np.finfo(np.float32).max)
SMALLEST = float(np.finfo(np.float32).tiny)

NAMES = r"\{(?:(?!\bas\b)[\w\s,$])*\}"  # a module's own names: all files share one text
IMPORT = re.compile(rf'^import\s*{NAMES}\s*from\s*"\./([\w-]+)\.mjs";[ \t]*\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?function\b|class\b|const\b|let\b)", re.MULTILINE)
COMMENT = re.compile(r"^[ \t]*(?://.*|/\*(?:[^*]|\*(?!/))*\*/[ \t]*)\n", re.MULTILINE)
DEFAULT = "export default "


def pack_arrays(arrays: dict[str, np.ndarray]) -> tuple[bytes, dict[str, dict]]:
    """Pack arrays into one buffer, little end first, each one aligned.

    Args:
        arrays: by name; of int8, uint8, uint16 or float32.

    Returns:
        The bytes, and for each name {"dtype", "shape", "offset"}, the offset in bytes.

    Raises:
        TypeError: for what is no array, or of another type.
    """
    places, parts, size = {}, [], 0
    for name, array in arrays.items():
        if not isinstance(array, np.ndarray) or array.dtype.name not in DTYPES:
            given = getattr(array, "dtype", type(array).__name__)
            raise TypeError(f"array {name!r} must be of one of {DTYPES}; it is {given}")
        content = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        places[name] = {"dtype": array.dtype.name, "shape": list(array.shape), "offset": size}
        parts += [content, bytes(-len(content) % ALIGNMENT)]
        size += len(content) + len(parts[-1])
    return b"".join(parts), places


def quantize(values: Any, n_axes: int) -> tuple[np.ndarray, np.ndarray]:
    """Round values to 255 steps, the steps of each group as wide as its largest value needs.

    A value is its code times the step of its group, to half a step. The code -128 stands for what
    is not a finite number of single precision; a group of zeros has the step 1/127.

    Args:
        values: real numbers; the last n_axes axes make up one group.
        n_axes: how many axes share a step.

    Returns:
        The codes as int8, of the shape of the values, and the steps as float32, without the last
        axes.
    """
    values = np.asarray(values, dtype=np.float64)
    is_number = np.abs(values) <= LARGEST  # False for NaN too
    sizes = np.where(is_number, np.abs(values), 0)
    largest = sizes.max(axis=tuple(range(-n_axes, 0)), initial=0)
    steps = np.where(largest / 127 < SMALLEST, 1 / 127, largest / 127).astype(np.float32)
    wide = steps.astype(np.float64).reshape(steps.shape + (1,) * n_axes)
    codes = np.clip(np.rint(np.where(is_number, values, 0) / wide), -127, 127)
    return np.where(is_number, codes, NO_NUMBER).astype(np.int8), steps


def join_front(name: str, folder: Path = FRONT) -> str:
    """Join a front-end module and all that it imports into the text of one module.

    Each file comes once, after those that it needs; its imports, the word `export`, comments
    that fill their lines and indentation are left out. The entry keeps its `export default`.

    Args:
        name: of the entry, a file name.mjs in the folder.
        folder: where the modules lie.

    Raises:
        FileNotFoundError: if a module is not there.
        ValueError: for an import or export of another form, or an entry that exports no default.
    """
    seen: list[str] = []
    text = "\n".join(gather_modules(name, folder, seen))
    if text.count(DEFAULT) != 1:
        raise ValueError(
            f"{name}.mjs must hold one {DEFAULT.strip()!r}, and its imports none; there are "
            f"{text.count(DEFAULT)}"
        )
    return text


def gather_modules(name: str, folder: Path, seen: list[str]) -> Iterator[str]:
    """Go through a module's imports, depth first, then give its own text."""
    path = folder / f"{name}.mjs"
    if not path.is_file():
        raise FileNotFoundError(f"{path.name} must lie in {folder.name}; it does not")
    seen.append(name)
    text = path.read_text(encoding="utf-8")
    for other in IMPORT.findall(text):
        if other not in seen:
            yield from gather_modules(other, folder, seen)
    text = EXPORT.sub("", IMPORT.sub("", text))
    odd = re.search(r"^(?:import\b|export (?!default )).*|</script|https?:", text, re.MULTILINE)
    if odd:
        raise ValueError(
            f'{path.name} holds {odd[0]!r}; allowed: import {{ a, b }} from "./other.mjs"; and '
            "export before a function, class, const or let, no address and no end of a script"
        )
    if any(line.count("`") % 2 for line in text.splitlines()):
        raise ValueError(f"{path.name} holds a text of several lines; allowed: one line each")
    yield strip_lines(text)


def strip_lines(text: str) -> str:
    """Leave out comments that fill their lines, indentation and empty lines."""
    lines = (line.strip() for line in COMMENT.sub("", text).splitlines())
    return "\n".join(line for line in lines if line)
