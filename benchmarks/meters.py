"""What a race is measured with: CPU time, memory, and what the machine itself can do."""

import ctypes
import gc
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch


def time_rounds(
    runs: dict[str, Callable[[], object]], rounds: int, is_warm: bool = False
) -> dict[str, float]:
    """Run all in turn, `rounds` times, and return medians of CPU seconds; first once, if cold."""
    for run in runs.values() if not is_warm else ():
        run()
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            start = time.process_time()
            run()
            times[name].append(time.process_time() - start)
    return {name: statistics.median(v) for name, v in times.items()}


def measure_memory(run: Callable[[], object]) -> float | None:
    """Measure how many MiB a run adds at its peak; None where the system does not tell."""
    status = Path("/proc/self/status")
    if not status.exists():
        run()
        return None
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")
    before = read_peak(status)
    run()
    return (read_peak(status) - before) / 1024


def read_peak(status: Path) -> int:
    """Read this process's largest size since it was last reset, in KiB."""
    [line] = [line for line in status.read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1])


def read_free() -> float:
    """Read how many MiB are free on this machine; no bound where the system does not tell."""
    table = Path("/proc/meminfo")
    lines = table.read_text().splitlines() if table.exists() else []
    sizes = [int(line.split()[1]) for line in lines if line.startswith("MemAvailable")]
    return sizes[0] / 1024 if sizes else math.inf


def measure_exp(rounds: int = 9) -> float:
    """Measure how many billion exps a second torch computes within the cache."""
    z = -torch.rand(8192)
    y = torch.empty_like(z)
    seconds = time_rounds({"exp": lambda: [torch.exp(z, out=y) for _ in range(200)]}, rounds)
    return 200 * len(z) / seconds["exp"] / 1e9


def measure_copy(rounds: int = 9) -> float:
    """Measure how many GB a second are copied in memory, read and written."""
    source = torch.zeros(2**25)
    target = torch.zeros_like(source)
    seconds = time_rounds({"copy": lambda: target.copy_(source)}, rounds)
    return 2 * 4 * len(source) / seconds["copy"] / 1e9


def name_machine(threads: int) -> str:
    """Name the processor, what runs on it, and what else keeps it busy."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    busy = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return (
        f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores, {threads} of "
        f"them used, {torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}{busy}"
    )
