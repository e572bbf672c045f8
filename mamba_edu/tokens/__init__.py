"""From inputs to tokens: embedding, padding masks, and where the CLS token stands."""

from mamba_edu.tokens.embedding import TokenEmbedding
from mamba_edu.tokens.masks import check_rows, locate_rank, make_mask
from mamba_edu.tokens.packing import (
    batch_documents,
    locate_documents,
    pack,
    run_packed,
    unpack,
)
from mamba_edu.tokens.placement import POSITIONS, BlindReadout, add_cls, refuse_blindness

__all__ = [
    "POSITIONS",
    "BlindReadout",
    "TokenEmbedding",
    "add_cls",
    "batch_documents",
    "check_rows",
    "locate_documents",
    "locate_rank",
    "make_mask",
    "pack",
    "refuse_blindness",
    "run_packed",
    "unpack",
]
