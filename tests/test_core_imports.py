"""The maths runs with torch, numpy, safetensors and jaxtyping alone."""

import subprocess
import sys

# Run in a fresh process, since this one has long imported the rest. The guard judges each import
# statement of ours, so a module that torch has already pulled in does not slip through.
RUN_BLOCKED = """
import builtins, sys

allowed = {"mamba_edu", "torch", "numpy", "safetensors", "jaxtyping"} | sys.stdlib_module_names
import_freely = builtins.__import__


def import_guarded(name, globals=None, locals=None, fromlist=(), level=0):
    importer = (globals or {}).get("__name__", "")
    if importer.startswith("mamba_edu") and name.partition(".")[0] not in allowed and not level:
        raise ImportError(f"{importer} imports {name}, which the core must do without")
    return import_freely(name, globals, locals, fromlist, level)


builtins.__import__ = import_guarded
import torch
from mamba_edu import discretize, linear, scan, steps

half = torch.full((), 0.5).double()
A_bar, B_bar = discretize.discretize_zoh(half, linear.start_s4d_real(3, 4), half)
y = linear.run_recurrence(torch.ones(2, 7, 3).double(), A_bar, B_bar, torch.ones(3, 4).double())
x, B = y, torch.ones(2, 7, 4).double()
y = scan.selective_scan(x, steps.softplus_step(x), linear.start_s4d_real(3, 4), B, B)
too_much = {"matplotlib", "numba", "sklearn", "scipy", "IPython", "beartype", "pytest"}
print(tuple(y.shape), sorted(too_much & set(sys.modules)))
"""


def test_maths_runs_with_its_four_dependencies():
    command = [sys.executable, "-c", RUN_BLOCKED]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "(2, 7, 3) []"
