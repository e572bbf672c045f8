"""Tiny notebooks for the tests of the rules and of the builds."""

import nbformat
from nbformat import NotebookNode

PNG = (  # one black point
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlE"
    "QVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def make_notebook(*cells: NotebookNode) -> NotebookNode:
    """Put cells into a notebook, with counted identifiers and the plain kernel."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [
        NotebookNode(cell | {"id": f"c{number}"}) for number, cell in enumerate(cells, start=1)
    ]
    notebook.metadata.kernelspec = NotebookNode(
        display_name="Python 3", language="python", name="python3"
    )
    notebook.metadata.language_info = NotebookNode(name="python")
    counts = (cell for cell in notebook.cells if cell.cell_type == "code")
    for count, cell in enumerate(counts, start=1):
        cell.execution_count = count
    return notebook


def make_text(source: str) -> NotebookNode:
    """Write a markdown cell."""
    return nbformat.v4.new_markdown_cell(source)


def make_code(source: str, *outputs: NotebookNode, tags: tuple[str, ...] = ()) -> NotebookNode:
    """Write a code cell that has run."""
    cell = nbformat.v4.new_code_cell(source, outputs=list(outputs))
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def make_stream(text: str, name: str = "stdout") -> NotebookNode:
    """Write what print leaves behind."""
    return nbformat.v4.new_output("stream", name=name, text=text)


def make_display(data: dict, alt: str = "") -> NotebookNode:
    """Write a displayed bundle; with alt text, as a picture of the course has it."""
    metadata = {"image/png": {"alt": alt}} if alt else {}
    return nbformat.v4.new_output("display_data", data=data, metadata=metadata)
