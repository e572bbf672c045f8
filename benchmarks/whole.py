"""Race whole models through a training step, and stream a long sequence through ours."""

import time
from functools import partial
from itertools import repeat

import torch
from meters import measure_memory, time_rounds
from peers import list_models
from rounds import PATIENCE, Entry, Size, weigh

from mamba_edu.layers import MambaStack

D_MODEL, N_LAYERS = 64, 2
STEP = Size(32, D_MODEL, 256)


def race_training(most_rounds: int) -> tuple[list[Entry], list[str]]:
    """Race training steps: 2 layers of d_model 64, 32 sequences of 256 tokens, AdamW."""
    torch.manual_seed(0)
    models, left_out = list_models(D_MODEL, N_LAYERS)
    tokens = torch.randn(STEP.batch, STEP.length, D_MODEL)
    steps, times, weights = {}, {}, {}
    for name, model in models.items():
        steps[name] = partial(train, model, torch.optim.AdamW(model.parameters()), tokens)
        times |= time_rounds({name: steps[name]}, 1, is_warm=True)  # this one makes its states
    quick = {name: step for name, step in steps.items() if times[name] < PATIENCE / 2}
    times |= time_rounds(quick, most_rounds)  # what takes longer is timed once
    for name in quick:
        _, weights[name] = weigh(steps[name])
    entries = [
        Entry(STEP, name, (None, times[name]), (None, weights.get(name)), (None, None))
        for name in models
    ]
    return entries, left_out


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, tokens: torch.Tensor) -> None:
    """Take one training step."""
    optimizer.zero_grad()
    model(tokens).square().mean().backward()
    optimizer.step()


def stream_tokens(n_tokens: int, piece: int = 2048) -> str:
    """Stream a long sequence through 2 layers of d_model 64, piece by piece, and say its cost."""
    torch.manual_seed(0)
    stack, tokens = MambaStack(D_MODEL, N_LAYERS), torch.randn(1, piece, D_MODEL)

    def run(n_pieces: int) -> None:
        for _ in stack.stream(repeat(tokens, n_pieces)):
            pass

    run(1)
    few = measure_memory(partial(run, 2))
    start = time.perf_counter()
    whole = measure_memory(partial(run, n_tokens // piece))
    seconds = time.perf_counter() - start
    sizes = "" if few is None else f"; it adds {whole:.0f} MiB at the peak, two pieces {few:.0f}"
    return (
        f"{n_tokens} tokens streamed in pieces of {piece} in {seconds:.1f} s of wall time, "
        f"{1e6 * seconds / n_tokens:.1f} us a token{sizes}"
    )
