"""Real words as sequences: names of places, languages and months, read byte by byte."""

from collections import Counter

import torch

from mamba_edu.tasks.batch import Batch, open_split, take_split

# All in Latin letters, so that the alphabet alone does not give the answer away.
LANGUAGES = (
    *("Czech", "Dutch", "English", "Finnish", "French", "German"),
    *("Hungarian", "Italian", "Polish", "Portuguese", "Spanish", "Turkish"),
)
CODES = ("cs", "nl", "en", "fi", "fr", "de", "hu", "it", "pl", "pt", "es", "tr")
N_BYTES = 32  # longer names are left out, about one in a hundred


def load_names(split: str) -> Batch:
    """Load names and the language that each is in, from the installed Babel.

    The names are those of the world's regions, of its languages and of the months, each in the
    twelve languages of `LANGUAGES`. A token is one byte of the name in UTF-8, so that one letter
    may take two. A name that two of the languages share has no answer and is left out.

    What grows with the length: nothing, every sequence is 32 tokens long, padded at its end.
    Chance: 0.12, by always answering the language with the most names; 1/12 by drawing lots.

    Args:
        split: "train" or "test"; the same ones for one version of Babel, 22 % of each language
            for testing.

    Returns:
        inputs (batch, 32) bytes, 0 to 255, with 0 on padding; target, an index into `LANGUAGES`;
        mask, True on the bytes of the name.

    Raises:
        FileNotFoundError: if Babel came without the data of one of the languages.
        ValueError: for another split.

    Source: Unicode CLDR, by way of Babel; Unicode License v3, whose text lies in Babel's own
    `locale-data/LICENSE.unicode`. The names are read there and never copied.
    """
    lists = [_list_names(code) for code in CODES]
    counts = Counter(name.casefold() for names in lists for name in names)
    kept = [
        (name.encode(), label)
        for label, names in enumerate(lists)
        for name in names
        if counts[name.casefold()] == 1 and len(name.encode()) <= N_BYTES
    ]
    inputs = torch.tensor([list(name.ljust(N_BYTES, b"\0")) for name, _ in kept])
    target = torch.tensor([label for _, label in kept])
    return take_split(Batch(inputs, target, inputs > 0), split)


def sample_names(batch: int, length: int, seed: int, split: str = "train") -> Batch:
    """Sample from the names of one split, each drawn at random, so that one may come twice.

    What grows with the length, and chance: as in load_names.

    Args:
        batch: how many names.
        length: 32; a real sequence is not made longer by asking.
        seed: of the generator; the same seed draws the same names.
        split: "train" or "test".

    Returns:
        As load_names.

    Raises:
        FileNotFoundError: if Babel came without the data of one of the languages.
        TypeError: if a size is not an int.
        ValueError: for another length or split, or a negative batch.
    """
    return open_split(load_names, split)(batch, length, seed)


def _list_names(code: str) -> list[str]:
    """List the names that one language has for regions, languages and months, each once."""
    from babel import Locale, UnknownLocaleError  # here, so that the maths imports without Babel

    try:
        locale = Locale.parse(code)
        months = [
            month
            for form in ("stand-alone", "format")
            for month in locale.months[form]["wide"].values()
        ]
        names = [*locale.territories.values(), *locale.languages.values(), *months]
    except (UnknownLocaleError, OSError) as error:
        raise FileNotFoundError(
            f"Babel must bring its data on {code!r}; it does not: install Babel again, "
            "with its locale-data"
        ) from error
    return sorted({name for name in names if name})
