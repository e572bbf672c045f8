"""Read CLS at the end and the content before it together.

The content is all real tokens but CLS, the last of them. Padding is never read, whatever stands on
it.
"""

import math

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts
from mamba_edu.readout.real import check_fit, split_cls


class ReadAttention(nn.Module):
    """Let CLS, which has seen all, choose which of the content's outputs to read.

        weight = softmax over the content of (query CLS) . (key outputs[t]) / sqrt(d_model)
        answer = sum(weight[t] outputs[t])

    Its cost is that of one token's attention: it grows with the length, not with its square.

    Args:
        d_model: channels of an output.

    Raises:
        TypeError: if d_model is not an int.
        ValueError: if it is below 1.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), Equation 1, for a single query and one head;
    the values are the outputs themselves, without a map of their own.
    """

    cls_position = "last"
    d_out = None

    def __init__(self, d_model: int):
        super().__init__()
        check_counts(1, d_model=d_model)
        self.query = nn.Linear(d_model, d_model, bias=False)
        self.key = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read the content by CLS's choice. Arguments as ReadCLS.

        Raises: as ReadCLS, if a row has no content, and for outputs of another type or width than
        the weights.
        """
        cls_output, content = split_cls(outputs, mask)
        check_fit(outputs, self.key.weight)
        outputs = outputs.masked_fill(~content[..., None], 0)
        asked = self.query(cls_output) @ self.key.weight  # one map of CLS, not one of each token
        scores = torch.einsum("bd,btd->bt", asked, outputs) / math.sqrt(asked.shape[1])
        weight = scores.masked_fill(~content, -torch.inf).softmax(dim=1)
        return torch.einsum("bt,btd->bd", weight, outputs)


class ReadLengthMix(nn.Module):
    """Mix CLS with the mean of the content, by a weight that depends on the length alone.

        weight = sigmoid(slope log(n) + offset),  n the number of content tokens
        answer = weight CLS + (1 - weight) mean

    Source: the recipe that circulates for a CLS token in Mamba, "length-aware weights"; both
    numbers are learned, and start at 0: half and half.
    """

    cls_position = "last"
    d_out = None

    def __init__(self):
        super().__init__()
        self.slope = nn.Parameter(torch.zeros(()))
        self.offset = nn.Parameter(torch.zeros(()))

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Mix both. Arguments as ReadCLS. Raises: as ReadCLS, or if a row has no content."""
        cls_output, content = split_cls(outputs, mask)
        count = content.sum(1, keepdim=True).to(outputs.dtype)
        mean = outputs.masked_fill(~content[..., None], 0).sum(1) / count
        weight = torch.sigmoid(self.slope * count.log() + self.offset)
        return weight * cls_output + (1 - weight) * mean


class ReadCLSAndMax(nn.Module):
    """Put CLS and each channel's largest over the content side by side: 2 d_model numbers.

    CLS can hold what lies between the tokens, the maximum what stands in one of them.

    Args:
        d_model: channels of an output.

    Raises:
        TypeError: if d_model is not an int.
        ValueError: if it is below 1.
    """

    cls_position = "last"

    def __init__(self, d_model: int):
        super().__init__()
        check_counts(1, d_model=d_model)
        self.d_out = 2 * d_model

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_out"]:
        """Read both. Arguments as ReadCLS. Raises: as ReadCLS, or if a row has no content."""
        cls_output, content = split_cls(outputs, mask)
        largest = outputs.masked_fill(~content[..., None], -torch.inf).amax(1)
        return torch.cat([cls_output, largest], dim=1)
