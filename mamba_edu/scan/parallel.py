"""The scan as a tree: steps are combined in pairs, so that log2(length) rounds are enough."""

import torch
from jaxtyping import Float
from torch import Tensor

Steps = tuple[Tensor, Tensor]  # keep and write: what h -> keep h + write does to a state


def combine_steps(earlier: Steps, later: Steps) -> Steps:
    """Combine two stretches of time into one: first the earlier, then the later.

        keep_2 (keep_1 h + write_1) + write_2 = (keep_2 keep_1) h + (keep_2 write_1 + write_2)

    Associative: any bracketing gives the same stretch, which is what a tree needs. Not commutative:
    an input that came first has decayed, one that comes last has not.

    Args:
        earlier, later: pairs (keep, write) of tensors whose shapes broadcast together.

    Returns:
        The pair of both stretches together.

    Source: Blelloch 1990, Prefix Sums and Their Applications, Section 1.4, as in Gu & Dao 2023
    (arXiv:2312.00752), Section 3.3.2.
    """
    (keep_1, write_1), (keep_2, write_2) = earlier, later
    return keep_2 * keep_1, keep_2 * write_1 + write_2


def accumulate_steps(keep: Tensor, write: Tensor) -> Steps:
    """Combine, for every token, all steps from the first up to its own, along axis 1.

    Neighbours are combined, the half as many pairs are accumulated by this same function, and the
    tokens in between then need one step each: about 2 length combinations in all.

    Args:
        keep, write: the step of each token, (batch, length, ...).

    Returns:
        The pair of accumulated steps, of the same shapes.

    Source: Blelloch 1990, Prefix Sums and Their Applications, Section 1.3, recursive.
    """
    length = keep.shape[1]
    if length < 2:
        return keep, write
    even, odd = (keep[:, 0::2], write[:, 0::2]), (keep[:, 1::2], write[:, 1::2])
    n_odd = length // 2
    pairs = combine_steps(tuple(v[:, :n_odd] for v in even), odd)
    at_odd = accumulate_steps(*pairs)

    n_between = even[0].shape[1] - 1  # the first even token has nothing before it
    before = tuple(v[:, :n_between] for v in at_odd)
    between = combine_steps(before, tuple(v[:, 1:] for v in even))
    at_even = (torch.cat([v[:, :1], w], dim=1) for v, w in zip(even, between, strict=True))
    keep, write = (_interleave(v, w) for v, w in zip(at_even, at_odd, strict=True))
    return keep, write


def scan_parallel(
    x: Float[Tensor, "batch length d_inner"],
    delta: Float[Tensor, "batch length d_inner"],
    A: Float[Tensor, "d_inner d_state"],
    B: Float[Tensor, "batch length d_state"],
    C: Float[Tensor, "batch length d_state"],
    state: Float[Tensor, "batch d_inner d_state"],
) -> tuple[Float[Tensor, "batch length d_inner"], Float[Tensor, "batch d_inner d_state"]]:
    """Run the recurrence as an associative scan over all tokens at once.

    For the lesson, and for machines with thousands of lanes: every state of every token stands in
    memory, with several more of its size.

    Args: as selective_scan, which has checked them; the state is not optional here.
    Returns: y and the state after the last token.

    Source: Gu & Dao 2023 (arXiv:2312.00752), Section 3.3.2; they keep the states in fast memory.
    """
    if not x.shape[1]:
        return 0 * x, state
    keep = torch.exp(delta[..., None] * A)
    write = (delta * x)[..., None] * B[:, :, None]
    keep, write = accumulate_steps(keep, write)
    h = keep * state[:, None] + write
    return (h * C[:, :, None]).sum(-1), h[:, -1]


def _interleave(even: Tensor, odd: Tensor) -> Tensor:
    """Put tokens 0, 2, 4 ... and 1, 3, 5 ... in order; there may be one more of the even ones."""
    n_odd = odd.shape[1]
    in_pairs = torch.stack([even[:, :n_odd], odd], dim=2).flatten(1, 2)
    return torch.cat([in_pairs, even[:, n_odd:]], dim=1)
