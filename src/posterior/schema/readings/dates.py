"""Dates and times of day: position in years, month, day of the week and hour as numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from posterior._types import Bools, Floats, Ints
from posterior.schema.cells import Cells, Labels, Numbers
from posterior.schema.readings.base import ColumnReading, ForeignCellsError
from posterior.schema.readings.forms import forms_of

Layout: TypeAlias = Literal[
    "year-first", "day-first", "month-first", "day-name", "name-day", "month-year", "name-year", "digits"
]
Part: TypeAlias = Literal["year", "month", "weekday", "hour"]
Seconds: TypeAlias = NDArray[np.datetime64]

LAYOUTS: tuple[Layout, ...] = get_args(Layout)
PARTS: tuple[Part, ...] = get_args(Part)
WORDS: dict[Part, str] = {
    "year": "position in years",
    "month": "month, 1 to 12",
    "weekday": "day of the week, 1 Monday to 7 Sunday",
    "hour": "hour of the day",
}
LAYOUT_WORDS: dict[Layout, str] = {
    "year-first": "",
    "day-first": " (day first)",
    "month-first": " (month first)",
    "day-name": "",
    "name-day": "",
    "month-year": " (month and year)",
    "name-year": " (month and year)",
    "digits": " (year, month and day in digits)",
}
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
# Years of dates; other numbers in their place are codes. Two digits mean 1969 to 2068, as in C and POSIX.
EARLIEST, LATEST, PIVOT = 1600, 2400, 69
# No longer cell is a date.
LONGEST = 40

_TIME = (
    r"(?:(?:T|,? +)(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::(?P<second>\d\d)(?:[.,]\d+)?)?"
    r" *(?P<half>[AaPp]\.?[Mm]\.?)? *(?:Z|UTC|[+-]\d\d:?\d\d)?)?"
)
_NAME = rf"(?P<month>(?:{'|'.join(MONTHS)})[a-z]*)\.?"
_DATES: dict[Layout, str] = {
    "year-first": r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})(?:(?P=mark)(?P<day>\d{1,2}))?",
    "day-first": r"(?P<day>\d{1,2})(?P<mark>[-/.])(?P<month>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)",
    "month-first": r"(?P<month>\d{1,2})(?P<mark>[-/])(?P<day>\d{1,2})(?P=mark)(?P<year>\d{4}|\d\d)",
    "day-name": rf"(?P<day>\d{{1,2}})(?:[-/ ]|\. ?| of )?{_NAME}[-/, ]+(?P<year>\d{{4}}|\d\d)",
    "name-day": rf"{_NAME}[ -](?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? +(?P<year>\d{{4}})",
    "month-year": r"(?P<month>\d{1,2})[-/](?P<year>\d{4})(?P<day>)",
    "name-year": rf"{_NAME}[-/, ]+(?P<year>\d{{4}})(?P<day>)",
    "digits": r"(?P<year>\d{4})(?P<month>\d\d)(?P<day>\d\d)",
}


@cache
def _line_of(layout: Layout) -> re.Pattern[str]:
    """A line that is a date of a layout, with or without a time of day; the time zone is passed over."""
    return re.compile(rf"^[ \t]*{_DATES[layout]}{_TIME}[ \t]*$", re.IGNORECASE | re.ASCII | re.MULTILINE)


def parsed(strings: Sequence[str], layout: Layout) -> tuple[Seconds, Bools]:
    """Return strings as times to the second, and which of them are times; others are 1970.

    >>> parsed(["31.12.2020", "29.2.2021"], "day-first")
    (array(['2020-12-31T00:00:00', '1970-01-01T00:00:00'], dtype='datetime64[s]'), array([ True, False]))
    """
    line = _line_of(layout)
    forms, codes = forms_of(strings)
    known = np.array([len(form) <= LONGEST and line.fullmatch(form) is not None for form in forms], np.bool_)
    fits = known[codes]
    times = np.zeros(len(strings), dtype="M8[s]")
    if fits.any():
        # All of them as one text, each a line.
        cells = line.findall("\n".join([strings[i] for i in np.flatnonzero(fits).tolist()]))
        parts = list(zip(*cells, strict=True))
        found, good = _times(*(parts[line.groupindex[name] - 1] for name in NAMES))
        times[fits] = np.where(good, found, np.datetime64(0, "s"))
        fits[fits] = good
    return times, fits


def moments(labels: Labels, layout: Layout) -> tuple[Seconds, Bools]:
    """Return the levels of a column as times, and which of them are times."""
    if labels.storage != "time":
        return parsed(labels.levels, layout)
    return np.array(labels.levels, dtype="M8[s]"), np.ones(len(labels.levels), dtype=np.bool_)


def digits(cells: Numbers) -> Labels:
    """Return whole numbers such as 20241231 as the strings that they are written as."""
    labels = cells.labels()
    return replace(labels, storage="string", levels=tuple(f"{level:.0f}" for level in labels.levels))


NAMES = ("year", "month", "day", "hour", "minute", "second", "half")


def _times(*parts: Sequence[str]) -> tuple[Seconds, Bools]:
    """Return times by their parts as they are written, and which of them there are."""
    years, months, days, *clock, halves = parts
    year, month, day = _whole(years), _months(months), _whole(days, "1")
    hour, minute, second = (_whole(one) for one in clock)
    short = np.array([len(one) == 2 for one in years])
    year = np.where(short, year + np.where(year < PIVOT, 2000, 1900), year)
    half = np.array([one[:1].lower() for one in halves])
    good = (month >= 1) & (month <= 12) & (day >= 1) & (year >= EARLIEST) & (year <= LATEST)
    good &= (hour < np.where(half == "", 24, 13)) & (minute < 60) & (second < 60)
    hour = np.where(half == "", hour, hour % 12 + 12 * (half == "p"))
    start = (np.where(good, year, 1970) - 1970).astype("M8[Y]").astype("M8[M]") + np.where(good, month - 1, 0)
    date = start.astype("M8[D]") + np.where(good, day - 1, 0)
    good &= date.astype("M8[M]") == start  # no 30th of February
    return date.astype("M8[s]") + (3600 * hour + 60 * minute + second), good


def _whole(parts: Sequence[str], absent: str = "0") -> Ints:
    return np.array([part or absent for part in parts]).astype(np.int64)


def _months(parts: Sequence[str]) -> Ints:
    place = {name: k for k, name in enumerate(MONTHS, 1)}
    known = {part: place.get(part[:3].lower()) or int(part) for part in set(parts)}
    return np.array([known[part] for part in parts], dtype=np.int64)


def part_of(times: Seconds, part: Part) -> Floats:
    """Return one part of times as numbers.

    >>> time = np.array(["2020-07-02T18:30:00"], dtype="M8[s]")
    >>> [float(part_of(time, part)[0].round(4)) for part in PARTS]
    [2020.5021, 7.0, 4.0, 18.5]
    """
    days, years = times.astype("M8[D]"), times.astype("M8[Y]")
    numbers: Any
    if part == "month":
        numbers = times.astype("M8[M]").astype(np.int64) % 12 + 1
    elif part == "weekday":
        numbers = (days.astype(np.int64) + 3) % 7 + 1  # the first of January 1970 was a Thursday
    elif part == "hour":
        numbers = (times - days.astype("M8[s]")).astype(np.int64) / 3600
    else:
        start, end = years.astype("M8[s]"), (years + np.timedelta64(1, "Y")).astype("M8[s]")
        numbers = years.astype(np.int64) + 1970 + (times - start) / (end - start)
    return np.asarray(numbers, dtype=np.float64)


@dataclass(frozen=True)
class DateReading(ColumnReading):
    """Dates, which give a column of numbers for each of their `parts` that varies in training.

    `layout` says in which order strings have day, month and year; times of other types are what they are.
    `gaps` are words among the cells of training that mean a gap.

    >>> from posterior.schema.cells import factorize
    >>> signup = DateReading(0, "signup", layout="day-first", parts=("month", "weekday"))
    >>> [part.floats().tolist() for part in signup.read(factorize(["31/12/2020", None], "string"))]
    [[12.0, nan], [4.0, nan]]
    >>> signup.outputs
    ('signup[month]', 'signup[weekday]')
    """

    layout: Layout = "year-first"
    parts: tuple[Part, ...] = ("year",)
    gaps: tuple[str, ...] = ()

    def impossible(self) -> str:
        """Say what no such object is; nothing where it may be one."""
        parts = set(self.parts)
        return "" if parts and len(parts) == len(self.parts) else "dates of no parts, or of one twice"

    @property
    def outputs(self) -> tuple[str, ...]:
        """The column and the part of it, as in signup[month]."""
        return tuple(f"{self.name}[{part}]" for part in self.parts)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The parts in words."""
        return tuple(f"date{LAYOUT_WORDS[self.layout]}, {WORDS[part]}" for part in self.parts)

    def form(self) -> Any:
        """The column, its layout and its parts."""
        return *super().form(), self.layout

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the parts as columns of numbers; what is no date is refused."""
        if cells.is_empty():
            return tuple(cells for _ in self.parts)
        if self.layout == "digits" and isinstance(cells, Numbers):
            cells = digits(cells)
        if not isinstance(cells, Labels) or cells.storage not in {"string", "time", "category"}:
            raise ValueError(
                f"column {self.name!r} is read as dates, found {cells.storage} values; pass dates as in "
                "training, or the columns " + ", ".join(map(repr, self.outputs))
            )
        times, fits = moments(cells, self.layout)
        foreign = {cells.levels[i] for i in np.flatnonzero(~fits).tolist()} - set(self.gaps)
        if foreign:
            raise ForeignCellsError.of(self.name, f"dates{LAYOUT_WORDS[self.layout]}", cells, foreign)
        return tuple(self._numbers(part, times, fits, cells) for part in self.parts)

    def _numbers(self, part: Part, times: Seconds, fits: Bools, cells: Labels) -> Numbers:
        table = np.where(fits, part_of(times, part), np.nan)
        return Numbers("float", np.append(table, np.nan)[cells.codes])
