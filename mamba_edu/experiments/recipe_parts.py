"""What the recipe that circulates is made of: its recurrence, its CLS starts, its pretraining."""

import functools

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from mamba_edu.models import SequenceClassifier
from mamba_edu.tasks import N_SYMBOLS, N_VALUES, Batch
from mamba_edu.training import train

RATES = ("randn", "uniform", "bounded")  # how the factors of a fixed recurrence start
CLS_STARTS = ("ours", "zeros", "randn", "randn x 10", "mean")
D_MODEL, D_STATE = 16, 32  # the recipe's own sizes
FOLLOWS = 0.75  # how often the next id is the successor, in the text that is pretrained on


class FixedRecurrence(nn.Module):
    """Classify ids by a recurrence whose parameters hear nothing, and a CLS token at its end.

        h[t] = a h[t-1] + B x[t],  logits = head(C . h[T]),  a number for each channel and state

    Args:
        rates: how a starts, and what it may become: "randn", any numbers; "uniform", numbers that
            start between 0 and 1 and may become any; "bounded", a = exp(-exp(a_log)), which stays
            between 0 and 1 whatever training does, and starts at exp(-1/100) to exp(-d_state/100).
        n_classes, n_symbols: as SequenceClassifier takes them.

    Raises:
        ValueError: for other rates.

    Source: the recipe that circulates for a CLS token in Mamba, with its shapes mended and CLS
    moved to where it sees; notebook 07 finds its other mistakes.
    """

    def __init__(self, rates: str, n_classes: int = N_VALUES, n_symbols: int = N_SYMBOLS):
        super().__init__()
        if rates not in RATES:
            raise ValueError(f"rates must be one of {RATES}; it is {rates!r}")
        self.embed, self.head = nn.Embedding(n_symbols, D_MODEL), nn.Linear(D_MODEL, n_classes)
        self.cls_token = nn.Parameter(torch.randn(D_MODEL))
        start = {"randn": torch.randn, "uniform": torch.rand, "bounded": _start_decay}[rates]
        self.is_bounded = rates == "bounded"
        self.rates = nn.Parameter(start(D_MODEL, D_STATE))
        self.B, self.C = (nn.Parameter(torch.randn(D_MODEL, D_STATE)) for _ in range(2))

    def forward(
        self, ids: Int[Tensor, "batch length"], mask: None = None
    ) -> Float[Tensor, "batch n_classes"]:
        """Compute the logits of each sequence; a mask is not supported."""
        a = torch.exp(-torch.exp(self.rates)) if self.is_bounded else self.rates
        x = torch.cat([self.embed(ids), self.cls_token.expand(len(ids), 1, -1)], dim=1)
        h = x.new_zeros(len(x), *a.shape)
        for x_t in x.unbind(1):
            h = a * h + self.B * x_t[..., None]
        return self.head((self.C * h).sum(-1))


def _start_decay(d_model: int, d_state: int) -> Float[Tensor, "d_model d_state"]:
    """Start the logarithms of rates that are 1 to d_state hundredths in every channel."""
    return (torch.arange(1, d_state + 1) / 100).log().repeat(d_model, 1)


def sample_text(batch: int, length: int, seed: int) -> Batch:
    """Sample pieces of a text, to tell the next id by.

    The ids are those of the needle task. Three times of four an id is followed by its successor on
    one fixed cycle through all ids, else by any. What grows with the length: nothing; the last id
    says all that can be known. Best accuracy: 0.75 + 0.25 / N_SYMBOLS; chance: 1 / N_SYMBOLS.

    Args:
        batch, length: how many pieces, and how long.
        seed: of the generator.

    Returns:
        inputs (batch, length) and target, the id that follows; no mask.
    """
    rng = torch.Generator().manual_seed(seed)
    cycle = torch.randperm(N_SYMBOLS, generator=torch.Generator().manual_seed(0))
    successor = torch.empty_like(cycle)
    successor[cycle] = cycle.roll(-1)
    text = torch.randint(N_SYMBOLS, (batch, length + 1), generator=rng)
    follows = torch.rand(batch, length + 1, generator=rng) < FOLLOWS
    for t in range(1, length + 1):
        text[:, t] = torch.where(follows[:, t], successor[text[:, t - 1]], text[:, t])
    return Batch(text[:, :-1], text[:, -1])


@functools.lru_cache(maxsize=1)
def pretrain_embedding(seed: int = 0, steps: int = 400) -> Float[Tensor, "n_symbols d_model"]:
    """Train an embedding to tell the next id of a text, by the small model of the course.

    Args:
        seed: of its start and of the text.
        steps: of training, of 32 pieces of 8 ids each.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = SequenceClassifier(N_SYMBOLS, n_symbols=N_SYMBOLS, readout="last")
    train(model, sample_text, (8,), steps, batch=32, seed=seed)
    return model.tokens.embed.weight.detach().clone()


@torch.no_grad()
def start_cls(model: SequenceClassifier, start: str) -> None:
    """Start the CLS token of a classifier in another way, in place.

    Args:
        model: with a CLS token and an embedding of ids.
        start: one of CLS_STARTS: "ours" leaves it; "zeros"; "randn" and ten times that, from the
            global generator; "mean", that of the embeddings.

    Raises:
        ValueError: for another start.
    """
    if start not in CLS_STARTS:
        raise ValueError(f"start must be one of {CLS_STARTS}; it is {start!r}")
    cls_token, embed = model.tokens.cls_token, model.tokens.embed.weight
    drawn = torch.randn_like(cls_token)
    scaled = {"zeros": 0 * drawn, "randn": drawn, "randn x 10": 10 * drawn, "mean": embed.mean(0)}
    if start != "ours":
        cls_token.copy_(scaled[start])
