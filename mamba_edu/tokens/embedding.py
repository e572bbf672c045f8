"""From inputs to tokens of d_model channels."""

import torch
from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_flags, check_floats, check_mask, check_shapes
from mamba_edu.tokens.masks import check_rows
from mamba_edu.tokens.placement import add_cls, refuse_blindness
from mamba_edu.tokens.registers import add_heading, add_registers


class TokenEmbedding(nn.Module):
    """Turn ids, or vectors of numbers, into tokens of d_model channels, and add CLS if asked to.

    Args:
        d_model: channels of a token.
        n_symbols: how many ids there are, 0 .. n_symbols - 1; for sequences of ids.
        d_in: numbers per token; for sequences of real values. Give this or n_symbols.
        cls_position: "first", "middle", "last", "both" for the same token at either end, or None
            for no CLS token.
        is_causal: whether the blocks above let a token see earlier ones only.
        allow_blind: let CLS stand where it sees nothing.
        registers_every: put the CLS token behind every so many tokens instead, and at the end.
        heading: put the mean of the embedded tokens in front of them.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is too small, both or neither of n_symbols and d_in are given, or
            both of cls_position and registers_every.
        BlindReadout: if CLS stands first in a causal model and allow_blind is not set.
    """

    def __init__(
        self,
        d_model: int,
        n_symbols: int | None = None,
        d_in: int | None = None,
        cls_position: str | None = None,
        is_causal: bool = True,
        allow_blind: bool = False,
        registers_every: int | None = None,
        heading: bool = False,
    ):
        super().__init__()
        refuse_blindness(cls_position, is_causal, allow_blind)
        _check_sizes(d_model, n_symbols, d_in)
        _check_places(cls_position, registers_every, heading)
        self.cls_position, self.registers_every = cls_position, registers_every
        self.heading = heading
        if n_symbols is None:
            self.embed = nn.Linear(d_in, d_model)
        else:
            self.embed = nn.Embedding(n_symbols, d_model)
            nn.init.normal_(self.embed.weight, std=0.3)
        if cls_position is not None or registers_every is not None:
            self.cls_token = nn.Parameter(0.02 * torch.randn(d_model))

    def forward(
        self,
        inputs: Shaped[Tensor, "batch length *d_in"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> tuple[Float[Tensor, "batch length2 d_model"], Bool[Tensor, "batch length2"] | None]:
        """Embed the inputs and add CLS.

        Args:
            inputs: (batch, length) ids or (batch, length, d_in) numbers; on padding anything.
            mask: True on real tokens; all are if not given.

        Returns:
            The tokens and their mask, both longer by what was put among them.

        Raises:
            TypeError: for ids that are not integers, or numbers that are no floats.
            ValueError: if shapes disagree, an id is out of range or a row has no real token.
        """
        tokens = self.embed_content(inputs, mask)
        if mask is not None:
            check_rows(mask)
        if self.heading:
            tokens, mask = add_heading(tokens, mask)
        if self.registers_every is not None:
            return add_registers(tokens, self.cls_token, self.registers_every, mask)
        places = {None: (), "both": ("first", "last")}.get(self.cls_position, (self.cls_position,))
        for place in places:
            tokens, mask, _ = add_cls(tokens, self.cls_token, place, mask)
        return tokens, mask

    def embed_content(
        self,
        inputs: Shaped[Tensor, "batch length *d_in"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Embed the inputs without CLS, as a piece of a sequence: rows may be all padding.

        Padding is read as 0. Arguments and errors as forward's.
        """
        is_ids = isinstance(self.embed, nn.Embedding)
        if inputs.ndim != (2 if is_ids else 3):
            axes = "(batch, length)" if is_ids else "(batch, length, d_in)"
            raise ValueError(
                f"inputs must have the axes {axes}; the shape is {tuple(inputs.shape)}"
            )
        if mask is not None:
            check_mask(mask, inputs=inputs)
            inputs = inputs.masked_fill(~mask if is_ids else ~mask[..., None], 0)
        if is_ids:
            _check_ids(inputs, self.embed.num_embeddings)
        else:
            _check_numbers(inputs, self.embed.weight)
        return self.embed(inputs)


def _check_sizes(d_model: int, n_symbols: int | None, d_in: int | None) -> None:
    """Refuse sizes that do not say what the inputs are."""
    if (n_symbols is None) == (d_in is None):
        raise ValueError(
            f"give either n_symbols, for ids, or d_in, for numbers; n_symbols is {n_symbols} "
            f"and d_in is {d_in}"
        )
    given = {"d_in": d_in} if n_symbols is None else {"n_symbols": n_symbols}
    check_counts(1, d_model=d_model, **given)


def _check_places(cls_position: str | None, registers_every: int | None, heading: bool) -> None:
    """Refuse to put one token in two ways."""
    check_flags(heading=heading)
    if registers_every is None:
        return
    check_counts(1, registers_every=registers_every)
    if cls_position is not None:
        raise ValueError(
            f"give either cls_position or registers_every, which puts a CLS token at the end too; "
            f"cls_position is {cls_position!r} and registers_every is {registers_every}"
        )


def _check_ids(ids: Tensor, n_symbols: int) -> None:
    """Refuse what is no id, and name the row."""
    if ids.dtype not in (torch.int32, torch.int64):
        raise TypeError(f"inputs must be ids, torch.int32 or torch.int64; they are {ids.dtype}")
    is_outside = (ids < 0) | (ids >= n_symbols)
    if is_outside.any():
        row, column = is_outside.nonzero()[0].tolist()
        raise ValueError(
            f"ids must be 0 to {n_symbols - 1}; row {row} holds {int(ids[row, column])} at token "
            f"{column}"
        )


def _check_numbers(numbers: Tensor, weight: Tensor) -> None:
    """Refuse numbers of another type or width than the embedding's."""
    check_floats(inputs=numbers)
    if numbers.dtype != weight.dtype:
        raise TypeError(
            f"inputs must be {weight.dtype}, as the parameters are; they are {numbers.dtype}"
        )
    check_shapes(weight=(weight, "d_model d_in"), inputs=(numbers, "batch length d_in"))
