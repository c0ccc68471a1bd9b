"""Class scatter: rows less the pivot of their class, put together by class in panels, and their products.

A few rows at a time, so that they stay in a core's cache between the two.
"""

from typing import Any

import numpy as np
from numba.extending import overload

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import ROW_SOURCES, load_rows, row_source
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
from posterior.kernels.compiled.panels import (
    COLUMNS,
    TOGETHER,
    add_products,
    next_row,
    put_rows,
    row_bases,
    set_cell,
)
from posterior.kernels.compiled.precision import find_rounding
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.sums import add_weights
from posterior.kernels.compiled.team import share_out
from posterior.kernels.compiled.vectors import AHEAD, CACHE_LINE, prefetch
from posterior.kernels.compiled.wide_scatter import add_wide_rows, panel_rows, rows_together
from posterior.kernels.layouts import NumberTable
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassScatter

# Columns from which on rows are wide: those of a class are taken together from wherever they lie.
WIDE = 129
# Cells that are put together for products, and rows at least; of many classes, rows of each and cells.
CELLS, FEWEST = 1 << 14, 256
ROWS_OF_A_CLASS, MOST_CELLS = 16, 1 << 18
SUMS = f"{ROWS}, {LINE}, {TABLE}, {LINE}"


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
    panels: Floats,
    second: Floats,
) -> None:
    """Add up deviations and, above the diagonal, their products: as many rows at a time as panels hold."""
    (n, d), n_groups, at_once = values.shape, len(second), len(panels)
    count, place = np.zeros(n_groups, np.int64), np.zeros(n_groups, np.int64)
    bases, size = row_bases(values, pivot, first, panels), values.itemsize * d
    add_weights(y, weight, total)
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
        i = start
        while i + TOGETHER <= end:
            for byte in range(0, TOGETHER * size, CACHE_LINE):
                prefetch(bases[0] + size * i + AHEAD + byte)
            a = next_row(bases, i, y, weight, place)
            b = next_row(bases, i + 1, y, weight, place)
            c = next_row(bases, i + 2, y, weight, place)
            e = next_row(bases, i + 3, y, weight, place)
            put_rows(values, (a, b, c, e), largest, panels)
            i += TOGETHER
        while i < end:
            put_rows(values, (next_row(bases, i, y, weight, place),), largest, panels)
            i += 1
        for g in range(n_groups):
            if count[g]:
                add_products(panels, place[g] - count[g], count[g], d, second[g])


def of_any_source(add: Any) -> Any:
    """What `add` does for rows, of any source, as many rows at a time as there is `room` for.

    For compiled code; the sums are pivots, weights, sums of deviations and sizes.
    """

    def add_scatter(
        source: AnyArray,
        start: int,
        room: Floats,
        y: Ints,
        weight: Floats,
        sums: Any,
        panels: Floats,
        second: Floats,
    ) -> None:
        raise NotImplementedError

    @overload(add_scatter)  # type: ignore[untyped-decorator]  # numba has no types
    def choose(
        source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, panels: Any, second: Any
    ) -> Any:
        def rows(
            source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, panels: Any, second: Any
        ) -> None:
            for at in range(0, len(y), len(room)):
                end = min(at + len(room), len(y))
                some = weight[at:end] if len(weight) else weight
                values = source[start + at : start + end]
                add(values, y[at:end], some, sums[0], sums[1], sums[2], sums[3], panels, second)

        def others(
            source: Any, start: Any, room: Any, y: Any, weight: Any, sums: Any, panels: Any, second: Any
        ) -> None:
            for at in range(0, len(y), len(room)):
                end = min(at + len(room), len(y))
                some = weight[at:end] if len(weight) else weight
                values = room[: end - at]
                load_rows(source, start + at, values)
                add(values, y[at:end], some, sums[0], sums[1], sums[2], sums[3], panels, second)

        return rows if source.ndim == 2 and source.layout == "C" else others

    add_scatter.__qualname__ = f"add_scatter({add.__qualname__})"  # by which code on disk is told apart
    return add_scatter


@step
def mirror(square: Floats, d: int) -> None:
    """Write what is above the diagonal below it as well, a block at a time."""
    for i in range(0, d, COLUMNS):
        for j in range(i, d, COLUMNS):
            for a in range(i, min(i + COLUMNS, d)):
                for b in range(max(a, j), min(j + COLUMNS, d)):
                    square[b, a] = square[a, b]


@kernel(f"boolean({TABLE}, {LINE}, {TABLE}, {STACK}, {TABLE}, {TABLE}, boolean)", fastmath=EXACT, inner=True)
def centre(
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
    remainder: Floats,
    panels: Floats,
    move: bool,
) -> bool:
    """The means less the pivots, and the scatter about the means; whether a pivot lies far off.

    What was above the diagonals of `second` is below them as well. A pivot that lies far off is moved, if
    that is asked for.
    """
    (n_classes, d), n_groups = remainder.shape, len(second)
    shift, far = np.empty(second.shape[1:]), np.empty(d, np.bool_)
    any_far = False
    for g in range(n_groups):
        begin, end = (0, n_classes) if n_groups == 1 else (g, g + 1)
        shift[:] = 0.0
        for k in range(begin, end):
            root, r = np.sqrt(total[k]), (k - begin) % len(panels)  # the root on both sides
            for j in range(d):
                remainder[k, j] = first[k, j] / total[k] if total[k] > 0 else 0.0
                set_cell(panels, r, j, root * remainder[k, j])
            if r + 1 == len(panels) or k + 1 == end:
                add_products(panels, 0, r + 1, d, shift)
        for i in range(d):
            for j in range(i, d):
                second[g, i, j] -= shift[i, j]
            second[g, i, i] = max(second[g, i, i], 0.0)
            far[i] = shift[i, i] > FAR_PIVOT * second[g, i, i]
        mirror(second[g], d)
        any_far = any_far or bool(far.any())
        for k in range(begin, end):
            for j in range(d):
                if far[j] and move:
                    pivot[k, j] += remainder[k, j]
    return any_far


PARTS = (
    f"boolean({{}}, int64, {TABLE}, {CODES}, {NUMBERS}, int64, {COUNTER}, int64, {TABLE}, {TABLE}, "
    f"float64[:, :, :, ::1], float64[:, :, :, ::1], {TABLE})"
)


def _summing(add: Any) -> Any:
    """A kernel that sums up parts of the rows by `add`, which adds up some of any source."""

    @kernel(*(PARTS.format(each) for each in ROW_SOURCES), own=("room", "panels"))
    def sum_parts(
        source: AnyArray,
        start: int,
        room: Floats,
        y: Ints,
        weight: Floats,
        size: int,
        counter: Ints,
        most: int,
        panels: Floats,
        total: Floats,
        found: Floats,
        second: Floats,
        rounding: Floats,
    ) -> bool:
        """The scatter of the next parts of `size` rows, with pivot and remainder in `found`.

        False where a cell is missing or not finite.
        """
        n_classes, width = found.shape[2], panels.shape[1]
        pivot, first, largest = np.empty((n_classes, width)), np.empty((n_classes, width)), np.empty(width)
        panels[:] = 0.0  # what they have beyond the columns stays so
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
                add(source, start + at, room, own, some, sums, panels, second[p])
                for g in range(second.shape[1]):
                    if not np.isfinite(total_of(second[p, g])):
                        counter[0] = len(found)  # the others need not go on
                        return False
                if not centre(pivot, total[p], first, second[p], found[p, 1], panels, again == 0):
                    break
            find_rounding(source, start + at, len(own), room[:FEWEST], largest, rounding[p])
            for k in range(n_classes):
                for j in range(found.shape[3]):
                    found[p, 0, k, j] = pivot[k, j]
        return True

    return sum_parts


sum_parts, sum_wide_parts = _summing(of_any_source(add_rows)), _summing(of_any_source(add_wide_rows))


class ScatterParts:
    """The scatter of every `size` rows, as several threads work it out."""

    def __init__(
        self, table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int, *, pooled: bool
    ) -> None:
        self._y, self._weight, self._size = codes_of(y), weights_of(weight), size
        d, n = table.shape[1], len(range(0, max(len(y), 1), size))
        self._d, self._n_groups, self._width = d, 1 if pooled else n_classes, -(-d // COLUMNS) * COLUMNS
        self._total, self._rounding = np.empty((n, n_classes)), np.empty((n, d))
        self._found = np.empty((n, 2, n_classes, d))
        self._second = np.empty((n, self._n_groups, self._width, self._width))
        self._table = table  # which must live as long as its addresses are read from
        self._source, self._start = row_source(table)
        self._counter, self._complete = np.zeros(1, np.int64), True

    def run(self, workers: int = 1) -> None:
        """Work out all parts by so many threads, or until one has a gap."""
        kernel = sum_wide_parts if self._d >= WIDE else sum_parts
        self._complete = share_out(kernel, self._counter, len(self._found), self._arguments, workers)

    def _arguments(self) -> tuple[Any, ...]:
        d, width = self._d, self._width
        if d >= WIDE:
            at_once = panel_rows(width)
            together = min(rows_together(at_once, self._n_groups), self._size)
        else:
            of_classes = min(ROWS_OF_A_CLASS * self._n_groups, MOST_CELLS // width)
            at_once = together = max(FEWEST, CELLS // width, of_classes)
        panels, room = scratch("scatter", at_once, width), scratch("tile", together, d)
        rows = self._source, self._start, room, self._y, self._weight, self._size
        return *rows, self._counter, MOST, panels, self._total, self._found, self._second, self._rounding

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
    parts = ScatterParts(table, y, weight, n_classes, max(len(y), 1), pooled=pooled)
    parts.run()
    whole = parts.whole()
    if whole is None:
        return None
    found, rounding = whole
    of_all = ClassScatter(found.weight[0], found.pivot[0], found.remainder[0], found.scatter[0], None, None)
    return of_all, rounding[0]
