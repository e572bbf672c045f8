"""Read CLS tokens that stand at regular places in the sequence: registers, or chunk by chunk.

Only the registers are read, never the content between them. Each row's are counted among its own
real tokens: every `every + 1`-th of them is one, and the last.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_flags
from mamba_edu.layers import MambaStack
from mamba_edu.layers.start import apply_alive
from mamba_edu.readout.cls import ReadCLS
from mamba_edu.readout.pools import ReadLast, ReadMax, ReadMean
from mamba_edu.readout.real import check_fit, resolve_mask
from mamba_edu.tokens import add_cls

EVERY = 32  # tokens from one register to the next
N_KEPT = 4  # registers that are put side by side
POOLS = {"last": ReadLast, "mean": ReadMean, "max": ReadMax}
COMBINERS = (*POOLS, "concat")


class ReadRegisters(nn.Module):
    """Read the registers: the last, their mean, each channel's largest, or four side by side.

    Args:
        d_model: channels of an output.
        combine: "last", "mean", "max", or "concat" for the last four in order, 0 in front where a
            row has fewer: 4 d_model numbers.
        restarts: whether the blocks start afresh behind each register: then a register is the CLS
            token of its own chunk and knows nothing of the chunks before.
        every: tokens from one register to the next.

    Raises:
        TypeError: if a size is not an int, or restarts neither True nor False.
        ValueError: for another way to combine, or a size below 1.

    Source: "concat" after Wang et al. 2024 (arXiv:2405.14858), Mamba-R, which has a fixed number
    of registers, makes each smaller by a linear map and puts all side by side. The maximum over
    chunks is one form of the "hierarchical" recipe that circulates for a CLS token in Mamba.
    """

    cls_position = None

    def __init__(self, d_model: int, combine: str, restarts: bool = False, every: int = EVERY):
        super().__init__()
        check_counts(1, d_model=d_model, every=every)
        check_flags(restarts=restarts)
        if combine not in COMBINERS:
            raise ValueError(f"combine must be one of {COMBINERS}; it is {combine!r}")
        self.combine, self.restarts, self.registers_every = combine, restarts, every
        self.d_out = N_KEPT * d_model if combine == "concat" else d_model

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_out"]:
        """Read one vector per sequence. Arguments and errors as ReadCLS."""
        registers, real = take_registers(outputs, self.registers_every, mask)
        if self.combine != "concat":
            return POOLS[self.combine]()(registers, real)
        count = real.sum(1, keepdim=True)
        rank = count + torch.arange(-N_KEPT, 0, device=outputs.device)
        kept = registers.gather(1, rank.clamp(min=0)[..., None].expand(-1, -1, outputs.shape[2]))
        return kept.masked_fill(rank[..., None] < 0, 0).flatten(1)

    def extra_repr(self) -> str:
        """Say what was asked for."""
        return f"{self.combine!r}, restarts={self.restarts}, every={self.registers_every}"


class ReadHierarchy(nn.Module):
    """Read chunks by their CLS tokens, and those by a second Mamba with a CLS at its end.

    The blocks below start afresh behind each chunk's CLS token.

    Args:
        d_model: channels of an output.
        d_inner: inner channels of the second Mamba, a multiple of d_model.
        d_state: numbers that each of them remembers by.
        every: tokens in a chunk.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is below 1, or d_inner no multiple of d_model.

    Source: the "hierarchical" recipe that circulates for a CLS token in Mamba, taken at its word.
    """

    apply = apply_alive
    cls_position = None
    d_out = None
    restarts = True

    def __init__(self, d_model: int, d_inner: int, d_state: int, every: int = EVERY):
        super().__init__()
        check_counts(1, d_model=d_model, d_inner=d_inner, every=every)
        if d_inner % d_model:
            raise ValueError(f"d_inner must be a multiple of d_model = {d_model}; it is {d_inner}")
        self.registers_every = every
        self.cls_token = nn.Parameter(0.02 * torch.randn(d_model))
        self.blocks = MambaStack(d_model, d_state=d_state, expand=d_inner // d_model)
        self.read = ReadCLS("last")

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read one vector per sequence. Arguments as ReadCLS.

        Raises: as ReadCLS, and for outputs of another type or width than the second Mamba's.
        """
        registers, real = take_registers(outputs, self.registers_every, mask)
        check_fit(outputs, self.cls_token)
        tokens, real, _ = add_cls(registers, self.cls_token, "last", real)
        return self.read(self.blocks(tokens, real), real)

    def extra_repr(self) -> str:
        """Say how long a chunk is."""
        return f"every={self.registers_every}"


def take_registers(
    outputs: Float[Tensor, "batch length d_model"],
    every: int,
    mask: Bool[Tensor, "batch length"] | None = None,
) -> tuple[Float[Tensor, "batch n_registers d_model"], Bool[Tensor, "batch n_registers"]]:
    """Take the outputs at the registers that add_registers has put.

    Args:
        outputs: what the backbone says at each token, registers among them.
        every: tokens from one register to the next.
        mask: True on real tokens, registers among them; all are if not given.

    Returns:
        The registers of each row, moved to its left end, and which of them are real.

    Raises:
        TypeError: for outputs that are no floats, or a mask that is not boolean.
        ValueError: if shapes disagree or a row has no real token.
    """
    real = resolve_mask(outputs, mask)
    count = real.sum(1, keepdim=True)
    rank = torch.arange(every, outputs.shape[1] + every, every + 1, device=outputs.device)
    rank = rank.expand(len(outputs), -1)
    is_register = rank < count + every  # the last one of a row may come early
    column = (~real).to(torch.uint8).argsort(dim=1, stable=True)  # of each rank
    place = column.gather(1, rank.minimum(count - 1))
    registers = outputs.gather(1, place[..., None].expand(-1, -1, outputs.shape[2]))
    return registers.masked_fill(~is_register[..., None], 0), is_register
