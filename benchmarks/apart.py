"""Race what hangs on the allocator in processes of its own, its memory given back and kept.

glibc gives large tensors back to the system when they are freed, and more or less of them by what
was freed before: a race in a process that did other things first would hang on those.

    python benchmarks/apart.py '{"rounds": 3, "threads": 1, "is_kept": true, "lengths": []}'
"""

import json
import os
import subprocess
import sys
from functools import partial
from itertools import chain
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1])]

from meters import read_free, time_rounds  # noqa: E402
from rounds import (  # noqa: E402
    Entry,
    Size,
    ask_gradients,
    call_plain,
    differentiate,
    make_inputs,
    scan_by,
    write_size,
)
from whole import race_training  # noqa: E402

from mamba_edu.experiments.allocation import has_glibc, keep_memory  # noqa: E402

GIVEN_BACK, KEPT = "memory given back", "memory kept"
OTHERS = ("MALLOC_", "GLIBC_TUNABLES")  # these would change what is measured
NEEDED = 24  # tensors of the signal's size, at the peak of a forward and backward pass
NO_GLIBC = "a second race with the memory kept: the allocator here is not glibc's"
Answer = tuple[list[Entry], list[str], list[str]]


def race_apart(rounds: int, threads: int, lengths: list[int]) -> Answer:
    """Race twice, each time in a fresh process: with memory given back, and with memory kept.

    Args:
        rounds: at most so many.
        threads: so many.
        lengths: those at which the fused scan is timed both ways.

    Returns:
        Entries of the training steps, sentences on the fused scan at each length, and on what was
        left out; one race only, of no name, where there is no glibc.
    """
    if not has_glibc():
        entries, lines, left_out = ask_process(rounds, threads, False, lengths)
        return [entry._replace(memory="") for entry in entries], lines, [*left_out, NO_GLIBC]
    answers = [ask_process(rounds, threads, is_kept, lengths) for is_kept in (False, True)]
    entries, lines, left_out = ([*chain(*parts)] for parts in zip(*answers, strict=True))
    return entries, lines, list(dict.fromkeys(left_out))


def ask_process(rounds: int, threads: int, is_kept: bool, lengths: list[int]) -> Answer:
    """Race in a fresh process and read its last line."""
    asked = {"rounds": rounds, "threads": threads, "is_kept": is_kept, "lengths": lengths}
    clean = {name: text for name, text in os.environ.items() if not name.startswith(OTHERS)}
    command = [sys.executable, __file__, json.dumps(asked)]
    done = subprocess.run(command, env=clean, stdout=subprocess.PIPE, text=True, check=True)
    entries, lines, left_out = json.loads(done.stdout.splitlines()[-1])
    return [read_entry(*fields) for fields in entries], lines, left_out


def read_entry(size: list[int], way: str, *fields) -> Entry:
    """Make an entry of what JSON keeps of it."""
    *pairs, memory = fields
    return Entry(Size(*size), way, *map(tuple, pairs), memory)


def main(argv: list[str]) -> int:
    """Race as it is asked, and print the answer on one line."""
    asked = json.loads(argv[0])
    memory = KEPT if asked["is_kept"] and keep_memory() else GIVEN_BACK
    torch.set_num_threads(asked["threads"])
    entries, left_out = race_training(asked["rounds"])
    lines = [time_fused(Size(1, 64, length), memory) for length in asked["lengths"]]
    print(json.dumps([[entry._replace(memory=memory) for entry in entries], lines, left_out]))
    return 0


def time_fused(size: Size, memory: str) -> str:
    """Time the fused scan in fresh or in kept memory, and say what it took."""
    head = f"{write_size(size)}, {memory}: "
    if 4 * NEEDED * size.count() / 2**20 > read_free():
        return f"{head}left out, there is too little of it"
    scan, inputs = partial(scan_by, "fused"), make_inputs(size)
    runs = {
        "forward": partial(call_plain, scan, inputs),
        "both": partial(differentiate, scan, ask_gradients(inputs)),
    }
    times = {name: 1e3 * seconds for name, seconds in time_rounds(runs, 5).items()}
    return f"{head}fused {times['forward']:.0f} ms forward, {times['both']:.0f} with backward"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
