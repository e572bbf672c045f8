"""An exact zero that is learned late: first what to remember, then to hold it for good."""

import itertools
import math
from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from mamba_edu._checks import check_counts, check_interval
from mamba_edu.steps.rules import softplus_step

RAMP = (0.5, 0.8)  # shares of the training between which the width grows
SPREAD = 3.0


class LateZero(nn.Module):
    """Cut small steps to exactly 0, by a width that grows from 0 in the second half of training.

        delta = softplus(delta_raw), but 0 where that is below w
        w = 0 for half of the training, grows evenly up to 0.8 of it, and is then `width`

    Cut from the start, a network finds no gradient to learn timing by. Once the width is reached,
    each training sequence draws its own, from width/3 to 3 width evenly on a log scale, so that no
    step comes to rest right above the threshold. The gradient is passed straight through the cut,
    that of softplus everywhere: a step may come back.

    How far training has come is the buffer `share`, 0 to 1, which the state dict holds; `follow`
    moves it. In evaluation nothing is random.

    Args:
        width: the smallest step that is kept at the end.

    Raises:
        TypeError: if the width is no number.
        ValueError: if it is not above 0.

    Source: our own; straight-through as in Bengio et al. 2013 (arXiv:1308.3432).
    """

    def __init__(self, width: float = 0.1):
        super().__init__()
        check_interval(width=width)
        self.width = width
        self.register_buffer("share", torch.zeros(()))

    def forward(self, delta_raw: Float[Tensor, "batch *rest"]) -> Float[Tensor, "batch *rest"]:
        """Compute the steps as training stands."""
        delta = softplus_step(delta_raw)
        cut = torch.where(delta < self._draw_width(delta), 0, delta)
        return delta + (cut - delta).detach()

    def follow(self, sample: Callable[..., object], steps: int) -> Callable[..., object]:
        """Make a sampler that moves the share along: train(model, rule.follow(sample, steps), ...).

        Args:
            sample: a task, called once a step.
            steps: how many there will be; after them the share is 1.

        Raises:
            TypeError: if the steps are no int.
            ValueError: if there is none.
        """
        check_counts(1, steps=steps)
        self.share.zero_()
        drawn = itertools.count(1)

        def draw(*asked: object) -> object:
            self.share.fill_(min(1, next(drawn) / steps))
            return sample(*asked)

        return draw

    def _draw_width(self, delta: Tensor) -> Tensor | float:
        """Say the width of each sequence, or of all."""
        start, full = RAMP
        width = self.width * min(1, max(0, (float(self.share) - start) / (full - start)))
        if not self.training or width < self.width:
            return width
        shape = (len(delta), *[1] * (delta.ndim - 1))
        return width * ((2 * torch.rand(shape, device=delta.device) - 1) * math.log(SPREAD)).exp()
