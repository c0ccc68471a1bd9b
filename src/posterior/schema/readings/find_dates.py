"""Which columns are dates: by their type, or by strings of one layout throughout."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from posterior._text import listed
from posterior._types import AnyArray, Bools
from posterior.schema.cells import Labels, Numbers
from posterior.schema.readings.base import the_way_out
from posterior.schema.readings.dates import (
    LAYOUTS,
    PARTS,
    DateReading,
    Layout,
    digits,
    moments,
    parsed,
    part_of,
)
from posterior.schema.readings.gaps import SAMPLE, SHARE, few_enough, first_levels, gap_hint

# Distinct dates that a column of strings needs to be read so without anybody having said it.
FEWEST = 3

# Dates written as eight digits are of these years: other numbers may happen to look like them.
EARLIEST_DIGITS, LATEST_DIGITS = 1900_01_01, 2100_12_31

_YEAR = re.compile(r"(?<![0-9])(?:19|20)[0-9]{2}(?![0-9])")
_ZONE = re.compile(r":[0-9]{2}(?:[.,][0-9]+)? *(Z|UTC|[+-][0-9]{2}:?[0-9]{2})\s*$")
_START = re.compile(r"\s*(?:[0-9]{1,4}[-/. ]|[0-9]{1,2} ?[A-Za-z]{3}|[A-Za-z]{3,9}\.?[ -][0-9])")


def find_dates(
    place: int, name: str, labels: Labels, layout: Layout | None = None, *, asked: bool = False
) -> DateReading | None:
    """Return how a column of times or of strings is read as dates; None if not nearly all cells are dates.

    `layout` is the order that the user says is meant. Strings that may be day-first as well as month-first
    are no dates: `is_ambiguous` says so.

    >>> from posterior.schema.cells import factorize
    >>> found = find_dates(0, "day", factorize(["30/11/2020", "1/12/2020", "2/12/2021"], "string"))
    >>> found.layout, found.outputs
    ('day-first', ('day[year]', 'day[month]', 'day[weekday]'))
    """
    if labels.storage == "time":
        return _with_parts(DateReading(place, name), labels)
    if not asked and not _worth_looking(labels.levels):
        return None
    found = _fitting(labels, layout)
    if not found or _is_either(found):
        return None
    best = max(found, key=lambda one: int(labels.counts()[found[one]].sum()))
    misfits = sorted(labels.levels[i] for i in np.flatnonzero(~found[best]).tolist())
    if found[best].sum() < (1 if asked else FEWEST) or not few_enough(labels, misfits):
        return None
    hint = "; ".join(filter(None, (gap_hint(name, "dates", labels, misfits), _zone_hint(labels))))
    return _with_parts(DateReading(place, name, hint, best, gaps=tuple(misfits)), labels)


def is_ambiguous(labels: Labels) -> bool:
    """Return whether strings are dates that may be day-first as well as month-first, every one of them.

    >>> from posterior.schema.cells import factorize
    >>> is_ambiguous(factorize(["3/4/2020", "5/6/2020", "7/8/2020"], "string"))
    True
    """
    found = _fitting(labels, None) if _worth_looking(labels.levels) else {}
    if not _is_either(found) or found["day-first"].sum() < FEWEST:
        return False
    return few_enough(labels, [labels.levels[i] for i in np.flatnonzero(~found["day-first"]).tolist()])


def find_digit_dates(place: int, name: str, cells: Numbers) -> DateReading | None:
    """Return how whole numbers such as 20241231 are read as dates; None if not all of them are.

    >>> days = Numbers("integer", np.array([20240228, 20240229, 20240301]))
    >>> find_digit_dates(0, "day", days).outputs
    ('day[year]', 'day[month]', 'day[weekday]')
    """
    if cells.storage != "integer" or not _in_digits(cells.array[:SAMPLE]) or not _in_digits(cells.array):
        return None
    labels = digits(cells)
    if len(labels.levels) < FEWEST or not moments(labels, "digits")[1].all():
        return None
    way_out = the_way_out(name, "continuous")
    hint = f"whole numbers such as {labels.levels[0]} are read as dates; {way_out} keeps the numbers"
    return _with_parts(DateReading(place, name, hint, "digits"), labels)


def _in_digits(array: AnyArray) -> bool:
    """Return whether numbers, gaps aside, have eight digits of which the first four may be a year."""
    known = array[array != 0] if array.dtype.kind in "iu" else array[:0]
    return bool(len(known)) and known.min() >= EARLIEST_DIGITS and known.max() <= LATEST_DIGITS


def looks_like_dates(labels: Labels) -> bool:
    """Return whether strings begin as dates do, and nearly all of them have a year.

    >>> from posterior.schema.cells import factorize
    >>> looks_like_dates(factorize(["5 janv. 2024", "12 mars 2024", "3 mai 2024"], "string"))
    True
    """
    if len(labels.levels) < FEWEST or not _worth_looking(labels.levels):
        return False
    some = first_levels(labels.levels)
    return sum(map(bool, map(_YEAR.search, some))) >= SHARE * len(some)


def _zone_hint(labels: Labels) -> str:
    """Return the sentence that says which time zones are passed over; nothing where there are none."""
    found = map(_ZONE.search, first_levels(labels.levels))
    zones = sorted({zone[1] for zone in found if zone is not None})
    return f"time zones ({listed(zones, 3)}) are passed over: the hour is that of the clock" if zones else ""


def _is_either(found: Mapping[Layout, Bools]) -> bool:
    """Return whether the same cells are dates by day first and by month first."""
    return {"day-first", "month-first"} <= set(found) and bool(
        (found["day-first"] == found["month-first"]).all() and found["day-first"].any()
    )


def _worth_looking(levels: Sequence[str]) -> bool:
    """Return whether most of the first cells begin as dates do."""
    some = first_levels(levels)
    return bool(some) and sum(map(bool, map(_START.match, some))) >= 0.8 * len(some)


def _fitting(labels: Labels, layout: Layout | None) -> dict[Layout, Bools]:
    """Return which cells are dates, by the layouts that fit some of the first cells."""
    sample = first_levels(labels.levels)
    tried = [one for one in LAYOUTS if one != "digits"] if layout is None else [layout]
    possible = [one for one in tried if parsed(sample, one)[1].any()]
    return {one: moments(labels, one)[1] for one in possible}


def _with_parts(reading: DateReading, labels: Labels) -> DateReading:
    """Return the reading with the parts that vary; with the position in years where none does."""
    times, good = moments(labels, reading.layout)
    tried = [part for part in PARTS if part != "weekday" or reading.layout not in {"month-year", "name-year"}]
    parts = tuple(part for part in tried if len(np.unique(part_of(times[good], part))) > 1)
    return replace(reading, parts=parts or ("year",))
