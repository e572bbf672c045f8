"""Eigenvalues: what decides how a linear system remembers, and where its training starts."""

import math

import torch
from jaxtyping import Complex, Float, Inexact
from torch import Tensor

from mamba_edu._checks import (
    REAL,
    check_alike,
    check_counts,
    check_finite,
    check_numbers,
    check_rates,
    check_shapes,
)


def half_life(A: Inexact[Tensor, "*shape"]) -> Float[Tensor, "*shape"]:
    """Compute the time after which half of a state is left.

        exp(Re(A) t) = 1/2  at  t = ln 2 / -Re(A)

    Args:
        A: decay rates with real parts of at most 0, per unit of time. An imaginary part turns the
            state but does not shrink it.

    Returns:
        The half-life in that unit of time; infinite where the real part is 0.

    Raises:
        TypeError: for anything but a float32, float64 or complex tensor.
        ValueError: if a rate is positive or not finite.

    Source: the definition of a half-life.
    """
    check_numbers(A=A)
    check_rates(A)
    return math.log(2) / A.real.abs()  # abs, for minus 0 would give minus infinity


def diagonalize(
    A_dense: Inexact[Tensor, "d_inner d_state d_state"],
    B: Inexact[Tensor, "d_inner d_state"],
    C: Inexact[Tensor, "d_inner d_state"],
) -> tuple[
    Complex[Tensor, "d_inner d_state"],
    Complex[Tensor, "d_inner d_state"],
    Complex[Tensor, "d_inner d_state"],
]:
    """Change the coordinates of the state so that its numbers no longer mix.

        A_dense = V diag(A) V^-1,   B_new = V^-1 B,   C_new = C V

    Both systems answer every input alike. The new state is complex, the output real if the old
    one was.

    Args:
        A_dense: a matrix of rates per channel. Its eigenvalues may have any sign.
        B: how the input writes to the state.
        C: how the state is read.

    Returns:
        A, B_new and C_new of the diagonal system, all complex.

    Raises:
        TypeError: for anything but float32, float64 or complex tensors of one precision.
        ValueError: if shapes disagree, a value is not finite, or the eigenvectors of a channel are
            so nearly dependent that half of all digits would be lost. A defective matrix has no
            diagonal form; HiPPO's has one that is useless beyond small sizes.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 3.1 and Lemma 3.2 (the entries of HiPPO's
    eigenvectors grow exponentially). They add a low-rank term instead; we refuse.
    """
    check_numbers(A_dense=A_dense, B=B, C=C)
    check_alike(A_dense=A_dense, B=B, C=C)
    check_shapes(
        A_dense=(A_dense, "d_inner d_state d_state"),
        B=(B, "d_inner d_state"),
        C=(C, "d_inner d_state"),
    )
    check_finite(A_dense=A_dense, B=B, C=C)
    eigenvalues, V = torch.linalg.eig(A_dense)
    _check_independent(V)
    B_new = torch.linalg.solve(V, B.to(V.dtype))
    C_new = (C.to(V.dtype)[:, None, :] @ V).squeeze(1)
    return eigenvalues, B_new, C_new


def start_s4d_real(
    d_inner: int, d_state: int, dtype: torch.dtype = torch.float64
) -> Float[Tensor, "{d_inner} {d_state}"]:
    """Start the rates at evenly spaced decays, the same in every channel.

        A[n] = -(n + 1),  n = 0 .. d_state-1

    Args:
        d_inner: how many channels, at least 1.
        d_state: how many numbers of state each channel keeps, at least 1.
        dtype: torch.float32 or torch.float64.

    Returns:
        A, per unit of the time in which delta is measured.

    Raises:
        TypeError: if a size is not an int or dtype is another one.
        ValueError: if a size is less than 1.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.6, after Gu et al. 2022 (arXiv:2206.11893).
    These are the eigenvalues of HiPPO's matrix.
    """
    n = _count_states(d_inner, d_state, dtype)
    return -(n + 1)


def start_s4d_lin(
    d_inner: int, d_state: int, dtype: torch.dtype = torch.float64
) -> Complex[Tensor, "{d_inner} {d_state}"]:
    """Start the rates at one decay and evenly spaced frequencies, the same in every channel.

        A[n] = -1/2 + i pi n,  n = 0 .. d_state-1

    Args:
        d_inner: how many channels, at least 1.
        d_state: how many numbers of state each channel keeps, at least 1.
        dtype: the type of the real and imaginary part, torch.float32 or torch.float64.

    Returns:
        A, complex, per unit of the time in which delta is measured.

    Raises:
        TypeError: if a size is not an int or dtype is another one.
        ValueError: if a size is less than 1.

    Source: Gu et al. 2022 (arXiv:2206.11893), S4D-Lin in Section 4. They run over half as many n
    and let each stand for a conjugate pair; we count every number kept.
    """
    n = _count_states(d_inner, d_state, dtype)
    return torch.complex(torch.full_like(n, -0.5), math.pi * n)


def _count_states(d_inner: int, d_state: int, dtype: torch.dtype) -> Tensor:
    """Refuse bad sizes, then number the states 0, 1, ... of every channel."""
    check_counts(1, d_inner=d_inner, d_state=d_state)
    if dtype not in REAL:
        raise TypeError(f"dtype must be torch.float32 or torch.float64; it is {dtype}")
    return torch.arange(d_state, dtype=dtype).repeat(d_inner, 1)


def _check_independent(V: Tensor) -> None:
    """Refuse eigenvectors whose inverse would cost half of all digits or more."""
    limit = torch.finfo(V.dtype).eps ** -0.5
    condition = torch.linalg.cond(V)
    for channel, number in enumerate(condition.tolist()):
        if not number < limit:
            raise ValueError(
                f"A_dense[{channel}] must have independent eigenvectors to be diagonalized; their "
                f"condition number is {number:.1e}, allowed is less than {limit:.1e}"
            )
