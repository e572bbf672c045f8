"""The scan of Mamba-2: one rate for a whole head, and so a scan that is made of matrix products."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

from mamba_edu._checks import (
    HALF,
    check_alike,
    check_clock,
    check_counts,
    check_floats,
    check_shapes,
)

AXES = {
    "x": "batch length n_heads d_head",
    "delta": "batch length n_heads",
    "A": "n_heads",
    "B": "batch length d_state",
    "C": "batch length d_state",
    "state": "batch n_heads d_head d_state",
}


def scan_ssd(
    x: Float[Tensor, "batch length n_heads d_head"],
    delta: Float[Tensor, "batch length n_heads"],
    A: Float[Tensor, " n_heads"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch n_heads d_head d_state"] | None = None,
    chunk: int = 64,
) -> tuple[
    Float[Tensor, "batch length n_heads d_head"], Float[Tensor, "batch n_heads d_head d_state"]
]:
    """Run the selective scan of heads that decay as one, by matrix products.

        h[t] = exp(delta[t] A) h[t-1] + delta[t] B[t] x[t]
        y[t] = C[t] . h[t]

    With one rate for a head, what token s leaves to token t is a number, so inside a chunk y is
    (decay * C B') delta x: a matrix as attention's, masked by decay. A state is handed on from
    chunk to chunk.

    Args:
        x: the input signal. NaN reaches its whole chunk, earlier tokens too: a product with 0 keeps
            it.
        delta: step sizes, at least 0, one for each head.
        A: decay rates, at most 0, one for each head.
        B, C: how a token writes to the state and reads it, the same for all heads.
        state: the state before the first token; zero if not given.
        chunk: tokens of a chunk; the longer, the more of the work is square in it.

    Returns:
        y in the type of x, and the state after the last token in float32 at least.

    Raises:
        TypeError: for integer or complex tensors, mixed precision, or a chunk that is no int.
        ValueError: if a step runs backwards, a rate is positive or not finite, shapes disagree or
            chunk is below 1.

    Source: Dao & Gu 2024 (arXiv:2405.21060), Section 6. Theirs has groups of B and C; ours takes a
    state.
    """
    given = {"x": x, "delta": delta, "A": A, "B": B, "C": C}
    given |= {} if state is None else {"state": state}
    ready = _prepare(given, chunk)
    if state is None:
        sizes = len(x), *x.shape[2:], B.shape[-1]
        ready["state"] = ready["x"].new_zeros(sizes)
    if not x.shape[1]:
        return x.clone(), ready["state"]
    y, last = _scan_chunks(**ready, chunk=min(chunk, x.shape[1]))
    return y.to(x.dtype), last


def sum_between(z: Float[Tensor, "*axes length"]) -> Float[Tensor, "*axes length length"]:
    """Sum z from after token s up to token t, for every t (rows) and s (columns); -inf if t < s.

    Summed, and not subtracted from each other: no digit is lost to what came before s.

    Source: Dao & Gu 2024 (arXiv:2405.21060), Listing 1.
    """
    length = z.shape[-1]
    is_after = torch.ones(length, length, dtype=torch.bool, device=z.device).tril(-1)
    spread = z[..., None].expand(*z.shape, length).masked_fill(~is_after, 0)
    return spread.cumsum(-2).masked_fill(is_after.mT, -torch.inf)


def _prepare(given: dict[str, Tensor], chunk: int) -> dict[str, Tensor]:
    """Refuse what does not make up one scan, and raise half precision to single."""
    check_floats(**given)
    raised = {k: v.float() if v.dtype in HALF else v for k, v in given.items()}
    check_alike(**raised)
    check_shapes(**{name: (tensor, AXES[name]) for name, tensor in raised.items()})
    check_clock(raised["delta"], raised["A"])
    check_counts(1, chunk=chunk)
    return raised


def _scan_chunks(x, delta, A, B, C, state, chunk):
    """Scan checked inputs of at least one token. Axes: b batch, m chunk, t and s token, h head."""
    spare = -x.shape[1] % chunk
    write, z = delta[..., None] * x, delta * A
    write, z, B, C = (_fold(v, spare, chunk) for v in (write, z, B, C))
    z, write = z.transpose(2, 3), write.transpose(2, 3)  # (b, m, h, s) and (b, m, h, s, d_head)
    decay = sum_between(z).exp()
    y = (decay * (C @ B.mT)[:, :, None]) @ write
    end = (decay[..., -1, :, None] * write).mT @ B[:, :, None]  # of a chunk from an empty state
    since = z.cumsum(-1).exp()  # what a token still finds of the state before its chunk

    before = [state]
    for end_m, whole_m in zip(end.unbind(1), since[..., -1].unbind(1), strict=True):
        before.append(whole_m[..., None, None] * before[-1] + end_m)
    found = C[:, :, None] @ torch.stack(before[:-1], dim=1).mT
    y = (y + since[..., None] * found).transpose(2, 3).flatten(1, 2)
    return y[:, : y.shape[1] - spare], before[-1]


def _fold(tokens: Tensor, spare: int, chunk: int) -> Tensor:
    """Fold (batch, length, ...) to (batch, chunk, token, ...), ending in tokens of no time."""
    padding = [0, 0] * (tokens.ndim - 2) + [0, spare]
    return pad(tokens, padding).unflatten(1, (-1, chunk))
