"""Class scatter: rows less the pivot of their class, put together by class, and a product of each.

A few rows at a time, so that they stay in a core's cache between the two.
"""

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.compiled.columns import SOURCES, WIDTH, load_rows, source_of
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, STACK, TABLE, kernel
from posterior.kernels.compiled.moments import FAR_PIVOT, first_rows
from posterior.kernels.compiled.products import ACROSS, DOWN, OURS, add_square
from posterior.kernels.compiled.vectors import put_4_deviations, put_8_deviations, put_deviation
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_rows, lies_in_rows, tiles
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassScatter, ratio

# Cells that are put together for one product, and rows at least; of many classes, rows of each and cells.
TOGETHER, FEWEST = 1 << 14, 256
ROWS_OF_A_CLASS, MOST_TOGETHER = 16, 1 << 18
# The same of tables that are wide.
WIDE_TOGETHER, WIDE_ROWS_OF_A_CLASS = 1 << 19, 64
GRID = 1024.0


SUMS = f"{ROWS}, float64[::1], {TABLE}, float64[::1]"


@kernel(f"void({ROWS}, {CODES}, {NUMBERS}, int64[::1], {SUMS}, {TABLE})")
def gather(
    values: Floats,
    y: Ints,
    weight: Floats,
    place: Ints,
    pivot: Floats,
    total: Floats,
    first: Floats,
    largest: Floats,
    out: Floats,
) -> None:
    """Write rows less their pivot, times the root of their weight, to the next place of their class.

    With one place for all classes the rows keep their order. Adds up weights and deviations, and keeps the
    largest size of a value in each column. Lines of pivots, sums and `out` may be longer than rows.
    """
    n, d = values.shape
    apart, weighted = len(place) > 1, len(weight) > 0
    line, own_line = WIDTH * out.shape[1], WIDTH * pivot.shape[1]
    xs, ps, ss, os = values.ctypes.data, pivot.ctypes.data, first.ctypes.data, out.ctypes.data
    sizes = largest.ctypes.data
    for i in range(n):
        k = y[i]
        g = k if apart else 0
        w = weight[i] if weighted else 1.0
        root = np.sqrt(w) if weighted else 1.0
        total[k] += w
        x, p, s, z = xs + WIDTH * d * i, ps + own_line * k, ss + own_line * k, os + line * place[g]
        place[g] += 1
        j = 0
        while j + 8 * WIDTH <= WIDTH * d:
            put_8_deviations(x + j, p + j, s + j, sizes + j, z + j, w, root)
            j += 8 * WIDTH
        if j + 4 * WIDTH <= WIDTH * d:
            put_4_deviations(x + j, p + j, s + j, sizes + j, z + j, w, root)
            j += 4 * WIDTH
        while j < WIDTH * d:
            put_deviation(x + j, p + j, s + j, sizes + j, z + j, w, root)
            j += WIDTH


@kernel(f"void({ROWS}, {CODES}, {NUMBERS}, {SUMS}, {TABLE}, {STACK})")
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


@kernel(*(f"void({each}, int64, {CODES}, {NUMBERS}, {SUMS}, {TABLE}, {TABLE}, {STACK})" for each in SOURCES))
def add_loaded(
    source: AnyArray,
    start: int,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    largest: Floats,
    room: Floats,
    buffer: Floats,
    second: Floats,
) -> None:
    """What `add_rows` does, of rows that have to be brought into order first."""
    for at in range(0, len(y), len(buffer)):
        end = min(at + len(buffer), len(y))
        rows = room[: end - at]
        load_rows(source, start + at, rows)
        some = weight[at:end] if len(weight) else weight
        add_rows(rows, y[at:end], some, pivot, total, first, largest, buffer, second)


@kernel(f"void({STACK}, int64)")
def mirror(second: Floats, d: int) -> None:
    """Copy what is above the diagonals below them."""
    for g in range(len(second)):
        for i in range(d):
            for j in range(i):
                second[g, i, j] = second[g, j, i]


@kernel(f"void({ROWS}, boolean[::1], boolean[::1])")
def find_precision(values: Floats, double: Bools, off_grid: Bools) -> None:
    """Mark columns with a value that is no single-precision number, or no multiple of 1/1024."""
    n, d = values.shape
    left = d - double.sum()
    for i in range(n):
        if left == 0:
            return
        for j in range(d):
            x = values[i, j]
            if not double[j]:
                if np.float64(np.float32(x)) != x:
                    double[j] = True
                    left -= 1
                elif not off_grid[j]:
                    off_grid[j] = x * GRID != np.floor(x * GRID)


class _ScatterSums:
    """Sums about the pivots."""

    def __init__(self, pivot: Floats, pooled: bool) -> None:
        n_classes, d = pivot.shape
        self.pivot, self.pooled = pivot, pooled
        n_groups = 1 if pooled else n_classes
        width = d if d > OURS else -(-d // ACROSS) * ACROSS
        self.total, self.largest = np.zeros(n_classes), np.zeros(width)
        self._pivot, self._first = np.zeros((n_classes, width)), np.zeros((n_classes, width))
        self._pivot[:, :d] = pivot
        self._second = np.zeros((n_groups, width if d > OURS else -(-d // DOWN) * DOWN, width))

    def add(self, table: NumberTable, y: Ints, weight: Floats) -> "_ScatterSums":
        """Add rows, as many at a time as one product is worth, whatever their layout."""
        n_groups, _, width = self._second.shape
        d = self.pivot.shape[1]
        if d > OURS:
            at_once = max(1, min(max(WIDE_TOGETHER // d, WIDE_ROWS_OF_A_CLASS * n_groups), len(y)))
            buffer = scratch("scatter", at_once, d)
            for start in range(0, len(y), at_once):
                part = slice(start, start + at_once)
                self._add_wide(table[part], y[part], weight[part], buffer)
        else:
            of_classes = min(ROWS_OF_A_CLASS * n_groups, MOST_TOGETHER // width)
            buffer = scratch("scatter", max(FEWEST, TOGETHER // width, of_classes), width)
            buffer[:, d:] = 0.0
            self._add(table, y, weight, buffer)
        return self

    def _add(self, table: NumberTable, y: Ints, weight: Floats, buffer: Floats) -> None:
        sums = self._pivot, self.total, self._first, self.largest
        source = source_of(table)
        if lies_in_rows(table):
            add_rows(in_rows(table), y, weight, *sums, buffer, self._second)
        elif source is not None:
            room = scratch("tile", len(buffer), table.shape[1])
            add_loaded(*source, y, weight, *sums, room, buffer, self._second)
        else:
            for start in range(0, len(y), len(buffer)):
                part = slice(start, start + len(buffer))
                add_rows(in_rows(table[part], "tile"), y[part], weight[part], *sums, buffer, self._second)
        mirror(self._second, table.shape[1])

    def _add_wide(self, table: NumberTable, y: Ints, weight: Floats, buffer: Floats) -> None:
        counts = np.array([len(y)]) if self.pooled else np.bincount(y, minlength=len(self._second))
        ends = np.cumsum(counts)
        place, sums = ends - counts, (self._pivot, self.total, self._first, self.largest)
        for rows, tile in tiles(table):
            gather(tile, y[rows], weight[rows], place, *sums, buffer)
        for g, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            if count:
                z = buffer[end - count : end]
                self._second[g] += np.matmul(z.T, z, out=scratch("square", z.shape[1], z.shape[1]))

    @property
    def first(self) -> Floats:
        """The sums of deviations, (K, d)."""
        return self._first[:, : self.pivot.shape[1]]

    @property
    def second(self) -> Floats:
        """The sums of their products, of each class or of all, (K or 1, d, d)."""
        d = self.pivot.shape[1]
        return self._second[:, :d, :d]

    @property
    def is_finite(self) -> bool:
        """Whether no cell was missing or infinite."""
        return bool(np.isfinite(self.second).all())

    def centred(self) -> tuple[Floats, Floats, Bools]:
        """The means less the pivots, the scatter about the means, and which pivots lie far off."""
        remainder = ratio(self.first, self.total[:, None])
        pull = np.sqrt(self.total)[:, None] * remainder  # the root on both sides keeps products symmetric
        shift = scratch("square", *self.second.shape[1:])
        far = np.zeros((len(self.second), len(shift)), dtype=np.bool_)
        for g in range(len(self.second)):
            scatter, own = self.second[g], pull if self.pooled else pull[[g]]
            np.matmul(own.T, own, out=shift)
            scatter -= shift
            spread = np.maximum(np.diagonal(scatter), 0.0)
            np.fill_diagonal(scatter, spread)
            far[g] = np.diagonal(shift) > FAR_PIVOT * spread
        return remainder, self.second, far


def class_scatter(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool
) -> tuple[ClassScatter, Floats] | None:
    """Scatter about the class means, and the rounding of the columns; None where a cell is not finite."""
    y, w = codes_of(y), weights_of(weight)
    sums = _ScatterSums(first_rows(table, y, n_classes), pooled).add(table, y, w)
    if not sums.is_finite:
        return None
    remainder, scatter, far = sums.centred()
    if far.any():
        pivot = np.where(far, sums.pivot + remainder, sums.pivot)
        del sums, scatter  # which may be large
        sums = _ScatterSums(pivot, pooled).add(table, y, w)
        remainder, scatter, _ = sums.centred()
    found = ClassScatter(sums.total, sums.pivot, remainder, scatter, None, None)
    return found, _rounding(table, sums.largest[: table.shape[1]])


def _rounding(table: NumberTable, largest: Floats) -> Floats:
    """The largest rounding error that a value of each column may carry, as `rounding_of` has it."""
    double, off_grid = (np.zeros(len(largest), dtype=np.bool_) for _ in range(2))
    is_single = not isinstance(table, SeparateColumns) and table.dtype == np.float32
    for _, tile in tiles(table):
        if double.all() or (is_single and off_grid.all()):
            break
        find_precision(tile, double, off_grid)
    single = ~double & off_grid
    return np.where(single, np.finfo(np.float32).eps, np.finfo(np.float64).eps) * largest
