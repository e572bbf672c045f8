"""Arrays go into bytes and back, values into 255 steps; modules become one that node can read."""

import subprocess
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from mamba_edu.widgets.packing import FRONT, join_front, pack_arrays, quantize, strip_lines

nan, inf = float("nan"), float("inf")


def unpack(data, places):
    """Read the bytes as a browser does: by type, place and number."""
    found = {}
    for name, place in places.items():
        dtype = np.dtype(place["dtype"]).newbyteorder("<")
        count = int(np.prod(place["shape"]))
        flat = np.frombuffer(data, dtype, count, place["offset"])
        found[name] = flat.reshape(place["shape"])
    return found


@given(st.lists(array_shapes(max_dims=4, max_side=3), max_size=4), st.data())
def test_arrays_come_back_from_the_bytes(shapes, draw):
    given_arrays = {}
    for number, shape in enumerate(shapes):
        dtype = draw.draw(st.sampled_from(["int8", "uint8", "uint16", "float32"]))
        given_arrays[f"array{number}"] = np.arange(np.prod(shape)).astype(dtype).reshape(shape)
    data, places = pack_arrays(given_arrays)
    again = unpack(data, places)
    assert list(again) == list(given_arrays)
    for name, array in given_arrays.items():
        assert places[name]["offset"] % 8 == 0
        assert np.array_equal(again[name], array)


def test_turned_arrays_are_packed_as_they_read():
    array = np.arange(6, dtype=">u2").reshape(2, 3).T
    assert np.array_equal(unpack(*pack_arrays({"a": array}))["a"], array)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(2), r"array 'a' must be of one of \('int8'.*it is float64"),
        (np.zeros(2, dtype=complex), "it is complex128"),
        ([1, 2], "it is list"),
    ],
)
def test_an_array_that_no_front_end_reads_is_refused(array, message):
    with pytest.raises(TypeError, match=message):
        pack_arrays({"a": array})


VALUES = st.floats(allow_nan=True, allow_infinity=True, width=64)


@given(arrays(np.float64, array_shapes(min_dims=2, max_dims=4, max_side=4), elements=VALUES))
def test_a_value_is_its_code_times_the_step_to_half_a_step(values):
    codes, steps = quantize(values, 1)
    assert codes.dtype == np.int8
    assert steps.dtype == np.float32
    assert (steps > 0).all()
    assert np.isfinite(steps).all()
    is_number = np.abs(values) <= np.finfo(np.float32).max
    assert np.array_equal(codes != -128, is_number)
    wide = np.broadcast_to(steps.astype(float)[..., None], values.shape)
    missed = np.abs(codes * wide - np.where(is_number, values, 0))[is_number]
    assert (missed <= 0.50001 * wide[is_number]).all()


def test_steps_by_hand():
    values = [[[1.0, -2.0], [0.5, nan]], [[0.0, 0.0], [0.0, inf]], [[1e-44, 0], [0, -1e-45]]]
    codes, steps = quantize(values, 2)
    assert codes.tolist()[0] == [[64, -127], [32, -128]]
    assert codes.tolist()[1:] == [[[0, 0], [0, -128]], [[0, 0], [0, 0]]]
    assert np.allclose(steps, [2 / 127, 1 / 127, 1 / 127])
    assert quantize(np.zeros((2, 0)), 1)[1].shape == (2,)


MODULES = {
    "entry": 'import { a, b } from "./one.mjs";\nimport {\n  c,\n} from "./two.mjs";\n\n'
    "// only a comment\nfunction render() {\n  return a + b() + c; // stays\n}\n"
    "export default { render };\n",
    "one": 'import { c } from "./two.mjs";\nexport const a = c;\nexport function b() {\n'
    "  return c;\n}\n",
    "two": "/** Tell c. */\nexport const c = 1;\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in MODULES.items():
        (tmp_path / f"{name}.mjs").write_text(text)
    return tmp_path


def test_modules_are_joined_in_the_order_of_their_needs(folder):
    assert join_front("entry", folder).splitlines() == [
        "const c = 1;",
        "const a = c;",
        *("function b() {", "return c;", "}"),
        *("function render() {", "return a + b() + c; // stays", "}"),
        "export default { render };",
    ]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("two", 'import { a as c } from "./one.mjs";\n', r"two\.mjs holds 'import \{ a as c"),
        ("two", 'import c from "./one.mjs";\n', r"two\.mjs holds 'import c"),
        ("two", "export { c };\n", r"two\.mjs holds 'export \{ c"),
        ("two", "const c = 'https://a.org';\n", r"two\.mjs holds 'https:'"),
        ("two", "const c = '</script>';\n", r"two\.mjs holds '</script'"),
        ("two", "const c = `a\nb`;\n", r"two\.mjs holds a text of several lines"),
        ("two", "export default 1;\n", "entry.mjs must hold one 'export default'.*there are 2"),
        ("entry", "const a = 1;\n", "entry.mjs must hold one 'export default'.*there are 0"),
    ],
)
def test_a_module_that_cannot_be_joined_is_refused(folder, name, text, message):
    (folder / f"{name}.mjs").write_text(text)
    with pytest.raises(ValueError, match=message):
        join_front("entry", folder)


def test_a_module_that_is_not_there_is_named(folder):
    (folder / "two.mjs").unlink()
    with pytest.raises(FileNotFoundError, match=r"two\.mjs must lie in"):
        join_front("entry", folder)


def test_stripping_leaves_code_alone():
    text = "/* a\n b */\n.x { a: b; } /* c */\n\n    // d\n  const e = 1; // f\n"
    assert strip_lines(text) == ".x { a: b; } /* c */\nconst e = 1; // f"


ENTRIES = [p.stem for p in sorted(FRONT.glob("*.mjs")) if "export default" in p.read_text("utf-8")]


@pytest.mark.parametrize("name", ENTRIES)
def test_node_reads_each_joined_module(name, tmp_path):
    from playwright._impl._driver import compute_driver_executable

    node, _ = compute_driver_executable()
    path = tmp_path / f"{name}.mjs"
    path.write_text(join_front(name), encoding="utf-8")
    run = subprocess.run(
        [node, "--check", path], capture_output=True, text=True, check=False, timeout=60
    )
    assert run.returncode == 0, run.stderr


def test_there_is_something_to_join():
    assert "explorer" in ENTRIES


def test_an_installed_package_holds_the_front_end():
    package = FRONT.parents[1]
    settings = tomllib.loads((package.parent / "pyproject.toml").read_text(encoding="utf-8"))
    patterns = settings["tool"]["setuptools"]["package-data"]["mamba_edu"]
    packed = {path for pattern in patterns for path in package.glob(pattern)}
    assert packed >= {path for path in FRONT.iterdir() if path.is_file()}
