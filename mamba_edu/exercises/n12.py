"""Notebook 12: questions, checks and solutions about streams, costs and several processes."""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from mamba_edu.exercises.frame import Exercise, Mistake, run_check
from mamba_edu.layers import MambaBlock, MambaState
from mamba_edu.models import TransformerClassifier
from mamba_edu.reader import Question, nearest
from mamba_edu.scan import selective_scan
from mamba_edu.training import load_needle

MILLION, BYTES = 2**20, 4  # of a number in single precision
D_MODEL, D_CONV = 6, 4


def answer_carried() -> tuple[int, str]:
    """Run a block over two pieces, the second with nothing, with h, or with h and the tail."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        block = MambaBlock(D_MODEL, d_conv=D_CONV).double()
        tokens = torch.randn(1, 20, D_MODEL, dtype=torch.float64)
    with torch.no_grad():
        _, state = block(tokens[:, :10], return_state=True)
        blank = MambaState(0 * state.tail, state.h)
        by_way = [block(tokens[:, 10:], state=one) for one in (blank, state)]
        right = block(tokens)[:, 10:]
    wrong = [int((~torch.isclose(y, right, atol=1e-12)).any(-1).sum()) for y in by_way]
    choice = 0 if wrong[0] == 0 else 1 if wrong[1] == 0 else 2
    return choice, (
        f"Of ten tokens behind a cut, {wrong[0]} come out wrong with h alone, {wrong[1]} with the "
        f"last {D_CONV - 1} inputs of the convolution too."
    )


CARRIED = Question(
    key="n12.carried",
    asks="A long sequence runs through a Mamba block piece by piece. What must a piece be handed, "
    "so that all comes out as in one go?",
    choices=(
        "the state h of the scan",
        "h, and the last three inputs of the convolution",
        "h, and all tokens so far",
    ),
    answer=answer_carried,
    surprised="the convolution looks back too, three tokens far. Without them the first tokens "
    "behind each cut are wrong, and those wrong inputs stay in h.",
)


def answer_kept() -> tuple[int, str]:
    """Count the bytes that the course's Transformer keeps of a million tokens."""
    model = TransformerClassifier(8, 32)
    numbers = sum(2 * block.out_proj.in_features for block in model.blocks.layers)
    kept, state = BYTES * numbers * MILLION, BYTES * count_state(load_needle())
    told = f"{kept / 2**20:.0f} MB: {numbers} numbers a token, keys and values of each layer. "
    choices = (state, state * math.sqrt(MILLION), kept)
    return nearest(math.log(kept), [math.log(each) for each in choices]), (
        told + f"The Mamba keeps {state / 1000:.1f} kB, of any number of tokens."
    )


def count_state(model: torch.nn.Module) -> int:
    """Count the numbers that a classifier's blocks hand on from piece to piece."""
    with torch.no_grad():
        _, state = model.blocks(torch.zeros(1, 1, 32), return_state=True)
    return sum(tensor.numel() for one in state for tensor in one)


KEPT = Question(
    key="n12.kept",
    asks="A two-layer Transformer as small as our Mamba has read a million tokens. How much must "
    "it keep, to read one more?",
    choices=("about 3 kB, as the Mamba does", "about 3 MB", "more than 100 MB"),
    answer=answer_kept,
    surprised="attention forgets nothing because it throws nothing away: a key and a value of "
    "every token, in every layer.",
)


def answer_put_right() -> tuple[int, str]:
    """Put the end of a piece right by a product and a sum, and compare with a second scan."""
    rng = torch.Generator().manual_seed(0)
    x, delta, B, C = (torch.rand(1, 50, n, generator=rng).double() for n in (3, 3, 4, 4))
    A, start = -torch.rand(3, 4, generator=rng).double(), torch.ones(1, 3, 4).double()
    _, alone = selective_scan(x, delta, A, B, C, return_state=True)
    _, right = selective_scan(x, delta, A, B, C, state=start, return_state=True)
    put_right = torch.exp(A * delta.sum(1)[..., None]) * start + alone
    off = (put_right - right).abs().max().item()
    return (1 if off < 1e-12 else 0), (
        f"After 50 tokens, one product and one sum for each of {alone.numel()} numbers: "
        f"{'equal to 1e-12' if off < 1e-12 else 'not equal'}."
    )


PUT_RIGHT = Question(
    key="n12.put_right",
    asks="Two processes scan half a sequence each, at once, both from nothing. Then the first "
    "sends its last state. What must the second do to know the state at *its* end?",
    choices=(
        "scan its half again, from the state that it was sent",
        "one product and one sum for each number of the state",
        "nothing: its own tokens have overwritten what was sent",
    ),
    answer=answer_put_right,
    surprised="a scan is linear in its first state, and the second process knows already how much "
    "of any state its half leaves.",
)


def solve_cache_bytes(n_tokens: int, n_layers: int, d_attention: int, n_bytes: int) -> int:
    """Count the bytes of keys and values that attention keeps of all tokens so far."""
    return 2 * n_layers * d_attention * n_tokens * n_bytes


CACHE_BYTES = Exercise(
    notebook="n12",
    solve=solve_cache_bytes,
    cases={
        "five tokens": {"n_tokens": 5, "n_layers": 3, "d_attention": 16, "n_bytes": 4},
        "half precision": {"n_tokens": 1000, "n_layers": 2, "d_attention": 24, "n_bytes": 2},
    },
    mistakes=(
        Mistake(
            lambda **sizes: solve_cache_bytes(**sizes) // 2,
            "a key *and* a value of each token.",
        ),
        Mistake(
            lambda **sizes: solve_cache_bytes(**sizes | {"n_layers": 1}),
            "every layer keeps its own.",
        ),
        Mistake(
            lambda **sizes: solve_cache_bytes(**sizes) * sizes["n_tokens"],
            "the scores of all pairs are not kept: a new token makes its own.",
        ),
    ),
)


def check_cache_bytes(student) -> None:
    """Check `cache_bytes`."""
    run_check(CACHE_BYTES, student)


def solve_join_mean(mean: Tensor, n_tokens: int, piece: Tensor) -> tuple[Tensor, int]:
    """Join the mean of n_tokens with a piece, (length, d_model): the mean of all, and how many."""
    n_all = n_tokens + len(piece)
    return mean + (piece - mean).sum(0) / n_all, n_all


def walk_mean(join: Callable) -> Callable[..., Tensor]:
    """Make a function that joins all pieces of a stream and lists the mean, then the number."""

    def walk(outputs: Tensor, sizes: list[int]) -> Tensor:
        mean, n_tokens = torch.zeros_like(outputs[0]), 0
        for piece in outputs.split(sizes):
            mean, n_tokens = join(mean, n_tokens, piece)
        return torch.cat([mean, mean.new_tensor([n_tokens])])

    return walk


def make_outputs(*sizes: int) -> dict[str, Tensor | list[int]]:
    """Make outputs of three channels, and where they are cut."""
    rng = torch.Generator().manual_seed(len(sizes))
    return {
        "outputs": torch.randn(sum(sizes), 3, generator=rng, dtype=torch.float64),
        "sizes": list(sizes),
    }


JOIN_MEAN = Exercise(
    notebook="n12",
    solve=solve_join_mean,
    cases={
        "pieces of 4, 1 and 6 tokens": make_outputs(4, 1, 6),
        "one piece": make_outputs(5),
        "pieces of 2, 2, 2 and 1": make_outputs(2, 2, 2, 1),
    },
    mistakes=(
        Mistake(
            lambda mean, n_tokens, piece: (
                (mean + piece.mean(0)) / (2 if n_tokens else 1),
                n_tokens + len(piece),
            ),
            "this is the code as it was: a mean of means weighs a piece of one token as much as "
            "all that came before.",
        ),
        Mistake(
            lambda mean, n_tokens, piece: (
                (n_tokens * mean + piece.mean(0)) / (n_tokens + 1),
                n_tokens + len(piece),
            ),
            "a piece counts as many times as it has tokens, not once.",
        ),
    ),
    observe=walk_mean,
)


def check_join_mean(student) -> None:
    """Check `join_mean`."""
    run_check(JOIN_MEAN, student)


def solve_find_starts(keep: Tensor, end: Tensor) -> Tensor:
    """Find the state that each rank starts from: (n_ranks, ...), 0 for the first."""
    starts = [torch.zeros_like(end[0])]
    for keep_r, end_r in zip(keep[:-1], end[:-1], strict=True):
        starts.append(keep_r * starts[-1] + end_r)
    return torch.stack(starts)


def make_ranks(n_ranks: int) -> dict[str, Tensor]:
    """Make what each of some ranks keeps, and ends with from nothing."""
    rng = torch.Generator().manual_seed(n_ranks)
    keep, end = torch.rand(2, n_ranks, 3, 2, generator=rng, dtype=torch.float64)
    return {"keep": keep, "end": end}


FIND_STARTS = Exercise(
    notebook="n12",
    solve=solve_find_starts,
    cases={"four ranks": make_ranks(4), "two ranks": make_ranks(2), "one rank": make_ranks(1)},
    mistakes=(
        Mistake(
            lambda keep, end: torch.cat([torch.zeros_like(end[:1]), end[:-1].cumsum(0)]),
            "what came first has decayed: each rank keeps only its share of what it is handed.",
        ),
        Mistake(
            lambda keep, end: solve_find_starts(
                torch.cat([keep, keep[:1]]), torch.cat([end, end[:1]])
            )[1:],
            "this is where each rank *ends*; it starts where the one before it ends.",
        ),
        Mistake(
            lambda keep, end: torch.cat([torch.zeros_like(end[:1]), end[:-1]]),
            "this is right for two ranks only: the third needs what the first has sent, too.",
        ),
    ),
)


def check_find_starts(student) -> None:
    """Check `find_starts`."""
    run_check(FIND_STARTS, student)
