"""Class moments in one pass over the rows, of tables in any layout."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import ROW_SOURCES, load_rows, row_source
from posterior.kernels.compiled.jit import CODES, EXACT, LINE, NUMBERS, STACK, TABLE, kernel, part
from posterior.kernels.compiled.moment_sums import add_moments, add_there, find_first, find_pivots
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.layouts import NumberTable, tile_rows, tiles
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassMoments, column_marks

# A pivot further off than this, in standard deviations of the values, would cost digits: centre again.
FAR_PIVOT = 100.0
PEEK = 64


@part
def take_pivots(source: AnyArray, start: int, y: Ints, pivot: Floats, line: Floats) -> None:
    """The first row of each class, zeros where there is none; `line` has room for one row."""
    rows, d = np.empty(len(pivot), np.int64), line.shape[1]
    find_first(y, rows)
    for k in range(len(pivot)):
        pivot[k] = 0.0
        if rows[k] >= 0:
            load_rows(source, start + rows[k], line)
            pivot[k, :d] = line[0]


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


@kernel(f"void({STACK}, {LINE})", fastmath=EXACT)
def mark_sums(sums: Floats, mark: Floats) -> None:
    """The marks of columns of pivots, sums and squares, as of `column_marks`."""
    d = len(mark)
    mix = np.sqrt(2.0 + np.arange(d)) * np.pi
    mark[:] = 0.0
    for s in range(4):
        if s == 1:  # the weights, which are the same in all columns
            continue
        for k in range(sums.shape[1]):
            mixed = 0.0
            for j in range(d):
                mixed += sums[s, k, j] * mix[j]
            mixed = abs(mixed) + 0.5
            mixed -= np.floor(mixed)
            for j in range(d):
                mark[j] += mixed * (sums[s, k, j] + 2.0)


@part
def _sum_up(
    source: AnyArray,
    start: int,
    room: Floats,
    y: Ints,
    weight: Floats,
    sums: Floats,
    remainder: Floats,
    scatter: Floats,
    mark: Floats,
) -> bool:
    """All moments of complete rows; false where a cell is missing or not finite."""
    some = room[: min(PEEK, len(y))]
    load_rows(source, start, some)
    if np.isnan(some.sum()):
        return False
    take_pivots(source, start, y, sums[0], room[:1])
    for again in range(2):
        sums[1:] = 0.0
        add_moments(source, start, y, weight, sums)
        if not np.isfinite(sums[3].sum()):
            return False
        for k in range(len(sums[1])):
            sums[1, k, 1:] = sums[1, k, 0]
        if not centre(sums, remainder, scatter, again == 0):
            break
    mark_sums(sums, mark)
    return True


PARTS = (
    f"boolean({{}}, int64, {TABLE}, {CODES}, {NUMBERS}, int64, {COUNTER}, int64, float64[:, :, :, ::1], "
    f"{TABLE})"
)


@kernel(*(PARTS.format(each) for each in ROW_SOURCES))
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
    """Moments of the next parts of `size` rows: weight, pivot, remainder, scatter; false as of `_sum_up`."""
    sums = np.empty((4, found.shape[2], found.shape[3]))
    for _ in range(most):
        p = take_next(counter)
        if p >= len(found):
            break
        at, end = p * size, min((p + 1) * size, len(y))
        some = weight[at:end] if len(weight) else weight
        if not _sum_up(source, start + at, room, y[at:end], some, sums, found[p, 2], found[p, 3], mark[p]):
            counter[0] = len(found)  # the others need not go on
            return False
        found[p, 0] = sums[1]
        found[p, 1] = sums[0]
    return True


class MomentParts:
    """The moments of every `size` rows, as several threads work them out."""

    def __init__(self, table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int) -> None:
        d = table.shape[1]
        self._table, self._y, self._weight, self._size = table, codes_of(y), weights_of(weight), size
        n = len(range(0, max(len(y), 1), size))
        self._found, self._marks = np.empty((n, 4, n_classes, d)), np.empty((n, d))
        self._source, self._start = row_source(table)
        self._counter, self._complete = np.zeros(1, np.int64), True

    def run(self) -> None:
        """Take parts until none is left, or one has a gap."""
        d, n = self._table.shape[1], len(self._found)
        room = scratch("tile", tile_rows(d), d)
        rows = self._source, self._start, room, self._y, self._weight, self._size
        while self._counter[0] < n:
            if not sum_parts(*rows, self._counter, MOST, self._found, self._marks):
                self._complete = False

    def whole(self) -> ClassMoments | None:
        """The moments of all parts, with an axis for them in front; None where a cell is missing."""
        if not self._complete:
            return None
        found, in_order = self._found, np.sort(self._marks, axis=1)
        for p in np.flatnonzero((in_order[:, 1:] == in_order[:, :-1]).any(axis=1)).tolist():
            rows = slice(p * self._size, (p + 1) * self._size)
            self._marks[p] = _marks_by_cells(self._table[rows], self._weight[rows], self._table.shape[1])
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
    sums, found = np.zeros((4, *shape)), np.zeros(shape, dtype=np.bool_)
    remainder, scatter, mark = np.empty(shape), np.empty(shape), np.empty(shape[1])
    for again in range(2):
        sums[1:] = 0.0
        for rows, tile in tiles(table):
            if not again:
                find_pivots(tile, y[rows], sums[0], found)
            add_there(tile, y[rows], weight[rows], *sums)
        if not centre(sums, remainder, scatter, again == 0):
            break
    mark_sums(sums, mark)
    if len(set(mark.tolist())) < len(mark) or not np.isfinite(mark).all():
        mark = _marks_by_cells(table, weight, len(mark))
    return ClassMoments(sums[1], sums[0], remainder, scatter, mark)


def _marks_by_cells(table: NumberTable, weight: Floats, d: int) -> Floats:
    """Marks of the columns cell by cell, where sums do not tell two columns apart.

    Columns that are equal have equal marks either way.
    """
    cells = (column_marks(tile, weight[rows] if len(weight) else None) for rows, tile in tiles(table))
    return np.asarray(sum(cells, np.zeros(d)))
