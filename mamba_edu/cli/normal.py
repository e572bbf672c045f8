"""Bring an executed notebook into its one stored form, the same on every build."""

import copy
from collections.abc import Iterator

from nbformat import NotebookNode

WIDGET_TYPES = (
    "application/vnd.jupyter.widget-view+json",
    "application/vnd.jupyter.widget-state+json",
)
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
KEPT_CELL_METADATA = ("slideshow", "tags")


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Copy a notebook with counts 1..n, fixed ids, the plain kernel and no widget state."""
    result = copy.deepcopy(notebook)
    result.nbformat, result.nbformat_minor = 4, 5
    result.metadata = NotebookNode(
        kernelspec=NotebookNode(KERNEL), language_info=NotebookNode(name="python")
    )
    give_ids(result.cells)
    for cell in result.cells:
        kept = {key: cell.metadata[key] for key in KEPT_CELL_METADATA if key in cell.metadata}
        cell.metadata = NotebookNode(kept)
    for count, cell in enumerate(find_code_cells(result), start=1):
        cell.execution_count = count
        cell.outputs = [normalise_output(output, count) for output in merge_streams(cell.outputs)]
    return result


def find_code_cells(notebook: NotebookNode) -> list[NotebookNode]:
    """List the code cells, in order."""
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def give_ids(cells: list[NotebookNode]) -> None:
    """Keep every cell's identifier; number those that have none, or another cell's."""
    taken = {cell["id"] for cell in cells if cell.get("id")}
    fresh = (name for name in number_names() if name not in taken)
    seen: set[str] = set()
    for cell in cells:
        name = cell.get("id")
        cell["id"] = name if name and name not in seen else next(fresh)
        seen.add(cell["id"])


def number_names() -> Iterator[str]:
    """Count upwards in names: cell-01, cell-02, ..."""
    number = 0
    while True:
        number += 1
        yield f"cell-{number:02d}"


def merge_streams(outputs: list[NotebookNode]) -> list[NotebookNode]:
    """Join neighbouring pieces of one stream: where print was flushed is chance."""
    merged: list[NotebookNode] = []
    for output in outputs:
        follows = merged and output.output_type == "stream" == merged[-1].output_type
        if follows and merged[-1].name == output.name:
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def normalise_output(output: NotebookNode, count: int) -> NotebookNode:
    """Take live views and their models out of one output; number a result like its cell."""
    for bundle in (output.get("data", {}), output.get("metadata", {})):
        for kind in WIDGET_TYPES:
            bundle.pop(kind, None)
    if output.output_type == "execute_result":
        output.execution_count = count
    return output
