"""Real pictures as sequences: handwritten digits, read pixel by pixel, plain or among noise."""

import numpy as np
import torch

from mamba_edu._checks import check_counts
from mamba_edu.tasks.batch import Batch, open_split, take_split

WHITEST = 16  # scikit-learn counts the ink of a pixel from 0 to 16
N_PIXELS = 64


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


def sample_digits(batch: int, length: int, seed: int, split: str = "train") -> Batch:
    """Sample from the digits of one split, each drawn at random, so that one may come twice.

    What grows with the length, and chance: as in load_digit_sequences.

    Args:
        batch: how many pictures.
        length: 64; a real sequence is not made longer by asking.
        seed: of the generator; the same seed draws the same pictures.
        split: "train" or "test".

    Returns:
        As load_digit_sequences.

    Raises:
        TypeError: if a size is not an int.
        ValueError: for another length or split, or a negative batch.
    """
    return open_split(load_digit_sequences, split)(batch, length, seed)


def sample_diluted_digits(batch: int, length: int, seed: int, split: str = "train") -> Batch:
    """Sample handwritten digits whose pixels are scattered among noise.

    A token is two numbers: ink, from 0 to 1, and a mark, 1 on the 64 pixels of the picture and 0
    on noise. The pixels keep their order; between them lies so much noise that the sequence is as
    long as asked. The ink of noise is one of the 17 that pixels have, equal in chance, whatever
    the picture is.

    What grows with the length: the noise, and with it the gaps between pixels and their spread.
    What does not: the 64 pixels and what they say.
    Chance: 0.10, ten classes of nearly equal size. At length 64 it is the task of the plain
    digits, with a mark on every token.

    Args:
        batch, length: how many sequences, and how long; at least 64 tokens.
        seed: of the generator; the same seed gives the same task.
        split: which pictures, "train" or "test".

    Returns:
        inputs (batch, length, 2) float32, target 0 to 9, no mask.

    Raises:
        TypeError: if a size is not an int.
        ValueError: for another split, or a size out of range.

    Source: pictures as in load_digit_sequences.
    """
    check_counts(0, batch=batch)
    check_counts(N_PIXELS, length=length)
    rng = torch.Generator().manual_seed(seed)
    own_seed = int(torch.randint(2**62, (), generator=rng))  # or the noise would tell the picture
    pictures = open_split(load_digit_sequences, split)(batch, N_PIXELS, own_seed)
    order = torch.rand(batch, length, generator=rng).argsort(1)
    places = order[:, :N_PIXELS].sort(1).values
    ink = torch.randint(WHITEST + 1, (batch, length), generator=rng) / WHITEST
    ink = ink.scatter(1, places, pictures.inputs[..., 0])
    mark = torch.zeros_like(ink).scatter(1, places, 1)
    return Batch(torch.stack([ink, mark], dim=-1), pictures.target)
