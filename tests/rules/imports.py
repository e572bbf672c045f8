"""Modules import from the rows above their own only, and the maths needs few strangers."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

from rules.trees import list_modules, parse

PACKAGE = "mamba_edu"
ROWS = [  # lowest first
    *("_checks", "_files", "discretize", "linear", "scan", "steps", "layers", "tokens", "readout"),
    *("models", "tasks", "training", "probes", "experiments"),
    *("figures", "reader", "widgets", "exercises", "cli"),
]
MATHS = ROWS[: ROWS.index("figures")]
MATHS_NEEDS = {"torch", "numpy", "safetensors", "jaxtyping", PACKAGE}
COMPILED = {"numba", "llvmlite"}  # needed by files that nothing imports where numba is not there
COMPILED_FILES = {"_powers.py", "_kernels.py", "_reverse.py"}


def find_upward_imports(package: Path) -> list[str]:
    """List the imports, at the top or inside a function, from a module's own row or a later one."""
    faults = []
    for path in list_modules(package):
        module = name_row(path, package)
        if module and module not in ROWS:
            faults.append(f"{path.name}: {module} stands in no row of the table of modules")
            continue
        rank = ROWS.index(module) if module else -1  # the package itself imports nothing of its own
        faults += [
            f"{path.relative_to(package.parent)}:{line}: {module or PACKAGE} must not import "
            f"{target}, which stands later in the table of modules"
            for line, target in walk_imports(path, package)
            if target != module and target in ROWS[max(rank, 0) :]
        ]
    return faults


def name_row(path: Path, package: Path) -> str:
    """Name the row of a file: the module or folder right inside the package."""
    first = path.relative_to(package).parts[0].removesuffix(".py")
    return "" if first == "__init__" else first


def walk_imports(path: Path, package: Path) -> Iterator[tuple[int, str]]:
    """Go through every import of the package's own modules: (line, the module's row)."""
    home = [PACKAGE, *path.relative_to(package).parts[:-1]]
    for node in ast.walk(parse(path)):
        targets = [dotted.split(".") for dotted in list_targets(node, home)]
        yield from ((node.lineno, t[1]) for t in targets if t[0] == PACKAGE and len(t) > 1)


def list_targets(node: ast.AST, home: list[str]) -> list[str]:
    """List the dotted names that one node imports; `home` is where relative ones start."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        base = home[: len(home) + 1 - node.level] if node.level else []
        stem = [*base, *([node.module] if node.module else [])]
        return [".".join([*stem, alias.name]) for alias in node.names]
    if isinstance(node, ast.Call) and "import" in ast.unparse(node.func):
        return [arg.value for arg in node.args if is_text(arg)]
    return []


def is_text(node: ast.expr) -> bool:
    """Tell whether a node is a string."""
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def find_strangers(package: Path) -> list[str]:
    """List what the maths imports at the top of a module beyond the few packages it needs."""
    faults = []
    for path in list_modules(package):
        if name_row(path, package) not in MATHS:
            continue
        imports = [
            node for node in parse(path).body if isinstance(node, ast.Import | ast.ImportFrom)
        ]
        home = [PACKAGE, *path.relative_to(package).parts[:-1]]
        names = {target.split(".")[0] for node in imports for target in list_targets(node, home)}
        known = MATHS_NEEDS | (COMPILED if path.name in COMPILED_FILES else set())
        strangers = sorted(names - known - sys.stdlib_module_names)
        where = path.relative_to(package.parent)
        faults += [f"{where}: imports {name}, which the maths must not need" for name in strangers]
    return faults
