"""How code looks: short files, short flat functions, each name once, nothing left over."""

import ast
import re
from collections import defaultdict
from pathlib import Path

from rules.trees import list_definitions, list_modules, parse, walk_functions

MOST_FILE_LINES = 250
MOST_FUNCTION_LINES = 25
MOST_NESTING = 2
BLOCKS = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match)
LEFTOVER = re.compile(
    r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X)\b|from __future__ import annot" + "ations"
)


def find_long_files(paths: list[Path]) -> list[str]:
    """List files that do not fit the budget of lines."""
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in paths}
    return [
        f"{path.name}: {count} lines; allowed: {MOST_FILE_LINES}"
        for path, count in lines.items()
        if count > MOST_FILE_LINES
    ]


def count_lines(function: ast.FunctionDef, source: list[str]) -> int:
    """Count a function's lines, without its docstring and blank lines."""
    held = set(range(function.lineno, function.end_lineno + 1))
    if ast.get_docstring(function) is not None:
        docstring = function.body[0]
        held -= set(range(docstring.lineno, docstring.end_lineno + 1))
    return sum(bool(source[line - 1].strip()) for line in held)


def find_long_functions(paths: list[Path]) -> list[str]:
    """List functions that do not fit the budget of lines."""
    faults = []
    for path in paths:
        source = path.read_text(encoding="utf-8").splitlines()
        faults += [
            f"{path.name}:{function.lineno}: {function.name} has {count} lines; "
            f"allowed: {MOST_FUNCTION_LINES}"
            for function in walk_functions(parse(path))
            if (count := count_lines(function, source)) > MOST_FUNCTION_LINES
        ]
    return faults


def measure_nesting(node: ast.AST) -> int:
    """Measure how deep blocks stand in blocks; an elif stands beside its if, not in it."""
    depth = 0
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            continue
        is_elif = isinstance(node, ast.If) and node.orelse == [child] and isinstance(child, ast.If)
        step = int(isinstance(child, BLOCKS) and not is_elif)
        depth = max(depth, step + measure_nesting(child))
    return depth


def find_deep_functions(paths: list[Path]) -> list[str]:
    """List functions whose blocks stand too deep."""
    return [
        f"{path.name}:{function.lineno}: {function.name} nests {measure_nesting(function)} deep; "
        f"allowed: {MOST_NESTING}"
        for path in paths
        for function in walk_functions(parse(path))
        if measure_nesting(function) > MOST_NESTING
    ]


def find_doubled_names(package: Path) -> list[str]:
    """List the public functions and classes that a package defines more than once."""
    places = defaultdict(list)
    for path in list_modules(package):
        for node in list_definitions(parse(path).body):
            places[node.name].append(f"{path.relative_to(package)}:{node.lineno}")
    return [
        f"{name} is defined at {' and '.join(there)}; allowed: once"
        for name, there in sorted(places.items())
        if len(there) > 1 and not name.startswith("_")
    ]


def find_leftovers(paths: list[Path]) -> list[str]:
    """List notes to oneself and lazy annotations, which hide shapes from the tests."""
    return [
        f"{path.name}:{number}: {found[0]}"
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if (found := LEFTOVER.search(line))
    ]
