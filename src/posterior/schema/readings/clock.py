"""Times of day and durations written with colons: hours as numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posterior._types import Bools, Floats
from posterior.schema.cells import Cells, Labels, Numbers
from posterior.schema.readings.base import ColumnReading, ForeignCellsError
from posterior.schema.readings.gaps import few_enough, first_levels, gap_hint

# Distinct times that a column of strings needs to be read so without anybody having said it.
FEWEST = 5

_CLOCK = re.compile(
    r"[ \t]*([0-9]{1,4}):([0-5][0-9])(?::([0-5][0-9])(?:[.,][0-9]+)?)?[ \t]*([AaPp]\.?[Mm]\.?)?[ \t]*"
)


def hours(strings: Sequence[str]) -> tuple[Floats, Bools]:
    """Return strings as hours, and which of them are times; others are 0.

    >>> values, fits = hours(["18:30", "6:30 PM", "100:15:00", "soon"])
    >>> values.tolist(), fits.tolist()
    ([18.5, 18.5, 100.25, 0.0], [True, True, True, False])
    """
    found = [_hours(_CLOCK.fullmatch(string)) for string in strings]
    fits = np.array([value is not None for value in found], dtype=np.bool_)
    return np.array([value or 0.0 for value in found], dtype=np.float64), fits


def _hours(clock: re.Match[str] | None) -> float | None:
    if clock is None:
        return None
    hour, half = int(clock[1]), (clock[4] or "")[:1].lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (half == "p")
    return hour + int(clock[2]) / 60 + int(clock[3] or 0) / 3600


@dataclass(frozen=True)
class ClockReading(ColumnReading):
    """Times of day or durations such as 18:30, which become hours.

    `gaps` are words among the cells of training that mean a gap.

    >>> from posterior.schema.cells import factorize
    >>> ClockReading(0, "start").read(factorize(["18:30", None], "string"))[0].floats()
    array([18.5,  nan])
    """

    gaps: tuple[str, ...] = ()

    @property
    def reasons(self) -> tuple[str, ...]:
        """That they are hours."""
        return ("times, in hours",)

    def read(self, cells: Cells) -> tuple[Cells, ...]:
        """Return the hours; what is a number already stays, and what is no time is refused."""
        if isinstance(cells, Numbers) or cells.is_empty() or cells.storage not in {"string", "category"}:
            return (cells,)
        values, fits = hours(cells.levels)
        if foreign := {cells.levels[i] for i in np.flatnonzero(~fits).tolist()} - set(self.gaps):
            raise ForeignCellsError.of(self.name, "times such as 18:30", cells, foreign)
        return (Numbers("float", np.append(np.where(fits, values, np.nan), np.nan)[cells.codes]),)


def find_clock(place: int, name: str, labels: Labels, *, asked: bool = False) -> ClockReading | None:
    """Return that a column of strings is read as hours; None if not nearly all cells are times.

    >>> from posterior.schema.cells import factorize
    >>> find_clock(0, "start", factorize(["8:00", "8:30", "9:00", "9:30", "10:00"], "string")).reasons
    ('times, in hours',)
    """
    if not hours(first_levels(labels.levels))[1].any():
        return None
    fits = hours(labels.levels)[1]
    gaps = sorted(labels.levels[i] for i in np.flatnonzero(~fits).tolist())
    if fits.sum() < (1 if asked else FEWEST) or not few_enough(labels, gaps):
        return None
    return ClockReading(place, name, gap_hint(name, "times, in hours", labels, gaps), tuple(gaps))
