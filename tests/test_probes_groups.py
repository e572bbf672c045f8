"""Each token is found again where the model reads it; steps of a kind by plain loops."""

import statistics

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.models import SequenceClassifier
from mamba_edu.probes import group_steps, mark_tokens, read_block
from mamba_edu.readout import ReadCLS, ReadMean

LENGTH, BATCH = 7, 2
IDS = torch.tensor([[0, 5, 6, 6, 1, 7, 5], [8, 8, 2, 8, 5, 5, 8]])
GROUPS = {"needle": IDS < 3, "filler": IDS >= 5}
MASK = torch.ones(BATCH, LENGTH, dtype=torch.bool)
MASK[0, 3:5] = False


def make_model(readout, **options):
    torch.manual_seed(0)
    return SequenceClassifier(3, 9, readout=readout, d_model=6, **options)


def find_by_embedding(model, mask):
    """Oracle: look each token that the blocks read up in the table of embeddings."""
    tokens, real = model.tokens(IDS, mask)
    table = {tuple(row): number for number, row in enumerate(model.tokens.embed.weight.tolist())}
    found = torch.tensor([[table.get(tuple(t), -1) for t in row] for row in tokens.tolist()])
    return found if real is None else torch.where(real, found, -2)


@pytest.mark.parametrize("mask", [None, MASK])
@pytest.mark.parametrize("position", ["first", "middle", "last", None])
def test_marks_move_to_where_the_blocks_read_their_tokens(position, mask):
    readout = ReadMean() if position is None else ReadCLS(position)
    model = make_model(readout, allow_blind=True)
    found = find_by_embedding(model, mask)
    moved = mark_tokens(model, GROUPS, mask)
    assert list(moved) == ["needle", "filler", "cls"]
    assert_close(moved["needle"], (found >= 0) & (found < 3))
    assert_close(moved["filler"], found >= 5)
    assert_close(moved["cls"], found == -1)
    assert moved["cls"].sum().item() == (0 if position is None else BATCH)


def test_numbers_are_marked_as_ids_are_and_nothing_is_changed():
    torch.manual_seed(0)
    model = SequenceClassifier(3, d_in=2, d_model=6)
    before = {name: value.clone() for name, value in model.state_dict().items()}
    moved = mark_tokens(model, GROUPS)
    assert_close(moved["needle"][:, :-1], GROUPS["needle"])
    assert moved["cls"].nonzero().tolist() == [[0, LENGTH], [1, LENGTH]]
    assert_close(dict(model.state_dict()), before)


def test_steps_of_a_kind_are_what_a_loop_finds():
    model = make_model(ReadCLS("middle"))
    read = read_block(model, IDS, MASK)
    groups = mark_tokens(model, GROUPS, MASK)
    for name, steps in group_steps(read.delta, groups).items():
        marked = [read.delta[row, t] for row, t in groups[name].nonzero().tolist()]
        numbers = [number for token in marked for number in token.tolist()]
        assert steps.n_tokens == len(marked)
        assert steps.mean == pytest.approx(statistics.fmean(numbers))
        assert steps.median == pytest.approx(statistics.median_low(numbers))
        assert_close(steps.by_channel, sum(marked) / len(marked))
    assert group_steps(read.delta, groups)["cls"].n_tokens == BATCH


@pytest.mark.usefixtures("as_reader")
@pytest.mark.parametrize(
    ("groups", "mask", "message"),
    [
        ({}, None, r"groups must name at least one kind of token, and none 'cls'; they are \[\]"),
        ({"cls": IDS < 3}, None, "none 'cls'"),
        (
            {"needle": IDS},
            None,
            r"groups\['needle'\] must be a torch.bool tensor; it",
        ),
        ({"needle": [True]}, None, r"groups\['needle'\] must be a torch.bool tensor; it is list"),
        (
            GROUPS | {"short": MASK[:, 1:]},
            None,
            r"groups\['short'\] must have the shape",
        ),
        (GROUPS, MASK[:, 1:], "mask must have the shape"),
    ],
)
def test_marks_that_fit_no_sequence_are_refused(groups, mask, message):
    with pytest.raises((TypeError, ValueError), match=message):
        mark_tokens(make_model(None), groups, mask)


@pytest.mark.usefixtures("as_reader")
def test_what_has_no_tokens_is_refused():
    with pytest.raises(TypeError, match="model must be a SequenceClassifier; it is a Linear"):
        mark_tokens(torch.nn.Linear(1, 1), GROUPS)
    delta = torch.ones(BATCH, LENGTH, 3)
    with pytest.raises(ValueError, match=r"groups\['none'\] must mark at least one token; it"):
        group_steps(delta, {"none": ~MASK & MASK})
    with pytest.raises(ValueError, match=r"groups\['short'\] must have the shape"):
        group_steps(delta, {"short": MASK[:, 1:]})
    with pytest.raises(TypeError, match=r"delta must be torch\.float32 or torch.float64"):
        group_steps(delta.long(), {"all": MASK})
