"""Class moments where the sums of all classes would outgrow a core's cache: a few classes at a time.

Rows in C order are taken class by class, columns that lie apart a few columns at a time. Each class and
column is summed up in the order of its rows either way: the bits are those of `moments.py`.
"""

import numpy as np

from posterior._pool import each, n_threads
from posterior._types import Floats, Ints
from posterior.kernels.compiled.columns import row_source
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, SINGLE_ROWS, STACK, TABLE, kernel
from posterior.kernels.compiled.moment_sums import add_complete, add_there
from posterior.kernels.compiled.moments import (
    PEEK,
    centre,
    mark_sums,
    marked,
    of_columns,
    sums_there,
    tell_marks_apart,
    total_of,
)
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out
from posterior.kernels.layouts import NumberTable, SeparateColumns, some_columns
from posterior.kernels.memory import codes_of, weights_of
from posterior.kernels.reference import ClassMoments

# Classes, whose sums have few cells, and columns that lie apart, that a thread takes at a time.
GROUP, CELLS, COLUMNS = 16, 1 << 15, 8
# Classes times columns apart that a thread takes at a time where cells are missing: half a megabyte.
THERE = 1 << 14


@kernel(
    *(
        f"boolean({rows}, {CODES}, {CODES}, int64, {NUMBERS}, {COUNTER}, int64, {STACK}, {TABLE})"
        for rows in (ROWS, SINGLE_ROWS)
    )
)
def sum_groups(
    source: Floats,
    order: Ints,
    bounds: Ints,
    group: int,
    weight: Floats,
    counter: Ints,
    most: int,
    found: Floats,
    marks: Floats,
) -> bool:
    """Pivot, weight, remainder and scatter of the next groups of classes, and their part of the marks.

    The rows of class k are `order[bounds[k]:bounds[k + 1]]`. False where a cell is missing or not finite.
    """
    n_classes, d = found.shape[1], found.shape[2]
    code = np.zeros(1, np.int64)
    for _ in range(most):
        g = take_next(counter)
        if g >= len(marks):
            break
        start, stop = g * group, min((g + 1) * group, n_classes)
        sums = np.zeros((4, stop - start, d))
        for k in range(start, stop):
            if bounds[k] < bounds[k + 1]:
                row = order[bounds[k]]
                for j in range(d):
                    sums[0, k - start, j] = source[row, j]
        for again in range(2):
            sums[1:] = 0.0
            for k in range(start, stop):
                pivot, total = sums[0, k - start : k - start + 1], sums[1, k - start : k - start + 1]
                first, second = sums[2, k - start : k - start + 1], sums[3, k - start : k - start + 1]
                for at in range(bounds[k], bounds[k + 1]):
                    i = order[at]
                    own = weight[i : i + 1] if len(weight) else weight
                    add_complete(source, i, code, own, pivot, total, first, second)
            if not np.isfinite(total_of(sums[3])):
                counter[0] = len(marks)  # the others need not go on
                return False
            for k in range(stop - start):
                sums[1, k, 1:] = sums[1, k, 0]
            if not centre(sums, found[2, start:stop], found[3, start:stop], again == 0):
                break
        for k in range(start, stop):
            for j in range(d):
                found[0, k, j], found[1, k, j] = sums[0, k - start, j], sums[1, k - start, j]
        mark_sums(found[0, start:stop], found[2, start:stop], found[3, start:stop], marks[g])
    return True


@kernel(
    *(
        f"void({rows}, {CODES}, {CODES}, int64, {NUMBERS}, {COUNTER}, int64, {STACK})"
        for rows in (ROWS, SINGLE_ROWS)
    )
)
def sum_groups_there(
    source: Floats,
    order: Ints,
    bounds: Ints,
    group: int,
    weight: Floats,
    counter: Ints,
    most: int,
    found: Floats,
) -> None:
    """Sums over the cells that are there of the next groups of classes, as of `sums_there`.

    `found` gets pivots, weights, sums, squares, remainders and scatter.
    """
    n_classes, d = found.shape[1], found.shape[2]
    code, n_groups = np.zeros(1, np.int64), -(-n_classes // group)
    for _ in range(most):
        g = take_next(counter)
        if g >= n_groups:
            break
        start, stop = g * group, min((g + 1) * group, n_classes)
        sums = np.zeros((4, stop - start, d))
        for k in range(start, stop):
            seen, left, at = np.zeros(d, np.bool_), d, bounds[k]
            while left and at < bounds[k + 1]:
                for j in range(d):
                    x = source[order[at], j]
                    if not seen[j] and x == x:
                        seen[j], sums[0, k - start, j] = True, x
                        left -= 1
                at += 1
        for again in range(2):
            sums[1:] = 0.0
            for k in range(start, stop):
                pivot, total = sums[0, k - start : k - start + 1], sums[1, k - start : k - start + 1]
                first, second = sums[2, k - start : k - start + 1], sums[3, k - start : k - start + 1]
                for at in range(bounds[k], bounds[k + 1]):
                    i = order[at]
                    own = weight[i : i + 1] if len(weight) else weight
                    add_there(source[i : i + 1], code, own, pivot, total, first, second)
            if not centre(sums, found[4, start:stop], found[5, start:stop], again == 0):
                break
        for table in range(4):
            for k in range(start, stop):
                for j in range(d):
                    found[table, k, j] = sums[table, k - start, j]


def class_moments(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments | None:
    """Moments by class and column, by all threads; None where a cell is missing."""
    table = _columns_apart_as_such(table)
    source, start = row_source(table)
    codes, weights, d = codes_of(y), weights_of(weight), table.shape[1]
    found, marks = np.empty((4, n_classes, d)), np.empty((-(-n_classes // _group(d)), d))
    complete = (
        _columns_apart(source, start, codes, weights, found, marks)
        if source.ndim == 1
        else _rows(source, codes, weights, found, marks)
    )
    if not complete:
        return None
    mark = tell_marks_apart(marks.sum(axis=0), table, weights)
    return ClassMoments(found[1], found[0], found[2], found[3], mark)


def moments_there(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing, by all threads."""
    table = _columns_apart_as_such(table)
    source, _ = row_source(table)
    codes, weights = codes_of(y), weights_of(weight)
    found = np.empty((6, n_classes, table.shape[1]))
    if source.ndim == 1:
        _columns_there(table, codes, weights, found)
    else:
        counter, n = np.zeros(1, np.int64), -(-n_classes // _group(table.shape[1]))
        rows = source, *_by_class(codes, n_classes), _group(table.shape[1]), weights

        arguments = *rows, counter, MOST, found
        share_out(sum_groups_there, counter, n, lambda: arguments, n_threads())
    return marked(found[:4], found[4], found[5], table, weights)


def _columns_there(table: NumberTable, y: Ints, weight: Floats, found: Floats) -> None:
    """A few columns at a time, whose sums stay in the cache."""
    n_classes, d = found.shape[1:]
    width = max(COLUMNS, THERE // n_classes)

    def sum_up(i: int) -> None:
        some = slice(i * width, min((i + 1) * width, d))
        own = some_columns(table, some)
        sums = sums_there(own, y, weight, (n_classes, own.shape[1]))
        found[:4, :, some], found[4, :, some], found[5, :, some] = sums

    each(sum_up, -(-d // width))


def _columns_apart_as_such(table: NumberTable) -> NumberTable:
    """A table in Fortran order as its columns: not a copy, for chunks have many rows here."""
    if isinstance(table, SeparateColumns) or table.flags.c_contiguous or not table.flags.f_contiguous:
        return table
    return SeparateColumns.of_array(table) if table.dtype in (np.float64, np.float32) else table


def _by_class(y: Ints, n_classes: int) -> tuple[Ints, Ints]:
    """The rows in the order of their classes, and where each class begins."""
    return np.argsort(y, kind="stable"), np.concatenate([[0], np.cumsum(np.bincount(y, minlength=n_classes))])


def _group(d: int) -> int:
    return max(1, min(GROUP, CELLS // d))


def _rows(source: Floats, y: Ints, weight: Floats, found: Floats, marks: Floats) -> bool:
    order, bounds = _by_class(y, found.shape[1])
    counter = np.zeros(1, np.int64)
    arguments = source, order, bounds, _group(found.shape[2]), weight, counter, MOST, found, marks
    return share_out(sum_groups, counter, len(marks), lambda: arguments, n_threads())


def _columns_apart(
    addresses: Ints, start: int, y: Ints, weight: Floats, found: Floats, marks: Floats
) -> bool:
    n_classes, d = found.shape[1:]
    group = _group(d)
    complete: list[bool] = []

    def sum_up(i: int) -> None:
        some = slice(i * COLUMNS, min((i + 1) * COLUMNS, d))
        own = addresses[some]
        sums, room, unused = (
            np.empty((1, 4, n_classes, len(own))),
            np.empty((PEEK, len(own))),
            np.empty((1, len(own))),
        )
        rows = own, start, room, y, weight, max(len(y), 1)
        complete.append(of_columns(*rows, np.zeros(1, np.int64), 1, sums, unused))
        found[1, :, some], found[0, :, some] = sums[0, 0], sums[0, 1]
        found[2:, :, some] = sums[0, 2:]

    def mark(g: int) -> None:
        own = slice(g * group, (g + 1) * group)
        mark_sums(found[0, own], found[2, own], found[3, own], marks[g])

    each(sum_up, -(-d // COLUMNS))
    if not all(complete):
        return False
    each(mark, len(marks))
    return True
