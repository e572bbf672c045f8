"""Widgets that are drawn in the browser from arrays that Python sends once."""

import base64
from pathlib import Path
from typing import Any

import anywidget
import numpy as np
import traitlets
from IPython.display import display
from matplotlib.figure import Figure

from mamba_edu._files import replace_file
from mamba_edu.figures import require_figure, require_text
from mamba_edu.reader import Still
from mamba_edu.reader.picture import bundle_caption, bundle_picture
from mamba_edu.widgets.packing import FRONT, join_front, pack_arrays, strip_lines
from mamba_edu.widgets.page import write_page

SHARPNESS = 1.25  # dots of the still per dot on screen: it must be small beside the arrays


class CanvasWidget(Still, anywidget.AnyWidget):
    """A front-end module with its arrays, and a still picture for where no module runs.

    The front end reads three traits and changes none: `data`, the bytes of all arrays; `arrays`,
    where each lies in them; `options`, everything else.

    Args:
        front: the name of the module, a file of widgets/front.
        arrays: what it draws, by name; see pack_arrays.
        options: words and numbers that JSON can hold; `title` and `caption` among them.
        fig: the still picture.
        alt: the same in words, with its computed numbers.

    Raises:
        TypeError: if an array or the figure is none.
        ValueError: if the title, the caption or the words are missing.
        FileNotFoundError: if there is no such module.
    """

    data = traitlets.Bytes().tag(sync=True)
    arrays = traitlets.Dict().tag(sync=True)
    options = traitlets.Dict().tag(sync=True)

    def __init__(
        self, front: str, arrays: dict[str, np.ndarray], options: dict, fig: Figure, alt: str
    ):
        require_figure(fig)
        require_text("alt", alt)
        for name in ("title", "caption"):
            require_text(name, options.get(name))
        data, places = pack_arrays(arrays)
        self._esm = join_front(front)
        self._css = strip_lines((FRONT / "style.css").read_text(encoding="utf-8"))
        self.hold_still(*bundle_picture(fig, alt, SHARPNESS))
        super().__init__(data=data, arrays=places, options=options)

    def _ipython_display_(self) -> None:
        """Show the widget, then its caption with the picture in words, as every figure has it."""
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        alt = metadata["image/png"]["alt"]
        display(bundle_caption(self.options["caption"], alt), raw=True)

    def to_png(self) -> bytes:
        """Return the still picture."""
        return base64.b64decode(self.still["image/png"])

    def measure_display(self) -> int:
        """Count the bytes of a first display: module, style, data and the still picture."""
        texts = (self._esm, self._css, self.still["image/png"])
        return len(self.data) + sum(len(text.encode()) for text in texts)

    def save_html(self, path: str | Path) -> None:
        """Write one page that needs no kernel, no server and no network.

        Args:
            path: where to; a file there is replaced once the new one is whole.

        Raises:
            OSError: if it cannot be written.
        """
        alt = self.still_metadata["image/png"]["alt"]
        values: dict[str, Any] = {"arrays": self.arrays, "options": self.options}
        page = write_page(self._esm, self._css, self.data, values, self.still["image/png"], alt)
        replace_file(Path(path), page.encode())
