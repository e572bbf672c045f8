"""Real text as filler: the licences that come with what this course needs anyway."""

from functools import cache
from importlib.metadata import PackageNotFoundError, files

import torch
from jaxtyping import Int
from torch import Tensor

from mamba_edu._checks import check_counts
from mamba_edu.tasks.batch import Batch
from mamba_edu.tasks.synthetic import N_FILLERS, N_VALUES

PACKAGES = ("numpy", "scipy", "matplotlib", "pillow", "numba", "fonttools")
WORDS = ("LICENSE", "LICENCE", "NOTICE", "COPYING")
NO_TEXT = (".py", ".pyc", ".json", ".md5")


@cache
def load_licences() -> bytes:
    """Load the licence texts of installed packages, one after the other.

    Legal English with lists, names and dates, some 350 kB; parts of it come more than once, as
    licences do. It is read where the packages keep it and never copied; other versions of them
    have other texts.

    Returns:
        The text as bytes.

    Raises:
        FileNotFoundError: if none of the packages is installed with its licence.
    """
    text = b"\n".join(path.read_bytes() for name in PACKAGES for path in _list_licences(name))
    if not text:
        raise FileNotFoundError(
            f"the licences of {', '.join(PACKAGES)} must be installed with them; there are none"
        )
    return text


def sample_text_needle(batch: int, length: int, seed: int, n_classes: int = N_VALUES) -> Batch:
    """Sample the needle task with real text for filler.

    As sample_needle, but the filler is the text of load_licences from a place drawn at random on,
    and from its start again behind its end. Byte b is filler number b modulo N_FILLERS: about four
    letters and signs share a symbol, so nobody could read it, but what comes often, what follows
    what, and what is repeated word for word are those of the text.

    What grows with the length: the filler; beyond the text's own length, the same one again.
    What does not: there is one needle, and it is as easy to tell from filler.
    Chance: 1/n_classes.

    Args:
        batch, length, seed, n_classes: as in sample_needle.

    Returns:
        As sample_needle.

    Raises:
        TypeError: if a size is not an int.
        ValueError: if a size is out of range.
        FileNotFoundError: as load_licences.
    """
    check_counts(0, batch=batch)
    check_counts(1, length=length)
    check_counts(2, n_classes=n_classes)
    text, rng = _number_text(), torch.Generator().manual_seed(seed)
    target = torch.randint(n_classes, (batch,), generator=rng)
    begin, place = (torch.randint(n, (batch, 1), generator=rng) for n in (len(text), length))
    filler = n_classes + text[(begin + torch.arange(length)) % len(text)]
    return Batch(filler.scatter(1, place, target[:, None]), target)


def _list_licences(package: str) -> list:
    """List a package's licence files in a fixed order; none if it is not installed."""
    try:
        found = files(package) or []
    except PackageNotFoundError:
        return []
    named = [f for f in found if f.name.upper().startswith(WORDS) and f.suffix not in NO_TEXT]
    paths = [one.locate() for one in sorted(named, key=str)]
    return [path for path in paths if path.is_file()]


@cache
def _number_text() -> Int[Tensor, " length"]:
    """Turn each byte of the text into the number of a filler."""
    return torch.frombuffer(bytearray(load_licences()), dtype=torch.uint8).long() % N_FILLERS
