"""Race the ways to scan, side by side on this machine: time, memory and error, as one table.

    python benchmarks/scan.py [--quick] [--long] [--longer] [--plot FILE] [--threads N]
    (or: course.py bench)

Every round runs each way once, so that what else the machine does meets all alike; shown are the
medians of CPU time, as ratios to the fused scan. A way is left out of a size that would take it
too long or too much memory, and named. 16 states, float32.
"""

import argparse
import sys
import time
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from apart import race_apart  # noqa: E402
from meters import measure_copy, measure_exp, name_machine  # noqa: E402
from peers import list_scans  # noqa: E402
from rounds import (  # noqa: E402
    PATIENCE,
    ROUNDS,
    STATES,
    Entry,
    Size,
    ask_gradients,
    differentiate,
    make_inputs,
    race_scans,
    scan_by,
    write_size,
)
from whole import STEP, stream_tokens  # noqa: E402

from mamba_edu.scan import explain  # noqa: E402

SHORT = [Size(1, 64, 1024), Size(1, 64, 4096)]
SIZES = [*SHORT, Size(8, 128, 4096), *(Size(1, 64, 2**k) for k in (14, 16, 18, 20))]
LONG = [2**18, 2**20]  # tokens; from here on fresh memory costs the fused scan most
SECONDS = 480.0  # for all sizes; when they run out, ways that take long are left out
SHARE = 40  # of what is left of them, the part that one run may take
HEADING = ["batch x channels x tokens", "way", "forward", "with backward", "MiB", "with backward"]
HEADING += ["error", "of gradients", "of copying", "of exp"]
NOTE = """\
Ratios of CPU time to fused, medians; MiB added at the peak; the largest error of y against a loop
in float64, and of the gradients against chunked in float64, as shares of the largest number. For
the fused forward pass: the bytes it must read and write as a share of what copying moves in the
same time, and its exps as a share of what torch.exp computes within the cache.
A step is a training step of 2 layers, raced twice, each time in a process of its own. Memory given
back: glibc as it is; it returns large tensors to the system when they are freed, and each step
waits for fresh pages. Memory kept: glibc is told to keep them. The more memory a way uses, the more
it gains by that; which of the two a program meets hangs on what it freed before. All other rows are
of one process, with its allocator as it is; above the table, the fused scan at great lengths both
ways."""


def main(argv: list[str] | None = None) -> int:
    """Race, and print what was measured, on what, and what was left out."""
    options = read_options(argv)
    torch.set_num_threads(options.threads)
    differentiate(lambda given: scan_by("auto", given), ask_gradients(make_inputs(Size(1, 3, 2))))
    machine = name_machine(options.threads)
    print(machine, explain(), sep="\n", flush=True)
    entries, limits, left_out = race_sizes(SHORT if options.quick else SIZES, options.quick)
    plan = (3, options.threads, []) if options.quick else (ROUNDS[1], options.threads, LONG)
    steps, lines, missing = race_apart(*plan)
    print(*lines, sep="\n", end="\n" if lines else "", flush=True)
    print_table([write_row(entry, entries + steps, limits) for entry in entries + steps])
    print(NOTE, "Left out:", *(f"- {why}" for why in left_out + missing), sep="\n", flush=True)
    for n_tokens, is_asked in ((2**20, options.long), (10 * 2**20, options.longer)):
        print(stream_tokens(n_tokens) if is_asked else "", end="\n" if is_asked else "", flush=True)
    if options.plot:
        from picture import save_picture

        save_picture(entries, machine, options.plot)
        print(f"drawn in {options.plot}")
    return 0


def read_options(argv: list[str] | None) -> argparse.Namespace:
    """Read what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--quick", action="store_true", help="short sequences, few rounds")
    parser.add_argument("--long", action="store_true", help="stream a million tokens too")
    parser.add_argument("--longer", action="store_true", help="stream ten million tokens too")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw the ratios as a PNG")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="so many threads")
    return parser.parse_args(argv)


def race_sizes(
    sizes: list[Size], is_quick: bool
) -> tuple[list[Entry], dict[Size, tuple[float, float]], list[str]]:
    """Race at each size: entries, what the machine can do at each, and what was left out."""
    scans, left_out = list_scans()
    entries, limits, past, end = [], {}, {}, time.monotonic() + SECONDS
    for size in sizes:
        limits[size] = (measure_copy(), measure_exp())
        patience = min(PATIENCE, (end - time.monotonic()) / SHARE)
        raced, skipped = race_scans(size, scans, past, 3 if is_quick else ROUNDS[1], patience)
        entries += raced
        left_out += skipped
        [fused] = [entry for entry in raced if entry.way == "fused"]
        copy, exp = limits[size]
        print(
            f"{write_size(size)}: fused {1e3 * fused.seconds[0]:.2f} ms forward, "
            f"{1e3 * fused.seconds[1]:.2f} with backward; copying {copy:.1f} GB/s, "
            f"torch.exp {exp:.2f} billion a second",
            flush=True,
        )
    return entries, limits, left_out


def write_row(entry: Entry, entries: list[Entry], limits: dict) -> list[str]:
    """Write a row of the table."""
    alike = [one for one in entries if (one.size, one.memory) == (entry.size, entry.memory)]
    [fused] = [one for one in alike if one.way == "fused"]
    pairs = zip(entry.seconds, fused.seconds, strict=True)
    ratios = [None if own is None else own / best for own, best in pairs]
    shares = find_shares(entry, limits) if entry is fused and entry.size in limits else ("", "")
    return [
        f"{write_size(entry.size)}{' step' * (entry.size == STEP)}{', ' * bool(entry.memory)}"
        f"{entry.memory}",
        entry.way,
        *(write_number(ratio, ".3g") for ratio in ratios),
        *(write_number(weight, ".0f") for weight in entry.mebibytes),
        *(write_number(error, ".0e") for error in entry.errors),
        *shares,
    ]


def find_shares(fused: Entry, limits: dict) -> tuple[str, str]:
    """Find the fused forward pass's share of the copy bandwidth and of the exp peak."""
    copy, exp = limits[fused.size]
    tokens = fused.size.batch * fused.size.length
    n_bytes = 4 * tokens * (4 * fused.size.channels + 2 * STATES)  # x, delta, gate, y; B, C
    n_exps = fused.size.count() * STATES
    rates = n_bytes / copy, n_exps / exp
    moved, computed = (rate / 1e9 / fused.seconds[0] for rate in rates)
    return f"{moved:.0%}", f"{computed:.0%}"


def write_number(number: float | None, form: str) -> str:
    """Write a number, or a dash for what was not measured."""
    return "-" if number is None else format(number, form)


def print_table(rows: list[list[str]]) -> None:
    """Print rows under their heading, each column as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(HEADING, *rows, strict=True)]
    for row in (HEADING, *rows):
        print("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)))


if __name__ == "__main__":
    sys.exit(main())
