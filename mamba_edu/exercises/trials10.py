"""Small trials that answer questions of notebook 10."""

import torch

from mamba_edu.experiments import load_results
from mamba_edu.reader import CLAIMS, Claim

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


STRATEGY = "{0}_needle {0}_majority {0}_order"
TRIAL = {  # what the recipe says -> the claims that put it to the test
    "CLS stands in front and is read there": "front",
    "constant A, B and C make a selective block": "constant",
    "a weight by length": STRATEGY.format("length_mix"),
    "hierarchy, a second Mamba over chunks": STRATEGY.format("hierarchy_mamba"),
    "hierarchy, a maximum over chunks": STRATEGY.format("hierarchy_max"),
    "light attention at CLS": STRATEGY.format("attention"),
    "light attention, more tasks": "attention_trigger attention_early_majority "
    "attention_far_trigger",
    "length dilutes CLS": "dilution",
    "a gate on the pool": STRATEGY.format("gated"),
    "no cure at all": STRATEGY.format("cls_last") + " cls_last_early_majority",
    "a random CLS is unstable, a mean is not": "random_start mean_faster zeros_start zeros_hidden",
    "clip, or it explodes": "clip_cures clip_spared",
    "start A stable": "bounded bounded_far",
    "gradients vanish": "steps_short steps_long steps_longest",
    "it holds over a million tokens": "information",
    "the state can replace CLS": "state state_far",
    "a CLS in Mamba costs linear time": "linear_cost",
    "an attentive CLS models all pairs": "all_pairs",
}


def list_claims(said: str) -> list[Claim]:
    """List the claims that put a sentence of the recipe to the test.

    Args:
        said: one of TRIAL.
    """
    return [CLAIMS[f"n10.{key}"] for key in TRIAL[said].split()]
