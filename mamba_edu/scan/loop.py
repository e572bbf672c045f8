"""The scan as it is written down: one token after the other."""

import torch
from jaxtyping import Float
from torch import Tensor


def scan_loop(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch d_inner d_state"],
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Run the recurrence token by token, in the precision of what it is given.

        h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] x[t]
        y[t] = C[t] . h[t]

    In float64 this is what every other method is compared with.

    Args: as selective_scan, which has checked them; the state is not optional here.
    Returns: y and the state after the last token.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Algorithm 2. Their selective_scan_ref indexes the
    tokens one by one, so that its backward pass costs the square of the length.
    """
    h = state
    y = []
    # Not x[:, t]: the backward pass of indexing fills a whole zero x per token.
    for x_t, delta_t, B_t, C_t in zip(*(v.unbind(1) for v in (x, delta, B, C)), strict=True):
        keep = torch.exp(delta_t[..., None] * A)  # how much of the state survives the step
        write = (delta_t * x_t)[..., None] * B_t[:, None]  # what the token adds to it
        h = keep * h + write
        y.append((h * C_t[:, None]).sum(-1))
    return (torch.stack(y, dim=1) if y else 0 * x), h
