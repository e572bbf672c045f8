"""From inputs to tokens: embedding, padding masks, and where CLS tokens stand."""

from mamba_edu.tokens.embedding import TokenEmbedding
from mamba_edu.tokens.masks import check_rows, locate_rank, make_mask
from mamba_edu.tokens.packing import (
    batch_documents,
    locate_documents,
    pack,
    run_packed,
    unpack,
)
from mamba_edu.tokens.placement import (
    PLACES,
    POSITIONS,
    BlindReadout,
    add_cls,
    refuse_blindness,
)
from mamba_edu.tokens.registers import add_heading, add_registers, cut_pieces

__all__ = [
    "PLACES",
    "POSITIONS",
    "BlindReadout",
    "TokenEmbedding",
    "add_cls",
    "add_heading",
    "add_registers",
    "batch_documents",
    "check_rows",
    "cut_pieces",
    "locate_documents",
    "locate_rank",
    "make_mask",
    "pack",
    "refuse_blindness",
    "run_packed",
    "unpack",
]
