"""What nbval alone would let through when it compares the stored notebooks: unrun cells, pictures.

Pictures are compared by their grey levels on a coarse grid: another font or other smoothing moves
those by 1 or 2 of 255 on average, the two most alike pictures of one notebook differ by over 4.

Run it by `pytest --nbval --nbval-current-env --nbval-cell-timeout=120 notebooks`.
"""

import base64
import io

import numpy as np
import pytest
from PIL import Image

PICTURES = ("image/png", "image/jpeg")  # nbval compares neither their dots nor their presence
GRID = (32, 16)
TOLERANCE = 3.0  # mean difference in grey levels, of 255


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
    stored, drawn = (list_pictures(outputs) for outputs in (item.cell.outputs, item.test_outputs))
    difference = f"draws {len(drawn)} pictures and {len(stored)} are stored"
    if len(stored) == len(drawn):
        found = (tell_difference(*pair) for pair in zip(stored, drawn, strict=True))
        difference = next(filter(None, found), "")
    if difference:
        item.raise_cell_error(
            f"{name_cell(item)}: {difference}; store it again by `course.py build`"
        )


def list_pictures(outputs):
    """List the pictures of the displayed bundles, in base64; one for each bundle that has any."""
    bundles = (output.get("data", {}) for output in outputs)
    found = ([bundle[kind] for kind in PICTURES if kind in bundle] for bundle in bundles)
    return [kinds[0] for kinds in found if kinds]


def read_shades(picture):
    """Read a picture's size, and its grey levels (0 to 255) averaged over a coarse grid."""
    image = Image.open(io.BytesIO(base64.b64decode(picture)))
    return image.size, np.asarray(image.convert("L").resize(GRID, Image.Resampling.BOX), float)


def tell_difference(stored, drawn):
    """Say how far a stored picture is from the one just drawn, or nothing if it is the same."""
    drawn_size, drawn_shades = read_shades(drawn)
    try:
        size, shades = read_shades(stored)
    except (OSError, ValueError, SyntaxError) as error:  # Pillow's words for broken pictures
        return f"the stored picture cannot be read ({error})"
    if size != drawn_size:
        return f"the stored picture has {size} dots and the one drawn {drawn_size}"
    difference = np.abs(shades - drawn_shades).mean()
    if difference <= TOLERANCE:
        return ""
    return (
        f"the stored picture is another than the one drawn: they differ by {difference:.1f} of 255 "
        f"grey levels on average, at most {TOLERANCE:g} is allowed"
    )
