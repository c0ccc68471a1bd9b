"""Class moments in one pass over the rows, of tables in any layout."""

from typing import Any

import numpy as np

from posterior._pool import each
from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import COLUMNS, load_rows, row_source
from posterior.kernels.compiled.jit import (
    CODES,
    EXACT,
    LINE,
    NUMBERS,
    ROWS,
    SINGLE_ROWS,
    STACK,
    TABLE,
    kernel,
    step,
)
from posterior.kernels.compiled.moment_sums import (
    add_columns,
    add_complete,
    add_there,
    find_first,
    find_pivots,
)
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out
from posterior.kernels.layouts import NumberTable, tile_rows, tiles, tiles_as_stored
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassMoments, column_marks

# A pivot further off than this, in standard deviations of the values, would cost digits: centre again.
FAR_PIVOT = 100.0
PEEK = 64


@step
def total_of(table: Floats) -> float:
    """The sum of all numbers, which is finite only if they all are."""
    total = 0.0
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            total += table[i, j]
    return total


@step
def take_pivots(source: AnyArray, start: int, y: Ints, pivot: Floats, line: Floats) -> None:
    """The first row of each class, zeros where there is none; `line` has room for one row."""
    rows, d = np.empty(len(pivot), np.int64), line.shape[1]
    find_first(y, rows)
    for k in range(len(pivot)):
        pivot[k] = 0.0
        if rows[k] >= 0:
            load_rows(source, start + rows[k], line)
            for j in range(d):
                pivot[k, j] = line[0, j]


@kernel(f"boolean({STACK}, {TABLE}, {TABLE}, boolean)", fastmath=EXACT)
def centre(sums: Floats, remainder: Floats, scatter: Floats, move: bool) -> bool:
    """The means less the pivots, and the sums of squares about the means; whether a pivot lies far off.

    Such a pivot is moved, if that is asked for.
    """
    pivot, total, first, second = sums[0], sums[1], sums[2], sums[3]
    n_classes, d = pivot.shape
    any_far = False
    for k in range(n_classes):
        for j in range(d):
            apart = first[k, j] / total[k, j] if total[k, j] > 0 else 0.0
            shift = first[k, j] * apart
            spread = second[k, j] - shift
            spread = 0.0 if spread < 0.0 else spread  # what is not a number stays so
            remainder[k, j], scatter[k, j] = apart, spread
            if shift > FAR_PIVOT * spread:
                any_far = True
                if move:
                    pivot[k, j] += apart
    return any_far


@kernel(f"void({TABLE}, {TABLE}, {TABLE}, {LINE})", fastmath=EXACT)
def mark_sums(pivot: Floats, first: Floats, second: Floats, mark: Floats) -> None:
    """The marks of columns of pivots, sums and squares, as of `column_marks`."""
    d = len(mark)
    mix = np.empty(d)
    for j in range(d):
        mix[j] = np.sqrt(2.0 + j) * np.pi
        mark[j] = 0.0
    for table in (pivot, first, second):
        for k in range(len(table)):
            mixed = 0.0
            for j in range(d):
                mixed += table[k, j] * mix[j]
            mixed = abs(mixed) + 0.5
            mixed -= np.floor(mixed)
            for j in range(d):
                mark[j] += mixed * (table[k, j] + 2.0)


PARTS = (
    f"boolean({{}}, int64, {TABLE}, {CODES}, {NUMBERS}, int64, {COUNTER}, int64, float64[:, :, :, ::1], "
    f"{TABLE})"
)


def summing(add_moments: Any, *sources: str) -> Any:
    """The kernel that sums up moments of these sources, by a kernel that adds them up."""

    @kernel(*(PARTS.format(source) for source in sources), own=("room",))
    def sum_parts(
        source: AnyArray,
        start: int,
        room: Floats,
        y: Ints,
        weight: Floats,
        size: int,
        counter: Ints,
        most: int,
        found: Floats,
        mark: Floats,
    ) -> bool:
        """The moments of the next parts of `size` rows: weight, pivot, remainder and scatter.

        False where a cell is missing or not finite: rows must be complete.
        """
        n_classes, d = found.shape[2], found.shape[3]
        sums = np.empty((4, n_classes, d))
        for _ in range(most):
            p = take_next(counter)
            if p >= len(found):
                break
            at, end = p * size, min((p + 1) * size, len(y))
            first, own, some = start + at, y[at:end], weight[at:end] if len(weight) else weight
            peek = room[: min(PEEK, len(own))]
            load_rows(source, first, peek)
            if np.isnan(total_of(peek)):
                counter[0] = len(found)  # the others need not go on
                return False
            take_pivots(source, first, own, sums[0], room[:1])
            for again in range(2):
                sums[1:] = 0.0
                add_moments(source, first, own, some, sums[0], sums[1], sums[2], sums[3])
                if not np.isfinite(total_of(sums[3])):
                    counter[0] = len(found)
                    return False
                for k in range(n_classes):
                    sums[1, k, 1:] = sums[1, k, 0]
                if not centre(sums, found[p, 2], found[p, 3], again == 0):
                    break
            mark_sums(sums[0], sums[2], sums[3], mark[p])
            for k in range(n_classes):
                for j in range(d):
                    found[p, 0, k, j] = sums[1, k, j]
                    found[p, 1, k, j] = sums[0, k, j]
        return True

    return sum_parts


of_columns, of_rows = summing(add_columns, *COLUMNS), summing(add_complete, ROWS, SINGLE_ROWS)


class MomentParts:
    """The moments of every `size` rows, as several threads work them out."""

    def __init__(self, table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int) -> None:
        d = table.shape[1]
        self._table, self._y, self._weight, self._size = table, codes_of(y), weights_of(weight), size
        n = len(range(0, max(len(y), 1), size))
        self._found, self._marks = np.empty((n, 4, n_classes, d)), np.empty((n, d))
        self._source, self._start = row_source(table)
        self._counter, self._complete = np.zeros(1, np.int64), True

    def run(self, workers: int = 1) -> None:
        """Work out all parts by so many threads, or until one has a gap."""
        sum_parts = of_columns if self._source.ndim == 1 else of_rows
        self._complete = share_out(sum_parts, self._counter, len(self._found), self._arguments, workers)

    def _arguments(self) -> tuple[Any, ...]:
        d = self._table.shape[1]
        room = scratch("tile", tile_rows(d), d)
        rows = self._source, self._start, room, self._y, self._weight, self._size
        return *rows, self._counter, MOST, self._found, self._marks

    def whole(self) -> ClassMoments | None:
        """The moments of all parts, with an axis for them in front; None where a cell is missing."""
        if not self._complete:
            return None
        found, in_order = self._found, np.sort(self._marks, axis=1)
        alike = np.flatnonzero((in_order[:, 1:] == in_order[:, :-1]).any(axis=1)).tolist()

        def mark(i: int) -> None:
            rows = slice(alike[i] * self._size, (alike[i] + 1) * self._size)
            by_cells = _marks_by_cells(self._table[rows], self._weight[rows], self._table.shape[1])
            self._marks[alike[i]] = by_cells

        each(mark, len(alike))  # by threads: it takes several times as long as the sums
        return ClassMoments(found[:, 0], found[:, 1], found[:, 2], found[:, 3], self._marks)


def class_moments(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing."""
    parts = MomentParts(table, y, weight, n_classes, max(len(y), 1))
    parts.run()
    found = parts.whole()
    if found is None:
        return _moments_there(table, codes_of(y), weights_of(weight), (n_classes, table.shape[1]))
    return ClassMoments(*(sums[0] for sums in found))


def _moments_there(table: NumberTable, y: Ints, weight: Floats, shape: tuple[int, int]) -> ClassMoments:
    """Moments over the cells that are not missing, where some are."""
    return marked(*sums_there(table, y, weight, shape), table, weight)


def sums_there(
    table: NumberTable, y: Ints, weight: Floats, shape: tuple[int, int]
) -> tuple[Floats, Floats, Floats]:
    """Sums over the cells that are not missing, as `centre` takes them; remainder and scatter."""
    sums, found = np.zeros((4, *shape)), np.zeros(shape, dtype=np.bool_)
    remainder, scatter = np.empty(shape), np.empty(shape)
    for again in range(2):
        sums[1:] = 0.0
        for rows, tile in tiles_as_stored(table):
            if not again:
                find_pivots(tile, y[rows], sums[0], found)
            add_there(tile, y[rows], weight[rows], *sums)
        if not centre(sums, remainder, scatter, again == 0):
            break
    return sums, remainder, scatter


def marked(
    sums: Floats, remainder: Floats, scatter: Floats, table: NumberTable, weight: Floats
) -> ClassMoments:
    """The moments that sums give, with marks of the columns."""
    mark = np.empty(sums.shape[2])
    mark_sums(sums[0], sums[2], sums[3], mark)
    return ClassMoments(sums[1], sums[0], remainder, scatter, tell_marks_apart(mark, table, weight))


def tell_marks_apart(mark: Floats, table: NumberTable, weight: Floats) -> Floats:
    """Marks of columns by their sums, where these tell them apart; else by their cells."""
    if len(set(mark.tolist())) < len(mark) or not np.isfinite(mark).all():
        return _marks_by_cells(table, weight, len(mark))
    return mark


def _marks_by_cells(table: NumberTable, weight: Floats, d: int) -> Floats:
    """Marks of the columns cell by cell, where sums do not tell two columns apart.

    Columns that are equal have equal marks either way.
    """
    cells = (column_marks(tile, weight[rows] if len(weight) else None) for rows, tile in tiles(table))
    return np.asarray(sum(cells, np.zeros(d)))
