"""Notebook 08: questions, checks and solutions about what to read, and about padding."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import silu

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.experiments import pair_results
from mamba_edu.layers import MambaBlock, convolve_depthwise
from mamba_edu.reader import Question, nearest
from mamba_edu.scan import selective_scan

POOLS = ("attention", "mean")
WIDELY = ("needle", "majority", "order")


def average_right(setting: str, length: int) -> float:
    """Average over the seeds of the shipped table what a setting gets right at a length."""
    rows = pair_results("readouts", length, right=setting)
    return sum(row["right"] for row in rows) / len(rows)


def answer_longer() -> tuple[int, str]:
    """Look up what the last output finds after 400 and after 1000 steps."""
    early, late = (average_right(f"needle, last{more}", 128) for more in ("", ", 1000 steps"))
    told = f"Over all seeds it finds {early:.2f} after 400 steps and {late:.2f} after 1000."
    return nearest(late, (1 / 8, 0.5, 1.0)), told


LONGER = Question(
    key="n08.longer",
    asks="Trained for 400 steps, a Mamba that is read at its last token finds needles no better "
    "than by guessing, one in eight. Another is given 1000 steps from the start. It finds",
    choices=("one in eight: what is not stored cannot be read", "about half", "nearly all"),
    answer=answer_longer,
    surprised="the needle was in the state all along; a filler's question to it, another one in "
    "every sequence, only takes longer to learn.",
)


def answer_one_for_all() -> tuple[int, str]:
    """Look for a pool that gets nine of ten right in each of the three tasks, at 2048 tokens."""
    least = [min(average_right(f"{task}, {pool}", 2048) for task in WIDELY) for pool in POOLS]
    told = ", ".join(f"{pool} {right:.2f}" for pool, right in zip(POOLS, least, strict=True))
    right = next((i for i, share in enumerate(least) if share >= 0.9), 2)
    return right, f"At 2048 tokens, in its worst task of the three: {told}."


ONE_FOR_ALL = Question(
    key="n08.one_for_all",
    asks="Trained on up to 128 tokens, tested on 2048: find a needle, count votes, tell which of "
    "two tokens came first. Which pool of the outputs gets nine of ten right in all three?",
    choices=("attention: it picks what it needs", "the mean: it weighs all alike", "neither"),
    answer=answer_one_for_all,
    surprised="a pool reads what stands in the tokens' outputs; what lies between two tokens "
    "must be in the state, and no pool can put it there.",
)


def measure_leak(block: MambaBlock, tokens: Tensor, mask: Tensor, hides: tuple[str, ...]) -> float:
    """Measure how far the last state is off if padding is hidden in these places only."""
    real, order = mask[..., None], torch.argsort((~mask).byte(), dim=1, stable=True)[..., None]
    x, gate = block.in_proj(tokens).chunk(2, dim=-1)
    order = order.expand_as(x) if "before" in hides else None
    x = x if order is None else x.gather(1, order)
    x, _ = convolve_depthwise(x, block.conv1d.weight[:, 0], block.conv1d.bias)
    x = silu(x if order is None else x.gather(1, order.argsort(1)))
    x = x * real if "behind" in hides else x
    delta, B, C = block.select(x)
    delta = delta * real if "delta" in hides else delta
    _, h = selective_scan(x, delta, block.compute_rates(), B, C, block.D, gate, return_state=True)
    alone = block(tokens[mask][None], return_state=True)[1].h
    return ((h - alone).norm() / alone.norm()).item()


def answer_spare_mask() -> tuple[int, str]:
    """Leave out each of the three masks in turn, with eight tokens of padding inside."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        block = MambaBlock(6, d_state=4).double()
        tokens = torch.randn(1, 20, 6, dtype=torch.float64)
    mask = torch.ones(1, 20, dtype=torch.bool)
    mask[:, 9:17] = False
    places = ("before", "behind", "delta")
    with torch.no_grad():
        off = [
            measure_leak(block, tokens, mask, tuple(p for p in places if p != left))
            for left in places
        ]
    told = ", ".join(f"{value:.3f}" for value in off)
    return nearest(0.0, off), f"Left out in this order, they put the state off by {told} of itself."


SPARE_MASK = Question(
    key="n08.spare_mask",
    asks="Padding inside a sequence is hidden in three places: before the convolution, behind it, "
    "and by a step Δ = 0. Which one can be left out without changing the last state?",
    choices=("the one before the convolution", "the one behind it", "the step of 0"),
    answer=answer_spare_mask,
    surprised="what is written is Δ B x: with Δ = 0 it is nothing, whatever x is. Code that "
    "cannot touch Δ needs the mask behind the convolution instead, and still forgets.",
)


def solve_needed_lead(n_tokens: int, share: float) -> float:
    """Compute by how much one score must lead all others, alike, to get this share of attention."""
    return math.log(share * (n_tokens - 1) / (1 - share))


NEEDED_LEAD = Exercise(
    notebook="n08",
    solve=solve_needed_lead,
    cases={
        "a third of the weight among 100 tokens": {"n_tokens": 100, "share": 1 / 3},
        "half among 2": {"n_tokens": 2, "share": 0.5},
        "nine tenths among a million": {"n_tokens": 10**6, "share": 0.9},
    },
    mistakes=(
        Mistake(
            lambda n_tokens, share: math.log(share * n_tokens / (1 - share)),
            "it competes with the n - 1 others, not with itself.",
        ),
        Mistake(
            lambda n_tokens, share: math.log(n_tokens - 1),
            "that is the lead for one half; the share is missing.",
        ),
        Mistake(
            lambda n_tokens, share: share * (n_tokens - 1) / (1 - share),
            "that is e to the lead: scores stand in the exponent.",
        ),
    ),
)


def check_needed_lead(student: Callable) -> None:
    """Check `needed_lead`."""
    run_check(NEEDED_LEAD, student)


def solve_read_last(outputs: Tensor, mask: Tensor) -> Tensor:
    """Read each row's output at its last real token, wherever its padding stands."""
    column = torch.where(mask, torch.arange(mask.shape[1]), -1).amax(1)
    return outputs[torch.arange(len(outputs)), column]


def _lay_out(*rows: str) -> dict[str, Tensor]:
    """Make rows of tokens that are all different; # is real and . is padding."""
    mask = torch.tensor([[letter == "#" for letter in row] for row in rows])
    return {"mask": mask, "outputs": torch.arange(3.0 * mask.numel()).view(*mask.shape, 3)}


READ_LAST = Exercise(
    notebook="n08",
    solve=solve_read_last,
    cases={
        "padding right, left and on both sides": _lay_out("###..", "..###", ".##.."),
        "padding on the right": _lay_out("##...", "#####"),
        "a batch of one": _lay_out("#..##."),
    },
    mistakes=(
        Mistake(lambda outputs, mask: outputs[:, -1], "the last column may be padding."),
        Mistake(
            lambda outputs, mask: outputs[torch.arange(len(mask)), mask.sum(1) - 1],
            "a count is a place only if the padding stands on the right.",
        ),
        Mistake(
            lambda outputs, mask: outputs[:, int(mask[0].nonzero().max())],
            "each row has its own last token; this takes that of the first row for all.",
        ),
        Mistake(
            lambda outputs, mask: outputs[torch.arange(len(mask)), mask.int().argmax(1)],
            "argmax of the mask is the first real token.",
        ),
    ),
)


def check_read_last(student: Callable) -> None:
    """Check `read_last`."""
    run_check(READ_LAST, student)


def solve_flip_real(tokens: Tensor, mask: Tensor) -> Tensor:
    """Turn each row's real tokens round in the columns they have; 0 on padding."""
    flipped = torch.zeros_like(tokens)
    for row, real in enumerate(mask):
        flipped[row, real] = tokens[row, real].flip(0)
    return flipped


def _lay_tokens(*rows: str) -> dict[str, Tensor]:
    """Make the same rows as tokens, NaN on padding."""
    made = _lay_out(*rows)
    hidden = ~made["mask"][..., None]
    return {"mask": made["mask"], "tokens": (made["outputs"] + 1).masked_fill(hidden, torch.nan)}


FLIP_REAL = Exercise(
    notebook="n08",
    solve=solve_flip_real,
    cases={
        "padding right, none, left": _lay_tokens("##..", "####", ".###"),
        "a batch of one, padding on the right": _lay_tokens("###.."),
        "padding inside": _lay_tokens("#..##"),
    },
    mistakes=(
        Mistake(
            lambda tokens, mask: tokens.flip(1).nan_to_num(),
            "the padding is turned round too: the way back would begin with it.",
        ),
        Mistake(
            lambda tokens, mask: tokens.flip(1) * mask[..., None],
            "tokens and mask no longer belong together; and NaN times 0 is NaN.",
        ),
        Mistake(
            lambda tokens, mask: tokens.nan_to_num(),
            "nothing is turned round.",
        ),
    ),
)


def check_flip_real(student: Callable) -> None:
    """Check `flip_real`."""
    run_check(FLIP_REAL, student)
