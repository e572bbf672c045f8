"""Check shapes in the maths while the tests run."""

import pytest
from hypothesis import settings
from jaxtyping import config, install_import_hook

# The same examples on every machine and every run, however slow it is.
settings.register_profile("course", derandomize=True, deadline=None, database=None)
settings.load_profile("course")

# Every annotated call in these modules is checked against its shapes and dtypes. The hook must be
# in place before their first import, and costs readers nothing: only the tests install it.
MATHS = ["_checks", "discretize", "linear", "steps"]
MATHS += [f"scan.{name}" for name in ("_arguments", "_chunks", "chunked", "dispatch", "fused")]
MATHS += [
    "scan.loop",
    "scan.parallel",
    "scan.ranks",
    "scan.ssd",
]  # all of scan but what numba reads
MATHS += ["layers", "tokens", "readout", "models", "tasks", "training", "probes"]
install_import_hook([f"mamba_edu.{name}" for name in MATHS], "beartype.beartype")


@pytest.fixture
def as_reader():
    """Call the maths as a reader does, without the hook, so that our own refusals answer."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.fixture
def blank_pictures(monkeypatch):
    """Store a picture of nothing: drawing takes most of the time of a test that is not about it."""
    monkeypatch.setattr("mamba_edu.reader.picture.to_png", lambda *_, **__: b"\x89PNG")
