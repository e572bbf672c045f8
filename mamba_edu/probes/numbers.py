"""How much a computation writes, counted instead of timed: the same on every machine."""

from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class _Counter(TorchDispatchMode):
    """Adds up the sizes of all that torch's operations return, views left out."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        made = func(*args, **(kwargs or {}))
        if not func.is_view:
            self.total += sum(v.numel() for v in tree_leaves(made) if isinstance(v, Tensor))
        return made


def count_written(run: Any) -> int:
    """Count the numbers that torch's operations write during a call, a backward pass included.

    A view writes nothing. What an operation needs inside is not seen, nor is what other libraries
    write.

    Args:
        run: a function, called once, without arguments.

    Raises:
        TypeError: if it cannot be called.
    """
    if not callable(run):
        raise TypeError(f"run must be a function without arguments; got {run!r}")
    with _Counter() as counter:
        run()
    return counter.total
