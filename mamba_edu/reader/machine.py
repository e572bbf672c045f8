"""Is this machine ready for the course? Plain lines, the same on every machine that is."""

import importlib.util
import sys
from collections.abc import Callable

import torch

OLDEST = (3, 11)
NEEDED = ("ipywidgets", "matplotlib", "numba", "sklearn", "babel")


def check_version() -> str:
    """Say what is wrong with this Python; empty if nothing is."""
    if sys.version_info[:2] >= OLDEST:
        return ""
    here = ".".join(str(part) for part in sys.version_info[:2])
    return f"this kernel runs Python {here}; open the course with python3 course.py"


def check_installed() -> str:
    """Name the packages that the course needs and this kernel lacks."""
    missing = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    return f"not installed: {', '.join(missing)}; run python3 course.py" if missing else ""


def check_arithmetic() -> str:
    """Add 0.1 ten times in double precision: right to its last digits on any sound machine."""
    total = torch.full((10,), 0.1, dtype=torch.float64).cumsum(0)[-1].item()
    return "" if abs(total - 1) < 1e-15 else f"ten times 0.1 gives {total!r}"


def check_gradients() -> str:
    """Differentiate a square: the gradient at 3 is 6."""
    x = torch.tensor(3.0, requires_grad=True)
    (x * x).backward()
    return "" if x.grad.item() == 6 else f"the gradient of x^2 at 3 came out as {x.grad.item()}"


CHECKS: dict[str, Callable[[], str]] = {
    "Python": check_version,
    "packages": check_installed,
    "double precision": check_arithmetic,
    "gradients": check_gradients,
}


def inspect_machine() -> None:
    """Print one line per thing that the course needs: ready, or what to do about it."""
    for name, check in CHECKS.items():
        print(f"{name}: {check() or 'ready'}")
