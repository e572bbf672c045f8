"""Readers' answers to the exercises of notebook 10, and a word of what each must be told."""

import math

import torch

from mamba_edu.exercises import n10

LOG_OF_LARGEST = 128 * math.log(2)  # of single precision, but for its last digit


def tell(rho):
    return LOG_OF_LARGEST / math.log(rho) if rho > 1 else float("inf")


def scale_down(gradient, limit):
    return gradient / max(1.0, gradient.norm().item() / limit)


SLIPS = {
    n10.check_tell_overflow: [
        (lambda A: tell(A.abs().amax().item()), "the largest entry is the growth of a diagonal A"),
        (lambda A: tell(torch.linalg.svdvals(A)[0].item()), "this norm bounds one step"),
        (lambda A: tell(torch.linalg.eig(A)[0].real.amax().item()), "not by its real part"),
        (
            lambda A: LOG_OF_LARGEST / math.log(torch.linalg.eig(A)[0].abs().amax().item()),
            "a negative number of tokens is no answer",
        ),
    ],
    n10.check_clip_gradient: [
        (lambda gradient, limit: gradient / gradient.norm() * limit, "is made longer"),
        (
            lambda gradient, limit: torch.minimum(
                torch.maximum(gradient, torch.tensor(-limit)), torch.tensor(limit)
            ),
            "the direction changes",
        ),
        (scale_down, "infinity times 0 is NaN"),
        (
            lambda gradient, limit: scale_down(
                torch.where(gradient.isfinite(), gradient, 0.0), limit
            ),
            "skip the whole step",
        ),
    ],
    n10.check_first_step: [
        (lambda gradient, lr, eps=1e-8: gradient * -lr, "plain gradient descent"),
        (
            lambda gradient, lr, eps=1e-8: -lr * gradient / (gradient.square().sum().sqrt() + eps),
            "not all by the norm",
        ),
        (
            lambda gradient, lr, eps=1e-8: lr * (gradient / (gradient.abs() + eps)),
            "a minus is missing",
        ),
        (
            lambda gradient, lr, eps=1e-8: (
                -lr * gradient / 10 / (gradient.abs() * math.sqrt(0.001) + eps)
            ),
            "both averages start at 0",
        ),
    ],
}
