"""Needles among a million tokens: text as filler, the run, and its solutions by other means."""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.exercises import n12
from mamba_edu.experiments import SWEEPS, count_right, run_million, start_readout
from mamba_edu.experiments.million import ASKED, FILLERS, MILLION, learn_zero
from mamba_edu.reader import CLAIMS, claims_million, judge
from mamba_edu.scan import selective_scan
from mamba_edu.tasks import N_FILLERS, load_licences, sample_needle, sample_text_needle, texts

FEW = {128: 8, 200: 4}


def test_text_filler_is_the_text_from_some_place_on_with_one_needle():
    text, length = load_licences(), 300
    assert len(text) > 100_000
    assert text.count(b"WARRANTIES OF MERCHANTABILITY") > 3
    numbers = [byte % N_FILLERS for byte in text]
    twice = bytes(numbers + numbers)
    drawn = sample_text_needle(9, length, seed=3, n_classes=5)
    is_needle = drawn.inputs < 5
    assert_close(is_needle.sum(1), torch.ones(9, dtype=torch.long))
    assert_close(drawn.inputs[is_needle], drawn.target)
    for row, place in zip(drawn.inputs.tolist(), is_needle.int().argmax(1).tolist(), strict=True):
        before, behind = (bytes(n - 5 for n in part) for part in (row[:place], row[place + 1 :]))
        assert before in twice
        assert behind in twice
    again = sample_text_needle(9, length, seed=3, n_classes=5)
    assert torch.equal(again.inputs, drawn.inputs)
    assert not torch.equal(sample_text_needle(9, length, seed=4, n_classes=5).inputs, drawn.inputs)


def test_a_text_that_is_too_short_begins_again(monkeypatch):
    monkeypatch.setattr(texts, "_number_text", lambda: torch.tensor([0, 1, 2]))
    drawn = sample_text_needle(1, 20, seed=0).inputs[0]
    filler = drawn[drawn >= 8] - 8
    steps = (filler[1:] - filler[:-1]) % 3
    assert (steps == 1).sum() >= 17  # all but those at the needle


def test_what_text_cannot_be_is_refused(as_reader, monkeypatch):
    with pytest.raises(ValueError, match="length must be at least 1; it is 0"):
        sample_text_needle(1, 0, seed=0)
    with pytest.raises(ValueError, match="n_classes must be at least 2; it is 1"):
        sample_text_needle(1, 5, seed=0, n_classes=1)
    with pytest.raises(TypeError, match=r"batch must be an int; it is 1\.5"):
        sample_text_needle(1.5, 5, seed=0)
    monkeypatch.setattr(texts, "PACKAGES", ("no-such-package",))
    load_licences.cache_clear()
    with pytest.raises(FileNotFoundError, match="licences of no-such-package must be installed"):
        load_licences()


@pytest.mark.parametrize(
    "more", [{}, {"allowed": 0.9}, {"late_zero": True}, {"readout": "max", "filler": "text"}]
)
def test_a_run_counts_what_it_says(more, monkeypatch):
    asked = []
    monkeypatch.setattr("mamba_edu.experiments.million.N_TRIED", 16)
    for name, sample in list(FILLERS.items()):
        monkeypatch.setitem(
            FILLERS, name, lambda *g, s=sample, n=name: asked.append((n, *g)) or s(*g)
        )
    row = run_million(**{"filler": "random"} | more, seed=1, steps=16, asked=FEW)
    filler = more.get("filler", "random")
    assert asked == [(filler, 8, 128, 1), (filler, 4, 200, 1)]
    assert {name for name in row if name != "tau"} == {"right_128", "n_128", "right_200", "n_200"}
    assert (row["n_128"], row["n_200"]) == (8, 4)
    assert row["tau"] == (0.3 if "allowed" in more else 0)  # nearly all may be lost


def test_right_is_counted_by_streams_of_the_model_at_rest():
    model = start_readout("needle", "cls_last", seed=0)
    drawn = sample_needle(40, 60, seed=0)
    with torch.no_grad():
        right = int((model.eval()(drawn.inputs).argmax(1) == drawn.target).sum())
    assert count_right(model.train(), drawn) == right > 0


def test_a_late_zero_follows_the_training():
    model = start_readout("needle", "cls_last", seed=0)
    sample = learn_zero(model, steps=4)
    rule = model.blocks.layers[0].mixer.step_rule
    assert rule.share == 0
    for _ in range(3):
        sample(2, 16, 0)
    assert rule.share == 0.75


def test_the_run_refuses_what_it_does_not_know(as_reader):
    with pytest.raises(ValueError, match=r"one of \['random', 'text'\]; it is 'poems'"):
        run_million("poems")
    with pytest.raises(TypeError, match="late_zero must be True or False; it is 1"):
        run_million("text", late_zero=1)


def test_the_claims_compare_settings_of_the_grid(monkeypatch):
    """Rows of the right names, whatever the table holds by now."""
    grid = SWEEPS["million"].settings
    assert max(ASKED) == MILLION == claims_million.MILLION == 2**20
    found = []

    def pair(table, measure, /, **settings):
        found.extend(settings.values() if table == "million" else [])
        shares = {"better": 1.0, "worse": 0.1, "right": 1 - 0.1 * measure / MILLION}
        return [{"seed": s, **{name: shares[name] for name in settings}} for s in range(5)]

    monkeypatch.setattr("mamba_edu.reader.claim.pair_results", pair)
    monkeypatch.setattr(claims_million, "pair_results", pair)
    for key in (key for key in CLAIMS if key.startswith("n12.")):
        rows = CLAIMS[key].rows()
        wanted = "depends" if key == "n12.forgets" else "holds"
        assert judge(CLAIMS[key], rows).word == wanted, key
    assert set(found) <= set(grid)
    forgets = CLAIMS["n12.forgets"].rows()
    assert forgets[2] == {"seed": 2, "near": 1 - 0.1 * 2**-13, "far": 0.9}


def test_starts_and_ends_of_ranks_are_those_of_one_scan():
    rng = torch.Generator().manual_seed(0)
    x, delta, B, C = (torch.rand(1, 12, n, generator=rng).double() for n in (3, 3, 2, 2))
    A = -torch.rand(3, 2, generator=rng).double()
    parts = [slice(0, 5), slice(5, 6), slice(6, 12)]
    keep = torch.stack([(A * delta[0, p].sum(0)[:, None]).exp() for p in parts])
    alone = [
        selective_scan(x[:, p], delta[:, p], A, B[:, p], C[:, p], return_state=True)[1][0]
        for p in parts
    ]
    starts = n12.solve_find_starts(keep, torch.stack(alone))
    for start, p in zip(starts[1:], parts[1:], strict=True):
        cut = slice(0, p.start)
        right = selective_scan(
            x[:, cut], delta[:, cut], A, B[:, cut], C[:, cut], return_state=True
        )[1][0]
        assert_close(start, right, rtol=0, atol=1e-12)


def test_a_mean_joined_from_pieces_is_the_mean():
    case = n12.make_outputs(3, 1, 4)
    joined = n12.walk_mean(n12.solve_join_mean)(**case)
    assert_close(joined[:-1], case["outputs"].mean(0))
    assert joined[-1] == 8


def test_the_cache_is_that_of_the_course_s_transformer():
    assert n12.solve_cache_bytes(2**20, 2, 16, 4) == 256 * 2**20
    assert n12.count_state(n12.load_needle()) == 64 * 8 + 64 * 3
