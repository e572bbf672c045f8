"""What a notebook's code may do: run in order, change nothing behind the reader, need nothing."""

import ast
import re
from collections.abc import Iterator

from nbformat import NotebookNode

KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
TAGS = {"exercise", "live", "nbval-ignore-output"}
MOST_IGNORED = 1
HIDDEN = [  # what runs, fetches or installs behind the reader's back
    ("a magic or a shell command", r"(?m)^\s*[%!]"),
    ("an installation", r"\bpip\b.*\binstall\b|\bconda\b.*\binstall\b"),
    ("a download", r"\b(?:urllib|urlopen|urlretrieve|requests|httpx|wget|curl|hf_hub_download)\b"),
    ("a download", r"\b(?:load_dataset|fetch_\w+|torch\.hub|snapshot_download)\b"),
    ("a semicolon at a line's end", r"(?m);\s*$"),
    ("a tool that never repeats its output", r"\b(?:interact(?:ive)?|Output|clear_output)\("),
    ("a tool that never repeats its output", r"\bupdate_display\(|\bfrom tqdm import"),
    ("a comment that steers nbval", r"#\s*(?:NBVAL|PYTEST_VALIDATE)_\w+"),
]
CHANGES = {"append", "extend", "insert", "pop", "remove", "clear", "update", "sort", "reverse"}


def walk_code(notebook: NotebookNode) -> Iterator[tuple[int, NotebookNode]]:
    """Go through the code cells with their place among all cells, from 1."""
    for number, cell in enumerate(notebook.cells, start=1):
        if cell.cell_type == "code":
            yield number, cell


def read_tree(cell: NotebookNode) -> ast.Module:
    """Parse a cell; what is no Python has no names (`find_hidden_actions` says so)."""
    try:
        return ast.parse(cell.source)
    except SyntaxError:
        return ast.parse("")


def is_exercise(cell: NotebookNode) -> bool:
    """Tell whether a cell is a stub for the reader to fill."""
    return "exercise" in cell.metadata.get("tags", [])


def find_unrun_cells(notebook: NotebookNode) -> list[str]:
    """List the code cells not stored as run from top to bottom, once each."""
    return [
        f"cell {number}: stored as In [{cell.execution_count}]; must be In [{count}]"
        for count, (number, cell) in enumerate(walk_code(notebook), start=1)
        if cell.execution_count != count
    ]


def find_odd_metadata(notebook: NotebookNode) -> list[str]:
    """List what a front end left behind: widget state, another kernel, unknown tags."""
    metadata = notebook.metadata
    faults = [f"metadata holds {key!r}" for key in metadata if key not in ALLOWED_METADATA]
    for key, allowed in ALLOWED_METADATA.items():
        if dict(metadata.get(key, {})) != allowed:
            faults.append(f"metadata's {key} is {dict(metadata.get(key, {}))}; allowed: {allowed}")
    for number, cell in enumerate(notebook.cells, start=1):
        strange = sorted(set(cell.metadata.get("tags", [])) - TAGS)
        faults += [f"cell {number}: tag {tag!r}; allowed: {sorted(TAGS)}" for tag in strange]
    ignored = sum("nbval-ignore-output" in c.metadata.get("tags", []) for c in notebook.cells)
    if ignored > MOST_IGNORED:
        faults.append(f"{ignored} cells hide their output from nbval; allowed: {MOST_IGNORED}")
    return faults


ALLOWED_METADATA = {"kernelspec": KERNEL, "language_info": {"name": "python"}}


def find_hidden_actions(notebook: NotebookNode) -> list[str]:
    """List magics, installations, downloads, silencing semicolons and cells that are no Python."""
    faults = []
    for number, cell in walk_code(notebook):
        hits = [(what, found) for what, p in HIDDEN if (found := re.search(p, cell.source))]
        faults += [f"cell {number}: {what}, {found[0].strip()!r}" for what, found in hits]
        if cell.source.strip() and not hits and not read_tree(cell).body:
            faults.append(f"cell {number}: no Python")
    return faults


def list_bound(statements: list[ast.stmt]) -> list[str]:
    """List the names that statements bind for later cells; loops' own variables are free."""
    names = []
    for node in statements:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [name for target in targets for name in list_stored(target)]
        elif isinstance(node, ast.With | ast.For | ast.If | ast.While | ast.Try):
            names += list_bound([s for s in ast.iter_child_nodes(node) if isinstance(s, ast.stmt)])
    return [name for name in names if name != "_"]


def list_stored(target: ast.expr) -> list[str]:
    """List the plain names in an assignment's target."""
    nodes = (node for node in ast.walk(target) if isinstance(node, ast.Name))
    return [node.id for node in nodes if isinstance(node.ctx, ast.Store)]


def find_rebound_names(notebook: NotebookNode) -> list[str]:
    """List names that a second cell binds again, and functions that one cell defines twice."""
    faults, first = [], {}
    for number, cell in walk_code(notebook):
        bound = list_bound(read_tree(cell).body)
        for name in sorted(set(bound) & set(first)):
            faults.append(f"cell {number}: {name} means something else since cell {first[name]}")
        functions = [n.name for n in read_tree(cell).body if isinstance(n, ast.FunctionDef)]
        doubled = sorted({name for name in functions if functions.count(name) > 1})
        faults += [f"cell {number}: {name} is defined twice" for name in doubled]
        first.update({name: number for name in bound if name not in first})
    return faults


def list_changed(tree: ast.Module) -> list[str]:
    """List the names whose objects a cell changes in place, outside functions."""
    changed = []
    functions = {
        id(n) for f in ast.walk(tree) if isinstance(f, ast.FunctionDef) for n in ast.walk(f)
    }
    for node in (node for node in ast.walk(tree) if id(node) not in functions):
        if isinstance(node, ast.Subscript | ast.Attribute) and isinstance(node.ctx, ast.Store):
            changed.append(name_base(node))
        elif isinstance(node, ast.AugAssign):
            changed.append(name_base(node.target))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            method = node.func.attr
            in_place = method in CHANGES or (method.endswith("_") and not method.startswith("_"))
            changed += [name_base(node.func)] if in_place else []
    return changed


def name_base(node: ast.expr) -> str:
    """Name the variable that an attribute or an item hangs on."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else ""


def find_changes_from_afar(notebook: NotebookNode) -> list[str]:
    """List cells that change in place what an earlier cell made: run twice, they differ."""
    faults, first = [], {}
    for number, cell in walk_code(notebook):
        tree = read_tree(cell)
        here = set(list_bound(tree.body))
        for name in sorted(set(list_changed(tree)) & set(first) - here):
            faults.append(f"cell {number}: changes {name} of cell {first[name]} in place")
        first.update({name: number for name in here if name not in first})
    return faults
