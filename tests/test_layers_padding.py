"""C3: a padded sequence answers, remembers and learns as the same one without padding.

transformers#48256, #31540, #46773, state-spaces/mamba#66, rasbt#566, #990. Padding is filled with
NaN, so that a single look at it shows; the projections have biases, so that zeros would show too.
"""

import pytest
import torch
from torch.testing import assert_close

from mamba_edu.layers import MambaBlock, MambaStack, ResidualBlock
from mamba_edu.tokens import make_mask

D_MODEL = 6
nan = float("nan")
TIGHT = {"rtol": 1e-12, "atol": 1e-12}


def make_model(kind):
    torch.manual_seed(0)
    return kind(D_MODEL, d_state=5, delta_rank=3, bias=True).double()


def draw_mask(name):
    """Draw a mask of 3 rows and 11 columns, padded in the named way."""
    lengths = [4, 11, 1]
    if name in ("right", "left"):
        return make_mask(lengths, side=name)
    gaps = torch.rand(3, 11, generator=torch.Generator().manual_seed(5)) < 0.5
    gaps[:, -1] = True  # padding before a trailing token, in the middle and in front
    return gaps


def pad(rows, mask):
    """Lay each row's real tokens out where the mask says, with NaN elsewhere."""
    padded = torch.full((*mask.shape, D_MODEL), nan, dtype=torch.float64)
    padded[mask] = torch.cat(rows)
    return padded


def draw_rows(mask):
    rng = torch.Generator().manual_seed(1)
    return [torch.randn(int(n), D_MODEL, generator=rng, dtype=torch.float64) for n in mask.sum(1)]


def flatten(state):
    return [*state] if hasattr(state, "h") else [tensor for one in state for tensor in one]


@pytest.mark.parametrize("kind", [MambaBlock, ResidualBlock, MambaStack])
@pytest.mark.parametrize("name", ["right", "left", "gaps"])
def test_padding_changes_no_output_and_no_state(kind, name):
    model, mask = make_model(kind), draw_mask(name)
    rows = draw_rows(mask)
    y, state = model(pad(rows, mask), mask, return_state=True)
    assert (y[~mask] == 0).all()
    for number, row in enumerate(rows):
        alone, end = model(row[None], return_state=True)
        assert_close(y[number, mask[number]], alone[0], **TIGHT)
        own = [tensor[number, None] for tensor in flatten(state)]
        assert_close(own, flatten(end), **TIGHT)


@pytest.mark.parametrize("kind", [MambaBlock, ResidualBlock, MambaStack])
@pytest.mark.parametrize("name", ["right", "left", "gaps"])
def test_padding_changes_no_gradient(kind, name):
    model, mask = make_model(kind), draw_mask(name)
    rows = draw_rows(mask)
    padded = pad(rows, mask).requires_grad_()
    model(padded, mask).square().sum().backward()
    learned = [parameter.grad.clone() for parameter in model.parameters()]
    assert (padded.grad[~mask] == 0).all()

    model.zero_grad()
    rows = [row.requires_grad_() for row in rows]
    sum(model(row[None]).square().sum() for row in rows).backward()
    right = [parameter.grad for parameter in model.parameters()]
    assert_close(padded.grad[mask], torch.cat([row.grad for row in rows]), **TIGHT)
    assert_close(learned, right, **TIGHT)


@pytest.mark.parametrize("n_padding", [0, 1, 3, 4, 224])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_trailing_token_does_not_see_the_padding_before_it(batch, n_padding):
    """transformers#48256: [tokens, padding, CLS]."""
    model = make_model(MambaStack)
    rng = torch.Generator().manual_seed(2)
    tokens = torch.randn(batch, 6, D_MODEL, generator=rng, dtype=torch.float64)
    gap = torch.full((batch, n_padding, D_MODEL), nan, dtype=torch.float64)
    padded = torch.cat([tokens[:, :5], gap, tokens[:, 5:]], dim=1)
    y, end = model(tokens, return_state=True)
    y_padded, end_padded = model(padded, ~padded.isnan().any(-1), return_state=True)
    assert_close(y_padded[:, -1], y[:, -1], **TIGHT)
    assert_close(flatten(end_padded), flatten(end), **TIGHT)


@pytest.mark.parametrize("name", ["right", "left", "gaps"])
@pytest.mark.parametrize("cut", range(12))
def test_a_padded_stream_may_be_cut_anywhere(name, cut):
    """S9: also where one row's piece is nothing but padding."""
    model, mask = make_model(MambaStack), draw_mask(name)
    tokens = pad(draw_rows(mask), mask)
    whole, end = model(tokens, mask, return_state=True)
    first, state = model(tokens[:, :cut], mask[:, :cut], return_state=True)
    second, last = model(tokens[:, cut:], mask[:, cut:], state, return_state=True)
    assert_close(torch.cat([first, second], dim=1), whole, **TIGHT)
    assert_close(flatten(last), flatten(end), **TIGHT)
