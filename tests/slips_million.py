"""The slips of notebook 12, written as those in slips.py are."""

import torch

from mamba_edu.exercises import n12

SLIPS = {
    n12.check_cache_bytes: [
        (
            lambda n_tokens, n_layers, d_attention, n_bytes: (
                n_tokens * n_layers * d_attention * n_bytes
            ),
            "a key *and* a value",
        ),
        (
            lambda n_tokens, n_layers, d_attention, n_bytes: 2 * n_tokens * d_attention * n_bytes,
            "every layer keeps its own",
        ),
        (
            lambda n_tokens, n_layers, d_attention, n_bytes: (
                2 * n_layers * d_attention * n_bytes * n_tokens**2
            ),
            "a new token makes its own",
        ),
    ],
    n12.check_join_mean: [
        (
            lambda mean, n_tokens, piece: (
                (mean + piece.mean(0)) / 2 if n_tokens else piece.mean(0),
                n_tokens + len(piece),
            ),
            "a mean of means",
        ),
        (
            lambda mean, n_tokens, piece: (
                mean + (piece.mean(0) - mean) / (n_tokens + 1),
                n_tokens + len(piece),
            ),
            "as many times as it has tokens",
        ),
    ],
    n12.check_find_starts: [
        (
            lambda keep, end: torch.cat([end[:1] * 0, end]).cumsum(0)[:-1],
            "what came first has decayed",
        ),
        (lambda keep, end: end_of_each(keep, end), "where each rank *ends*"),
        (lambda keep, end: torch.cat([end[:1] * 0, end])[:-1], "right for two ranks only"),
    ],
}


def end_of_each(keep, end):
    """List the states at the ends."""
    h, states = end[0] * 0, []
    for keep_r, end_r in zip(keep, end, strict=True):
        h = keep_r * h + end_r
        states.append(h)
    return torch.stack(states)
