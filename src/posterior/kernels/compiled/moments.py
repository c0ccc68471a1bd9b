"""Class moments in one pass over the rows, of tables in any layout."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import OTHER_SOURCES, ROW_SOURCES, load_rows, source_of
from posterior.kernels.compiled.jit import CODES, EXACT, LINE, NUMBERS, STACK, TABLE, kernel, part
from posterior.kernels.compiled.moment_sums import add_moments, add_there, find_first, find_pivots
from posterior.kernels.layouts import NumberTable, in_rows, tile_rows, tiles
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
        add_moments(source, start, room, y, weight, sums)
        if not np.isfinite(sums[3].sum()):
            return False
        for k in range(len(sums[1])):
            sums[1, k, 1:] = sums[1, k, 0]
        if not centre(sums, remainder, scatter, again == 0):
            break
    mark_sums(sums, mark)
    return True


COMPLETE = f"boolean({{}}, int64, {TABLE}, {CODES}, {NUMBERS}, {STACK}, {TABLE}, {TABLE}, {LINE})"


@kernel(*(COMPLETE.format(each) for each in ROW_SOURCES))
def sum_rows(
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
    """What `_sum_up` does, of rows one after the other and of columns."""
    return _sum_up(source, start, room, y, weight, sums, remainder, scatter, mark)


@kernel(*(COMPLETE.format(each) for each in OTHER_SOURCES))
def sum_other_rows(
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
    """What `_sum_up` does, of arrays in any other order."""
    return _sum_up(source, start, room, y, weight, sums, remainder, scatter, mark)


def class_moments(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing: one compiled call, unless some are."""
    y, w = codes_of(y), weights_of(weight)
    shape = n_classes, table.shape[1]
    sums = scratch("moments", 4, *shape)
    remainder, scatter, mark = np.empty(shape), np.empty(shape), np.empty(shape[1])
    source, start = source_of(table) or (in_rows(table), 0)
    kernel = sum_rows if source.ndim == 1 or source.flags.c_contiguous else sum_other_rows
    room = scratch("tile", tile_rows(shape[1]), shape[1])
    if not kernel(source, start, room, y, w, sums, remainder, scatter, mark):
        return _moments_there(table, y, w, shape)
    if len(set(mark.tolist())) < len(mark):
        mark = _marks_by_cells(table, w, len(mark))
    return ClassMoments(sums[1].copy(), sums[0].copy(), remainder, scatter, mark)


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
