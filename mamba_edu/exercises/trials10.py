"""Small trials that answer questions of notebook 10."""

import torch

from mamba_edu.experiments import load_results

N_FIRST = 10
N_TOKENS = 1000


def find_dense_overflow(size: int, seed: int) -> int:
    """Run h = A h + x with a dense A of torch.randn; find the first token with an infinite h."""
    rng = torch.Generator().manual_seed(seed)
    A, h = torch.randn(size, size, generator=rng), torch.zeros(size)
    for t in range(N_TOKENS):
        h = A @ h + torch.randn(size, generator=rng)
        if not h.isfinite().all():
            return t
    return N_TOKENS


def list_starts() -> dict[str, float]:
    """List, for each start of CLS, the largest norm among the first gradients, a mean of seeds."""
    rows = [row for row in load_results("recipe") if row["setting"].startswith("CLS")]
    largest: dict[str, list[float]] = {}
    for row in rows:
        norms = [row[f"gradient_{n + 1}"] for n in range(N_FIRST)]
        largest.setdefault(row["setting"], []).append(max(norms))
    return {setting: sum(values) / len(values) for setting, values in largest.items()}
