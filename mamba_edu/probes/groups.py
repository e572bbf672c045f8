"""Step sizes by kind of token: what opens the clock, and what lets it stand."""

import copy
from collections.abc import Mapping
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_real, check_shapes
from mamba_edu.models import SequenceClassifier
from mamba_edu.probes._marks import check_marks


class Steps(NamedTuple):
    """The step sizes of one kind of token.

    Fields:
        mean, median: over its tokens and all channels.
        by_channel: the mean of each channel.
        n_tokens: how many tokens there are of it.
    """

    mean: float
    median: float
    by_channel: Float[Tensor, " d_inner"]
    n_tokens: int


def group_steps(
    delta: Float[Tensor, "batch length d_inner"], groups: Mapping[str, Bool[Tensor, "batch length"]]
) -> dict[str, Steps]:
    """Sum up the step sizes of each kind of token.

    Args:
        delta: step sizes, such as those that read_block hands out.
        groups: for each kind a mark on its tokens, such as mark_tokens hands out. A token may be
            in several, or in none.

    Returns:
        For each kind its mean, its median (the lower of two in the middle), and more.

    Raises:
        TypeError: for anything but a float32 or float64 tensor, or marks that are not boolean.
        ValueError: if shapes disagree, or a kind has no token.
    """
    check_real(delta=delta)
    check_shapes(delta=(delta, "batch length d_inner"))
    return {name: _sum_up(delta, name, marks) for name, marks in groups.items()}


def mark_tokens(
    model: SequenceClassifier,
    groups: Mapping[str, Bool[Tensor, "batch length"]],
    mask: Bool[Tensor, "batch length"] | None = None,
) -> dict[str, Bool[Tensor, "batch length2"]]:
    """Move marks on a sequence's own tokens to where the model's blocks read them.

    A model puts CLS among the tokens, or several registers; then nothing stands where it stood in
    the inputs. Here the model's own way of placing is run on numbered tokens.

        groups = mark_tokens(model, {"needle": ids < 8, "filler": ids >= 8})
        group_steps(read_block(model, ids).delta, groups)

    Args:
        model: a classifier.
        groups: for each kind of token a mark, before CLS is put; at least one kind.
        mask: True on real tokens; all are if not given. Marks on padding are lost.

    Returns:
        The marks among CLS or registers, and one kind more, "cls", for these.

    Raises:
        TypeError: for another kind of model, or marks or a mask that are not boolean.
        ValueError: if shapes disagree, there is no kind of token, or one is called "cls".
    """
    if not isinstance(model, SequenceClassifier):
        raise TypeError(f"model must be a SequenceClassifier; it is a {type(model).__name__}")
    if not groups or "cls" in groups:
        raise ValueError(
            f"groups must name at least one kind of token, and none 'cls'; they are {list(groups)}"
        )
    [first, *_] = groups.values()
    shape = tuple(getattr(first, "shape", ()))
    check_marks(shape, **{f"groups[{name!r}]": marks for name, marks in groups.items()})
    index, is_cls = _number_tokens(model, shape, mask)
    placed = index.clamp(min=0)
    moved = {name: marks.gather(1, placed) & (index >= 0) for name, marks in groups.items()}
    return moved | {"cls": is_cls}


def _sum_up(delta: Tensor, name: str, marks: Tensor) -> Steps:
    """Sum up one kind, refusing marks that fit no token."""
    check_marks(delta.shape[:2], **{f"groups[{name!r}]": marks})
    if not marks.any():
        raise ValueError(f"groups[{name!r}] must mark at least one token; it marks none")
    steps = delta[marks]
    return Steps(float(steps.mean()), float(steps.median()), steps.mean(0), len(steps))


def _number_tokens(
    model: SequenceClassifier, shape: tuple[int, int], mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Tell for each token of the blocks which of the inputs it is, -1 for none, and if it is CLS.

    Each of the numbered tokens is a random number, so that a mean of some is none of them.
    """
    batch, length = shape
    twin = copy.deepcopy(model.tokens).double()
    rng = torch.Generator().manual_seed(0)
    values = torch.randn(length + 1, generator=rng, dtype=torch.float64).sort().values
    d_model = twin.embed.weight.shape[1 if isinstance(twin.embed, nn.Embedding) else 0]
    twin.embed = nn.Embedding.from_pretrained(values[:, None].expand(-1, d_model).clone())
    with torch.no_grad():
        for parameter in twin.parameters(recurse=False):
            parameter.fill_(torch.nan)
        tokens, real = twin(torch.arange(length).expand(batch, -1), mask)
    found = tokens[..., 0]
    index = torch.searchsorted(values, found.nan_to_num().contiguous()).clamp(max=length)
    index = torch.where(values[index] == found, index, -1)
    is_cls = found.isnan()
    if real is not None:
        index, is_cls = torch.where(real, index, -1), is_cls & real
    return index, is_cls
