"""Race the scans on this machine, beside those of others."""

import os
import subprocess
import sys
from pathlib import Path


def run_race(root: Path, quick: bool, long: bool, threads: int) -> int:
    """Run benchmarks/scan.py in a process of its own and return its exit code.

    Raises:
        ValueError: if there are less than 1 threads.
    """
    if threads < 1:
        raise ValueError(f"--threads must be at least 1; it is {threads}")
    flags = [word for word, is_given in (("--quick", quick), ("--long", long)) if is_given]
    command = [sys.executable, root / "benchmarks" / "scan.py", *flags, "--threads", str(threads)]
    quiet = {"TRANSFORMERS_VERBOSITY": "error", "TOKENIZERS_PARALLELISM": "false"}
    return subprocess.run(command, env=os.environ | quiet, check=False).returncode
