"""Pool the outputs of all real tokens into one vector per sequence.

No CLS token is put for these, so all real tokens are content. Where the reader has put one all the
same, it counts as one token more. Padding is never read, whatever stands on it.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts
from mamba_edu.readout.real import check_fit, pick_outputs, resolve_mask


class ReadLast(nn.Module):
    """Read the output at the last real token: no CLS, the sequence's own last word.

    Source: the sequence classifiers of GPT-like models, such as Radford et al. 2018, Section 3.2.
    """

    cls_position = d_out = None

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read the last real output of each sequence. Arguments and errors as ReadCLS."""
        real = resolve_mask(outputs, mask)
        return pick_outputs(outputs, real, real.sum(1) - 1)


class ReadMean(nn.Module):
    """Average the outputs over the real tokens.

    One token among n weighs 1/n: this read-out dilutes, and says so in its equation.
    """

    cls_position = d_out = None

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

    cls_position = d_out = None

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Take each channel's largest over the real tokens. Arguments and errors as ReadCLS."""
        real = resolve_mask(outputs, mask)
        return outputs.masked_fill(~real[..., None], -torch.inf).amax(1)


class ReadGated(nn.Module):
    """Average the outputs, each weighed by how much it deserves to be read.

        weight[t] = sigmoid(gate . outputs[t] + bias)
        answer = sum(weight[t] outputs[t]) / sum(weight[t]), over the real tokens

    A sigmoid never reaches 0: a closed gate still lets a little of each filler through, and the
    sum of those grows with the length.

    Args:
        d_model: channels of an output.

    Raises:
        TypeError: if d_model is not an int.
        ValueError: if it is below 1.

    Source: the weights are those of gated attention pooling without its softmax, Li et al. 2016
    (arXiv:1511.05493), Equation 7; theirs are summed and not divided by their sum.
    """

    cls_position = d_out = None

    def __init__(self, d_model: int):
        super().__init__()
        check_counts(1, d_model=d_model)
        self.gate = nn.Linear(d_model, 1)

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Average the real tokens by their gates. Arguments as ReadCLS.

        Raises: as ReadCLS, and for outputs of another type or width than the gate's.
        """
        real = resolve_mask(outputs, mask)
        check_fit(outputs, self.gate.weight)
        outputs = outputs.masked_fill(~real[..., None], 0)
        weight = torch.sigmoid(self.gate(outputs)[..., 0]).masked_fill(~real, 0)
        total = torch.einsum("bt,btd->bd", weight, outputs)
        return total / weight.sum(1, keepdim=True)
