"""What is written must be so: names that exist, symbols that are told, pictures in words."""

import ast
import builtins
import importlib
import re
from pathlib import Path

from nbformat import NotebookNode

from rules.anatomy import strip_code
from rules.cells import read_tree, walk_code
from rules.trees import list_files, list_modules, parse

FILE_ENDS = r"\.(?:cff|csv|dat|ipynb|json|lock|md|mplstyle|py|toml|txt|yml|xz|safetensors)"
FILE = re.compile(rf"(?<![\w:/])[\w./*<>-]*(?:\w{FILE_ENDS}|\w/)(?![\w/])")
MADE_LATER = {".venv/", "build/", "workbook/", "progress.json"}
NOT_OURS = {"membrane.dat", "eeg.dat"}  # read from the installed matplotlib
PACKAGES = {"mamba_edu", "torch", "numpy", "math", "matplotlib", "scipy"}
DOTTED = re.compile(r"([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\(.*\))?")
CALL = re.compile(r"([A-Za-z_]\w*)\(.*\)")
OURS = re.compile(r"\d+\.\d+(?:\s*(?:±|times|x\b|×))?|\d+(?:\.\d+)?\s?%")
OF_OTHERS = re.compile(  # versions, papers, sections and equations
    r"(?:Python|torch|version|arXiv:|[Ss]ection|[Ee]quation|[Aa]lgorithm|[Ff]igure|[Tt]able)\s*[\d.]+"
)


def list_spans(text: str) -> list[str]:
    """List what stands between single backticks."""
    return re.findall(r"(?<!`)`([^`\n]+)`(?!`)", strip_code(text))


def find_lost_files(text: str, files: list[str]) -> list[str]:
    """List the file names in backticks that name no file.

    Args:
        text: markdown.
        files: the repository's own files, as paths from its root.
    """
    faults = []
    for span in list_spans(text):
        names = [span] if re.fullmatch(FILE, span) else FILE.findall(span) if " " in span else []
        lost = [name for name in names if not is_file(name, files)]
        faults += [f"`{name}` names no file" for name in lost]
    return faults


def is_file(name: str, files: list[str]) -> bool:
    """Tell whether a name, with NN for a number and * or <...> for a word, ends some path."""
    if name in MADE_LATER | NOT_OURS or name.split("/")[0] + "/" in MADE_LATER:
        return True
    pattern = re.escape(name.removeprefix("./").removesuffix("/"))
    pattern = re.sub(r"\\\*|<[\w-]+>", r"[^/]*", pattern).replace("NN", r"\\d\\d")
    whole = re.compile(rf"(?:^|/){pattern}(?:$|/)")
    return any(whole.search(path) for path in files)


def find_lost_names(text: str, known: set[str]) -> list[str]:
    """List the dotted paths and the calls in backticks that nothing defines.

    Args:
        text: markdown.
        known: names that the reader has met: the package's, Python's, this notebook's.
    """
    faults = []
    for span in list_spans(text):
        dotted, call = DOTTED.fullmatch(span), CALL.fullmatch(span)
        if FILE.fullmatch(span):
            continue
        if dotted and dotted[1].split(".")[0] in PACKAGES:
            faults += [] if resolves(dotted[1]) else [f"`{span}` does not exist"]
        elif dotted and dotted[1].split(".")[0] not in known:
            faults.append(f"`{span}` hangs on a name that is not defined")
        elif call and call[1] not in known:
            faults.append(f"`{span}` calls a function that is not defined")
    return faults


def resolves(dotted: str) -> bool:
    """Tell whether a dotted path leads to something that can be imported."""
    parts = dotted.split(".")
    for split in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:split]))
        except ImportError:
            continue
        return follow(value, parts[split:])
    return False


def follow(value: object, names: list[str]) -> bool:
    """Tell whether attributes lead on from a value."""
    for name in names:
        if not hasattr(value, name):
            return False
        value = getattr(value, name)
    return True


def list_known_names(trees: list[ast.AST]) -> set[str]:
    """List every identifier in some code, and Python's own."""
    known = set(dir(builtins))
    for node in (node for tree in trees for node in ast.walk(tree)):
        for field in ("name", "id", "arg", "attr"):
            value = getattr(node, field, None)
            known |= {value} if isinstance(value, str) else set()
    return known


def list_package_names(package: Path) -> set[str]:
    """List every identifier that the package uses or defines."""
    return list_known_names([parse(path) for path in list_modules(package)])


def list_notebook_names(notebook: NotebookNode) -> set[str]:
    """List every identifier in a notebook's code."""
    return list_known_names([read_tree(cell) for _, cell in walk_code(notebook)])


def list_paths(root: Path) -> list[str]:
    """List the repository's files as paths from its root."""
    return [path.relative_to(root).as_posix() for path in list_files(root)]


def join_markdown(notebook: NotebookNode) -> str:
    """Join a notebook's text cells."""
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def find_measured_numbers(text: str) -> list[str]:
    """List the decimals and percentages in prose: what we measured stands in outputs only.

    Numbers in code, formulas, tables, links and sources are definitions or other people's.
    """
    prose = strip_code(text)
    prose = re.sub(r"\$\$.*?\$\$|\$[^$\n]+\$|`[^`\n]+`|\]\([^)]*\)", " ", prose, flags=re.DOTALL)
    prose = re.sub(r"(?m)^\s*\|.*$", "", prose)
    prose = "\n\n".join(p for p in prose.split("\n\n") if not p.lstrip("* ").startswith("Source"))
    prose = OF_OTHERS.sub(" ", prose)
    return [
        f"{found[0]!r}: a measured number belongs in an output" for found in OURS.finditer(prose)
    ]


def find_silent_pictures(text: str) -> list[str]:
    """List the pictures in markdown or HTML that have no words beside them."""
    empty = [f"{found[0]!r} has no alt text" for found in re.finditer(r"!\[\s*\]\([^)]*\)", text)]
    tags = re.findall(r"<img\b[^>]*>", text)
    return empty + [f"{tag!r} has no alt text" for tag in tags if not re.search(r'alt="\s*\w', tag)]


def find_lost_pictures(text: str, folder: Path) -> list[str]:
    """List the pictures and links in markdown that lead to no file beside it."""
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)|<img\b[^>]*src=\"([^\"]+)\"", strip_code(text))
    names = [one or other for one, other in targets]
    return [
        f"'{name}' leads nowhere"
        for name in names
        if not re.match(r"https?:|mailto:|attachment:|data:", name) and not (folder / name).exists()
    ]


def find_control_characters(text: str) -> list[str]:
    """List characters that a lost backslash leaves behind, such as a backspace from \\bar."""
    found = re.findall(r"[\x00-\x08\x0b-\x1f\x7f].{0,10}", text)
    return [f"{piece!r}: a control character" for piece in found]
