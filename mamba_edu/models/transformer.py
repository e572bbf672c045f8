"""A Transformer of the same size, for reference: what attention does where Mamba has a state."""

from collections.abc import Callable

from jaxtyping import Bool, Float, Shaped
from torch import Tensor, nn
from torch.nn.functional import gelu, scaled_dot_product_attention

from mamba_edu._checks import check_counts, check_flags
from mamba_edu.layers import RMSNorm
from mamba_edu.layers.convolution import hide_padding
from mamba_edu.models._parts import build_head, build_tokens, run_afresh
from mamba_edu.models.rotary import place_tokens, rotate_by_place
from mamba_edu.readout import make_readout


class AttentionBlock(nn.Module):
    """Let every token read every other one, then map each by itself; each adds to the tokens.

        tokens = tokens + out_proj(attention(norm(tokens)))
        tokens = tokens + down(gelu(up(norm_up(tokens))))

    Attention is half as wide as the tokens, so that two blocks weigh what one Mamba block does.

    Args:
        d_model: channels of a token, a multiple of 4 n_heads.
        n_heads: how many separate choices a token makes.
        rotary: whether queries and keys are turned by their place (RoPE); without, nothing tells
            the places apart.

    Raises:
        TypeError: if a size is not an int, or rotary neither True nor False.
        ValueError: if a size is below 1, or d_model no such multiple.

    Source: Vaswani et al. 2017 (arXiv:1706.03762), the norm first as in Xiong et al. 2020
    (arXiv:2002.04745). Its widths are ours.
    """

    def __init__(self, d_model: int, n_heads: int = 2, rotary: bool = True):
        super().__init__()
        check_counts(1, d_model=d_model, n_heads=n_heads)
        check_flags(rotary=rotary)
        if d_model % (4 * n_heads):
            raise ValueError(
                f"d_model must be a multiple of 4 n_heads = {4 * n_heads}; it is {d_model}"
            )
        d_attention, d_hidden = d_model // 2, _match_width(d_model)
        self.n_heads, self.rotary = n_heads, rotary
        self.norm, self.norm_up = RMSNorm(d_model), RMSNorm(d_model)
        self.in_proj = nn.Linear(d_model, 3 * d_attention, bias=False)
        self.out_proj = nn.Linear(d_attention, d_model, bias=False)
        self.up = nn.Linear(d_model, d_hidden, bias=False)
        self.down = nn.Linear(d_hidden, d_model, bias=False)

    def forward(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Run the block over whole sequences. Padding is never read, and comes out as 0.

        Raises:
            TypeError: for a mask that is not boolean.
            ValueError: if shapes disagree.
        """
        tokens = hide_padding(tokens, mask)
        tokens = tokens + self._attend(self.norm(tokens), mask)
        return hide_padding(tokens + self.down(gelu(self.up(self.norm_up(tokens)))), mask)

    def _attend(self, tokens: Tensor, mask: Tensor | None) -> Tensor:
        """Mix the tokens by attention. Padding asks too; what it is told is hidden again."""
        q, k, v = self.in_proj(tokens).unflatten(2, (3, self.n_heads, -1)).permute(2, 0, 3, 1, 4)
        if self.rotary:
            place = place_tokens(tokens, mask)
            q, k = rotate_by_place(q, place), rotate_by_place(k, place)
        is_read = None if mask is None else mask[:, None, None]
        y = scaled_dot_product_attention(q, k, v, attn_mask=is_read)
        return self.out_proj(y.transpose(1, 2).flatten(2))


class AttentionStack(nn.Module):
    """Run n_layers attention blocks and a last norm. Arguments and errors as AttentionBlock."""

    def __init__(self, d_model: int, n_layers: int = 2, n_heads: int = 2, rotary: bool = True):
        super().__init__()
        check_counts(1, n_layers=n_layers)
        self.layers = nn.ModuleList(
            AttentionBlock(d_model, n_heads, rotary) for _ in range(n_layers)
        )
        self.norm_f = RMSNorm(d_model)

    def forward(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch length d_model"]:
        """Run all layers over whole sequences, as AttentionBlock does."""
        for layer in self.layers:
            tokens = layer(tokens, mask)
        return self.norm_f(tokens)


class TransformerClassifier(nn.Module):
    """Classify sequences as SequenceClassifier does, with attention for its Mamba blocks.

    Two blocks have as many parameters as one Mamba block of the same d_model and d_state 8, within
    a few per cent. Every token reads every other one, so CLS sees all from any place. There is no
    state, so a read-out of the state has nothing to read.

    Args:
        n_classes, n_symbols, d_in, d_model: as in SequenceClassifier.
        readout: from the outputs to one vector, or its name in READOUTS.
        n_layers: how many attention blocks.
        n_heads: heads of each.
        rotary: whether they know the places of the tokens (RoPE).

    Raises: as SequenceClassifier and AttentionBlock.
    """

    def __init__(
        self,
        n_classes: int,
        n_symbols: int | None = None,
        d_in: int | None = None,
        readout: Callable[..., Tensor] | str | None = None,
        d_model: int = 32,
        n_layers: int = 2,
        n_heads: int = 2,
        rotary: bool = True,
    ):
        super().__init__()
        check_counts(1, n_classes=n_classes)
        if readout is None or isinstance(readout, str):
            readout = make_readout(readout or "cls_last", d_model, 2 * d_model, 8)
        self.tokens = build_tokens(readout, d_model, n_symbols, d_in, is_causal=False)
        self.blocks = AttentionStack(d_model, n_layers, n_heads, rotary)
        self.readout = readout
        self.head = build_head(readout, d_model, n_classes)

    def forward(
        self,
        inputs: Shaped[Tensor, "batch length *d_in"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch n_classes"]:
        """Compute the logits of each sequence. Arguments and errors as SequenceClassifier."""
        return self.classify(*self.tokens(inputs, mask))

    def classify(
        self,
        tokens: Float[Tensor, "batch length d_model"],
        mask: Bool[Tensor, "batch length"] | None = None,
    ) -> Float[Tensor, "batch n_classes"]:
        """Compute the logits from tokens that are embedded already, CLS or registers among them."""
        if getattr(self.readout, "restarts", False):
            outputs, mask = run_afresh(self.blocks, tokens, mask, self.readout)
        else:
            outputs = self.blocks(tokens, mask)
        return self.head(self.readout(outputs, mask, None))


def _match_width(d_model: int) -> int:
    """Compute how wide the map must be for two blocks to weigh what a Mamba block does.

    A Mamba block has 6 d_model^2 weights in its two projections, and 31 + 2 delta_rank for each of
    its 2 d_model inner channels where d_state is 8; attention of half width has 2 d_model^2.
    """
    delta_rank = -(-d_model // 16)
    return round((2 * d_model + 62 + 4 * delta_rank) / 4)
