"""Which columns of a table are read otherwise than by their type, and the table read so."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from posterior.schema.cells import Cells, Labels, Numbers
from posterior.schema.infer import declared_kinds, is_text
from posterior.schema.kinds import WRITTEN, Declared, check_kind
from posterior.schema.readings import ColumnReading
from posterior.schema.readings.clock import find_clock
from posterior.schema.readings.dates import Layout
from posterior.schema.readings.find_dates import find_dates, find_digit_dates, is_ambiguous
from posterior.schema.readings.find_numbers import find_numbers
from posterior.schema.readings.numbers import Decimal
from posterior.schema.readings.row_numbers import find_row_numbers
from posterior.schema.readings.spellings import find_spellings
from posterior.schema.sources import ArraySource, ReadFrame, Source, SparseSource, names_of

DECIMALS: Mapping[str, Decimal] = {"decimal-comma": ",", "decimal-point": "."}
LAYOUTS: Mapping[str, Layout] = {"day-first": "day-first", "month-first": "month-first"}
_PART = re.compile(r"(.+)\[\w+\]")


class Reread(NamedTuple):
    """A table read so that types tell what its columns are, with what was declared of these columns."""

    source: Source
    kinds: Any
    only: Collection[int] | None


class Asked(NamedTuple):
    """A column to be looked at: its cells, what was declared of it, and whether its table has names."""

    place: int
    name: str
    cells: Cells
    declared: Declared | None
    named: bool


Finder: TypeAlias = Callable[[Asked], ColumnReading | None]


def reread(source: Source, kinds: Any, only: Collection[int] | None) -> Reread:
    """Return the table with columns that are not what their type says read as what they are."""
    typed = isinstance(source, SparseSource) or (isinstance(source, ArraySource) and source.block is not None)
    if typed or source.readings:
        return Reread(source, kinds, only)
    names = names_of(source)
    kinds, of_parts = _apart(kinds, names)
    declared = declared_kinds(kinds, names, source)
    readings = tuple(
        reading
        for j, name in enumerate(names)
        if (only is None or j in only) and (reading := _found(j, name, source, declared.get(j))) is not None
    )
    if len(readings) == len(names) and not any(reading.outputs for reading in readings):
        readings = ()  # or no column would be left
    if not readings and not of_parts:
        return Reread(source, kinds, only)
    read = source.read_with(readings)
    origins = read.origins if isinstance(read, ReadFrame) else range(source.n_columns)
    known = [(j, declared[place]) for j, place in enumerate(origins) if place in declared]
    used = None if only is None else {j for j, place in enumerate(origins) if place in only}
    return Reread(read, [*known, *of_parts], used)


def _apart(kinds: Any, names: Sequence[str]) -> tuple[Any, list[tuple[str, Declared]]]:
    """Return the kinds of the user's columns, and those of parts of them such as signup[month]."""
    pairs = list(kinds.items()) if isinstance(kinds, Mapping) else kinds
    if not isinstance(pairs, list | tuple) or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        return kinds, []  # others say what is wrong with it
    known = set(names)
    parts = [pair for pair in pairs if _is_part(pair[0], known)]
    if not parts:
        return kinds, []
    return [pair for pair in pairs if pair not in parts], [(name, check_kind(kind)) for name, kind in parts]


def _is_part(name: Any, known: set[str]) -> bool:
    found = _PART.fullmatch(name) if isinstance(name, str) and name not in known else None
    return found is not None and found[1] in known


def _found(place: int, name: str, source: Source, declared: Declared | None) -> ColumnReading | None:
    if declared in {"categorical", "text", "binary"}:
        return None
    return _reading(Asked(place, name, source.column(place), declared, source.names is not None))


def find_reading(name: str, cells: Cells) -> ColumnReading | None:
    """Return how a column by itself, such as the one to predict, is read otherwise than by its type."""
    return _reading(Asked(0, name, cells, None, True))


def _reading(asked: Asked) -> ColumnReading | None:
    return next((found for find in FINDERS if (found := find(asked))), None)


def _dates(asked: Asked) -> ColumnReading | None:
    """Find dates, which become several columns and so must have a name."""
    place, name, cells, declared, named = asked
    if isinstance(cells, Numbers):
        return find_digit_dates(place, name, cells) if named and declared in (None, "date") else None
    if not named or cells.storage not in {"string", "time"}:
        return None
    if declared in DECIMALS or declared == "count":
        return None
    found = find_dates(place, name, cells, LAYOUTS.get(declared or ""), asked=declared in WRITTEN)
    if found is None and declared in WRITTEN:
        order = declared == "date" and is_ambiguous(cells)
        raise ValueError(
            f'column {name!r} is declared "date", and whether the day or the month comes first no cell says; '
            'declare it "day-first" or "month-first"'
            if order
            else f'column {name!r} is declared "{declared}", and its cells are no such dates, such as '
            f'{cells.example()}; declare it "categorical", or correct the cells'
        )
    return found


def _numbers(asked: Asked) -> ColumnReading | None:
    """Find numbers in disguise."""
    place, name, cells, declared, _ = asked
    if not isinstance(cells, Labels) or cells.storage != "string":
        return None
    found = find_numbers(place, name, cells, DECIMALS.get(declared or ""), asked=declared is not None)
    if found is None and declared in DECIMALS:
        raise ValueError(
            f'column {name!r} is declared "{declared}", and its cells are no such numbers, such as '
            f'{cells.example()}; declare it "categorical", or correct the cells'
        )
    return found


def _clock(asked: Asked) -> ColumnReading | None:
    """Find times of day and durations."""
    place, name, cells, declared, _ = asked
    if declared not in (None, "continuous") or not isinstance(cells, Labels) or cells.storage != "string":
        return None
    return find_clock(place, name, cells, asked=declared is not None)


def _row_numbers(asked: Asked) -> ColumnReading | None:
    """Find row numbers and identifiers, of which the name tells too."""
    place, name, cells, declared, named = asked
    if not named or declared is not None or not isinstance(cells, Numbers):
        return None
    return find_row_numbers(place, name, cells)


def _spellings(asked: Asked) -> ColumnReading | None:
    """Find categories in several spellings."""
    place, name, cells, declared, _ = asked
    if declared is not None or not isinstance(cells, Labels) or cells.storage != "string" or is_text(cells):
        return None
    return find_spellings(place, name, cells)


FINDERS: tuple[Finder, ...] = (_dates, _clock, _numbers, _row_numbers, _spellings)
