"""From inputs to tokens: embedding, padding masks, and where the CLS token stands."""

from mamba_edu.tokens.embedding import TokenEmbedding
from mamba_edu.tokens.masks import check_rows, locate_rank, make_mask
from mamba_edu.tokens.placement import POSITIONS, BlindReadout, add_cls, refuse_blindness

__all__ = [
    "POSITIONS",
    "BlindReadout",
    "TokenEmbedding",
    "add_cls",
    "check_rows",
    "locate_rank",
    "make_mask",
    "refuse_blindness",
]
