"""What a user may want to change about a column."""

from collections.abc import Sequence
from math import isfinite
from typing import NamedTuple

from posterior._text import listed, quoted
from posterior.schema.cells import Labels
from posterior.schema.readings.base import the_way_out
from posterior.schema.readings.find_dates import is_ambiguous

FEWEST = 5
SHARE = 0.8


class Hint(NamedTuple):
    """A sentence for the user, and what it adds to the reason of the column's kind."""

    sentence: str = ""
    reason: str = ""


def string_hint(name: str, labels: Labels) -> Hint:
    """Return what to say of a column of strings that stay categories; mostly nothing.

    >>> from posterior.schema.cells import factorize
    >>> string_hint("day", factorize(["3/4/2020", "5/6/2020", "7/8/2020"], "string")).reason
    ', dates of unknown order'
    """
    if is_ambiguous(labels):
        ways = " or ".join(the_way_out(name, order) for order in ("day-first", "month-first"))
        return Hint(
            f"its strings are dates ({quoted(min(labels.levels))}), and no cell says whether the day or the "
            f"month comes first: they stay categories; {ways} reads them",
            ", dates of unknown order",
        )
    return number_hint(sorted(labels.levels))


def number_hint(strings: Sequence[str]) -> Hint:
    """Return what to say of distinct strings of which at least 80 % look like numbers; else nothing.

    >>> number_hint(["1", "2", "3", "4", "?"]).reason
    ', most look like numbers'
    """
    others: list[str] = []
    if len(strings) < FEWEST:
        return Hint()
    for string in strings:
        if not _is_number(string):
            others.append(string)
            if len(others) > (1 - SHARE) * len(strings) + 1e-9:
                return Hint()
    if any(_is_code(string) for string in strings):
        return Hint("", ", codes with leading zeros")
    # Not `listed`, which would count them: two are enough to recognise the column.
    left_out = set(others)
    shown = ", ".join(quoted(s) for s in [s for s in strings if s not in left_out][:2])
    if not others:
        return Hint(
            f"its strings look like numbers ({shown}): convert the column to numbers, "
            "or declare it categorical",
            ", all look like numbers",
        )
    return Hint(
        f"most of its strings look like numbers ({shown}), others are {listed(others, 3)}: "
        "convert the column to numbers, with those as missing values (--missing for each, of a file)",
        ", most look like numbers",
    )


def _is_code(string: str) -> bool:
    """Return whether a string is digits with a zero in front, as zip codes have and numbers have not."""
    return len(string) > 1 and string[0] == "0" and string.isdigit()


def _is_number(string: str) -> bool:
    try:
        return isfinite(float(string))  # "nan" and "inf" mark what is no number
    except ValueError:
        return False
