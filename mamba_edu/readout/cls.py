"""Read the outputs at CLS tokens, wherever they stand."""

from jaxtyping import Bool, Float
from torch import Tensor, nn

from mamba_edu._checks import check_flags
from mamba_edu.readout.real import pick_outputs, resolve_mask
from mamba_edu.tokens import PLACES


class ReadCLS(nn.Module):
    """Read the output at the CLS token, where TokenEmbedding has put it.

    The place is derived from each row's own real tokens: the first of them, the last, or the one
    with as many tokens before it as behind it (one more behind, if their number is odd). With
    "both", the outputs of the first and the last are averaged.

    Args:
        position: "first", "middle", "last" or "both".
        heading: whether the mean of the embedded tokens is put in front of them. It changes what
            CLS has seen, not where CLS is read.

    Raises:
        TypeError: if heading is neither True nor False.
        ValueError: for another position.

    Source: Devlin et al. 2019 (arXiv:1810.04805), Section 3, for a Transformer, where CLS sees
    everything from any place. The heading is Wang et al. 2024 (arXiv:2410.07599), Adventurer,
    which reads its class token at the end.
    """

    d_out = None

    def __init__(self, position: str = "last", heading: bool = False):
        super().__init__()
        if position not in PLACES:
            raise ValueError(f"position must be one of {PLACES}; it is {position!r}")
        check_flags(heading=heading)
        self.cls_position, self.heading = position, heading

    def forward(
        self,
        outputs: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
        state: object = None,
    ) -> Float[Tensor, "batch d_model"]:
        """Read one vector per sequence.

        Args:
            outputs: what the backbone says at each token, CLS among them.
            mask: True on real tokens, CLS among them; all are if not given.
            state: not used.

        Returns:
            The output at CLS.

        Raises:
            TypeError: for outputs that are no floats, or a mask that is not boolean.
            ValueError: if shapes disagree or a row has no real token.
        """
        real = resolve_mask(outputs, mask)
        last = real.sum(1) - 1
        if self.cls_position == "both":
            ends = (pick_outputs(outputs, real, rank) for rank in (0 * last, last))
            return sum(ends) / 2
        rank = {"first": 0 * last, "middle": last // 2, "last": last}[self.cls_position]
        return pick_outputs(outputs, real, rank)

    def extra_repr(self) -> str:
        """Say what was asked for."""
        return f"{self.cls_position!r}" + (", heading=True" if self.heading else "")
