"""What a user may want to change about a column of strings that stay categories."""

from collections.abc import Sequence
from typing import NamedTuple

from posterior._text import listed, quoted
from posterior.schema.cells import Labels
from posterior.schema.readings.base import the_way_out
from posterior.schema.readings.find_dates import is_ambiguous, looks_like_dates
from posterior.schema.readings.find_numbers import find_numbers, in_several_ways, is_number, mostly_numbers
from posterior.schema.readings.gaps import is_mark

FEWEST = 5
SHARE = 0.8
MOST = 1000  # categories among which words for gaps are looked for
LONGEST_CODE = 15  # digits, all of which a number holds


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
    for hint in (_dates(name, labels), _numbers(name, labels), number_hint(sorted(labels.levels))):
        if hint != Hint():
            return hint
    marks = sorted(filter(is_mark, labels.levels)) if len(labels.levels) <= MOST else []
    if not marks or len(marks) == len(labels.levels):
        return Hint()
    return Hint(f"{listed(marks, 4)} may mark gaps: make them missing if they do ({_missing(marks)})")


def _dates(name: str, labels: Labels) -> Hint:
    if is_ambiguous(labels):
        ways = " or ".join(the_way_out(name, order) for order in ("day-first", "month-first"))
        return Hint(
            f"its strings are dates ({quoted(min(labels.levels))}), and no cell says whether the day or the "
            f"month comes first: they stay categories; {ways} reads them",
            ", dates of unknown order",
        )
    if looks_like_dates(labels):
        shown = ", ".join(map(quoted, sorted(labels.levels)[:2]))
        return Hint(
            f"its strings look like dates ({shown}), and no way of writing them fits all: they stay "
            "categories; write them as 2024-12-31",
            ", look like dates",
        )
    return Hint()


def _numbers(name: str, labels: Labels) -> Hint:
    """Return what to say of numbers in disguise that are too few, or have several units."""
    found = find_numbers(0, name, labels, asked=True) if len(labels.levels) > 1 else None
    if found is not None and found.disguise:
        return Hint(
            f"its strings are {found.read_as}, and so few that they stay categories; "
            f"{the_way_out(name, 'continuous')} reads them as numbers",
            ", look like numbers",
        )
    most = mostly_numbers(name, labels)
    if most is not None and most.gaps:
        return Hint(
            f"most of its strings are {most.read_as}, others are {listed(most.gaps, 3)}: make those missing "
            f"if they mark gaps ({_missing(most.gaps)}), and the column holds numbers",
            ", most look like numbers",
        )
    if in_several_ways(labels):
        shown = ", ".join(map(quoted, sorted(labels.levels)[:3]))
        return Hint(
            f"its strings look like numbers in several units or forms ({shown}): they stay categories; "
            "write all of them in one way",
            ", look like numbers",
        )
    return Hint()


def _missing(words: Sequence[str]) -> str:
    """Return how words are said to be gaps; the command line says it as options."""
    return " ".join(f'missing="{word}"' for word in words[:4])


def number_hint(strings: Sequence[str]) -> Hint:
    """Return what to say of distinct strings of which at least 80 % look like numbers; else nothing.

    >>> number_hint(["1", "2", "3", "4", "x"]).reason
    ', most look like numbers'
    """
    others: list[str] = []
    if len(strings) < FEWEST:
        return Hint()
    for string in strings:
        if not is_number(string):
            others.append(string)
            if len(others) > (1 - SHARE) * len(strings) + 1e-9:
                return Hint()
    if any(_is_code(string) for string in strings):
        return Hint("", ", codes with leading zeros")
    if any(len(string) > LONGEST_CODE and string.isdigit() for string in strings):
        return Hint("", ", codes of more digits than numbers have")
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
        f"make those missing if they mark gaps ({_missing(others)}), and the column holds numbers",
        ", most look like numbers",
    )


def _is_code(string: str) -> bool:
    """Return whether a string is digits with a zero in front, as zip codes have and numbers have not."""
    return len(string) > 1 and string[0] == "0" and string.isdigit()
