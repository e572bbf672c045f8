"""Small trials that answer questions of notebook 07."""

import torch

from mamba_edu.models import SequenceClassifier
from mamba_edu.readout import ReadCLS
from mamba_edu.tasks import Batch
from mamba_edu.training import train

N_CONTENT = 12
N_TOKENS = 5000  # long enough for "never"


def sample_first(batch: int, length: int, seed: int) -> Batch:
    """Sample a task whose answer is the sign of the first token."""
    rng = torch.Generator().manual_seed(seed)
    inputs = torch.randn(batch, length, 2, generator=rng)
    return Batch(inputs, (inputs[:, 0, 0] > 0).long())


def count_seen(position: str) -> int:
    """Train for forty steps and count the content tokens that the answer depends on at all."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        readout = ReadCLS(position)
        model = SequenceClassifier(2, d_in=2, readout=readout, d_model=6, allow_blind=True)
    train(model, sample_first, (N_CONTENT,), steps=40)
    content = sample_first(1, N_CONTENT, seed=1).inputs.requires_grad_()
    model(content).square().sum().backward()
    return int((content.grad != 0).any(-1).sum())


def find_overflow(seed: int) -> int:
    """Run h = A h + x with an A of torch.randn, and find the first token with an infinite state."""
    rng = torch.Generator().manual_seed(seed)
    A, h = torch.randn(16, 32, generator=rng), torch.zeros(16, 32)
    for t in range(N_TOKENS):
        h = A * h + torch.randn(16, 1, generator=rng)
        if not h.isfinite().all():
            return t
    return N_TOKENS
