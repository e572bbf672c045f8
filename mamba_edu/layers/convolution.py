"""The short convolution before the scan: each channel looks at its last few tokens."""

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from mamba_edu._checks import check_mask, check_shapes


def convolve_depthwise(
    x: Float[Tensor, "batch length d_inner"],
    weight: Float[Tensor, "d_inner d_conv"],
    bias: Float[Tensor, " d_inner"] | None = None,
    tail: Float[Tensor, "batch d_tail d_inner"] | None = None,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_tail d_inner"]]:
    """Convolve each channel with its own few taps, by shifting and adding.

        y[t] = sum_k weight[k] x[t - (d_conv - 1) + k] + bias,  k = 0 .. d_conv-1

    The inputs before the first token are those of `tail`. Padding is passed over, wherever it
    stands: a real token sees the last real tokens before it, with no gap between them.

    Args:
        x: the input signal.
        weight: the taps; the last one weighs the token itself.
        bias: added to every real token; none if not given.
        tail: the last d_conv - 1 inputs of what came before; zeros if not given.
        mask: True on real tokens; all are if not given.

    Returns:
        y, 0 on padding, and the tail: the last d_conv - 1 real inputs, for the next piece.

    Raises:
        TypeError: for a mask that is not boolean.
        ValueError: if shapes disagree.

    Source: the official code of Gu & Dao 2023 (arXiv:2312.00752), causal_conv1d, which does not
    know of padding.
    """
    check_shapes(x=(x, "batch length d_inner"), weight=(weight, "d_inner d_conv"))
    right = (len(x), weight.shape[1] - 1, x.shape[2])
    tail = x.new_zeros(right) if tail is None else tail
    if tail.shape != right:
        raise ValueError(
            f"tail must have the shape (batch, d_conv - 1, d_inner) = {right}; "
            f"its shape is {tuple(tail.shape)}"
        )
    if mask is None:
        return _shift_and_add(x, weight, bias, tail), _take_tail(x, tail)

    x = hide_padding(x, mask)
    # Real tokens first, in their order: then no tap can reach padding.
    order = torch.argsort((~mask).byte(), dim=1, stable=True)
    x = take_tokens(x, order)
    y = take_tokens(_shift_and_add(x, weight, bias, tail), torch.argsort(order, dim=1))
    return hide_padding(y, mask), _take_tail(x, tail, mask.sum(1))


def hide_padding(
    tokens: Float[Tensor, "batch length channel"], mask: Bool[Tensor, "batch length"] | None
) -> Float[Tensor, "batch length channel"]:
    """Put 0 on padding, whatever stood there; a product would keep its NaN.

    Raises:
        TypeError: for a mask that is not boolean.
        ValueError: if shapes disagree.
    """
    if mask is None:
        return tokens
    check_mask(mask, tokens=tokens)
    return tokens.masked_fill(~mask[..., None], 0)


def take_tokens(
    tokens: Float[Tensor, "batch length d_inner"], index: Int[Tensor, "batch n_taken"]
) -> Float[Tensor, "batch n_taken d_inner"]:
    """Take from each row the tokens at the row's own places."""
    return tokens.gather(1, index[..., None].expand(-1, -1, tokens.shape[2]))


def _shift_and_add(x: Tensor, weight: Tensor, bias: Tensor | None, tail: Tensor) -> Tensor:
    """Add the shifted inputs, each times its tap."""
    seen = torch.cat([tail, x], dim=1)
    length = x.shape[1]
    y = weight[:, 0] * seen[:, :length]
    for k in range(1, weight.shape[1]):
        y = torch.addcmul(y, weight[:, k], seen[:, k : k + length])
    return y if bias is None else y + bias


def _take_tail(x: Tensor, tail: Tensor, n_real: Tensor | None = None) -> Tensor:
    """Take the last inputs, of which n_real stand after the old tail in each row."""
    seen = torch.cat([tail, x], dim=1)
    if n_real is None:
        return seen[:, x.shape[1] :]
    return take_tokens(seen, n_real[:, None] + torch.arange(tail.shape[1], device=x.device))
