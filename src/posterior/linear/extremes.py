"""Training columns of numbers so large, or so close together, that their squares overflow or vanish."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from operator import and_
from typing import Any

import numpy as np

from posterior import kernels
from posterior._types import Floats
from posterior.dataset import Chunk, Rows
from posterior.kernels.choice import compiled
from posterior.schema import Schema
from posterior.schema.kinds import LARGEST, SMALLEST, faint_message, overflow_message
from posterior.stats.base import FieldSums

# Rows that show of most columns that they vary enough.
FIRST = 256


@dataclass(frozen=True, eq=False)
class Ranges(FieldSums, low=np.fmin, high=np.fmax, exact=and_):
    """The smallest and the largest number of every column; of some rows only, unless they are `exact`."""

    low: Floats
    high: Floats
    exact: bool = True

    @classmethod
    def of_columns(cls, columns: Sequence[Floats]) -> "Ranges | None":
        """The ranges of columns as they lie; None where a number is missing or infinite.

        >>> Ranges.of_columns([np.array([2.0, 1.0]), np.array([3.0, 5.0])])
        Ranges(low=array([1., 3.]), high=array([2., 5.]), exact=True)
        >>> Ranges.of_columns([np.array([2.0, np.nan])])
        """
        with np.errstate(invalid="ignore"):
            low = np.array([column.min() for column in columns], dtype=np.float64)
            high = np.array([column.max() for column in columns], dtype=np.float64)
        return cls(low, high) if np.isfinite(low).all() and np.isfinite(high).all() else None

    @classmethod
    def of(cls, matrix: Any, largest: float, smallest: float) -> "Ranges":
        """The ranges of these rows, dense or sparse; NaN for a column without a number."""
        if kernels.is_sparse(matrix):
            low, high = np.zeros(matrix.shape[1]), np.zeros(matrix.shape[1])
            np.fmin.at(low, matrix.indices, matrix.data)
            np.fmax.at(high, matrix.indices, matrix.data)
            return cls(low, high)
        first = cls._of_all(matrix[:FIRST])
        if (first.spread >= smallest).all() and -largest <= matrix.min() and matrix.max() <= largest:
            return replace(first, exact=False)
        return cls._of_all(matrix)

    @classmethod
    def of_parts(cls, parts: Any) -> "Ranges | None":
        """The ranges that `ranges_of_parts` looked for; None where a number is missing or infinite."""
        ends = parts.ranges()
        return None if ends is None else cls(*ends)

    @classmethod
    def _of_all(cls, matrix: Floats) -> "Ranges":
        return cls(np.fmin.reduce(matrix, axis=0), np.fmax.reduce(matrix, axis=0))

    @property
    def spread(self) -> Floats:
        """How far apart the numbers of each column are."""
        with np.errstate(over="ignore"):
            return self.high - self.low


def ranges_of_parts(table: Any, size: int) -> Any:
    """What looks for the ranges of parts of at least `size` rows, if compiled code reads them as they lie."""
    kernel = compiled("column_ranges", size * table.shape[1])
    return None if kernel is None else kernel.ranges_of_parts(table, size)


@dataclass(frozen=True)
class _Place:
    """The row of the number furthest from another one, and that number."""

    row: int
    value: float
    distance: float

    def __add__(self, other: "_Place") -> "_Place":
        return self if self.distance >= other.distance else other


def limits(degree: int) -> tuple[float, float]:
    """The largest number, and the smallest difference, that a fit can bear.

    Slopes are products of numbers and targets, and are squared; with `degree` 2 numbers are squared before.
    """
    return LARGEST ** (0.5 / degree), SMALLEST ** (0.5 / degree)


def refuse_ranges(rows: Rows, numbers: tuple[int, ...], schema: Schema, degree: int, seen: Ranges) -> None:
    """Refuse a column of numbers so large, or so close together, that a fit would overflow or lose them."""
    largest, smallest = limits(degree)
    size = np.fmax(np.abs(seen.low), np.abs(seen.high))
    large = np.flatnonzero(size > largest).tolist()
    if large:
        place = rows.reduce(partial(_furthest, column=numbers[large[0]], anchor=0.0), dense=1)
        raise ValueError(overflow_message(schema.columns[numbers[large[0]]].name, place.value, place.row))
    faint = np.flatnonzero((seen.spread > 0) & (seen.spread < smallest)).tolist()
    if faint:
        anchor = float(seen.low[faint[0]])
        place = rows.reduce(partial(_furthest, column=numbers[faint[0]], anchor=anchor), dense=1)
        raise ValueError(faint_message(schema.columns[numbers[faint[0]]].name, place.distance, place.row))


def _furthest(chunk: Chunk, column: int, anchor: float) -> _Place:
    """The number of a column that is furthest from another one."""
    cells = chunk.matrix((column,))
    values = (cells.toarray() if kernels.is_sparse(cells) else np.asarray(cells))[:, 0]
    with np.errstate(over="ignore"):
        distance = np.where(np.isnan(values), -1.0, np.abs(values - anchor))
    i = int(distance.argmax())
    return _Place(chunk.row(i), float(values[i]), float(distance[i]))
