"""Tests that look like tests must run, and what is taught must have been broken once."""

import ast
from pathlib import Path

from rules.imports import MATHS, name_row
from rules.trees import list_definitions, list_modules, parse


def find_uncollected_tests(paths: list[Path]) -> list[str]:
    """List the functions named like tests that pytest would never run.

    Args:
        paths: every Python file under tests/.
    """
    return [fault for path in paths for fault in find_uncollected(path)]


def find_uncollected(path: Path) -> list[str]:
    """List a file's functions that are nested, shadowed, or in a file or class of another name."""
    tree = parse(path)
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    tests = [node for node in functions if node.name.startswith("test_")]
    classes = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name.startswith("Test")]
    bodies = [tree.body, *(node.body for node in classes)]
    last = [{n.name: n for n in list_definitions(body)}.values() for body in bodies]
    run = {id(node) for body in last for node in body}
    if not path.name.startswith("test_"):
        run = set()
    return [
        f"{path.name}:{node.lineno}: {node.name} is never collected"
        for node in tests
        if id(node) not in run
    ]


def list_maths_functions(package: Path) -> list[tuple[Path, ast.FunctionDef]]:
    """List the public functions of the maths with their files."""
    rows = [row for row in MATHS if not row.startswith("_")]
    modules = [path for path in list_modules(package) if name_row(path, package) in rows]
    modules = [path for path in modules if not path.stem.startswith("_")]
    return [
        (path, node)
        for path in modules
        for node in list_definitions(parse(path).body)
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
    ]


def find_unbroken_functions(package: Path, breaks: list[tuple[str, str]]) -> list[str]:
    """List the public functions of the maths that no deliberate break touches.

    Args:
        package: the folder of the package.
        breaks: (file, text that is replaced) of each row in tests/mutants.py.
    """
    faults = []
    for path, node in list_maths_functions(package):
        name = path.relative_to(package.parent).as_posix()
        source = ast.get_source_segment(path.read_text(encoding="utf-8"), node)
        if not any(file == name and old in source for file, old in breaks):
            faults.append(f"{name}: {node.name} has no row in tests/mutants.py")
    return faults
