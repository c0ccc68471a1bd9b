"""The forms of strings: what they look like, whatever their digits are."""

import re
from collections.abc import Sequence

import numpy as np

from posterior._types import Ints

# The first digit of a number if it is 0, which makes 007 a code and 0,125 no thousand.
_FIRST_ZERO = re.compile(r"(?<![0-9])(?<![0-9][.,'\u2019\u00a0\u2009\u202f ])0")
_DIGITS = {**dict.fromkeys(map(ord, "0123456789"), "1"), 1: "0"}


def forms_of(strings: Sequence[str]) -> tuple[list[str], Ints]:
    """Return the distinct forms of strings, which are strings with other digits, and which one each has.

    Numbers of a column have few forms: these are looked at, not the numbers.

    >>> forms_of(["€ 250,99", "€ 731,20", "€ 0,05", "n/a"])
    (['€ 111,11', '€ 0,11', 'n/a'], array([0, 0, 1, 2]))
    """
    text = "\n".join(strings)
    if text.count("\n") >= len(strings):
        text = "\n".join([string.replace("\n", "\0") for string in strings])
    every = _FIRST_ZERO.sub("\1", text).translate(_DIGITS).split("\n") if len(strings) else []
    place = {form: code for code, form in enumerate(dict.fromkeys(every))}
    return list(place), np.fromiter(map(place.__getitem__, every), dtype=np.int64, count=len(every))
