"""A front end for tests: what the course displays, as JupyterLab would get it."""

import contextlib
import tempfile
from collections.abc import Iterator
from types import ModuleType

from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

HOME = tempfile.TemporaryDirectory(prefix="ipython-")  # not the one of whoever runs the tests


def open_shell() -> InteractiveShell:
    """Start IPython without history, or find the one that is there."""
    return InteractiveShell.instance(
        config=Config({"HistoryManager": {"enabled": False}}),
        ipython_dir=HOME.name,
        user_module=ModuleType("reader_of_the_course"),
    )


@contextlib.contextmanager
def open_front_end() -> Iterator[list[dict]]:
    """Collect what is displayed: one {"data": ..., "metadata": ...} per output."""
    shell = open_shell()
    publisher, shell.display_pub = shell.display_pub, CapturingDisplayPublisher()
    try:
        yield shell.display_pub.outputs
    finally:
        shell.display_pub = publisher
