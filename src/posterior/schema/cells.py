"""One column as it was read: numbers in place, or labels as codes and their levels."""

import datetime
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from posterior import kernels
from posterior._text import listed, quoted
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.schema.kinds import Storage, order

Codes32: TypeAlias = NDArray[np.int32]
Test: TypeAlias = Literal["binary", "count"]

NO_CODES: Codes32 = np.zeros(0, dtype=np.int32)
TALLY_ROWS = 1 << 16


@dataclass(frozen=True)
class Numbers:
    """A numeric or true/false column, left where the user keeps it; `missing` marks nulls of integers.

    `known` are its distinct values where they were found with those of other columns.
    """

    storage: Storage
    array: AnyArray
    missing: Bools | None = None
    known: Ints | None = field(default=None, repr=False, compare=False)

    def floats(self, rows: slice = slice(None)) -> Floats:
        """Return the rows as float64, NaN where missing; a float64 column is not copied."""
        part = self.array[rows]
        if self.missing is None:
            return np.asarray(part, dtype=np.float64)
        return np.where(self.missing[rows], np.nan, part).astype(np.float64, copy=False)

    @cached_property
    def whole(self) -> Ints | None:
        """The sorted distinct values, or None if they are other than whole numbers close together."""
        if self.known is not None:
            return self.known
        (found,) = kernels.distinct_whole(lambda rows: self.floats(rows)[:, None], len(self.array), 1)
        return found

    def labels(self) -> "Labels":
        """Return the column as codes of its sorted distinct values."""
        gaps = self.gaps()
        known = self.array[~gaps] if gaps.any() else self.array
        if self.whole is None:
            levels, inverse = np.unique(known, return_inverse=True)
        else:
            levels, inverse = self.whole.astype(known.dtype), np.searchsorted(self.whole, known)
        codes = np.full(len(self.array), -1, dtype=np.int32)
        codes[~gaps] = inverse
        return self._labels(levels, codes)

    def only_levels(self) -> "Labels":
        """Return the labels without the codes of the rows, which take memory."""
        if self.whole is None:
            return replace(self.labels(), codes=NO_CODES)
        return self._labels(self.whole.astype(self.array.dtype), NO_CODES)

    def _labels(self, levels: AnyArray, codes: "Codes32") -> "Labels":
        storage: Storage = self.storage if len(levels) else "empty"
        return Labels(storage, codes, tuple(levels.tolist()), single=self.array.dtype == np.float32)

    def tally(self, values: Ints) -> list[int]:
        """Return the number of rows of each of some sorted whole numbers."""
        counts = np.zeros(len(values), dtype=np.int64)
        for start in range(0, len(self.array), TALLY_ROWS):
            cells = self.floats(slice(start, start + TALLY_ROWS))
            place = np.minimum(np.searchsorted(values, cells), len(values) - 1)
            counts += np.bincount(place[values[place] == cells], minlength=len(values))
        return counts.tolist()

    def take(self, rows: Ints) -> "Numbers":
        """Return the cells of some rows."""
        missing = None if self.missing is None else self.missing[rows]
        return Numbers(
            self.storage, self.array[rows], missing if missing is not None and missing.any() else None
        )

    def gaps(self) -> Bools:
        """Return which rows are missing."""
        if self.missing is not None:
            return self.missing
        if self.array.dtype.kind == "f":
            return np.asarray(np.isnan(self.array), dtype=np.bool_)
        return np.zeros(len(self.array), dtype=np.bool_)

    def is_empty(self) -> bool:
        """Return whether no cell has a value; where the first one has, no other is looked at."""
        if self.missing is not None:
            return bool(self.missing[:1].all() and self.missing.all())
        return self.array.dtype.kind == "f" and bool(np.isnan(self.array[:1]).all() and self.gaps().all())

    def first_outside(self, test: Test) -> tuple[int, Any] | None:
        """Return row and value of the first cell that is `outside`, or None."""
        wrong = outside(self.array, test)
        if self.missing is not None:
            wrong &= ~self.missing
        if not wrong.any():
            return None
        row = int(wrong.argmax())
        return row, self.array[row].item()


@dataclass(frozen=True)
class Labels:
    """A column of labels: `levels` are its values, `codes` point to them, −1 is missing."""

    storage: Storage
    codes: Codes32
    levels: tuple[Any, ...]
    fixed: bool = False
    ordered: bool = False
    single: bool = False

    def is_empty(self) -> bool:
        """Return whether no cell has a value and no level is known."""
        return self.storage == "empty"

    def distinct(self) -> tuple[Any, ...]:
        """Return the categories: those of the dtype in its order, or the values found, sorted."""
        return self.levels if self.fixed else tuple(sorted(self.levels, key=order))

    def counts(self) -> NDArray[np.int64]:
        """Return the number of rows of each level."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.levels))

    def take(self, rows: Ints) -> "Labels":
        """Return the cells of some rows, whose levels are those of the dtype, or those that the rows hold."""
        codes = self.codes[rows]
        if self.fixed:
            return replace(self, codes=codes)
        met, first, place = np.unique(codes, return_index=True, return_inverse=True)
        order_met = np.argsort(first[met >= 0], kind="stable")
        found = met[met >= 0][order_met]
        new = np.full(len(met), -1, dtype=np.int32)
        new[np.flatnonzero(met >= 0)[order_met]] = np.arange(len(found), dtype=np.int32)
        levels = tuple(self.levels[code] for code in found.tolist())
        return replace(
            self, storage=self.storage if levels else "empty", codes=new[place.reshape(-1)], levels=levels
        )

    def labels(self) -> "Labels":
        """Return itself, as `Numbers.labels` returns a column of labels."""
        return self

    def only_levels(self) -> "Labels":
        """Return itself, whose codes are there already."""
        return self

    def numbers(self) -> Numbers | None:
        """Return the column as numbers if all its levels are numbers (or there are none)."""
        if not all(isinstance(level, int | float) for level in self.levels):
            return None
        table = np.array([*map(_float, self.levels), np.nan])
        return Numbers("float", table[self.codes])

    def lookup(self, categories: Sequence[Any], *, single: bool = False) -> Codes32:
        """Return the positions in `categories`: −1 missing, len(categories) not among them.

        With `single`, numbers are equal if they are so as float32.
        """
        table = positions(self.levels, categories, single=single)
        return np.append(table, np.int32(-1))[self.codes]

    def objects(self, rows: slice = slice(None)) -> AnyArray:
        """Return the values themselves, None where missing."""
        codes = self.codes[rows]
        # Level by level, not from a table of all of them: texts have as many levels as rows.
        out = np.empty(len(codes), dtype=object)
        if codes.min(initial=0) >= 0:
            out[:] = list(map(self.levels.__getitem__, codes.tolist()))
        else:
            out[:] = [self.levels[code] if code >= 0 else None for code in codes.tolist()]
        return out

    @property
    def are_strings(self) -> bool:
        """Return whether all levels are strings."""
        kinds = set(map(type, self.levels))  # of thousands of texts one
        return all(issubclass(kind, str) for kind in kinds)

    def example(self) -> str:
        """Return a value that is no number, written for a message."""
        other: Any = next(level for level in self.levels if not isinstance(level, int | float))
        return quoted(other)


Cells: TypeAlias = Numbers | Labels


def positions(levels: Sequence[Any], categories: Sequence[Any], *, single: bool = False) -> Codes32:
    """Return where each level is among the categories, len(categories) for one that is not.

    With `single`, numbers are equal if they are so as float32; an integer and a float are if they are so as
    floats, for a column with one integer beyond 64 bits is read as floats.
    """
    known, found = (_in_single(v) if single else v for v in (categories, levels))
    index = {category: code for code, category in enumerate(known)}
    floats = {category: code for category, code in index.items() if isinstance(category, float)}
    rounded = (_float(level) if type(level) is int else level for level in found)
    both = zip(found, rounded, strict=True)
    codes = [index.get(level, floats.get(near, len(categories))) for level, near in both]
    return np.array(codes, dtype=np.int32)


def _in_single(levels: Sequence[Any]) -> list[Any]:
    with np.errstate(over="ignore"):
        return [float(np.float32(level)) if isinstance(level, float) else level for level in levels]


def outside(array: AnyArray, test: Test) -> Bools:
    """Return which cells are neither NaN nor (binary) 0 or 1, nor (count) a finite number ≥ 0."""
    if array.dtype.kind == "b":
        return np.zeros(array.shape, dtype=np.bool_)
    wrong = (array != 0) & (array != 1) if test == "binary" else (array < 0) | (array == np.inf)
    if array.dtype.kind == "f" and wrong.any():
        wrong &= ~np.isnan(array)
    return np.asarray(wrong, dtype=np.bool_)


def is_missing(value: Any) -> bool:
    """Return whether a cell is None, NaN, NaT or pandas.NA.

    >>> [is_missing(value) for value in (None, float("nan"), 0, "", "nan")]
    [True, True, False, False, False]
    """
    if value is None or isinstance(value, str):
        return value is None
    if type(value).__name__ in {"NAType", "NaTType"}:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    if isinstance(value, Decimal):
        return value.is_nan()
    return isinstance(value, float | np.floating) and math.isnan(value)


def factorize(values: Sequence[Any], storage: Storage) -> Labels:
    """Return a sequence of hashable values as codes and levels, in the order they are met."""
    code: dict[Any, Any] = dict.fromkeys(values)
    levels: list[Any] = []
    if {str, type(None)}.issuperset(map(type, code)):  # which is known without a look at each
        code.pop(None, None)
        levels.extend(code)
        code = dict(zip(levels, range(len(levels)), strict=True)) | {None: -1}
    for value in code if not levels else ():
        if is_missing(value):
            code[value] = -1
        else:
            code[value] = len(levels)
            levels.append(native(value))
    # One pass in C: the dictionary maps every cell, missing ones too.
    codes = np.fromiter(map(code.__getitem__, values), dtype=np.int32, count=len(values))
    return Labels(storage if levels else "empty", codes, tuple(levels))


def sorted_levels(values: AnyArray) -> tuple[AnyArray, Ints]:
    """Return the sorted distinct values of an array of strings or objects, and the place of each row's value.

    The same as `np.unique(values, return_inverse=True)`, without sorting all rows.

    >>> sorted_levels(np.array(["b", "a", "b"]))
    (array(['a', 'b'], dtype='<U1'), array([1, 0, 1]))
    """
    cells = values.tolist()
    levels = sorted(set(cells))
    place = {level: code for code, level in enumerate(levels)}
    codes = np.fromiter(map(place.__getitem__, cells), dtype=np.int64, count=len(cells))
    return np.array(levels, dtype=values.dtype), codes


def native(value: Any) -> Any:
    """Return the Python scalar behind a numpy one; a Decimal becomes a float."""
    if isinstance(value, np.str_):
        return str(value)
    if isinstance(value, np.generic):
        return value.item()
    return float(value) if isinstance(value, Decimal) else value


def times(values: NDArray[np.datetime64]) -> Labels:
    """Return dates and times as labels in the way of ISO 8601, without a time of day at midnight.

    >>> times(np.array(["2020-01-31T00:00", "2020-01-31T12:30", "NaT"], dtype="M8[us]")).levels
    ('2020-01-31', '2020-01-31T12:30:00')
    """
    values = values.astype("M8[s]")
    gaps = np.isnat(values)
    met, place = np.unique(values[~gaps], return_inverse=True)
    written = np.datetime_as_string(met, unit="s").tolist()
    codes = np.full(len(values), -1, dtype=np.int32)
    codes[~gaps] = place
    levels = tuple(level.removesuffix("T00:00:00") for level in written)
    return Labels("time" if levels else "empty", codes, levels)


def read_objects(values: Sequence[Any], name: str) -> Cells:
    """Read a column of Python objects by what its cells are: numbers, true/false, strings or a mixture."""
    families = {kind: _family(kind) for kind in set(map(type, values))}
    if "other" in families.values():
        if all(family == "missing" or issubclass(kind, datetime.date) for kind, family in families.items()):
            return times(np.array([_moment(value) for value in values], dtype="M8[us]"))
        _refuse_cell(values, families, name)
    found = set(families.values()) - {"missing"}
    if found <= {"number", "boolean"}:
        missing = np.fromiter(map(is_missing, values), dtype=np.bool_, count=len(values))
        if missing.all():
            return Labels("empty", np.full(len(values), -1, dtype=np.int32), ())
        if found == {"boolean"}:
            filled = [not gap and bool(value) for value, gap in zip(values, missing, strict=True)]
            return Numbers("boolean", np.array(filled), missing if missing.any() else None)
        return _read_number_objects(values, missing)
    labels = factorize(values, "string")
    if not labels.are_strings:
        return Labels("mixed", labels.codes, labels.levels)
    return labels


def _moment(value: Any) -> Any:
    """Return a date or time without its time zone, NaT for a gap."""
    if is_missing(value) or not isinstance(value, datetime.date):
        return np.datetime64("NaT", "us")
    return np.datetime64(value.replace(tzinfo=None) if isinstance(value, datetime.datetime) else value)


def _read_number_objects(values: Sequence[Any], missing: Bools) -> Numbers:
    pairs = list(zip(values, missing.tolist(), strict=True))
    if all(gap or isinstance(value, int | np.integer) for value, gap in pairs):
        whole = [0 if gap else int(value) for value, gap in pairs]
        if max(map(abs, whole)) < 2**63:
            return Numbers("integer", np.array(whole, dtype=np.int64), missing if missing.any() else None)
    return Numbers("float", np.array([math.nan if gap else _float(value) for value, gap in pairs]))


def _float(value: Any) -> float:
    """Return a number as a float; infinity, which is refused later on, for an integer beyond all floats."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _family(kind: type) -> Literal["missing", "boolean", "number", "string", "other"]:
    if issubclass(kind, bool | np.bool_):
        return "boolean"
    if issubclass(kind, np.timedelta64):  # which numpy counts among the integers
        return "other"
    if issubclass(kind, Real | Decimal | np.integer | np.floating):
        return "number"
    if issubclass(kind, str):
        return "string"
    return "missing" if kind is type(None) or kind.__name__ in {"NAType", "NaTType"} else "other"


def _refuse_cell(values: Sequence[Any], families: Mapping[type, str], name: str) -> None:
    row, value = next((i, v) for i, v in enumerate(values) if families[type(v)] == "other")
    if isinstance(value, complex | np.complexfloating):
        raise ValueError(f"Complex data not supported: column {name!r} holds {value!r} in row {row}")
    if isinstance(value, datetime.date | datetime.time | datetime.timedelta | np.datetime64 | np.timedelta64):
        raise ValueError(time_message(name, type(value).__name__))
    raise TypeError(
        f"column {name!r}, row {row}: a cell argument must be a string or a number (or missing), "
        f"not {type(value).__name__} {quoted(value)}; turn the column into numbers or strings, or drop it"
    )


def time_message(name: str, type_name: str) -> str:
    """Return the message that refuses dates, times and durations."""
    return (
        f"column {name!r} holds {type_name} values, which have no kind of their own here; "
        "derive a number from them (the year, the hour, or the days since a date), or drop the column"
    )


def mixture_message(name: str, labels: Labels) -> str:
    """Return the message that refuses strings and numbers in one column."""
    types = sorted({type(level).__name__ for level in labels.levels})
    return (
        f"column {name!r} mixes values of type {' and '.join(types)} ({listed(labels.levels, 4)}); "
        f'convert them to one type, or declare kinds={{{name!r}: "categorical"}}'
    )
