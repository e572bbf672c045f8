"""The same system seen from outside: its impulse response, as a convolution and as a matrix."""

import torch
from jaxtyping import Float, Inexact
from torch import Tensor

from mamba_edu._checks import check_alike, check_counts, check_finite, check_real, check_shapes
from mamba_edu.linear._system import check_system


def impulse_response(
    A_bar: Inexact[Tensor, "d_inner d_state"],
    B_bar: Inexact[Tensor, "d_inner d_state"],
    C: Inexact[Tensor, "d_inner d_state"],
    length: int,
) -> Float[Tensor, "d_inner {length}"]:
    """Compute what each channel answers to a single 1 followed by zeros.

        kernel[k] = Re( sum_n C_n A_bar_n^k B_bar_n ),  k = 0 .. length-1

    Args:
        A_bar: the share of the state that survives a step.
        B_bar: what a unit input adds to the state.
        C: how the state is read.
        length: how many steps of the answer to compute, at least 0.

    Returns:
        kernel, the weight of the input k steps ago in today's output. A skip term belongs to
        kernel[:, 0] and is the caller's to add.

    Raises:
        TypeError: for anything but float32, float64 or complex tensors; for a length that is not
            an int.
        ValueError: if shapes disagree, A_bar is not finite or length is negative.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.4, for a diagonal A. Gu et al. 2022
    (arXiv:2206.11893) write it as a product with a Vandermonde matrix, as here.
    """
    check_system(A_bar=A_bar, B_bar=B_bar, C=C)
    check_counts(0, length=length)
    ones = torch.ones_like(A_bar)[..., None]
    factors = A_bar[..., None].expand(*A_bar.shape, length)
    powers = torch.cat([ones, factors], dim=-1)[..., :length].cumprod(-1)
    return ((C * B_bar)[..., None] * powers).sum(1).real


def run_convolution(
    x: Float[Tensor, "batch length d_inner"], kernel: Float[Tensor, "d_inner n_taps"]
) -> Float[Tensor, "batch length d_inner"]:
    """Convolve each channel with its kernel, causally, in a time of length log length.

        y[t] = sum_{s = 0 .. t} kernel[t - s] x[s]

    The Fourier transform is taken over twice the length, so that the end of the signal does not
    wrap round to its beginning.

    Args:
        x: the input signal, taken as 0 before its first token.
        kernel: the weight of the input k steps ago. It may be shorter than the signal, a filter
            that forgets for good, or longer: the rest then meets no input.

    Returns:
        y, the output signal. Its error is relative to the largest output of its row and channel,
        not to each output.

    Raises:
        TypeError: for anything but float32 or float64 tensors of one precision.
        ValueError: if shapes disagree, or a value is not finite: the Fourier transform would
            spread it to every output, those before it too. run_recurrence does not.

    Source: Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.4.
    """
    check_real(x=x, kernel=kernel)
    check_alike(x=x, kernel=kernel)
    check_shapes(x=(x, "batch length d_inner"), kernel=(kernel, "d_inner n_taps"))
    check_finite(x=x, kernel=kernel)
    if not x.numel() or not kernel.numel():
        return x * 0  # torch.fft refuses empty signals

    length, n_taps = x.shape[1], kernel.shape[1]
    padded = 2 ** (length + n_taps - 1).bit_length()
    spectrum = torch.fft.rfft(x, n=padded, dim=1) * torch.fft.rfft(kernel.T, n=padded, dim=0)
    return torch.fft.irfft(spectrum, n=padded, dim=1)[:, :length]


def build_matrix(
    kernel: Float[Tensor, "d_inner length"],
) -> Float[Tensor, "d_inner length length"]:
    """Write the convolution as one lower triangular matrix per channel.

        matrix[t, s] = kernel[t - s] for s <= t, and 0 above the diagonal

    Equal entries along each diagonal say that the system is time-invariant, zeros above the
    diagonal that it is causal: y = matrix @ x.

    Args:
        kernel: the weight of the input k steps ago, as many as the signal has tokens.

    Returns:
        The matrix of each channel, length^2 numbers.

    Raises:
        TypeError: for anything but a float32 or float64 tensor.
        ValueError: if kernel does not have the axes (d_inner, length).

    Source: the Toeplitz form of Gu, Goel & Re 2022 (arXiv:2111.00396), Section 2.4.
    """
    check_real(kernel=kernel)
    check_shapes(kernel=(kernel, "d_inner length"))
    t = torch.arange(kernel.shape[1], device=kernel.device)
    lag = t[:, None] - t
    return torch.tril(kernel[:, lag.clamp(min=0)])
