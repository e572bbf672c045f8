"""How large the gradients of a training are, watched from outside its loop."""

import contextlib
import math
from collections.abc import Iterator

from torch import nn


@contextlib.contextmanager
def watch_gradients(model: nn.Module) -> Iterator[list[float]]:
    """Watch how large the gradient of each step of a training is, before anything clips it.

    The training itself is not changed by it: not one bit.

    Args:
        model: the module; each forward pass in training mode begins a step.

    Returns:
        A list, filled at the end: for each step the norm of the gradient by all parameters, which
        may be inf or nan; 0 for a step without a backward pass.
    """
    steps: list[list[float]] = []
    norms: list[float] = []

    def begin(module: nn.Module, inputs: object) -> None:
        """Begin a step."""
        if module.training:
            steps.append([])

    def note(weight: nn.Parameter) -> None:
        """Note what one parameter adds to the square of the norm."""
        steps[-1].append(weight.grad.double().square().sum().item())

    weights = [weight for weight in model.parameters() if weight.requires_grad]
    hooks = [weight.register_post_accumulate_grad_hook(note) for weight in weights]
    hooks.append(model.register_forward_pre_hook(begin))
    try:
        yield norms
    finally:
        for hook in hooks:
            hook.remove()
        norms += [math.sqrt(sum(squares)) for squares in steps]
