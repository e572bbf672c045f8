"""What a stream carries as tensors by name, for a file or for another process."""

import torch
from torch import Tensor, nn

from mamba_edu.layers import MambaState
from mamba_edu.layers.stack import refuse_pieces
from mamba_edu.models.streaming import StreamState, read_piece, refuse_whole_readers

FIELDS = MambaState._fields


def name_tensors(state: StreamState) -> dict[str, Tensor]:
    """Name all that a state holds, for a file or for another process."""
    parts = {
        f"blocks.{number}.{field}": tensor
        for number, one in enumerate(state.blocks)
        for field, tensor in one._asdict().items()
    }
    return {"n_real": state.n_real, "read": state.read} | parts


def gather_state(named: dict[str, Tensor]) -> StreamState:
    """Put together what name_tensors has taken apart.

    Raises:
        KeyError: if a part is missing.
    """
    n_layers = (len(named) - 2) // 2
    blocks = [MambaState(*(named[f"blocks.{k}.{f}"] for f in FIELDS)) for k in range(n_layers)]
    return StreamState(blocks, named["n_real"], named["read"])


def start_state(model: nn.Module, inputs: Tensor) -> StreamState:
    """Make the state before the first token of these inputs."""
    refuse_pieces(model.blocks.is_bidirectional)
    refuse_whole_readers(model.readout)
    with torch.no_grad():
        return read_piece(model, inputs[:, :0], None, None)
