"""From a family to the sums it is fitted by, worked out on a device: to add a family, enter it in `SUMS`."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np

from posterior._types import Floats
from posterior.engines.device import cuda
from posterior.engines.device.categories import distinct, levels_of, places_of
from posterior.engines.device.precision import rounding_of
from posterior.engines.device.rows import TO_THE_HOST, DeviceRows
from posterior.engines.device.rows import class_weights as portable_class_weights
from posterior.families import Bernoulli, Categorical, FewValues, Multinomial, MultivariateNormal, Normal
from posterior.families.bernoulli import above
from posterior.families.multinomial import NEGATIVE
from posterior.kernels import array_api, in_precision_of
from posterior.schema.kinds import LARGEST, overflow_message
from posterior.stats import CategoryCounts, Location, Moments, Scatter, Statistics, Totals, ValueTable
from posterior.stats.value_table import MOST

M = TypeVar("M", Moments, ValueTable)
Sum = Callable[[Any, DeviceRows, tuple[int, ...]], Statistics]


class TrainingRows(DeviceRows):
    """Rows on a device that a generative model is fitted to."""

    def family_sums(self, blocks: Sequence[Any]) -> tuple[Floats, int, tuple[Statistics, ...]]:
        """Class weights, number of rows and the statistics of each block, all worked out on the device."""
        found = tuple(statistics_of(block.family, self, block.columns) for block in blocks)
        return class_weights(self), self.n_rows, found


def statistics_of(family: Any, rows: DeviceRows, columns: tuple[int, ...]) -> Statistics:
    """The statistics of some columns that a family is fitted by."""
    known = SUMS.get(type(family))
    if known is None:
        able = ", ".join(sorted(kind.__name__ for kind in SUMS))
        raise ValueError(
            f"{type(family).__name__} is not fitted to arrays on a device, which {able} are; {TO_THE_HOST}"
        )
    found = known(family, rows, columns)
    if not found.magnitude < LARGEST:
        _refuse_large(rows, columns, found)
    return found


def _refuse_large(rows: DeviceRows, columns: tuple[int, ...], found: Statistics) -> None:
    """Raise the error of infinite numbers, or of those too large for sums of squares."""
    rows.refuse_infinity(columns)
    place = getattr(found, "location", None)
    sizes = np.zeros((1, len(columns))) if place is None else np.abs(place.value)
    j = int(np.nan_to_num(sizes, nan=np.inf).max(axis=0).argmax())
    raise ValueError(overflow_message(rows.schema.names[columns[j]], float(sizes[:, j].max()), 0))


def class_weights(rows: DeviceRows) -> Floats:
    """The weight of each class, (K,)."""
    fast = cuda.class_weights(rows)
    return portable_class_weights(rows) if fast is None else fast


def _moments(_family: Any, rows: DeviceRows, columns: tuple[int, ...]) -> Moments:
    """Weight, mean and sum of squares by class."""
    found = cuda.class_moments(rows, columns)
    return told_apart(moments(rows, columns) if found is None else found, rows, columns)


def moments(rows: DeviceRows, columns: Sequence[int]) -> Moments:
    """The moments of some columns by class, by the array API."""
    library, pivot = rows.library, rows.pivots(columns)
    on_device, host = library.to_device(pivot), library.to_host
    found = []
    for part in rows.parts(columns):
        sums = array_api.class_moments(
            library.xp, part.rows, part.codes, part.weight, rows.n_classes, on_device
        )
        weight, remainder, scatter = (host(array).astype(np.float64) for array in sums)
        place = Location.sum(pivot, remainder)
        found.append(Moments(weight, place, scatter, np.zeros(len(columns))))
    return reduce(add, found)


def told_apart(found: M, rows: DeviceRows, columns: Sequence[int]) -> M:
    """Sums with marks, which are equal for columns that agree in every row."""
    mark = np.arange(1.0, len(columns) + 1)
    for fact in replace(found, mark=np.zeros_like(mark)).facts():
        if fact.problem == "duplicate" and _same(rows, columns[fact.of[0]], columns[fact.column]):
            mark[fact.column] = mark[fact.of[0]]
    return replace(found, mark=mark)


def _same(rows: DeviceRows, i: int, j: int) -> bool:
    """Whether two columns agree in every row, gaps included."""
    a, b = rows.table[:, i], rows.table[:, j]
    return bool(rows.library.scalar(rows.library.xp.all((a == b) | ((a != a) & (b != b)))))  # noqa: PLR0124


def _scatter(family: MultivariateNormal, rows: DeviceRows, columns: tuple[int, ...]) -> Scatter:
    """Weight, mean and scatter by class, pooled where classes share all; rows with gaps are kept apart."""
    pooled, fourth = family._pools_at_once, family._wants_fourth
    found = None if fourth else cuda.class_scatter(rows, columns, pooled=pooled)
    return scatter(rows, columns, pooled=pooled, fourth=fourth) if found is None else found


def scatter(rows: DeviceRows, columns: Sequence[int], *, pooled: bool, fourth: bool) -> Scatter:
    """The scatter of some columns by class, by the array API."""
    library, pivot = rows.library, rows.pivots(columns)
    on_device, host, xp = library.to_device(pivot), library.to_host, library.xp
    groups = 1 if pooled else rows.n_classes
    found: list[Scatter] = []
    gaps: list[Moments] = []
    largest = np.zeros(len(columns))
    for part in rows.parts(columns, 3 * len(columns) + 2 * rows.n_classes):
        complete = xp.all(~xp.isnan(part.rows), axis=1)
        if not library.scalar(xp.all(complete)):
            gaps.append(_gap_moments(rows, part, ~complete, pivot))
            part = _some(xp, part, complete)  # noqa: PLW2901
        if not part.rows.shape[0]:
            continue
        largest = np.maximum(largest, host(xp.max(xp.abs(part.rows), axis=0)).astype(np.float64))
        sums = array_api.class_scatter(
            xp, part.rows, part.codes, part.weight, rows.n_classes, on_device, pooled=pooled, fourth=fourth
        )
        weight, remainder, matrix = (host(array).astype(np.float64) for array in sums[:3])
        third, last = (None if a is None else host(a).astype(np.float64) for a in sums[3:])
        place = Location.sum(pivot, remainder)
        found.append(Scatter(weight, place, matrix, np.zeros(len(columns)), third, last, pooled))
    if not found:
        d = len(columns)
        zero = np.zeros((groups, d, d))
        more = zero if fourth else None
        nothing = Location(np.zeros((rows.n_classes, d)), np.zeros((rows.n_classes, d)))
        found = [Scatter(np.zeros(rows.n_classes), nothing, zero, np.zeros(d), more, more, pooled)]
    total = reduce(add, found)
    rounding = rounding_of(rows, columns, largest)
    return replace(total, rounding=rounding, gaps=reduce(add, gaps) if gaps else None)


def _some(xp: Any, part: Any, keep: Any) -> Any:
    """The rows of a part that are kept."""
    places = xp.nonzero(keep)[0]
    weight = None if part.weight is None else xp.take(part.weight, places, axis=0)
    return type(part)(xp.take(part.rows, places, axis=0), xp.take(part.codes, places, axis=0), weight)


def _gap_moments(rows: DeviceRows, part: Any, keep: Any, pivot: Floats) -> Moments:
    """The moments of the rows of a part that have gaps."""
    library = rows.library
    some = _some(library.xp, part, keep)
    on_device = library.to_device(pivot)
    sums = array_api.class_moments(library.xp, some.rows, some.codes, some.weight, rows.n_classes, on_device)
    weight, remainder, squares = (library.to_host(array).astype(np.float64) for array in sums)
    place = Location.sum(pivot, remainder)
    return Moments(weight, place, squares, np.zeros(pivot.shape[1]))


def _ones(family: Bernoulli, rows: DeviceRows, columns: tuple[int, ...]) -> Totals:
    """Weight of the cells that are there and of the ones, by class."""
    library = rows.library
    xp, threshold = library.xp, above(family.threshold)
    if rows.single:
        threshold = in_precision_of(np.empty(0, np.float32), threshold)
    if family.threshold is None:
        _refuse_outside(rows, columns, lambda x: (x != 0) & (x != 1), "a Bernoulli column takes 0 and 1")
    there = total = np.zeros((rows.n_classes, len(columns)))
    for part in rows.parts(columns):
        on = xp.astype(part.rows > threshold, part.rows.dtype)
        seen = xp.astype(~xp.isnan(part.rows), part.rows.dtype)
        classes = part.codes, part.weight, rows.n_classes
        total = total + library.to_host(array_api.class_sums(xp, on, *classes))
        there = there + library.to_host(array_api.class_sums(xp, seen, *classes))
    rows.refuse_infinity(columns)
    return Totals(there, total, np.zeros_like(total), None, binary=True)


def _refuse_outside(
    rows: DeviceRows, columns: tuple[int, ...], wrong: Callable[[Any], Any], rule: str
) -> None:
    """Raise the error of a value outside the support of a family, naming its column."""
    xp, library = rows.library.xp, rows.library
    for part in rows.parts(columns):
        found = wrong(part.rows) & ~xp.isnan(part.rows)
        bad = library.to_host(xp.any(found, axis=0))
        if bad.any():
            j = int(bad.argmax())
            row = int(library.scalar(xp.argmax(xp.astype(found[:, j], xp.int32))))
            value = library.scalar(part.rows[row, j])
            raise ValueError(f"column {rows.schema.names[columns[j]]!r} holds {value:g}: {rule}")


def _totals(family: Multinomial, rows: DeviceRows, columns: tuple[int, ...]) -> Totals:
    """Sums of counts by class over the rows without gaps."""
    library, K = rows.library, rows.n_classes
    xp, host = library.xp, library.to_host
    if not family.ordered:
        raise ValueError(
            "Multinomial(ordered=False) counts orders by ln n!, which arrays on a device have not; use "
            f"ordered=True, as MultinomialNB does, or {TO_THE_HOST}"
        )
    _refuse_outside(rows, columns, lambda x: x < 0, NEGATIVE)
    rows.refuse_infinity(columns)
    weight, total, unread = np.zeros(K), np.zeros((K, len(columns))), 0.0
    for part in rows.parts(columns):
        complete = xp.all(~xp.isnan(part.rows), axis=1)
        if not library.scalar(xp.all(complete)):
            gone = _some(xp, part, ~complete)
            unread += float(
                gone.codes.shape[0] if gone.weight is None else library.scalar(xp.sum(gone.weight))
            )
            part = _some(xp, part, complete)  # noqa: PLW2901
        classes = part.codes, part.weight, K
        total += host(array_api.class_sums(xp, part.rows, *classes))
        weight += host(array_api.class_weights(xp, *classes, part.rows.dtype))
    return Totals(weight[:, None], total, np.zeros((K, 1)), unread=unread)


def _categories(family: Categorical, rows: DeviceRows, columns: tuple[int, ...]) -> CategoryCounts:
    """The weight of every category by class, column by column."""
    if family.joint:
        raise ValueError(f"joint tables of categories are not counted on a device; {TO_THE_HOST}")
    library, K = rows.library, rows.n_classes
    xp, sizes = library.xp, [rows.schema.columns[j].size for j in columns]
    tables = []
    for j, size in zip(columns, sizes, strict=True):
        table = np.zeros((K, size))
        for part in rows.parts((j,), size + K):
            levels = levels_of(library, part.rows[:, 0], rows.schema.columns[j])
            table += library.to_host(
                array_api.category_table(xp, levels, part.codes, part.weight, (K, size), library.floats)
            )
        tables.append(table)
    return CategoryCounts(tuple(tables), False, None)


def _values(_family: FewValues, rows: DeviceRows, columns: tuple[int, ...]) -> ValueTable:
    """The distinct numbers of every column, and their weights by class."""
    library, xp, K = rows.library, rows.library.xp, rows.n_classes
    values, tables = [], []
    for j in columns:
        found = rows.numbers(distinct(library, rows.table[:, j]))
        size = found.shape[0]
        if size > MOST:
            raise ValueError(
                f"column {rows.schema.names[j]!r} has {size:,} distinct values, and FewValues counts at most "
                f"{MOST:,} on a device; choose another family for it, or {TO_THE_HOST}"
            )
        table = np.zeros((K, size))
        for part in rows.parts((j,), size + K) if size else ():
            place = places_of(library, part.rows[:, 0], found)
            table += library.to_host(
                array_api.category_table(xp, place, part.codes, part.weight, (K, size), library.floats)
            )
        values.append(library.to_host(found).astype(np.float64))
        tables.append(table)
    none = np.zeros(len(columns))
    return told_apart(ValueTable(tuple(values), tuple(tables), none, none), rows, columns)


SUMS: dict[type, Sum] = {
    Normal: _moments,
    MultivariateNormal: _scatter,
    Bernoulli: _ones,
    Categorical: _categories,
    FewValues: _values,
    Multinomial: _totals,
}
