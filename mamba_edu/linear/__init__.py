"""A system whose clock does not listen: linear, time-invariant, diagonal.

    h[t] = A_bar h[t-1] + B_bar x[t]          A_bar, B_bar (d_inner, d_state)
    y[t] = Re( C . h[t] ) + skip x[t]         C (d_inner, d_state), skip (d_inner,)

The same map three times over (recurrence, convolution, matrix), how long it remembers, how it is
started, and the best fixed filter that it could ever become.
"""

from mamba_edu.linear.convolution import build_matrix, impulse_response, run_convolution
from mamba_edu.linear.fitting import Decay, LinearFilter, fit_decay, fit_linear_filter
from mamba_edu.linear.recurrence import run_recurrence, trace_states
from mamba_edu.linear.spectrum import diagonalize, half_life, start_s4d_lin, start_s4d_real

__all__ = [
    "Decay",
    "LinearFilter",
    "build_matrix",
    "diagonalize",
    "fit_decay",
    "fit_linear_filter",
    "half_life",
    "impulse_response",
    "run_convolution",
    "run_recurrence",
    "start_s4d_lin",
    "start_s4d_real",
    "trace_states",
]
