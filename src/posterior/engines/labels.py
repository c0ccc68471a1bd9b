"""The column to learn of a table that is elsewhere: classes as codes, or numbers."""

import datetime
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posterior import kernels
from posterior._text import listed
from posterior._types import AnyArray, Floats, Ints
from posterior.engines.survey import CLOSE, FEW, is_number, plain, whole_numbers

# Dates among labels, which are arrays of dates in memory.
DATES = {datetime.date, datetime.datetime}


@dataclass(frozen=True, eq=False)
class Target:
    """A column to learn: its classes, sorted, or None where it holds numbers; weights of classes, if any."""

    name: str
    classes: AnyArray | None = None
    class_weight: Floats | None = None

    def read(self, column: Any) -> AnyArray:
        """The codes of classes, or the numbers, of the rows of a batch."""
        if self.classes is None:
            return read_numbers(column, self.name)
        column = plain(column)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        whole = whole_numbers(column)
        if whole is not None and self._places is not None:
            found = self._places.of(whole)
            if found is not None:
                return found
        known = pa.array(self.classes.tolist(), type=column.type)
        codes = pc.index_in(column, value_set=known)
        if codes.null_count:
            new = pc.unique(column.filter(pc.is_null(codes))).to_pylist()
            raise ValueError(
                f"column {self.name!r} holds {listed(new, 3)}, which is none of the classes found before: "
                "the rows have changed since; scan them again"
            )
        return np.asarray(codes.to_numpy(zero_copy_only=False), dtype=np.int64)

    @cached_property
    def _places(self) -> "_Places | None":
        """Where each class stands, if classes are whole numbers that lie close together."""
        classes = self.classes
        if classes is None or classes.dtype.kind not in "iu" or not len(classes):
            return None
        first, last = int(classes[0]), int(classes[-1])
        if last - first >= CLOSE or last > np.iinfo(np.int64).max:
            return None
        places = np.full(last - first + 1, -1, dtype=np.int64)
        places[classes.astype(np.int64) - first] = np.arange(len(classes))
        return _Places(first, places)


@dataclass(frozen=True, eq=False)
class _Places:
    """The places of whole numbers from `first` on, −1 of those that have none."""

    first: int
    places: Ints

    @cached_property
    def are_numbers(self) -> bool:
        """Whether places are the numbers: classes are 0, 1, 2 and so on, up to a few."""
        return not self.first and len(self.places) <= FEW and bool((np.diff(self.places) == 1).all())

    def of(self, numbers: Ints) -> Ints | None:
        """The places of numbers, which may be the numbers themselves; None where one of them has none."""
        if not len(numbers):
            return np.zeros(0, dtype=np.int64)
        if self.are_numbers and kernels.count_small(numbers, len(self.places)) is not None:
            return numbers
        low, high = int(numbers.min()), int(numbers.max())
        if low < self.first or high >= self.first + len(self.places):
            return None
        found = self.places[numbers - self.first]
        return found if found.min() >= 0 else None


def read_numbers(column: Any, name: str) -> AnyArray:
    """Numbers to predict, finite."""
    column = plain(column)
    if not is_number(column.type):
        raise ValueError(
            f"column {name!r}, which is to be predicted, holds {column.type}; numbers were expected"
        )
    wide = column.cast(pa.float64(), safe=False)
    numbers = np.asarray(wide.to_numpy(zero_copy_only=False), dtype=np.float64)
    bad = ~np.isfinite(numbers)
    if bad.any():
        raise ValueError(f"column {name!r}, which is to be predicted, holds {numbers[bad.argmax()]}")
    return numbers


def sorted_classes(found: Iterable[Any], name: str) -> AnyArray:
    """The classes of a column as an array, sorted; labels of several types are refused."""
    labels = list(found)
    kinds = {type(label) for label in labels}
    if len(kinds) > 1:
        raise ValueError(f"column {name!r} mixes {listed(sorted(kind.__name__ for kind in kinds))}")
    classes = np.unique(np.array(labels))
    if classes.dtype.kind == "f" and (classes % 1 != 0).any():
        raise ValueError(
            f"Unknown label type: continuous. Column {name!r} holds numbers such as {classes[0]:g}, no "
            "classes; a number is predicted by LinearRegression"
        )
    return classes.astype("M8[us]") if classes.dtype.kind == "O" and kinds & DATES else classes
