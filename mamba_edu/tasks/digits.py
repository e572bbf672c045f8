"""Real pictures as sequences: handwritten digits, read pixel by pixel."""

import numpy as np
import torch

from mamba_edu.tasks.batch import Batch, take_split

WHITEST = 16  # scikit-learn counts the ink of a pixel from 0 to 16


def load_digit_sequences(split: str) -> Batch:
    """Load handwritten digits as sequences of 64 pixels, from the installed scikit-learn.

    Each picture is 8 x 8 and read line by line; a token is the ink of one pixel, from 0 to 1. No
    licence is stated for the pictures, so they are read where scikit-learn put them and never
    copied.

    What grows with the length: nothing, every sequence is 64 tokens long.
    Chance: 0.10, ten classes of nearly equal size. Two pictures of one writer may stand on both
    sides of the split, since the set does not say who wrote what.

    Args:
        split: "train" (1,402 pictures) or "test" (395); always the same ones, 22 % of each digit
            for testing.

    Returns:
        inputs (batch, 64, 1) float32, target 0 to 9, no mask.

    Raises:
        ValueError: for another split.

    Source: scikit-learn's `load_digits`: the test set of "Optical Recognition of Handwritten
    Digits", Alpaydin & Kaynak 1998, UCI Machine Learning Repository.
    """
    from sklearn.datasets import load_digits  # here, so that the maths imports without scikit-learn

    pixels, target = load_digits(return_X_y=True)
    inputs = torch.from_numpy((pixels / WHITEST).astype(np.float32))[..., None]
    return take_split(Batch(inputs, torch.from_numpy(target.astype(np.int64))), split)
