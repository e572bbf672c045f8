"""The selective scan: a linear recurrence whose clock listens to the input.

    h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] x[t]
    y[t] = ( C[t] . h[t] + skip x[t] ) silu(gate[t])

One function, several ways to compute it that agree in value, gradient and state, one file each.
"""

from mamba_edu.scan.dispatch import explain, selective_scan
from mamba_edu.scan.launch import cut_power, launch_ranks, work_alone
from mamba_edu.scan.parallel import accumulate_steps, combine_steps
from mamba_edu.scan.ranks import LostRank, join_ranks, receive_tensors, scan_ranks, send_tensors
from mamba_edu.scan.ssd import scan_ssd

__all__ = [
    "LostRank",
    "accumulate_steps",
    "combine_steps",
    "cut_power",
    "explain",
    "join_ranks",
    "launch_ranks",
    "receive_tensors",
    "scan_ranks",
    "scan_ssd",
    "selective_scan",
    "send_tensors",
    "work_alone",
]
