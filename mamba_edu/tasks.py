"""What the course measures on: real recordings here, tasks with known answers beside them."""

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


def sample_last_marked(
    batch: int, length: int, p: float, seed: int
) -> tuple[
    Float[Tensor, "batch length"], Float[Tensor, "batch length"], Float[Tensor, "batch length"]
]:
    """Sample the task of keeping the last marked value.

    Each token carries a value from a standard normal and is marked with probability p. The target
    at every token is the value of the last marked token up to and with it; 0 before the first.

    What grows with the length: nothing; the last mark is about 1/p tokens back at any length.
    Floor: 0, by an if. The best fixed linear filter misses (1 - p)/(2 - p) of the variance when
    it is handed value times mark, and 1 - p/(2 - p) when it sees the values alone.

    Args:
        batch, length: how many sequences, and how long.
        p: probability of a mark, above 0 and at most 1.
        seed: of the generator; the same seed gives the same task.

    Returns:
        values, marks (0 or 1) and target, float64.

    Raises:
        ValueError: if p or a size is out of range.
    """
    if not 0 < p <= 1:
        raise ValueError(f"p must be above 0 and at most 1; got {p}")
    if batch < 0 or length < 0:
        raise ValueError(f"batch and length must be at least 0; got {batch} and {length}")
    rng = torch.Generator().manual_seed(seed)
    values = torch.randn(batch, length, generator=rng, dtype=torch.float64)
    marks = torch.rand(batch, length, generator=rng, dtype=torch.float64) < p
    where = torch.where(marks, torch.arange(length), -1).cummax(dim=1).values
    target = torch.where(where >= 0, values.gather(1, where.clamp(min=0)), 0)
    return values, marks.double(), target
