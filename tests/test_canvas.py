"""A canvas widget is its arrays, a fixed still, and a page that needs nothing else."""

import base64
import io
import json
import re

import numpy as np
import pytest
from front_end import open_front_end
from IPython.display import display
from matplotlib.figure import Figure
from PIL import Image

from mamba_edu.figures import Line, draw_lines
from mamba_edu.reader import to_png
from mamba_edu.reader.still import VIEW
from mamba_edu.widgets.canvas import SHARPNESS, CanvasWidget
from mamba_edu.widgets.packing import join_front

ALT = "A line <rises> to 6."
OPTIONS = {"title": "A & B", "caption": "Press </script> now.", "n": [1, None]}


def draw():
    return draw_lines([Line("h", np.arange(7), np.arange(7))], "Title", "t", "h")


def make(**changed):
    given = {
        "front": "explorer",
        "arrays": {"a": np.arange(3, dtype=np.uint16)},
        "options": OPTIONS,
        "fig": draw(),
        "alt": ALT,
    }
    return CanvasWidget(**given | changed)


def read_page(text):
    """Read from a page what its script reads: the values, and the bytes."""
    held = dict(re.findall(r'<script type="[^"]+" id="(\w+)">(.*?)</script>', text, re.DOTALL))
    return json.loads(held["values"]), base64.b64decode(held["data"])


def test_the_front_end_gets_all_in_three_traits():
    widget = make()
    assert {"data", "arrays", "options", "_esm", "_css"} <= set(widget.keys)
    assert bytes(widget.data[:6]) == b"\0\0\1\0\2\0"
    assert widget.arrays == {"a": {"dtype": "uint16", "shape": [3], "offset": 0}}
    assert widget.options == OPTIONS
    assert widget._esm == join_front("explorer")
    assert ".mamba" in widget._css


def test_the_still_is_the_same_in_every_run():
    one, two = make(), make()
    still, metadata = one._repr_mimebundle_()
    again, _ = two._repr_mimebundle_()
    assert set(still) == {"image/png", "text/plain", VIEW}
    assert {**still, VIEW: 0} == {**again, VIEW: 0}
    assert still[VIEW]["model_id"] == one.model_id
    assert still["text/plain"].splitlines()[0] == repr(one).splitlines()[0] == ALT
    assert metadata == {"image/png": {"width": 640, "alt": ALT}}
    assert one.to_png() == base64.b64decode(still["image/png"]) == to_png(draw(), SHARPNESS)


def test_the_still_is_sharp_and_not_much_more():
    still, metadata = make()._repr_mimebundle_()
    picture = Image.open(io.BytesIO(base64.b64decode(still["image/png"])))
    assert 1.2 <= picture.width / metadata["image/png"]["width"] <= 2


def test_a_cell_shows_the_widget_then_its_caption_in_words():
    widget = make()
    with open_front_end() as shown:
        display(widget)
    live, caption = shown
    assert {**live["data"], VIEW: 0} == {**widget._repr_mimebundle_()[0], VIEW: 0}
    assert live["metadata"] == {"image/png": {"width": 640, "alt": ALT}}
    assert caption["data"]["text/plain"] == OPTIONS["caption"]
    assert "A line &lt;rises&gt; to 6." in caption["data"]["text/markdown"]


def test_a_page_holds_all_and_asks_for_nothing(tmp_path):
    widget = make()
    widget.save_html(str(tmp_path / "new" / "page.html"))
    (path,) = (tmp_path / "new").iterdir()
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"https?:|src=(?!\"data:)|@import|url\(", text) == []
    assert '<html lang="en">' in text
    assert '<meta name="viewport" content="width=device-width, initial-scale=1">' in text
    assert '<body class="mamba-page">' in text
    assert "<title>A &amp; B</title>" in text
    assert 'alt="A line &lt;rises&gt; to 6."' in text
    assert text.count("</script>") == 3
    assert text.count("export default") == 0
    assert widget._css in text
    values, data = read_page(text)
    assert values == {"arrays": widget.arrays, "options": OPTIONS}
    assert data == widget.data


def test_a_page_replaces_another_only_when_it_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("kept")
    widget = make()
    monkeypatch.setattr(type(path), "replace", lambda *_: (_ for _ in ()).throw(OSError("full")))
    with pytest.raises(OSError, match="full"):
        widget.save_html(path)
    monkeypatch.undo()
    assert [p.read_text() for p in tmp_path.iterdir()] == ["kept"]
    widget.save_html(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_options_that_are_no_json_cannot_become_a_page(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        make(options=OPTIONS | {"n": float("nan")}).save_html(tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"front": "nothing"}, r"nothing\.mjs must lie in front"),
        ({"arrays": {"a": [1]}}, "array 'a' must be of one of"),
        ({"options": {"title": "A"}}, "caption must be words.*got None"),
        ({"options": OPTIONS | {"title": " "}}, "title must be words.*got ' '"),
        ({"alt": ""}, "alt must be words"),
        ({"fig": None}, "fig must be a matplotlib Figure; got NoneType"),
        ({"fig": Figure().subplots()}, "fig must be a matplotlib Figure; got Axes"),
    ],
)
def test_a_widget_that_would_show_nothing_is_refused(changed, message):
    with pytest.raises((TypeError, ValueError, FileNotFoundError), match=message):
        make(**changed)
