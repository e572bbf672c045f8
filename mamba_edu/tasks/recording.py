"""A real signal to filter: the voltage of a neuron, as matplotlib brings it along."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

SAMPLES_PER_MS = 2  # the file holds no header; matplotlib's gallery draws it at 2 kHz
MV_PER_UNIT = 100  # nor a unit: its numbers times 100 are millivolts
N_SAMPLES = 12_000


class Recording(NamedTuple):
    """A signal and its clock: `t` in ms from 0, `voltage` in mV, both (length,) float64."""

    t: Float[Tensor, " length"]
    voltage: Float[Tensor, " length"]


def load_recording() -> Recording:
    """Load six seconds of a neuron's membrane potential from the installed matplotlib.

    A current was switched on and off while it was recorded; the current itself is not in the
    file. No licence is stated for it, so it is read where matplotlib put it and never copied.

    Returns:
        times in ms and the voltage in mV, 2 samples a millisecond.

    Raises:
        FileNotFoundError: if the installed matplotlib came without its sample data.
        ValueError: if the file there has another length than the one this course was written on.

    Source: matplotlib's sample data, `membrane.dat`.
    """
    from matplotlib import cbook  # here, so that the maths imports without matplotlib

    path = Path(cbook.get_sample_data("membrane.dat", asfileobj=False))
    if not path.is_file():
        raise FileNotFoundError(
            f"membrane.dat must lie in matplotlib's sample data; it is not at {path}: install "
            "matplotlib again, with its sample data"
        )
    samples = np.fromfile(path, dtype=np.float32)
    if samples.shape != (N_SAMPLES,):
        raise ValueError(
            f"membrane.dat must hold {N_SAMPLES} float32 samples; matplotlib's here holds "
            f"{samples.size}: install matplotlib again"
        )
    voltage = torch.from_numpy(samples.astype(np.float64) * MV_PER_UNIT)
    return Recording(torch.arange(N_SAMPLES, dtype=torch.float64) / SAMPLES_PER_MS, voltage)
