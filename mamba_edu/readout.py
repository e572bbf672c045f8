"""From the outputs of any backbone to one vector per sequence.

Every read-out is called as readout(outputs, mask, state) and has cls_position: where a CLS token
must stand for it, or None. Padding is never read, whatever stands on it.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_floats, check_mask, check_shapes
from mamba_edu.tokens import POSITIONS, check_rows, locate_rank


class ReadCLS(nn.Module):
    """Read the output at the CLS token, where add_cls has put it.

    The place is derived from each row's own real tokens: the first of them, the last, or the one
    with as many tokens before it as behind it (one more behind, if their number is odd).

    Args:
        position: "first", "middle" or "last".

    Raises:
        ValueError: for another position.

    Source: Devlin et al. 2019 (arXiv:1810.04805), Section 3, for a Transformer, where CLS sees
    everything from any place.
    """

    def __init__(self, position: str = "last"):
        super().__init__()
        if position not in POSITIONS:
            raise ValueError(f"position must be one of {POSITIONS}; it is {position!r}")
        self.cls_position = position

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read one vector per sequence.

        Args:
            outputs: what the backbone says at each token, CLS among them.
            mask: True on real tokens, CLS among them; all are if not given.
            state: not used.

        Returns:
            The output at CLS.

        Raises:
            TypeError: for outputs that are no floats, or a mask that is not boolean.
            ValueError: if shapes disagree or a row has no real token.
        """
        real = resolve_mask(outputs, mask)
        last = real.sum(1) - 1
        rank = {"first": 0 * last, "middle": last // 2, "last": last}[self.cls_position]
        return _pick(outputs, real, rank)


class ReadLast(nn.Module):
    """Read the output at the last real token: no CLS, the sequence's own last word.

    Source: the sequence classifiers of GPT-like models, such as Radford et al. 2018, Section 3.2.
    """

    cls_position = None

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read the last real output of each sequence. Arguments and errors as ReadCLS."""
        real = resolve_mask(outputs, mask)
        return _pick(outputs, real, real.sum(1) - 1)


class ReadMean(nn.Module):
    """Average the outputs over the real tokens.

    One token among n weighs 1/n: this read-out dilutes, and says so in its equation.
    """

    cls_position = None

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Average each channel over the real tokens. Arguments and errors as ReadCLS."""
        real = resolve_mask(outputs, mask)
        total = outputs.masked_fill(~real[..., None], 0).sum(1)
        return total / real.sum(1, keepdim=True).to(total.dtype)


class ReadMax(nn.Module):
    """Take the largest output of each channel over the real tokens."""

    cls_position = None

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Take each channel's largest over the real tokens. Arguments and errors as ReadCLS."""
        real = resolve_mask(outputs, mask)
        return outputs.masked_fill(~real[..., None], -torch.inf).amax(1)


def resolve_mask(
    outputs: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "batch length"] | None
) -> Bool[Tensor, "batch length"]:
    """Refuse outputs and masks that cannot be read, and return the mask, of True if none is given.

    Raises:
        TypeError: for outputs that are no floats, or a mask that is not boolean.
        ValueError: if shapes disagree or a row has no real token.
    """
    check_floats(outputs=outputs)
    check_shapes(outputs=(outputs, "batch length d_model"))
    if mask is None:
        mask = torch.ones(outputs.shape[:2], dtype=torch.bool, device=outputs.device)
    check_mask(mask, outputs=outputs)
    check_rows(mask)
    return mask


def _pick(outputs: Tensor, real: Tensor, rank: Tensor) -> Tensor:
    """Pick from each row the output at its real token of the given rank."""
    rows = torch.arange(len(outputs), device=outputs.device)
    return outputs[rows, locate_rank(real, rank)]
