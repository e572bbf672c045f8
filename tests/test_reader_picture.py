"""A shown figure is a picture, its words and a caption, for a desk or for a stage."""

import base64
import io
import re

import numpy as np
import pytest
from front_end import open_front_end
from matplotlib.figure import Figure
from PIL import Image

from mamba_edu.figures import Line, draw_lines
from mamba_edu.reader import StillBox, show, to_png
from mamba_edu.reader.still import VIEW

T = np.linspace(0, 60, 2400)
WAVE = np.exp(-T / 20) * np.cos(T)


@pytest.fixture
def shown():
    with open_front_end() as outputs:
        yield outputs


@pytest.fixture(autouse=True)
def on_a_desk(monkeypatch):
    monkeypatch.delenv("MAMBA_EDU_STAGE", raising=False)


def draw(y=WAVE):
    lines = [Line("input", T, y, "input"), Line("state", T, -y, "state"), Line("out", T, y, "cls")]
    return draw_lines(lines, "The state forgets", "time t (ms)", "voltage (mV)")


def open_png(picture):
    return Image.open(io.BytesIO(picture))


def test_a_shown_figure_is_one_bundle_then_its_caption(shown):
    show(draw(), "**Look at** the end.", alt="It falls to 0.05.")
    picture, caption = shown
    assert set(picture["data"]) == {"image/png", "text/plain"}
    words = picture["data"]["text/plain"].splitlines()
    assert words[0] == "It falls to 0.05."
    assert [line.split(":")[0] for line in words[1:]] == [
        f"[drawn] {name}" for name in ("input", "state", "out")
    ]
    assert picture["metadata"] == {"image/png": {"width": 640, "alt": "It falls to 0.05."}}
    assert open_png(base64.b64decode(picture["data"]["image/png"])).size == (1280, 640)
    assert caption["data"]["text/plain"] == "**Look at** the end."
    assert caption["data"]["text/markdown"].startswith("**Look at** the end.\n\n<details>")


def test_alt_text_is_escaped_where_it_stands_in_a_page(shown):
    show(draw(), "Look.", alt="A < 0 & <b>rising</b>")
    picture, caption = shown
    assert "A &lt; 0 &amp; &lt;b&gt;rising&lt;/b&gt;" in caption["data"]["text/markdown"]
    assert picture["metadata"]["image/png"]["alt"] == "A < 0 & <b>rising</b>"


def test_other_data_show_other_words(shown):
    for y in (WAVE, 1.05 * WAVE):
        show(draw(y), "Look.", alt="A wave.")
    one, _, other, _ = (output["data"] for output in shown)
    assert one["text/plain"] != other["text/plain"]
    assert one["image/png"] != other["image/png"]


def test_a_figure_of_several_lines_is_small_and_has_few_colours():
    picture = to_png(draw(WAVE + 0.1 * np.random.default_rng(0).normal(size=T.size)))
    assert len(picture) < 60_000
    assert len(open_png(picture).convert("RGB").getcolors()) <= 64


def test_few_colours_keep_the_colours_of_the_roles():
    """The palette may not dye what the colour means."""
    pixels = np.asarray(open_png(to_png(draw())).convert("RGB"), int).reshape(-1, 3)
    for colour in ("7F7F7F", "0072B2", "D55E00", "FFFFFF"):
        away = np.abs(pixels - list(bytes.fromhex(colour))).max(axis=1)
        assert away.min() <= 12, colour


def test_all_colours_and_other_sharpness_are_there_on_demand():
    picture = open_png(to_png(draw(), sharpness=1.25, colours=None))
    assert picture.size == (800, 400)
    assert len(picture.convert("RGB").getcolors(1 << 20)) > 64


@pytest.mark.parametrize(("stage", "scale"), [("1", 1.6), ("0", 1), ("", 1)])
def test_the_stage_enlarges_every_picture(monkeypatch, shown, stage, scale):
    monkeypatch.setenv("MAMBA_EDU_STAGE", stage)
    show(draw(), "Look.", alt="A wave.")
    picture = shown[0]
    assert picture["metadata"]["image/png"]["width"] == 640 * scale
    size = open_png(base64.b64decode(picture["data"]["image/png"])).size
    assert size == (1280 * scale, 640 * scale)


@pytest.mark.parametrize(
    ("fig", "caption", "alt", "message"),
    [
        (draw().axes[0], "Look.", "A wave.", "fig must be a matplotlib Figure; got Axes"),
        (None, "Look.", "A wave.", "fig must be a matplotlib Figure; got NoneType"),
        (Figure(), "", "A wave.", "caption must be words.*got ''"),
        (Figure(), "Look.", " \n", "alt must be words"),
        (Figure(), "Look.", None, "alt must be words.*got None"),
        (Figure(), 3, "A wave.", "caption must be words.*got 3"),
    ],
)
def test_a_figure_without_its_words_is_refused(shown, fig, caption, alt, message):
    with pytest.raises((TypeError, ValueError), match=message):
        show(fig, caption, alt)
    assert shown == []


def test_only_a_figure_becomes_a_picture():
    with pytest.raises(TypeError, match="fig must be a matplotlib Figure; got ndarray"):
        to_png(WAVE)


@pytest.mark.parametrize("sharpness", [0, -1.0, float("nan"), "2"])
@pytest.mark.parametrize("colours", [0, 1, 257, "many", 2.5, True, [64]])
def test_a_picture_without_dots_or_colours_is_refused(sharpness, colours):
    with pytest.raises(ValueError, match=f"sharpness must be a number above 0; got {sharpness!r}"):
        to_png(Figure(), sharpness=sharpness)
    said = re.escape(repr(colours))
    with pytest.raises(ValueError, match=f"colours must be 2 to 256, .*; got {said}"):
        to_png(Figure(), colours=colours)


def test_an_array_is_no_number_of_colours():
    with pytest.raises(ValueError, match=r"colours must be 2 to 256, .*; got array\(\[ 8, 64\]\)"):
        to_png(Figure(), colours=np.array([8, 64]))
    assert to_png(Figure(), colours=np.int64(8))


def test_a_still_box_is_a_fixed_text_a_picture_and_a_live_view():
    still = {"text/plain": "A wave.", "image/png": "iVBO"}
    box = StillBox([], still, {"image/png": {"alt": "A wave."}})
    assert repr(box) == "A wave."
    data, metadata = box._repr_mimebundle_(include=None, exclude=None)
    assert data == still | {VIEW: data[VIEW]}
    assert data[VIEW] == {"version_major": 2, "version_minor": 0, "model_id": box.model_id}
    assert metadata == {"image/png": {"alt": "A wave."}}
    assert StillBox([], still)._repr_mimebundle_()[1] == {}


@pytest.mark.parametrize("still", [{}, {"text/plain": "A"}, {"text/html": "A", "image/png": "iVB"}])
def test_a_still_box_without_its_forms_is_refused(still):
    with pytest.raises(ValueError, match=r"still must hold 'text/plain', and .*it holds \["):
        StillBox([], still)


GOOD_STILL = {"text/plain": "A", "text/html": "A"}


@pytest.mark.parametrize(
    ("children", "still", "metadata", "message"),
    [
        (None, GOOD_STILL, None, "children must be a list of widgets; got None"),
        ([3], GOOD_STILL, None, r"children must be a list of widgets; got \[3\]"),
        ([], None, None, "still must be a dict of MIME type to text; got None"),
        ([], ["text/plain", "text/html"], None, r"still must be a dict .*; got \['text/plain'"),
        ([], GOOD_STILL | {"text/plain": 3}, None, r"still must be a dict .*'text/plain': 3"),
        ([], GOOD_STILL | {3: "A"}, None, r"still must be a dict .*; got .*3: 'A'"),
        ([], GOOD_STILL, ["alt"], r"metadata must be a dict or None; got \['alt'\]"),
    ],
)
def test_a_still_box_of_other_things_is_refused(children, still, metadata, message):
    with pytest.raises(TypeError, match=message):
        StillBox(children, still, metadata)
