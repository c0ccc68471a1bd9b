"""Class scatter: rows less the pivot of their class, put together by class, and a product of each.

A few rows at a time, so that they stay in a core's cache between the two.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import ROW_SOURCES, is_single, load_rows, row_source
from posterior.kernels.compiled.gathering import SUMS, find_precision, gather
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
from posterior.kernels.compiled.moments import FAR_PIVOT, take_pivots, total_of
from posterior.kernels.compiled.products import ACROSS, DOWN, OURS, add_square
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out
from posterior.kernels.compiled.wide_scatter import wide_scatter
from posterior.kernels.layouts import NumberTable
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassScatter

# Cells that are put together for one product, and rows at least; of many classes, rows of each and cells.
TOGETHER, FEWEST = 1 << 14, 256
ROWS_OF_A_CLASS, MOST_TOGETHER = 16, 1 << 18
SINGLE, DOUBLE = float(np.finfo(np.float32).eps), float(np.finfo(np.float64).eps)


@kernel(
    *(f"void({each}, {CODES}, {NUMBERS}, {SUMS}, {TABLE}, {STACK})" for each in (ROWS, SINGLE_ROWS)),
    inner=True,
)
def add_rows(
    values: Floats,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    largest: Floats,
    buffer: Floats,
    second: Floats,
) -> None:
    """Add up deviations and, above the diagonal, their products: as many rows at a time as `buffer` holds.

    All have lines of a multiple of `ACROSS` numbers, and `second` a multiple of `DOWN` lines.
    """
    (n, d), n_groups, at_once = values.shape, len(second), len(buffer)
    count, place = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    for start in range(0, n, at_once):
        end = min(start + at_once, n)
        count[:] = 0
        if n_groups == 1:
            count[0] = end - start
        else:
            for i in range(start, end):
                count[y[i]] += 1
        at = 0
        for g in range(n_groups):
            place[g] = at
            at += count[g]
        some = weight[start:end] if len(weight) else weight
        gather(values[start:end], y[start:end], some, place, pivot, total, first, largest, buffer)
        for g in range(n_groups):
            if count[g]:
                add_square(buffer[place[g] - count[g] :], count[g], d, second[g])


def add_scatter(
    source: AnyArray,
    start: int,
    room: Floats,
    y: Ints,
    weight: Floats,
    sums: Any,
    buffer: Floats,
    second: Floats,
) -> None:
    """What `add_rows` does, of any source; for compiled code. The sums: pivots, weights, sums, sizes."""
    raise NotImplementedError


@overload(add_scatter)  # type: ignore[untyped-decorator]  # numba has no types
def _add_scatter(
    source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, buffer: Any, second: Any
) -> Any:
    def rows(
        source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, buffer: Any, second: Any
    ) -> None:
        values = source[start : start + len(y)]
        add_rows(values, y, weight, sums[0], sums[1], sums[2], sums[3], buffer, second)

    def others(
        source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, buffer: Any, second: Any
    ) -> None:
        for at in range(0, len(y), len(buffer)):
            end = min(at + len(buffer), len(y))
            values = room[: end - at]
            load_rows(source, start + at, values)
            some = weight[at:end] if len(weight) else weight
            add_rows(values, y[at:end], some, sums[0], sums[1], sums[2], sums[3], buffer, second)

    return rows if source.ndim == 2 and source.layout == "C" else others


@step
def find_rounding(source: AnyArray, start: int, n: int, room: Floats, largest: Floats, out: Floats) -> None:
    """The largest rounding error that a value of each column may carry, as `rounding_of` has it."""
    d = len(out)
    double, off_grid = np.zeros(d, np.bool_), np.zeros(d, np.bool_)
    single = is_single(source)
    for at in range(0, n, len(room)):
        if double.all() or (single and off_grid.all()):
            break
        values = room[: min(len(room), n - at)]
        load_rows(source, start + at, values)
        find_precision(values, double, off_grid)
    for j in range(d):
        out[j] = (SINGLE if off_grid[j] and not double[j] else DOUBLE) * largest[j]


@kernel(f"boolean({TABLE}, {LINE}, {TABLE}, {STACK}, {TABLE}, boolean)", fastmath=EXACT, inner=True)
def centre(
    pivot: Floats, total: Floats, first: Floats, second: Floats, remainder: Floats, move: bool
) -> bool:
    """The means less the pivots, and the scatter about the means; whether a pivot lies far off.

    What was above the diagonals of `second` is below them as well. A pivot that lies far off is moved, if
    that is asked for.
    """
    (n_classes, d), n_groups = remainder.shape, len(second)
    shift, pull, far = np.empty((d, d)), np.empty(d), np.empty(d, np.bool_)
    any_far = False
    for k in range(n_classes):
        for j in range(d):
            remainder[k, j] = first[k, j] / total[k] if total[k] > 0 else 0.0
    for g in range(n_groups):
        classes = range(n_classes) if n_groups == 1 else range(g, g + 1)
        shift[:] = 0.0
        for k in classes:
            root = np.sqrt(total[k])  # on both sides
            for j in range(d):
                pull[j] = root * remainder[k, j]
            for i in range(d):
                for j in range(i, d):
                    shift[i, j] += pull[i] * pull[j]
        for i in range(d):
            for j in range(i, d):
                second[g, i, j] -= shift[i, j]
                second[g, j, i] = second[g, i, j]
            second[g, i, i] = max(second[g, i, i], 0.0)
            far[i] = shift[i, i] > FAR_PIVOT * second[g, i, i]
        any_far = any_far or bool(far.any())
        for k in classes:
            for j in range(d):
                if far[j] and move:
                    pivot[k, j] += remainder[k, j]
    return any_far


PARTS = (
    f"boolean({{}}, int64, {TABLE}, {CODES}, {NUMBERS}, int64, {COUNTER}, int64, {TABLE}, {TABLE}, "
    f"float64[:, :, :, ::1], float64[:, :, :, ::1], {TABLE})"
)


@kernel(*(PARTS.format(each) for each in ROW_SOURCES), own=("room", "buffer"))
def sum_parts(
    source: AnyArray,
    start: int,
    room: Floats,
    y: Ints,
    weight: Floats,
    size: int,
    counter: Ints,
    most: int,
    buffer: Floats,
    total: Floats,
    found: Floats,
    second: Floats,
    rounding: Floats,
) -> bool:
    """The scatter of the next parts of `size` rows, with pivot and remainder in `found`.

    False where a cell is missing or not finite.
    """
    n_classes, width = found.shape[2], buffer.shape[1]
    pivot, first, largest = np.empty((n_classes, width)), np.empty((n_classes, width)), np.empty(width)
    for i in range(len(buffer)):
        for j in range(found.shape[3], width):
            buffer[i, j] = 0.0
    for _ in range(most):
        p = take_next(counter)
        if p >= len(found):
            break
        at, end = p * size, min((p + 1) * size, len(y))
        own, some = y[at:end], weight[at:end] if len(weight) else weight
        sums = pivot, total[p], first, largest
        take_pivots(source, start + at, own, pivot, room[:1])
        for again in range(2):
            total[p] = 0.0
            first[:] = 0.0
            largest[:] = 0.0
            second[p] = 0.0
            add_scatter(source, start + at, room, own, some, sums, buffer, second[p])
            for g in range(second.shape[1]):
                if not np.isfinite(total_of(second[p, g])):
                    counter[0] = len(found)  # the others need not go on
                    return False
            if not centre(pivot, total[p], first, second[p], found[p, 1], again == 0):
                break
        find_rounding(source, start + at, len(own), room, largest, rounding[p])
        for k in range(n_classes):
            for j in range(found.shape[3]):
                found[p, 0, k, j] = pivot[k, j]
    return True


class ScatterParts:
    """The scatter of every `size` rows, as several threads work it out; not of wide tables."""

    def __init__(
        self, table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int, *, pooled: bool
    ) -> None:
        self._y, self._weight, self._size = codes_of(y), weights_of(weight), size
        d, n = table.shape[1], len(range(0, max(len(y), 1), size))
        self._d, self._n_groups, self._width = d, 1 if pooled else n_classes, -(-d // ACROSS) * ACROSS
        self._total, self._rounding = np.empty((n, n_classes)), np.empty((n, d))
        self._found = np.empty((n, 2, n_classes, d))
        self._second = np.empty((n, self._n_groups, -(-d // DOWN) * DOWN, self._width))
        self._table = table  # which must live as long as its addresses are read from
        self._source, self._start = row_source(table)
        self._counter, self._complete = np.zeros(1, np.int64), True

    def run(self, workers: int = 1) -> None:
        """Work out all parts by so many threads, or until one has a gap."""
        self._complete = share_out(sum_parts, self._counter, len(self._found), self._arguments, workers)

    def _arguments(self) -> tuple[Any, ...]:
        d, width = self._d, self._width
        of_classes = min(ROWS_OF_A_CLASS * self._n_groups, MOST_TOGETHER // width)
        buffer = scratch("scatter", max(FEWEST, TOGETHER // width, of_classes), width)
        room = scratch("tile", len(buffer), d)
        rows = self._source, self._start, room, self._y, self._weight, self._size
        return *rows, self._counter, MOST, buffer, self._total, self._found, self._second, self._rounding

    def whole(self) -> tuple[ClassScatter, Floats] | None:
        """Scatter and rounding of all parts, with an axis for them in front; None where there are gaps."""
        if not self._complete:
            return None
        found, second = self._found, self._second[:, :, : self._d, : self._d]
        return ClassScatter(self._total, found[:, 0], found[:, 1], second, None, None), self._rounding


def class_scatter(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool
) -> tuple[ClassScatter, Floats] | None:
    """Scatter about the class means, and the rounding of the columns; None where a cell is not finite."""
    if table.shape[1] > OURS:
        return wide_scatter(table, codes_of(y), weights_of(weight), n_classes, pooled=pooled)
    parts = ScatterParts(table, y, weight, n_classes, max(len(y), 1), pooled=pooled)
    parts.run()
    whole = parts.whole()
    if whole is None:
        return None
    found, rounding = whole
    of_all = ClassScatter(found.weight[0], found.pivot[0], found.remainder[0], found.scatter[0], None, None)
    return of_all, rounding[0]
