"""The distinct values of every column with their weights by class: all that families without sums need."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Self

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.schema.kinds import SMALLEST
from posterior.stats.base import (
    LARGEST_VALUE,
    ColumnFact,
    Fill,
    Statistics,
    addable,
    marked_repeats,
    within,
)

# So many distinct values of a column are kept one by one; of more, so many cells of a grid.
MOST = 4096


@dataclass(frozen=True, eq=False)
class ValueTable(Statistics):
    """Weight (K, V_j) of every distinct value (V_j,) of each column, sorted; missing cells are not counted.

    A column with more than `most` distinct values is kept on a grid whose step is a power of two: each value
    counts as the middle of its cell. The step is the smallest that leaves no more than `most` cells with
    values. Such grids are nested, so that the step, and with it the table, is the same whatever the parts and
    their order. Steps are 0 where values are kept as they are. `most` is at least 2: a cell ends at 0.

    >>> rows = ValueTable.of(np.array([[1.0], [3.0], [1.0]]), np.array([0, 0, 1]), None, 2)
    >>> rows.values, rows.tables
    ((array([1., 3.]),), (array([[1., 1.],
           [1., 0.]]),))
    """

    values: Annotated[tuple[Floats, ...], "... value"]
    tables: Annotated[tuple[Floats, ...], "K ... >=0"]
    step: Annotated[Floats, "d >=0"]
    mark: Annotated[Floats, "d finite"]
    most: int = MOST

    @classmethod
    def of(cls, block: Any, y: Ints, weight: Floats | None, n_classes: int, *, most: int = MOST) -> Self:
        """The values of these rows, dense or sparse."""
        mark = kernels.column_marks(block, weight)
        if kernels.is_sparse(block):
            flat = _of_sparse(block, y, weight, n_classes)
            return cls._of_flat(*flat, np.zeros(block.shape[1]), mark, most)
        w = np.ones(len(y)) if weight is None else weight
        found = [_one(x, y, w, n_classes) for x in block.T]
        columns = [_on_grid(values, table, 0.0, most) for values, table in found]
        values, tables, steps = zip(*columns, strict=True) if columns else ((), (), ())
        return cls(values, tables, np.array(steps, dtype=np.float64), mark, most)

    @classmethod
    def _of_flat(
        cls, values: Floats, tables: Floats, sizes: Ints, step: Floats, mark: Floats, most: int
    ) -> Self:
        """The table of columns whose values (V,) and weights (K, V) follow each other, so many of each."""
        bounds = np.cumsum(sizes)[:-1]
        columns = list(np.split(values, bounds)) if len(sizes) else []
        weights = [tables[:, end - size : end] for end, size in zip(np.cumsum(sizes), sizes, strict=True)]
        step = step.copy()
        for j in np.flatnonzero(sizes > most).tolist():
            columns[j], weights[j], step[j] = _on_grid(columns[j], weights[j], float(step[j]), most)
        return cls(tuple(columns), tuple(weights), step, mark, most)

    @property
    def sizes(self) -> Ints:
        """How many distinct values each column has, (d,)."""
        return np.fromiter(map(len, self.values), dtype=np.int64, count=len(self.values))

    def flat(self) -> tuple[Floats, Floats, Ints]:
        """The values (V,) and weights (K, V) of all columns, one after the other, and where each begins."""
        sizes = self.sizes
        values = np.concatenate([np.zeros(0), *self.values])
        return values, np.concatenate(self.tables, axis=1), np.cumsum(sizes) - sizes

    def __add__(self, other: Self) -> Self:
        mark = self.mark + other.mark
        if self.values and not (self.step.any() or other.step.any()):
            return self._of_flat(*_flat_sum(self, other), self.step, mark, self.most)
        columns = [
            _merged((v, t, s), (u, r, q), self.most)
            for v, t, s, u, r, q in zip(
                self.values, self.tables, self.step, other.values, other.tables, other.step, strict=True
            )
        ]
        values, tables, steps = zip(*columns, strict=True) if columns else ((), (), ())
        return type(self)(values, tables, np.array(steps, dtype=np.float64), mark, self.most)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return len(self.tables[0])

    def place(self, j: int, x: Floats) -> Ints:
        """Where values (n,) of column `j` are in its table; they are among those that were counted."""
        step = float(self.step[j])
        cells = _middle(x, step, 0.0) if step else x
        return np.searchsorted(self.values[j], cells).clip(0, max(len(self.values[j]) - 1, 0))

    def marginal(self, columns: Sequence[int]) -> Self:
        """The values of some of the columns."""
        keep = list(columns)
        values, tables = (tuple(each[j] for j in keep) for each in (self.values, self.tables))
        return type(self)(values, tables, self.step[keep], self.mark[keep], self.most)

    def _sums(self) -> tuple[Floats, ...]:
        means = [kernels.ratio(t @ v, t.sum(axis=1)) for v, t in zip(self.values, self.tables, strict=True)]
        return (*(table.sum(axis=1) for table in self.tables), *means)

    def impossible(self, weight: Floats) -> str:
        """Values that weigh more than the rows, that are not sorted, or that nothing weighs."""
        if len(self.step) != len(self.values) or len(self.tables) != len(self.values):
            return "tables of values of other columns"
        if self.most < 2 or any(len(values) > self.most for values in self.values):
            return "more values than a table keeps"
        for values, table in zip(self.values, self.tables, strict=True):
            if wrong := _impossible_column(values, table, weight):
                return wrong
        if not all(_is_step(step) for step in self.step.tolist()):
            return "a grid whose step is no power of two"
        return "" if addable(self.mark, *self.tables) else "sums that are too large to be added to"

    @property
    def magnitude(self) -> float:
        """The largest number among the rows."""
        return float(max((np.abs(v).max(initial=0.0) for v in self.values), default=0.0))

    @property
    def faint(self) -> Ints:
        """Columns that are constant or nearly so."""
        spread = [v[-1] - v[0] if len(v) else 0.0 for v in self.values]
        return np.flatnonzero(np.array(spread) < SMALLEST)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns without a value, constant ones, and those that repeat an earlier one."""
        problem = {0: "empty", 1: "constant"}
        alone = {j: problem[len(v)] for j, v in enumerate(self.values) if len(v) <= 1}

        def line(j: int) -> bytes:
            return self.values[j].tobytes() + self.tables[j].tobytes()

        return (
            *(ColumnFact(j, "empty") for j, found in alone.items() if found == "empty"),
            *(ColumnFact(j, "constant") for j, found in alone.items() if found == "constant"),
            *marked_repeats(self.mark, line, set(alone)),
        )

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The value of a constant column."""
        if fact.problem != "constant":
            return None
        return Fill(float(self.values[fact.column][0]), np.zeros(0))


def _impossible_column(values: Floats, table: Floats, weight: Floats) -> str:
    """What no rows of these class weights have as the values of one column."""
    if values.ndim != 1 or table.shape != (len(weight), len(values)):
        return "weights of other values"
    if not (np.diff(values) > 0).all():
        return "values that are not sorted"
    if not (table.sum(axis=0) > 0).all():
        return "values that no row has"
    return "" if within(table.sum(axis=1), weight) else "values that weigh more than their rows"


Column = tuple[Floats, Floats, float]


def _one(x: Floats, y: Ints, weight: Floats, n_classes: int) -> tuple[Floats, Floats]:
    """The distinct values of a column, and their weights by class."""
    there = ~np.isnan(x) & (weight > 0)
    values, place = np.unique(x[there], return_inverse=True)
    table = np.zeros((n_classes, len(values)))
    np.add.at(table, (y[there], place), weight[there])
    return values, table


def _of_sparse(block: Any, y: Ints, weight: Floats | None, n_classes: int) -> tuple[Floats, Floats, Ints]:
    """Values and weights of the columns of sparse rows, one after the other, and how many each has.

    What is not stored is zero, and weighs what its class does without the cells that are.
    """
    n_columns, stored = block.shape[1], kernels.without_zeros(block)
    pairs = kernels.distinct_cells(stored)
    row = np.repeat(np.arange(stored.shape[0]), np.diff(stored.indptr))
    cell = y[row] * len(pairs.columns) + pairs.place
    size = n_classes * len(pairs.columns)
    table = np.bincount(cell, None if weight is None else weight[row], size).astype(np.float64)
    table = table.reshape(n_classes, len(pairs.columns))
    ones = kernels.with_data(stored, np.ones(len(stored.data)))
    there = kernels.class_sums(ones, y, None, n_classes)
    zeros = (
        np.bincount(y, minlength=n_classes)[:, None] - there
    )  # whole numbers, so that none is left by rounding
    if weight is not None:
        rest = np.bincount(y, weight, n_classes)[:, None] - kernels.class_sums(ones, y, weight, n_classes)
        zeros = np.where(zeros > 0, np.maximum(rest, 0.0), 0.0)
    some, known = np.flatnonzero(zeros.any(axis=0)), np.flatnonzero(~np.isnan(pairs.values))
    columns = np.concatenate([pairs.columns[known], some])
    values = np.concatenate([pairs.values[known], np.zeros(len(some))])
    order = np.lexsort((values, columns))
    weights = np.concatenate([table[:, known], zeros[:, some]], axis=1)[:, order]
    return values[order], weights, np.bincount(columns, minlength=n_columns)


def _flat_sum(a: ValueTable, b: ValueTable) -> tuple[Floats, Floats, Ints]:
    """Values and weights of the columns of two tables together, and how many each has."""
    n_columns = len(a.values)
    (u, s, _), (v, t, _) = a.flat(), b.flat()
    columns = np.concatenate([np.repeat(np.arange(n_columns), each.sizes) for each in (a, b)])
    values, tables = np.concatenate([u, v]), np.concatenate([s, t], axis=1)
    order = np.lexsort((values, columns))
    columns, values = columns[order], values[order]
    new = np.ones(len(values), dtype=np.bool_)
    new[1:] = (columns[1:] != columns[:-1]) | (values[1:] != values[:-1])
    first = np.flatnonzero(new)
    total = np.add.reduceat(tables[:, order], first, axis=1) if len(first) else tables
    return values[first], total, np.bincount(columns[first], minlength=n_columns)


def _merged(a: Column, b: Column, most: int) -> Column:
    """Two tables of a column as one, on the coarser of their grids or a coarser one still."""
    step = max(a[2], b[2])
    values = np.concatenate([_middle(a[0], step, a[2]), _middle(b[0], step, b[2])])
    both = _together(values, np.concatenate([a[1], b[1]], axis=1))
    return _on_grid(*both, step, most)


def _on_grid(values: Floats, table: Floats, step: float, most: int) -> Column:
    """The table on the finest grid, from `step` on, that has no more than `most` cells with values."""
    if len(values) <= most or not np.isfinite(values).all():
        return values, table, float(step)
    # A grid of this step has too many cells, one of that step few enough.
    largest = int(np.frexp(np.abs(values).max())[1])
    low = int(np.log2(step)) if step else int(np.frexp(np.diff(values).min())[1]) - 2
    low, high = max(low, largest - 900), largest + 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _n_cells(values, 2.0**middle) <= most else (middle, high)
    coarse = 2.0**high
    return *_together(_middle(values, coarse, step), table), coarse


def _n_cells(values: Floats, step: float) -> int:
    return 1 + int((np.diff(np.floor(values / step)) > 0).sum())


def _middle(values: Floats, step: float, before: float) -> Floats:
    """The middle of the cell of each value; values that are such middles already stay."""
    return values if step == before else (np.floor(values / step) + 0.5) * step


def _together(values: Floats, table: Floats) -> tuple[Floats, Floats]:
    """Equal values as one, sorted."""
    found, place = np.unique(values, return_inverse=True)
    total = np.zeros((len(table), len(found)))
    np.add.at(total.T, place, table.T)
    return found, total


def _is_step(step: float) -> bool:
    return step == 0 or (0 < step <= LARGEST_VALUE and float(np.frexp(step)[0]) == 0.5)
