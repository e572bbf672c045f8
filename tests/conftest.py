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


@pytest.fixture(scope="module")
def all_pictures_blank():
    """Store pictures of nothing: to draw takes most of the time of tests that are not about it."""
    from mamba_edu.reader import picture

    with pytest.MonkeyPatch.context() as patch:
        real = picture.to_png
        patch.setattr(picture, "to_png", lambda *_, **__: b"blank")
        yield real


@pytest.fixture
def real_pictures(all_pictures_blank, monkeypatch):
    """Draw all the same, in a test of a file that does not."""
    monkeypatch.setattr("mamba_edu.reader.picture.to_png", all_pictures_blank)


@pytest.fixture
def blank_pictures(monkeypatch):
    """Store a picture of nothing in one test of a file."""
    monkeypatch.setattr("mamba_edu.reader.picture.to_png", lambda *_, **__: b"blank")
