"""The system as a recurrence: one state, carried from token to token."""

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from mamba_edu._checks import check_flags
from mamba_edu.linear._system import check_system


def trace_states(
    x: Float[Tensor, "batch length d_inner"],
    A_bar: Inexact[Tensor, "d_inner d_state"],
    B_bar: Inexact[Tensor, "d_inner d_state"],
    state: Inexact[Tensor, "batch d_inner d_state"] | None = None,
) -> Inexact[Tensor, "batch length d_inner d_state"]:
    """Follow the hidden state through a sequence.

        h[t] = A_bar h[t-1] + B_bar x[t],  t = 0 .. length-1,  h[-1] = state

    Args:
        x: the input signal. NaN reaches the states of its own channel, from its token on.
        A_bar: the share of the state that survives a step. More than 1 in modulus lets the state
            grow; it is not refused, since Euler's rule does it.
        B_bar: what a unit input adds to the state.
        state: the state before the first token; zero if not given.

    Returns:
        The state after each token; complex if A_bar, B_bar or state is.

    Raises:
        TypeError: for anything but float32 or float64 tensors (all but x also complex).
        ValueError: if shapes disagree or A_bar is not finite.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.3, for a diagonal A.
    """
    check_system(x=x, A_bar=A_bar, B_bar=B_bar, state=state)
    return torch.stack(_list_states(x, A_bar, B_bar, state), dim=1)[:, 1:]


def run_recurrence(
    x: Float[Tensor, "batch length d_inner"],
    A_bar: Inexact[Tensor, "d_inner d_state"],
    B_bar: Inexact[Tensor, "d_inner d_state"],
    C: Inexact[Tensor, "d_inner d_state"],
    skip: Float[Tensor, "d_inner"] | None = None,
    state: Inexact[Tensor, "batch d_inner d_state"] | None = None,
    return_state: bool = False,
) -> (
    Float[Tensor, "batch length d_inner"]
    | tuple[Float[Tensor, "batch length d_inner"], Inexact[Tensor, "batch d_inner d_state"]]
):
    """Run the system token by token.

        h[t] = A_bar h[t-1] + B_bar x[t]
        y[t] = Re( sum_n C_n h_n[t] ) + skip x[t]

    A long signal may be cut anywhere: run one piece with return_state=True and hand its state to
    the next.

    Args:
        x: the input signal.
        A_bar: the share of the state that survives a step.
        B_bar: what a unit input adds to the state.
        C: how the state is read. No conjugate is taken, and no factor 2 for pairs left out.
        skip: how much of the input is added to the output; none if not given.
        state: the state before the first token; zero if not given.
        return_state: whether to return the state after the last token too.

    Returns:
        y, the output signal, or (y, state). An empty signal returns the state it was given.

    Raises:
        TypeError: for anything but float32 or float64 tensors (A_bar, B_bar, C and state also
            complex), or a return_state that is not True or False.
        ValueError: if shapes disagree or A_bar is not finite.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.3, for a diagonal A. They leave out
    the skip term.
    """
    check_system(x=x, A_bar=A_bar, B_bar=B_bar, C=C, skip=skip, state=state)
    check_flags(return_state=return_state)
    states = _list_states(x, A_bar, B_bar, state)
    h = torch.stack(states, dim=1)[:, 1:]
    y = (C * h).sum(-1).real
    if skip is not None:
        y = y + skip * x
    return (y, states[-1]) if return_state else y


def _list_states(x: Tensor, A_bar: Tensor, B_bar: Tensor, state: Tensor | None) -> list[Tensor]:
    """List the state before the first token and after each one."""
    dtype = torch.promote_types(A_bar.dtype, B_bar.dtype)
    if state is None:
        h = torch.zeros(len(x), *A_bar.shape, dtype=dtype, device=x.device)
    else:
        h = state.to(torch.promote_types(dtype, state.dtype))
    states = [h]
    # Not x[:, t]: the backward pass of indexing fills a whole zero x per token, so its cost would
    # grow with the square of the length.
    for x_t in x.unbind(1):
        h = A_bar * h + B_bar * x_t[..., None]
        states.append(h)
    return states
