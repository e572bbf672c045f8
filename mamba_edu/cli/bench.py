"""Race the scans on this machine, beside those of others."""

import os
import subprocess
import sys
from pathlib import Path


def run_race(root: Path, flags: list[str], plot: Path | None, threads: int) -> int:
    """Run benchmarks/scan.py in a process of its own and return its exit code.

    Args:
        root: of the course.
        flags: of "--quick", "--long" and "--longer", those that were given.
        plot: where to draw the ratios; nowhere if not given.
        threads: so many.

    Raises:
        ValueError: if there are less than 1 threads, or plot lies in no folder.
    """
    if threads < 1:
        raise ValueError(f"--threads must be at least 1; it is {threads}")
    if plot is not None and not plot.absolute().parent.is_dir():
        raise ValueError(f"--plot must name a file in a folder that is there; it is {plot}")
    drawn = [] if plot is None else ["--plot", str(plot.absolute())]
    command = [sys.executable, root / "benchmarks" / "scan.py", *flags, *drawn]
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}
    command += ["--threads", str(threads)]
    return subprocess.run(command, env=os.environ | quiet, check=False).returncode
