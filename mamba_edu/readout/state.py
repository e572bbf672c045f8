"""Read the hidden state itself, with no CLS token and no output."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_floats
from mamba_edu.layers import MambaState
from mamba_edu.readout.real import resolve_mask


class ReadState(nn.Module):
    """Read the last layer's hidden state with a learned query, as a token would with its C.

        y[d] = query . h[d];  answer = proj(y)

    A token at the end reads the state by a C of its own making; here the C is a parameter.

    Args:
        d_model: numbers of the answer.
        d_inner: channels of the state.
        d_state: numbers in each of them.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if it is below 1.

    Source: the read-out equation of Gu & Dao 2023 (arXiv:2312.00752), Equation 1b, with a C that
    does not depend on the input; no skip, no gate.
    """

    cls_position = d_out = None

    def __init__(self, d_model: int, d_inner: int, d_state: int):
        super().__init__()
        check_counts(1, d_model=d_model, d_inner=d_inner, d_state=d_state)
        self.query = nn.Parameter(torch.randn(d_state))
        self.proj = nn.Linear(d_inner, d_model, bias=False)

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_any"] | None = None,
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read one vector per sequence.

        Args:
            outputs: not read; may be None.
            mask: not read: where it is False, the state was held.
            state: the list that MambaStack returns, whose last entry counts; a MambaState; or h
                itself, (batch, d_inner, d_state).

        Raises:
            TypeError: if there is no state, or it is no tensor of the parameters' type.
            ValueError: if shapes disagree or a row of the mask has no real token.
        """
        if outputs is not None:
            resolve_mask(outputs, mask)
        h = _take_h(state)
        shape = (len(outputs) if outputs is not None else len(h), *self._list_sizes())
        if h.shape != shape:
            raise ValueError(
                f"h must have the shape (batch, d_inner, d_state) = {shape}; it is {tuple(h.shape)}"
            )
        if h.dtype != self.query.dtype:
            raise TypeError(f"h must be {self.query.dtype}, as the query is; it is {h.dtype}")
        return self.proj(h @ self.query)

    def _list_sizes(self) -> tuple[int, int]:
        """List d_inner and d_state."""
        return self.proj.in_features, len(self.query)


def _take_h(state: object) -> Tensor:
    """Take h out of what the backbone hands over."""
    if isinstance(state, list | tuple) and not isinstance(state, MambaState) and state:
        state = state[-1]
    h = state.h if isinstance(state, MambaState) else state
    if not isinstance(h, Tensor):
        raise TypeError(
            f"state must be a list of MambaState, a MambaState or h itself; its type is "
            f"{type(state).__name__}. A bidirectional model and a Transformer have none to read"
        )
    check_floats(h=h)
    return h
