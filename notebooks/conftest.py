"""What nbval alone would let through when it compares the stored notebooks: unrun cells, pictures.

Run it by `pytest --nbval --nbval-current-env --nbval-cell-timeout=120 notebooks`.
"""

import pytest

PICTURES = ("image/png", "image/jpeg")  # nbval compares neither their dots nor their presence


def pytest_collectstart(collector):
    """Skip stderr: what another system warns of is no output of the course."""
    if hasattr(collector, "skip_compare"):
        collector.skip_compare = (*collector.skip_compare, "stderr")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Run a cell, then hold what nbval does not hold: it was stored run, with its pictures."""
    result = yield
    if not hasattr(item, "cell") or item.options["skip"]:
        return result
    if item.cell.execution_count is None:
        item.raise_cell_error(
            f"{name_cell(item)}: stored unrun, so nothing was compared; "
            "store it by `course.py build`"
        )
    compare_pictures(item)
    return result


def name_cell(item):
    """Name a cell as nbval counts and as the notebook calls it."""
    return f"{item.path.name}, cell {item.cell_num} (id {item.cell.get('id', 'none')})"


def compare_pictures(item):
    """Fail if a cell draws a picture that is not stored, or stores one that it does not draw."""
    stored, drawn = (count_pictures(outputs) for outputs in (item.cell.outputs, item.test_outputs))
    if stored != drawn:
        item.raise_cell_error(
            f"{name_cell(item)}: draws {drawn} pictures and {stored} are stored; "
            "store it again by `course.py build`"
        )


def count_pictures(outputs):
    """Count the displayed bundles that hold a picture."""
    bundles = (output.get("data", {}) for output in outputs)
    return sum(any(kind in bundle for kind in PICTURES) for bundle in bundles)
