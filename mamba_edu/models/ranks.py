"""A classifier of sequences that lie in several processes."""

from typing import Any

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor

from mamba_edu.layers import cut_stream
from mamba_edu.models._states import gather_state, name_tensors, start_state
from mamba_edu.models.classifier import SequenceClassifier
from mamba_edu.models.streaming import read_piece
from mamba_edu.scan import receive_tensors, send_tensors


@torch.no_grad()
def stream_ranks(
    group: Any,
    model: SequenceClassifier,
    inputs: Shaped[Tensor, "batch length *d_in"],
    mask: Bool[Tensor, "batch length"] | None = None,
    piece: int = 2048,
) -> Float[Tensor, "batch n_classes"]:
    """Compute the logits of sequences whose pieces lie in several processes, rank 0 with the first.

    Each process waits for the state of the one ahead, streams its own piece and hands the state
    on: a few kB, however many tokens it holds. The last one answers, and tells all others.

    Args:
        group: as join_ranks makes it.
        model: the same classifier in each process.
        inputs, mask, piece: of this process, as SequenceClassifier.stream takes them.

    Raises:
        LostRank: if a process has stopped, or is silent for as long as the group allows.
        TypeError, ValueError: as SequenceClassifier.stream.
    """
    rank, last = group.rank(), group.size() - 1
    state = start_state(model, inputs)
    if rank:
        named = name_tensors(state)
        received = receive_tensors(group, rank - 1, *named.values())
        state = gather_state(dict(zip(named, received, strict=True)))
    if rank < last:
        for part, own in cut_stream(inputs, mask, piece):
            state = read_piece(model, part, own, state)
        send_tensors(group, rank + 1, *name_tensors(state).values())
        like = model.head.weight.new_empty(len(inputs), model.head.out_features)
        return receive_tensors(group, last, like)[0]
    logits = model.stream(inputs, mask, state, piece)
    for other in range(last):
        send_tensors(group, other, logits)
    return logits
