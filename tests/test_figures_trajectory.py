"""The explorer's still draws what it is given, and refuses what could not be drawn."""

import numpy as np
import pytest
import torch

from mamba_edu.figures import describe_drawing
from mamba_edu.figures.trajectory import draw_trajectory
from mamba_edu.reader import to_png

LENGTH = 7
GIVEN = {
    "t": np.arange(90, 97),
    "delta": np.linspace(0, 0.5, LENGTH),
    "states": np.outer(np.arange(LENGTH), [1.0, -2.0, 0.5]),
    "last": np.arange(LENGTH) ** 2,
    "title": "A title",
    "ylabel": "output y",
}


def test_all_panels_hold_what_they_are_given():
    fig = draw_trajectory(**GIVEN, mark=(93, "needle"))
    said = describe_drawing(fig).splitlines()
    assert said[0].startswith("[drawn] step size: 7 points, 0.000 to 0.500")
    assert "x 90.00 to 96.00" in said[0]
    assert said[1].startswith("[drawn] state h: 3 x 7 points, 0.0 to 3.0; lowest -12.0")
    assert said[2].startswith("[drawn] output y: 7 points, 0.0 to 36.0")
    image = fig.axes[1].images[0]
    assert (image.norm.vmin, image.norm.vmax) == (-12, 12)
    assert [text.get_text() for text in fig.axes[0].texts] == ["needle"]
    bars = fig.axes[0].collections[0].get_segments()
    assert [bar[1].tolist() for bar in bars] == [
        [t, d] for t, d in zip(*map(GIVEN.get, ("t", "delta")), strict=True)
    ]


@pytest.mark.parametrize("length", [1, 2, 512])
def test_any_length_is_a_picture_whatever_it_holds(length):
    values = torch.full((length,), torch.nan)
    for filling in (values, torch.zeros(length), torch.arange(length)):
        given = {"t": range(length), "delta": filling, "last": filling}
        fig = draw_trajectory(**given, states=filling[:, None], title="A", ylabel="left")
        assert to_png(fig, sharpness=1).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"delta": np.zeros(6)}, "must have one number a token and states one row; got"),
        ({"states": np.zeros((6, 3))}, r"states \(6, 3\)"),
        ({"states": np.zeros(7)}, r"states \(7,\)"),
        ({"states": np.zeros((7, 0))}, r"states \(7, 0\)"),
        ({"t": 3}, "must have one number a token"),
        ({"last": np.zeros(7) * 1j}, "last must be real numbers; got complex128"),
        ({"states": np.full((7, 1), "a")}, "states must be real numbers; got <U1"),
        ({"title": ""}, "title must be words"),
        ({"ylabel": None}, "ylabel must be words"),
    ],
)
def test_what_could_not_be_drawn_is_refused(changed, message):
    with pytest.raises((TypeError, ValueError), match=message):
        draw_trajectory(**GIVEN | changed)
