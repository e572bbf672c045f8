"""Put the solutions into copies of the notebooks, run those, and hold every check to "passed"."""

import ast
import re
from pathlib import Path

from nbformat import NotebookNode

from mamba_edu.cli.build import execute
from mamba_edu.cli.normal import normalise
from mamba_edu.cli.notebook import THREADS, find_notebooks, read_notebook, write_notebook

OWN_FOLDER = "build"  # the one folder of the repository that git ignores and a build may fill


def build_solutions(root: Path, directory: Path, numbers: list[str]) -> int:
    """Write solved and executed copies of the notebooks with these numbers (all, if none).

    Returns:
        0 if every notebook ran and every check in it passed, 1 if one was refused,
        2 if the folder or a number is.
    """
    try:
        refuse_tracked_folder(root, directory)
        paths = find_notebooks(root, numbers)
    except ValueError as error:
        print(f"Not built: {error}")
        return 2
    results = {path.name: solve_notebook(path, root, directory) for path in paths}
    refused = [name for name, faults in results.items() if faults]
    if refused:
        print(f"Not solved: {', '.join(refused)}")
    return 1 if refused else 0


def refuse_tracked_folder(root: Path, directory: Path) -> None:
    """Keep solutions out of what readers are given."""
    target, home = Path(directory).resolve(), Path(root).resolve()
    if home != target and home not in target.parents:
        return
    if (home / OWN_FOLDER) in (target, *target.parents):
        return
    raise ValueError(
        f"solutions must not lie among the course's own files; the folder given is {target}; "
        f"allowed is {home / OWN_FOLDER} or any folder outside {home}"
    )


def solve_notebook(path: Path, root: Path, directory: Path, threads: int = THREADS) -> list[str]:
    """Solve and run one notebook, write it into the folder, and return what was wrong.

    A notebook with a fault is not written.
    """
    directory.mkdir(parents=True, exist_ok=True)
    try:
        notebook = read_notebook(path)
        insert_solutions(notebook, read_exercises(root, path.name[:2]))
    except ValueError as error:
        print(f"{path.name}: {error}")
        return [str(error)]
    seconds, faults = execute(notebook, directory, root, threads)
    faults += find_failed_checks(notebook)
    print(f"{path.name}: {seconds:.0f} s{'' if not faults else ', refused'}", flush=True)
    for fault in faults:
        print(f"  {path.name}, {fault}")
    if not faults:
        write_notebook(normalise(notebook), directory / path.name)
    return faults


def read_exercises(root: Path, number: str) -> str:
    """Read the source of a notebook's exercises; a notebook may have none."""
    path = root / "mamba_edu" / "exercises" / f"n{number}.py"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def insert_solutions(notebook: NotebookNode, exercises: str) -> None:
    """Replace every stub by its solution and drop the live cells, in place.

    Args:
        notebook: as its reader gets it; its cells tagged `exercise` define one function each.
        exercises: source of the module that defines `solve_<name>` for each of them.

    Raises:
        ValueError: if a stub is not one function, has no solution, or takes other arguments.
    """
    notebook.cells = [cell for cell in notebook.cells if "live" not in list_tags(cell)]
    for cell in notebook.cells:
        if "exercise" in list_tags(cell):
            cell.source = solve_cell(cell.source, exercises)


def list_tags(cell: NotebookNode) -> list[str]:
    """List a cell's tags."""
    return cell.metadata.get("tags", [])


def solve_cell(stub: str, exercises: str) -> str:
    """Return the source of the solution under the stub's name."""
    functions = list_functions(stub)
    if len(functions) != 1 or len(ast.parse(stub).body) != 1:
        raise ValueError(f"an exercise cell must hold one function and no more; got:\n{stub}")
    ((name, function),) = functions.items()
    solution = list_functions(exercises).get(f"solve_{name}")
    if solution is None:
        raise ValueError(f"exercise {name} has no solution; solve_{name} is to be defined")
    if list_argument_names(solution) != list_argument_names(function):
        raise ValueError(
            f"exercise {name} takes {list_argument_names(function)} and its solution "
            f"{list_argument_names(solution)}; their arguments must be the same"
        )
    source = ast.get_source_segment(exercises, solution)
    return re.sub(rf"\bsolve_{name}\b", name, source)


def list_functions(source: str) -> dict[str, ast.FunctionDef]:
    """Map the names of a source's own functions to their trees."""
    body = ast.parse(source).body
    return {node.name: node for node in body if isinstance(node, ast.FunctionDef)}


def list_argument_names(function: ast.FunctionDef) -> list[str]:
    """List the names of a function's arguments, in order."""
    nodes = ast.walk(function.args)
    return [node.arg for node in nodes if isinstance(node, ast.arg)]


def find_failed_checks(notebook: NotebookNode) -> list[str]:
    """List the checks that a solved notebook calls and that do not print "passed"."""
    faults = []
    for number, cell in enumerate(notebook.cells, start=1):
        printed = "".join(output.get("text", "") for output in cell.get("outputs", []))
        said = printed.strip()[:100] or "nothing"
        faults += [
            f"cell {number}: {name} must print 'passed'; it printed {said!r}"
            for name in list_called_checks(cell)
            if f"{name}: passed" not in printed
        ]
    return faults


def list_called_checks(cell: NotebookNode) -> list[str]:
    """List the checks that a cell calls with a reader's function, as in n01.check_x(x).

    check_health(model) is no such check: what it is given does not have its name.
    """
    if cell.cell_type != "code":
        return []
    calls = [node for node in ast.walk(ast.parse(cell.source)) if isinstance(node, ast.Call)]
    pairs = [(ast.unparse(c.func).split(".")[-1], list(map(ast.unparse, c.args))) for c in calls]
    return [name for name, given in pairs if given and name == f"check_{given[0]}"]
