"""Where a token stands, told to attention by turning queries and keys (RoPE)."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mamba_edu._checks import check_mask

BASE = 10_000.0  # the slowest pair of channels turns once in about 2 pi times this many tokens


def place_tokens(
    tokens: Float[Tensor, "batch length d_model"], mask: Bool[Tensor, "batch length"] | None = None
) -> Float[Tensor, "batch length"]:
    """Count each row's real tokens from 0: padding moves none of them.

    Raises:
        TypeError: for a mask that is not boolean.
        ValueError: if shapes disagree.
    """
    if mask is None:
        place = torch.arange(tokens.shape[1], device=tokens.device).expand(tokens.shape[:2])
    else:
        check_mask(mask, tokens=tokens)
        place = mask.cumsum(1) - 1
    return place.to(torch.promote_types(tokens.dtype, torch.float32))


def rotate_by_place(
    x: Float[Tensor, "batch n_heads length d_head"], place: Float[Tensor, "batch length"]
) -> Float[Tensor, "batch n_heads length d_head"]:
    """Turn pair i of channels, (i, i + d_head/2), by place base^(-2i/d_head).

    The product of a query and a key then depends on how far apart they stand, not on where.

    Args:
        x: queries or keys, with an even number of channels.
        place: where each token stands.

    Raises:
        ValueError: if d_head is odd.

    Source: Su et al. 2021 (arXiv:2104.09864), Equation 34; the pairs are half a head apart, as in
    Llama's code.
    """
    n_pairs, rest = divmod(x.shape[-1], 2)
    if rest:
        raise ValueError(f"x must have an even number of channels; its shape is {tuple(x.shape)}")
    pair = torch.arange(n_pairs, dtype=place.dtype, device=x.device)
    angle = place[:, None, :, None] * BASE ** (-pair / max(1, n_pairs))
    cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
    first, second = x.chunk(2, dim=-1)
    return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)
