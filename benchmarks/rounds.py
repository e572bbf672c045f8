"""Race the ways to scan at one size: who runs, how long, with how much memory, how exactly."""

import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import torch
from meters import measure_memory, read_free, time_rounds
from torch import Tensor

from mamba_edu.scan import selective_scan

STATES = 16
PATIENCE = 8.0  # seconds that one run may take, if that is known beforehand
GROWTH = 1.25  # of the time, as a power of the size: some ways grow faster than it
LESSONS = {"parallel", "loop"}  # ours, written to be read
MOST_OF_LESSONS = 16384  # tokens
MOST_OF_GRADIENTS = 64 * 65536  # channels times tokens whose gradient is checked in float64
QUICK = 0.5  # seconds
PIECE = 4096  # tokens at a time of the float64 loop
ROUNDS = (3, 7)  # at least and at most
SECONDS = 12.0  # for the rounds of one size, where more than the least of them fit


class Size(NamedTuple):
    """The sizes of a scan; d_state is 16."""

    batch: int
    channels: int
    length: int

    def count(self) -> int:
        """Count the numbers of the signal."""
        return self.batch * self.channels * self.length


class Entry(NamedTuple):
    """What one way did at one size; None where it was not measured.

    Fields:
        size, way: which.
        seconds: CPU seconds forward, and forward and back.
        mebibytes: added at the peak, forward, and forward and back.
        errors: the largest of y, and of the gradients, as shares of the largest right number.
        memory: what the allocator did with it, where that was raced both ways.
    """

    size: Size
    way: str
    seconds: tuple[float | None, float | None]
    mebibytes: tuple[float | None, float | None]
    errors: tuple[float | None, float | None]
    memory: str = ""


class Past(NamedTuple):
    """What a way took when it last ran."""

    count: int
    seconds: float
    mebibytes: float


def make_inputs(size: Size) -> dict[str, Tensor]:
    """Make a scan's tensors as a fresh Mamba would see them."""
    rng = torch.Generator().manual_seed(size.length)
    widths = dict.fromkeys(("x", "delta", "gate"), size.channels) | {"B": STATES, "C": STATES}
    inputs = {
        name: torch.randn(size.batch, size.length, width, generator=rng)
        for name, width in widths.items()
    }
    inputs["delta"] = torch.nn.functional.softplus(inputs["delta"] - 4)
    A = -torch.arange(1.0, STATES + 1).repeat(size.channels, 1)
    return inputs | {"A": A, "skip": torch.randn(size.channels, generator=rng)}


def race_scans(
    size: Size, scans: dict, past: dict, most_rounds: int = ROUNDS[1], patience: float = PATIENCE
) -> tuple[list[Entry], list[str]]:
    """Race the ways to scan one size, forward and then back too.

    Args:
        size: of the scan.
        scans: (prepare, run) of each way, as list_scans makes them.
        past: what each way took when it last ran; it is brought up to date.
        most_rounds: at most so many of each race.
        patience: seconds that one run may take.

    Returns:
        An entry a way, and a sentence for each that was left out of a race.
    """
    inputs, halves, left_out = make_inputs(size), [], []
    for is_back in (False, True):
        why = {
            name: find_hindrance(size, name, past.get((name, is_back)), patience) for name in scans
        }
        kept = {name: way for name, way in scans.items() if not why[name]}
        halves.append(race_half(size, inputs, kept, is_back, past, most_rounds))
        what = f"{', backward,' if is_back else ''} at {write_size(size)}"
        left_out += [f"{name}{what}: {words}" for name, words in why.items() if words]
    entries = [
        Entry(size, name, *zip(*(half.get(name, (None,) * 3) for half in halves), strict=True))
        for name in scans
        if any(name in half for half in halves)
    ]
    return entries, left_out


def find_hindrance(size: Size, name: str, last: Past | None, patience: float) -> str:
    """Say why a way is left out, or nothing; the fused one never is."""
    if name in LESSONS and size.length > MOST_OF_LESSONS:
        return "it is written to be read"
    if last is None or name == "fused":
        return ""
    growth = size.count() / last.count
    seconds, mebibytes = last.seconds * growth**GROWTH, last.mebibytes * growth
    if seconds > patience:
        return f"a run would take about {seconds:.0f} s"
    if mebibytes > read_free() / 2:
        return f"it would need about {mebibytes / 1024:.0f} GiB"
    return ""


def race_half(
    size: Size, inputs: dict, scans: dict, is_back: bool, past: dict, most_rounds: int
) -> dict[str, tuple[float, float | None, float | None]]:
    """Run each way once, weighed and compared, then all in rounds: seconds, MiB and error."""
    right = compute_right(size, inputs, is_back)
    given = ask_gradients(inputs) if is_back else inputs
    runs, seconds, weights, errors = {}, {}, {}, {}
    for name, (prepare, run) in scans.items():
        runs[name] = partial(differentiate if is_back else call_plain, run, prepare(given))
        seconds[name], weights[name], errors[name] = try_out(runs[name], right)
    rounds = max(ROUNDS[0], min(ROUNDS[1], int(SECONDS / max(sum(seconds.values()), 1e-9))))
    times = time_rounds(runs, min(rounds, most_rounds), is_warm=True)
    for name in runs:
        past[name, is_back] = Past(size.count(), times[name], weights[name] or 0)
    return {name: (times[name], weights[name], errors[name]) for name in runs}


def try_out(
    run: Callable[[], list[Tensor]], right: list[Tensor] | None
) -> tuple[float, float | None, float | None]:
    """Run once, or again if that is quick: seconds, MiB added and the error, where it is known."""
    answers: list[Tensor] = []
    seconds, weight = weigh(lambda: answers.extend(run()))
    error = None if right is None else compare(answers, right)
    answers.clear()
    if seconds < QUICK:  # the first run may have compiled or loaded something
        seconds, weight = weigh(run)
    return seconds, weight, error


def weigh(run: Callable[[], object]) -> tuple[float, float | None]:
    """Run once: seconds, and MiB added at the peak."""
    seconds = []

    def time_it() -> None:
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)

    weight = measure_memory(time_it)
    return seconds[0], weight


def compute_right(size: Size, inputs: dict, is_back: bool) -> list[Tensor] | None:
    """Compute y by the float64 loop, or the gradients by another way, if they are not too long."""
    exact = {name: v.double() for name, v in inputs.items()}
    if is_back and size.count() > MOST_OF_GRADIENTS:
        return None
    if is_back:
        return differentiate(partial(scan_by, "chunked"), ask_gradients(exact))
    per_token, state, y = ("x", "delta", "B", "C", "gate"), None, []
    for start in range(0, size.length, PIECE):
        cut = {name: exact[name][:, start : start + PIECE] for name in per_token}
        piece, state = scan_by("loop", exact | cut | {"state": state}, return_state=True)
        y.append(piece)
    return [torch.cat(y, dim=1)]


def scan_by(method: str, inputs: dict, **options: bool):
    """Scan by one of the course's methods."""
    return selective_scan(**inputs, method=method, **options)


def ask_gradients(inputs: dict) -> dict:
    """Ask for the gradients of all of them."""
    return {name: v.clone().requires_grad_() for name, v in inputs.items()}


def call_plain(run: Callable, given: dict) -> list[Tensor]:
    """Run without gradients."""
    with torch.no_grad():
        return [run(given)]


def differentiate(run: Callable, given: dict) -> list[Tensor]:
    """Run forward and back: the gradients by the order of the names."""
    names = sorted(given)
    return [*torch.autograd.grad(run(given).sum(), [given[name] for name in names])]


def compare(answers: list[Tensor], right: list[Tensor]) -> float:
    """Find the largest error, as a share of the largest right number of the same tensor."""
    pairs = [(a if a.shape == r.shape else a.mT, r) for a, r in zip(answers, right, strict=True)]
    return max(((a - r).abs().max() / r.abs().max()).item() for a, r in pairs)


def write_size(size: Size) -> str:
    """Write a size as batch x channels x tokens."""
    return " x ".join(map(str, size))
