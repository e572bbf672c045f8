"""Race the ways to scan, side by side on this machine: time, memory and error, as one table.

    python benchmarks/scan.py [--quick] [--long] [--threads N]       (or: course.py bench)

Every round runs each way once, so that what else the machine does meets all alike; shown are the
medians of CPU time, as ratios to the fused scan. A way is left out of a length that would take it
too long. Batch 1, 64 channels, 16 states, float32.
"""

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from meters import measure_copy, measure_exp, measure_memory, name_machine, time_rounds  # noqa: E402
from peers import list_models, list_scans  # noqa: E402

from mamba_edu.layers import MambaStack  # noqa: E402
from mamba_edu.scan import explain, selective_scan  # noqa: E402

CHANNELS, STATES = 64, 16
LENGTHS = [1024, 4096, 16384, 65536]
PATIENCE = 10.0  # seconds that a run may take at the next length, or the way is left out
GROWTH = 8  # of that time when a length is four times the last: linear ways need half of it
FLAT = {"fused", "chunked"}
MOST_TOKENS = 16384  # with a backward pass, for ways that hold every state: several GB at 64k
Timings = dict[str, float]


def make_inputs(length: int) -> dict[str, torch.Tensor]:
    """Make a scan's tensors as a fresh Mamba would see them."""
    rng = torch.Generator().manual_seed(length)

    def randn(*shape):
        return torch.randn(*shape, generator=rng)

    tokens = {"x": CHANNELS, "delta": CHANNELS, "B": STATES, "C": STATES, "gate": CHANNELS}
    inputs = {name: randn(1, length, size) for name, size in tokens.items()}
    inputs["delta"] = torch.nn.functional.softplus(inputs["delta"] - 4)
    return inputs | {
        "A": -torch.arange(1.0, STATES + 1).repeat(CHANNELS, 1),
        "skip": randn(CHANNELS),
    }


def race_scans(length: int, rounds: int, slow: Timings, scans: dict) -> list[list[str]]:
    """Race the ways to scan one length: rows of a table. `slow` holds what runs took before."""
    inputs = make_inputs(length)
    right = selective_scan(**{name: v.double() for name, v in inputs.items()}, method="loop")
    leaves = {name: v.clone().requires_grad_() for name, v in inputs.items()}
    forward, both, errors = {}, {}, {}
    for name, (prepare, run) in scans.items():
        if slow.get(name, 0) > PATIENCE:
            continue
        forward[name] = partial(call_plain, run, prepare(inputs))
        if name in FLAT or length <= MOST_TOKENS:
            both[name] = partial(differentiate, run, prepare(leaves))
        start = time.perf_counter()
        y = forward[name]()
        y = y if y.shape == right.shape else y.mT
        errors[name] = ((y - right).abs().max() / right.abs().max()).item()
        both.get(name, forward[name])()
        slow[name] = (time.perf_counter() - start) * GROWTH
    return write_rows(length, (forward, both), errors, rounds)


def call_plain(run: Callable, given: dict) -> torch.Tensor:
    """Run without gradients."""
    with torch.no_grad():
        return run(given)


def differentiate(run: Callable, given: dict) -> None:
    """Run forward and back."""
    torch.autograd.grad(run(given).sum(), list(given.values()))


def write_rows(length: int, runs: tuple[dict, dict], errors: dict, rounds: int) -> list[list[str]]:
    """Time and weigh the runs, and write a row for each way."""
    times = [time_rounds(part, rounds) for part in runs]
    weights = [{name: measure_memory(run) for name, run in part.items()} for part in runs]
    rows = []
    for name in errors:
        ratios = [write_ratio(part, name) for part in times]
        sizes = [write_number(part.get(name), ".0f") for part in weights]
        rows.append([str(length), name, *ratios, *sizes, f"{errors[name]:.0e}"])
    seconds = times[0]["fused"]
    steps = length * CHANNELS * STATES / seconds / 1e9
    words = f"fused {1e3 * seconds:.2f} ms, {steps:.2f} billion states a second"
    print(f"{length} tokens: {words}", flush=True)
    return rows


def write_ratio(times: Timings, name: str) -> str:
    """Write how many times the fused way's time another takes."""
    return write_number(times[name] / times["fused"] if name in times else None, ".3g")


def write_number(number: float | None, form: str) -> str:
    """Write a number, or a dash for what was not measured."""
    return "-" if number is None else format(number, form)


def race_training(rounds: int) -> list[list[str]]:
    """Race whole training steps: 2 layers, d_model 64, 32 sequences of 256 tokens, AdamW."""
    torch.manual_seed(0)
    models, skipped = list_models(64, 2)
    tokens = torch.randn(32, 256, 64)
    steps = {}
    for name, model in models.items():
        steps[name] = partial(train, model, torch.optim.AdamW(model.parameters()), tokens)
    times = {name: time_rounds({name: step}, 1, is_warm=True)[name] for name, step in steps.items()}
    quick = {name: step for name, step in steps.items() if times[name] < PATIENCE}
    times |= time_rounds(quick, rounds)  # what takes longer is timed once
    print(*skipped, sep="\n", end="\n" if skipped else "")
    return [["step", name, "-", write_ratio(times, name), "-", "-", "-"] for name in times]


def train(model: torch.nn.Module, optimizer: torch.optim.Optimizer, tokens: torch.Tensor) -> None:
    """Take one training step."""
    optimizer.zero_grad()
    model(tokens).square().mean().backward()
    optimizer.step()


def stream_tokens(n_tokens: int, piece: int = 2048) -> None:
    """Stream a long sequence through 2 layers of d_model 64, piece by piece, and print the cost."""
    torch.manual_seed(0)
    stack, tokens = MambaStack(64, 2), torch.randn(1, piece, 64)

    def run(n_pieces: int) -> None:
        state = None
        for _ in range(n_pieces):
            _, state = stack(tokens, state=state, return_state=True)

    with torch.no_grad():
        run(1)
        start = time.perf_counter()
        run(n_tokens // piece)
        seconds = time.perf_counter() - start
        sizes = " and ".join(write_number(measure_memory(partial(run, n)), ".0f") for n in (2, 64))
    print(f"{n_tokens} tokens streamed in {seconds:.1f} s of wall time;")
    print(f"2 and 64 pieces of {piece} tokens add {sizes} MiB at their peak")


def print_table(rows: list[list[str]]) -> None:
    """Print rows under their heading, each column as wide as it must be."""
    heading = ["tokens", "way", "forward", "with backward", "MiB", "MiB with backward", "error"]
    widths = [max(map(len, column)) for column in zip(heading, *rows, strict=True)]
    for row in (heading, *rows):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


def main(argv: list[str] | None = None) -> int:
    """Race, and print what was measured, on what, and what was left out."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short sequences, few rounds")
    parser.add_argument("--long", action="store_true", help="stream a million tokens too")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="so many threads")
    options = parser.parse_args(argv)
    torch.set_num_threads(options.threads)
    rounds, lengths = (3, LENGTHS[:2]) if options.quick else (7, LENGTHS)
    selective_scan(**make_inputs(2))
    print(name_machine(options.threads), explain(), sep="\n")
    exps = measure_exp()
    print(f"torch.exp in the cache {exps:.2f} billion a second; copying {measure_copy():.1f} GB/s")
    scans, skipped = list_scans()
    rows, slow = [], {}
    for length in lengths:
        rows += race_scans(length, rounds, slow, scans)
    rows += race_training(rounds)
    print_table(rows)
    print("Ratios of CPU time to fused; MiB added at the peak; error of y against a float64 loop.")
    print(*skipped, *list_left_out(lengths, rows, scans), sep="\n")
    if options.long:
        stream_tokens(2**20)
    return 0


def list_left_out(lengths: list[int], rows: list[list[str]], scans: dict) -> list[str]:
    """Say which ways did not run at which lengths, and why."""
    ran = {(row[0], row[1]) for row in rows}
    gaps = [f"{n} at {k}" for n in scans for k in lengths if (str(k), n) not in ran]
    return [f"left out, too slow: {', '.join(gaps)}"] if gaps else []


if __name__ == "__main__":
    sys.exit(main())
