"""Every exercise has its stub, its check and its fold; nothing else leans on it."""

import ast
from pathlib import Path

from nbformat import NotebookNode

from rules.cells import is_exercise, read_tree, walk_code
from rules.trees import list_definitions, parse


def find_stub_faults(notebook: NotebookNode) -> list[str]:
    """Hold every exercise cell to one documented function that raises NotImplementedError."""
    faults = []
    for number, cell in walk_code(notebook):
        body = read_tree(cell).body
        if not is_exercise(cell):
            stub = "raise NotImplementedError" in cell.source
            faults += [f"cell {number}: a stub without the tag 'exercise'"] if stub else []
        elif len(body) != 1 or not isinstance(body[0], ast.FunctionDef):
            faults.append(f"cell {number}: an exercise must be one function and no more")
        elif not is_stub(body[0]):
            faults.append(f"cell {number}: must be a docstring and `raise NotImplementedError`")
    return faults


def is_stub(function: ast.FunctionDef) -> bool:
    """Tell whether a function says what is wanted and does nothing yet."""
    ends = ast.unparse(function.body[-1]).startswith("raise NotImplementedError")
    return ends and len(function.body) == 2 and ast.get_docstring(function) is not None


def list_exercises(notebook: NotebookNode) -> dict[str, int]:
    """Map each exercise's name to the number of its cell."""
    return {
        node.name: number
        for number, cell in walk_code(notebook)
        if is_exercise(cell)
        for node in list_definitions(read_tree(cell).body)
    }


def find_unchecked_exercises(notebook: NotebookNode) -> list[str]:
    """List the exercises that no later cell checks by check_<name>(<name>)."""
    faults = []
    for name, place in list_exercises(notebook).items():
        later = [read_tree(cell) for number, cell in walk_code(notebook) if number > place]
        calls = (node for tree in later for node in ast.walk(tree) if isinstance(node, ast.Call))
        if not any(is_check_of(call, name) for call in calls):
            faults.append(f"cell {place}: no later cell calls check_{name}({name})")
    return faults


def is_check_of(call: ast.Call, name: str) -> bool:
    """Tell whether a call is an exercise's own check."""
    called = ast.unparse(call.func).split(".")[-1]
    given = [ast.unparse(argument) for argument in call.args]
    return called == f"check_{name}" and given == [name]


def find_uses_of_exercises(notebook: NotebookNode) -> list[str]:
    """List the cells that need an exercise done, other than its check."""
    faults, exercises = [], list_exercises(notebook)
    for number, cell in walk_code(notebook):
        tree = read_tree(cell)
        checks = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and n.args]
        own = {id(c.args[0]) for c in checks for name in exercises if is_check_of(c, name)}
        names = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and id(n) not in own}
        used = sorted(name for name in names & set(exercises) if number != exercises[name])
        faults += [f"cell {number}: needs the exercise {name}" for name in used]
    return faults


def find_exercise_module_faults(module: Path, notebooks: list[str], tests: list[str]) -> list[str]:
    """Hold an exercise module to pairs of solve_ and check_, each check called where it counts.

    Args:
        module: exercises/nNN.py.
        notebooks: the code of every notebook.
        tests: the source of every test.
    """
    names = {node.name for node in list_definitions(parse(module).body)}
    solved = {name.removeprefix("solve_") for name in names if name.startswith("solve_")}
    checked = {name.removeprefix("check_") for name in names if name.startswith("check_")}
    faults = [f"{module.name}: check_{name} has no solve_{name}" for name in checked - solved]
    faults += [f"{module.name}: solve_{name} has no check_{name}" for name in solved - checked]
    for name in sorted(checked):
        if not any(f"check_{name}({name})" in code for code in notebooks):
            faults.append(f"{module.name}: no notebook calls check_{name}({name})")
        if not any(f"check_{name}" in code for code in tests):
            faults.append(f"{module.name}: no test names check_{name}")
    return sorted(faults)
