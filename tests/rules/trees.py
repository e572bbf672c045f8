"""What the rules look at: the files of the repository, its Python trees, its notebooks."""

import ast
import fnmatch
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXTS = {".cff", ".css", ".ipynb", ".js", ".lock", ".md", ".mplstyle", ".py", ".toml", ".yml"}
ALWAYS_APART = [".git"]


def list_files(root: Path) -> list[Path]:
    """List the repository's own files: all that its .gitignore does not name."""
    ignore = root / ".gitignore"
    lines = ignore.read_text(encoding="utf-8").splitlines() if ignore.is_file() else []
    patterns = ALWAYS_APART + [line.strip("/ ") for line in lines if line.strip()]
    return sorted(walk_files(root, patterns))


def walk_files(root: Path, patterns: list[str]) -> Iterator[Path]:
    """Walk a tree, leaving out the names that match a pattern."""

    def is_kept(name: str) -> bool:
        return not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)

    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if is_kept(name)]
        yield from (Path(folder) / name for name in names if is_kept(name))


def list_texts(root: Path) -> list[Path]:
    """List the files that hold words, including those without a suffix."""
    return [path for path in list_files(root) if path.suffix in TEXTS or not path.suffix]


def list_python(root: Path) -> list[Path]:
    """List the Python files."""
    return [path for path in list_files(root) if path.suffix == ".py"]


def list_notebooks(root: Path = ROOT) -> list[Path]:
    """List the stored notebooks, in reading order."""
    return sorted((root / "notebooks").glob("*.ipynb"))


def hold(faults: list[str]) -> None:
    """Fail with all the faults, one a line: pytest's own comparison shows the first only."""
    if faults:
        raise AssertionError(f"{len(faults)} faults\n" + "\n".join(faults))


def parse(path: Path) -> ast.Module:
    """Parse a Python file."""
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))


def walk_functions(tree: ast.AST) -> Iterator[ast.FunctionDef]:
    """Go through every function in a tree, methods and inner ones too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def list_definitions(body: Iterable[ast.stmt]) -> list[ast.FunctionDef | ast.ClassDef]:
    """List the functions and classes defined directly in a body."""
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return [node for node in body if isinstance(node, kinds)]


def list_modules(package: Path) -> list[Path]:
    """List the Python files of a package."""
    return sorted(package.rglob("*.py"))
