"""What must be known of a whole table before its rows are summed up: how many, classes, levels of strings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from posterior import kernels
from posterior._types import AnyArray, Ints
from posterior.engines.base import Place

T = TypeVar("T")

# Different values of a column that are kept; of an identifier there would be as many as rows.
MOST_LEVELS = 100_000
# Whole numbers that are no further apart are counted and looked up by their places.
CLOSE = 1 << 12
# Whole numbers from 0 on that are counted at once, as classes often are.
FEW = 1 << 10


def summed(a: Mapping[Any, T], b: Mapping[Any, T]) -> dict[Any, T]:
    """Numbers by name, added up."""
    both = dict(a)
    for name, n in b.items():
        both[name] = both[name] + n if name in both else n
    return both


def plain(column: Any) -> Any:
    """A column without its encoding: a dictionary's values, decimals as floats; −0.0 is 0.0, NaN no value."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if not pa.types.is_floating(column.type):
        return column
    column = pc.add(column, pa.scalar(0.0, column.type))
    if not pc.any(pc.is_nan(column)).as_py():
        return column
    return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)


def whole_numbers(column: Any) -> Ints | None:
    """The cells of a column of whole numbers without a gap; None of another one, or beyond 64 bits."""
    if not pa.types.is_integer(column.type) or column.null_count:
        return None
    numbers = np.asarray(column.to_numpy())
    if numbers.dtype == np.uint64 and len(numbers) and int(numbers.max()) > np.iinfo(np.int64).max:
        return None
    return numbers.astype(np.int64, copy=False)


def as_array(column: Any) -> AnyArray:
    """The cells of a column as an array of NumPy."""
    column = plain(column)
    if not pa.types.is_primitive(column.type):
        return np.asarray(column.to_pylist())
    return np.asarray(column.to_numpy() if isinstance(column, pa.ChunkedArray) else column.to_numpy(False))


@dataclass(frozen=True)
class Levels:
    """The different values of a column with their numbers of rows, None where they are too many; and gaps."""

    counts: Mapping[Any, int] | None
    n_missing: int

    def __add__(self, other: "Levels") -> "Levels":
        missing = self.n_missing + other.n_missing
        if self.counts is None or other.counts is None:
            return Levels(None, missing)
        both = summed(self.counts, other.counts)
        return Levels(both if len(both) <= MOST_LEVELS else None, missing)

    @classmethod
    def of(cls, column: Any) -> "Levels":
        """Those of an array of Arrow; NaN is a gap."""
        whole = whole_numbers(column)
        few = None if whole is None else kernels.count_small(whole, FEW)
        if few is not None:
            there = np.flatnonzero(few)
            return cls(dict(zip(there.tolist(), few[there].tolist(), strict=True)), 0)
        if whole is not None and len(whole):
            low, high = int(whole.min()), int(whole.max())
            if high - low < CLOSE:
                counted = np.bincount(whole - low)
                there = np.flatnonzero(counted)
                return cls(dict(zip((there + low).tolist(), counted[there].tolist(), strict=True)), 0)
        valid = plain(column).drop_null()
        found = pc.value_counts(valid)
        missing = len(column) - len(valid)
        if len(found) > MOST_LEVELS:
            return cls(None, missing)
        values, counts = found.field("values").to_pylist(), found.field("counts").to_pylist()
        return cls(dict(zip(values, counts, strict=True)), missing)


@dataclass(frozen=True)
class Survey:
    """The number of rows, the levels of some columns, and the weights of classes, None if too many."""

    n_rows: int
    levels: Mapping[str, Levels]
    weights: Mapping[Any, float] | None = field(default_factory=dict)

    def __add__(self, other: "Survey") -> "Survey":
        both = {name: found + other.levels[name] for name, found in self.levels.items()}
        return Survey(self.n_rows + other.n_rows, both, self._both_weights(other))

    def _both_weights(self, other: "Survey") -> Mapping[Any, float] | None:
        """The weights of both; None where there are too many."""
        if self.weights is None or other.weights is None:
            return None
        weights = summed(self.weights, other.weights)
        return weights if len(weights) <= MOST_LEVELS else None


@dataclass(frozen=True)
class SurveyWork:
    """Surveys some columns of a batch, of the rows that count."""

    columns: tuple[str, ...]
    target: str | None = None
    weight: str | None = None

    def __call__(self, batch: Any, place: Place) -> Survey:
        """What a batch holds; rows of weight zero are not there, nor those without a class."""
        heavy = counting_rows(batch, None, self.weight)
        rows = counting_rows(heavy, self.target, None)
        # Of the target itself it is told how many rows have none.
        levels = {
            name: Levels.of((heavy if name == self.target else rows).column(name)) for name in self.columns
        }
        return Survey(rows.num_rows, levels, self._weights(rows))

    def _weights(self, rows: Any) -> dict[Any, float]:
        """The weight of each class, where rows have weights and classes are few."""
        if self.weight is None or self.target is None or self.target not in self.columns:
            return {}
        heavy = rows.column(self.weight).cast(pa.float64())
        pairs = pa.table({"label": plain(rows.column(self.target)), "weight": heavy})
        found = pairs.group_by("label").aggregate([("weight", "sum")])
        totals = found.column("weight_sum").to_pylist()
        return {k: float(w or 0.0) for k, w in zip(found.column("label").to_pylist(), totals, strict=True)}


def counting_rows(batch: Any, target: str | None, weight: str | None) -> Any:
    """The rows of a batch that have a class and do not weigh nothing."""
    if weight is not None:
        heavy = batch.column(weight).cast(pa.float64())
        if pc.any(pc.equal(heavy, 0)).as_py():
            batch = batch.filter(pc.fill_null(pc.not_equal(heavy, 0), True))
    if target is not None:
        batch = batch.filter(is_there(batch.column(target))) if _has_gaps(batch.column(target)) else batch
    return batch


def is_there(column: Any) -> Any:
    """Which cells have a value."""
    return pc.is_valid(plain(column))


def _has_gaps(column: Any) -> bool:
    return bool(plain(column).null_count)


def is_number(kind: Any) -> bool:
    """Whether cells of a type are numbers, or true and false."""
    tests = (pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean)
    return any(test(kind) for test in tests)


def columns_of_strings(schema: Any, names: Sequence[str]) -> list[str]:
    """The columns of strings or of categories among some."""
    return [name for name in names if _is_string(schema.field(name).type)]


def _is_string(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))
