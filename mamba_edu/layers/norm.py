"""Root mean square normalisation: each token brought to the same size."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts


class RMSNorm(nn.Module):
    """Divide each token by its root mean square, then scale each channel.

        y = weight x / sqrt(mean(x^2) + eps)

    Args:
        d_model: the number of channels.
        eps: keeps a token of zeros from dividing by zero.

    Source: Zhang & Sennrich 2019 (arXiv:1910.07467), Equation 4. Half precision is squared in
    float32, where it cannot overflow.
    """

    def __init__(self, d_model: int, eps: float = 1e-5):
        super().__init__()
        check_counts(1, d_model=d_model)
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*rows d_model"]) -> Float[Tensor, "*rows d_model"]:
        """Normalise over the last axis.

        Raises:
            ValueError: if the last axis is not d_model.
        """
        if x.shape[-1:] != self.weight.shape:
            raise ValueError(
                f"x must have d_model = {len(self.weight)} as its last axis; its shape is "
                f"{tuple(x.shape)}"
            )
        wide = x if x.dtype == torch.float64 else x.float()
        size = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * (wide * size).to(x.dtype)
