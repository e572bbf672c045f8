"""A selective scan as attention: which share of each token's input stands in each output."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from mamba_edu._checks import (
    check_alike,
    check_clock,
    check_counts,
    check_mask,
    check_real,
    check_shapes,
)
from mamba_edu.probes.states import AXES


def measure_hidden_attention(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    skip: Float[Tensor, " d_inner"] | None = None,
    mask: Bool[Tensor, "batch length"] | None = None,
    t: int | None = None,
) -> Float[Tensor, "batch d_inner *t length"]:
    """Measure the weights by which a scan without its gate adds up its inputs, exactly.

        y[t] = sum_s attention[t, s] x[s]
        attention[t, s] = sum_n C[t, n] exp(A[n] (delta[s+1] + .. + delta[t])) delta[s] B[s, n]
                          + skip where s = t,    and 0 for s > t

    The own step of token s writes it and does not age it: its decay is left out. Weights may be
    negative and add up to anything. Times are added up, never subtracted or divided by what has
    decayed, so that a long or fast clock costs no digits.

    `measure_hidden_attention(*read_block(model, inputs), t=n - 1)` is the row of the last of n
    tokens, such as CLS, and needs no more memory than x.

    Args:
        x, delta, A, B, C, skip, mask: as in selective_scan; of x the shape alone counts. A padded
            token gets no weight and gives none.
        t: the one output to explain, counted from 0; all if not given.

    Returns:
        (batch, d_inner, t, s), or (batch, d_inner, s) for one t.

    Raises:
        TypeError: for anything but float32 or float64 tensors, a mask that is not boolean, or a
            t that is no int.
        ValueError: if shapes disagree, a step runs backwards, a rate is positive or not finite,
            or there is no token t.

    Source: Ali et al. 2024 (arXiv:2403.01590), Section 3, one matrix for each channel. Theirs has
    no skip term; with it here, the matrix times x is the output and not close to it. Neither has
    the convolution before the scan or the gate behind it.
    """
    delta, B, C, own = _prepare(x, delta, A, B, C, skip, mask)
    length = x.shape[1]
    if t is not None:
        check_counts(0, t=t)
        if t >= length:
            raise ValueError(f"t must be a token, 0 to {length - 1}; it is {t}")
        return _weigh_row(delta, A, B, C, own, t)
    rows = [_weigh_row(delta, A, B, C, own, t) for t in range(length)]
    return torch.stack(rows, dim=2) if rows else x.new_zeros(len(x), x.shape[2], 0, 0)


def _prepare(
    x: Tensor,
    delta: Tensor,
    A: Tensor,
    B: Tensor,
    C: Tensor,
    skip: Tensor | None,
    mask: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Refuse what is no scan, put 0 on padding, and say what each token adds to its own output."""
    given = {"x": x, "delta": delta, "A": A, "B": B, "C": C}
    given |= {} if skip is None else {"skip": skip}
    check_real(**given)
    check_alike(**given)
    check_shapes(**{name: (tensor, AXES.get(name, "d_inner")) for name, tensor in given.items()})
    own = torch.zeros_like(x) if skip is None else skip.expand_as(x)
    if mask is not None:
        check_mask(mask, x=x)
        delta, B, C, own = (torch.where(mask[..., None], v, 0) for v in (delta, B, C, own))
    check_clock(delta, A)
    return delta, B, C, own


def _weigh_row(delta: Tensor, A: Tensor, B: Tensor, C: Tensor, own: Tensor, t: int) -> Tensor:
    """Weigh all tokens for one output; one state at a time, so that memory is that of x."""
    since = delta[:, 1 : t + 1].flip(1).cumsum(1).flip(1)  # from s + 1 to t
    passed = torch.cat([since, torch.zeros_like(delta[:, :1])], dim=1)
    weights = torch.zeros_like(passed)
    for n, rates in enumerate(A.unbind(1)):
        read_and_written = C[:, t, None, n] * B[:, : t + 1, n]
        weights = weights + read_and_written[..., None] * torch.exp(passed * rates)
    weights = weights * delta[:, : t + 1]
    row = torch.cat([weights, torch.zeros_like(delta[:, t + 1 :])], dim=1)
    here = torch.arange(row.shape[1], device=row.device)[:, None] == t
    return (row + torch.where(here, own, 0)).mT
