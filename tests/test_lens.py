"""The lens: what it is sent is what was measured, its zeros too; its words, picture and page."""

import numpy as np
import pytest
import torch

from mamba_edu.figures import describe_drawing
from mamba_edu.figures.lens import draw_lens, insert_cls
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import measure_influence, open_classifier
from mamba_edu.widgets.lens import SENTENCE, ClsLens, build_fresh, explore_cls

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

LENGTH = 4
CAUSAL = torch.tensor(
    [[0, 0, 0, 0], [1, 0, 0, 0], [0.5, 2, 0, 0], [0.25, 1, 3, 0], [0.1, 0.5, 1, 4]]
).double()
BOTH = CAUSAL + 0.125


def read(widget):
    """Read the influence as the front end does."""
    place = widget.arrays["influence"]
    assert place["dtype"] == "float32"
    count = int(np.prod(place["shape"]))
    values = np.frombuffer(widget.data, np.float32, count, place["offset"])
    return values.reshape(place["shape"])


def test_the_front_end_gets_every_size_and_every_zero():
    sent = read(ClsLens(CAUSAL, BOTH))
    assert sent.shape == (2, LENGTH + 1, LENGTH)
    np.testing.assert_allclose(sent, np.stack([CAUSAL, BOTH]), rtol=1e-7)
    assert ((sent == 0) == (np.stack([CAUSAL, BOTH]) == 0)).all()


def test_no_size_above_0_is_sent_as_0():
    tiny = torch.where(CAUSAL > 0, 1e-300, 0.0).double()
    assert ((read(ClsLens(tiny))[0] == 0) == (tiny == 0).numpy()).all()


def test_the_words_count_what_is_exactly_0():
    widget = ClsLens(CAUSAL, BOTH, labels=list("abcd"), start={"position": 3})
    said = repr(widget).splitlines()[0]
    assert said == (
        "What can CLS see? CLS behind 3 of 4 tokens. Causal: it sees 3; 1 are exactly 0. "
        "Bidirectional: it sees 4; 0 are exactly 0. Shown is causal: the strongest is token 2, "
        "'c', 3; the weakest not 0 0.25."
    )
    assert widget.options["start"] == {"position": 3, "direction": 0}
    assert widget.options["directions"] == ["causal", "bidirectional"]
    assert "Shown is" not in repr(ClsLens(CAUSAL, start={"position": 0})).splitlines()[0]


def test_the_words_tell_of_the_direction_that_is_shown():
    both = torch.flip(CAUSAL, [1]) + 0.125
    start = {"position": 3, "direction": "bidirectional"}
    said = repr(ClsLens(CAUSAL, both, labels=list("abcd"), start=start)).splitlines()[0]
    assert said.endswith(
        "Shown is bidirectional: the strongest is token 1, 'b', 3.1; the weakest not 0 0.12."
    )


def test_a_lens_starts_where_it_is_told_to():
    start = {"position": 0, "direction": "bidirectional"}
    assert ClsLens(CAUSAL, BOTH, start=start).options["start"] == {"position": 0, "direction": 1}
    assert ClsLens(CAUSAL).options["start"] == {"position": LENGTH, "direction": 0}
    assert ClsLens(CAUSAL).options["labels"] == ["0", "1", "2", "3"]


@pytest.mark.parametrize("position", range(LENGTH + 1))
@pytest.mark.usefixtures("real_pictures")
def test_every_place_of_cls_has_a_still(position):
    fig = draw_lens(CAUSAL, position, list("abcd"), "Title")
    said = describe_drawing(fig)
    hidden = int((CAUSAL[position] == 0).sum())
    assert (f"exactly 0: {hidden} points" in said) == (hidden > 0)
    assert f"CLS: 1 points, {CAUSAL[CAUSAL > 0].min() / 2:.2e}" in said
    assert ClsLens(CAUSAL, start={"position": position}).to_png().startswith(b"\x89PNG")


def test_cls_takes_a_column_of_its_own_in_every_row():
    grid = insert_cls(CAUSAL.numpy())
    assert np.isnan(np.diag(grid)).all()
    for position, row in enumerate(grid):
        assert np.delete(row, position).tolist() == CAUSAL[position].tolist()


@pytest.mark.parametrize("length", [1, 2, 40, 128])
@pytest.mark.usefixtures("real_pictures")
def test_a_lens_takes_any_length_up_to_128_and_nothing_but_zeros(length):
    for sizes in (torch.rand(length + 1, length), torch.zeros(length + 1, length)):
        widget = ClsLens(sizes)
        assert read(widget).shape == (1, length + 1, length)
    assert widget.measure_display() < 300_000


def test_a_saved_page_holds_the_lens(tmp_path):
    widget = ClsLens(CAUSAL, BOTH)
    widget.save_html(tmp_path / "lens.html")
    page = (tmp_path / "lens.html").read_text(encoding="utf-8")
    assert "<title>What can CLS see?</title>" in page
    assert "function drawLensMap" in page
    assert page.count("export ") == 0


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"causal": None}, TypeError, "causal must hold numbers; got None"),
        ({"causal": "no"}, TypeError, "causal must hold"),
        ({"causal": CAUSAL[1:]}, ValueError, r"causal must be \(length \+ 1, length\).*\(4, 4\)"),
        ({"causal": torch.ones(3)}, ValueError, r"causal must be .* its shape is \(3,\)"),
        ({"causal": torch.ones(1, 0)}, ValueError, "causal must have 1 to 128 tokens; it has 0"),
        ({"causal": torch.ones(130, 129)}, ValueError, "1 to 128 tokens; it has 129"),
        ({"causal": CAUSAL * torch.nan}, ValueError, "with 0 tokens before CLS, token 0 has nan"),
        ({"bidirectional": -BOTH}, ValueError, "bidirectional must be finite and at least 0"),
        ({"bidirectional": torch.ones(4, 3)}, ValueError, "must have one shape; they have"),
        ({"labels": ["a"]}, ValueError, "labels must"),
        ({"start": 3}, TypeError, "start must be a dict or None; got 3"),
        ({"start": {"t": 3}}, ValueError, r"start may hold .*; it holds 't'"),
        ({"start": {"position": 5}}, ValueError, r"start\['position'\] must be 0 to 4; got 5"),
        ({"start": {"position": 1.5}}, ValueError, r"start\['position'\] must be 0 to 4; got 1.5"),
        ({"start": {"direction": "both"}}, ValueError, r"start\['direction'\] must be one of"),
        ({"title": ""}, ValueError, "title must be words"),
        ({"caption": ""}, ValueError, "caption must be words"),
    ],
)
def test_a_lens_refuses_what_it_cannot_show(changes, error, message):
    with pytest.raises(error, match=message):
        ClsLens(**{"causal": CAUSAL} | changes)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ((CAUSAL * 1j, 0, "abcd", "T"), TypeError, "influence must be real numbers"),
        ((CAUSAL[1:], 0, "abcd", "T"), ValueError, "influence must be .*length"),
        ((-CAUSAL, 0, "abcd", "T"), ValueError, "influence must be finite and at least 0"),
        ((CAUSAL, 5, "abcd", "T"), ValueError, "position must be 0 to 4; got 5"),
        ((CAUSAL, 0, "abc", "T"), ValueError, "labels must name 4 tokens; there are 3"),
        ((CAUSAL, 0, "abcd", " "), ValueError, "title must be words"),
    ],
)
def test_a_still_lens_refuses_what_it_cannot_draw(arguments, error, message):
    with pytest.raises(error, match=message):
        draw_lens(*arguments)


def test_the_lens_of_classifiers_shows_what_reaches_their_cls():
    causal, both, ids = build_fresh()
    ids = ids[:LENGTH]
    widget = explore_cls(causal, both, ids, labels=list(SENTENCE[:LENGTH]))
    for sent, model in zip(read(widget), (causal, both), strict=True):
        measured = measure_influence(*open_classifier(model, ids))
        np.testing.assert_allclose(sent, measured, rtol=1e-6)
    assert (read(widget)[0] == 0).tolist() == np.triu(np.ones((5, 4), bool)).tolist()
    assert (read(widget)[1] > 0).all()


def test_the_lens_of_nothing_is_always_the_same_and_draws_no_lots():
    before = torch.random.get_rng_state()
    models = [build_fresh()[0].state_dict() for _ in range(2)]
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])


def test_a_classifier_needs_inputs():
    with pytest.raises(TypeError, match="its type is NoneType"):
        explore_cls(SequenceClassifier(2, 3))
