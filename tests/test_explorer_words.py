"""What an explorer says: shares, what is left out, which rules it can show."""

import pytest
import torch

from mamba_edu.discretize import discretize_bilinear, discretize_euler, discretize_mamba
from mamba_edu.widgets.explorer import StateExplorer
from mamba_edu.widgets.explorer_still import write_share
from mamba_edu.widgets.lens import explore_cls
from mamba_edu.widgets.makers import explore_linear

pytestmark = pytest.mark.usefixtures("all_pictures_blank")

WORDS = {"title": "A title", "caption": "A caption"}


@pytest.fixture
def signals():
    rng = torch.Generator().manual_seed(0)
    x, B, C = (torch.randn(9, n, generator=rng) for n in (30, 2, 2))
    return {"x": x, "delta": x.abs(), "A": -torch.ones(30, 2), "B": B, "C": C}


@pytest.mark.parametrize(
    ("share", "words"),
    [
        *((0.0, "0 %"), (1e-6, "under 0.1 %"), (0.0123, "1.2 %"), (0.5, "50 %")),
        *((0.996, "99.6 %"), (0.99999, "99.9 %"), (1.0, "100 %"), (float("nan"), "not a number")),
    ],
)
def test_a_share_is_nothing_or_all_only_if_it_is(share, words):
    assert write_share(share) == words


def test_the_notice_says_why_these_channels(signals):
    assert "16 of 30 channels, those that remember longest" in notice(signals)
    assert notice(signals, channels=[3, 1]) == "Shown: 2 of 30 channels."


def notice(signals, **view):
    return StateExplorer(**signals, **WORDS, **view).options["notice"]


@pytest.mark.parametrize("rule", [discretize_euler, discretize_bilinear, "zoh"])
def test_a_rule_that_keeps_something_else_is_refused(signals, rule):
    with pytest.raises(ValueError, match="only they keep; got"):
        StateExplorer(**signals, **WORDS, rule=rule)
    StateExplorer(**signals, **WORDS, rule=discretize_mamba)


def test_a_lens_does_not_forget_what_it_is_given():
    with pytest.raises(TypeError, match="causal must be a SequenceClassifier where"):
        explore_cls(None, None, torch.ones(3, dtype=torch.long))


def test_a_filter_of_many_channels_starts_in_one_that_is_shown():
    assert explore_linear(d_inner=40).options["start"]["followed"] is not None


def test_whole_numbers_of_any_kind_say_where_to_start(signals):
    start = {"t": torch.tensor([4]).numpy()[0], "channel": 3}
    assert (
        StateExplorer(**signals, **WORDS, channels=[3, 1], start=start).options["start"]["t"] == 4
    )
