"""Class moments in one pass over the rows, of arrays and of columns that lie apart.

Each class and column is summed up in the order of its rows, whatever the layout: any table, the same bits.
"""

from collections.abc import Iterator

import numpy as np
from numba import carray

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.compiled.columns import SOURCES, WIDTH, doubles_at, load_rows
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, TABLE, kernel
from posterior.kernels.compiled.vectors import add_4_moments, add_8_moments, add_apart
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_rows, lies_in_rows, tile_rows, tiles
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassMoments, column_marks, ratio

# A pivot further off than this, in standard deviations of the values, would cost digits: centre again.
FAR_PIVOT = 100.0
PEEK = 64

SUMS = f"{ROWS}, float64[:, ::1], float64[:, ::1], float64[:, ::1]"


@kernel(f"void({ROWS}, {CODES}, {NUMBERS}, {SUMS})")
def add_complete(
    values: Floats,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """Add up deviations from the pivots and their squares; the weights of the rows go to `total[:, 0]`."""
    n, d = values.shape
    if len(weight) == 0:
        # Steps of eight and four doubles, and the rest of a row one by one.
        row, eight, four = WIDTH * d, 8 * WIDTH, 4 * WIDTH
        xs, ps, ss, qs = values.ctypes.data, pivot.ctypes.data, first.ctypes.data, second.ctypes.data
        for i in range(n):
            k = y[i]
            total[k, 0] += 1.0
            x, own, j = xs + i * row, k * row, 0
            while j + eight <= row:
                add_8_moments(x + j, ps + own + j, ss + own + j, qs + own + j)
                j += eight
            while j + four <= row:
                add_4_moments(x + j, ps + own + j, ss + own + j, qs + own + j)
                j += four
            for c in range(j // WIDTH, d):
                v = values[i, c] - pivot[k, c]
                first[k, c] += v
                second[k, c] += v * v
        return
    for i in range(n):
        k, w = y[i], weight[i]
        total[k, 0] += w
        p, s, q = pivot[k], first[k], second[k]
        for j in range(d):
            v = values[i, j] - p[j]
            s[j] += w * v
            q[j] += w * v * v


@kernel(*(f"void({each}, int64, {TABLE}, {CODES}, {NUMBERS}, {SUMS})" for each in SOURCES[1:]))
def add_complete_of(
    source: AnyArray,
    start: int,
    room: Floats,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """What `add_complete` does, of rows that must be brought into order, as many as there is room for."""
    for at in range(0, len(y), len(room)):
        end = min(at + len(room), len(y))
        rows = room[: end - at]
        load_rows(source, start + at, rows)
        some = weight[at:end] if len(weight) else weight
        add_complete(rows, y[at:end], some, pivot, total, first, second)


@kernel(f"void({ROWS}, {CODES}, {NUMBERS}, {SUMS})")
def add_there(
    values: Floats,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """The same over the cells that are not missing, each with its weight in `total`."""
    n, d = values.shape
    weighted = len(weight) > 0
    for i in range(n):
        k = y[i]
        w = weight[i] if weighted else 1.0
        p, t, s, q = pivot[k], total[k], first[k], second[k]
        for j in range(d):
            x = values[i, j]
            there = x == x
            v = x - p[j] if there else 0.0
            t[j] += w if there else 0.0
            s[j] += w * v
            q[j] += w * v * v


@kernel(f"void({ROWS}, {CODES}, float64[:, ::1], boolean[:, ::1])")
def find_pivots(values: Floats, y: Ints, pivot: Floats, found: Bools) -> None:
    """The first value that is there of each class and column, where none was found before."""
    n_classes, d = pivot.shape
    left = np.empty(n_classes, np.int64)
    for k in range(n_classes):
        left[k] = d - found[k].sum()
    for i in range(len(y)):
        k = y[i]
        if left[k] == 0:
            continue
        for j in range(d):
            if not found[k, j] and values[i, j] == values[i, j]:
                found[k, j] = True
                pivot[k, j] = values[i, j]
                left[k] -= 1


@kernel(f"void({CODES}, int64[::1])")
def find_first(y: Ints, row: Ints) -> None:
    """The first row of each class, −1 where there is none."""
    absent = len(row)
    row[:] = -1
    for i in range(len(y)):
        if row[y[i]] < 0:
            row[y[i]] = i
            absent -= 1
            if absent == 0:
                return


@kernel(f"void({CODES}, int64, {CODES}, {NUMBERS}, {SUMS})")
def add_columns(
    addresses: Ints,
    start: int,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """What `add_complete` does, from columns that lie apart: four at a time, read where they are."""
    n, d, n_classes = len(y), len(addresses), len(pivot)
    weighted = len(weight) > 0
    for i in range(n):
        total[y[i], 0] += weight[i] if weighted else 1.0
    sums = np.empty((n_classes, 12))
    j = 0
    while j + 4 <= d:
        a = carray(doubles_at(addresses[j] + WIDTH * start), (n,))
        b = carray(doubles_at(addresses[j + 1] + WIDTH * start), (n,))
        c = carray(doubles_at(addresses[j + 2] + WIDTH * start), (n,))
        e = carray(doubles_at(addresses[j + 3] + WIDTH * start), (n,))
        for k in range(n_classes):
            for m in range(4):
                sums[k, m] = pivot[k, j + m]
                sums[k, 4 + m] = first[k, j + m]
                sums[k, 8 + m] = second[k, j + m]
        if not weighted:
            at, line, lines = WIDTH * start, 12 * WIDTH, sums.ctypes.data
            at_a, at_b = addresses[j] + at, addresses[j + 1] + at
            at_c, at_e = addresses[j + 2] + at, addresses[j + 3] + at
            for i in range(n):
                step = WIDTH * i
                add_apart(at_a + step, at_b + step, at_c + step, at_e + step, lines + line * y[i])
        else:
            for i in range(n):
                s = sums[y[i]]
                w = weight[i]
                v0, v1, v2, v3 = a[i] - s[0], b[i] - s[1], c[i] - s[2], e[i] - s[3]
                s[4] += w * v0
                s[5] += w * v1
                s[6] += w * v2
                s[7] += w * v3
                s[8] += w * v0 * v0
                s[9] += w * v1 * v1
                s[10] += w * v2 * v2
                s[11] += w * v3 * v3
        for k in range(n_classes):
            for m in range(4):
                first[k, j + m] = sums[k, 4 + m]
                second[k, j + m] = sums[k, 8 + m]
        j += 4
    while j < d:
        a = carray(doubles_at(addresses[j] + WIDTH * start), (n,))
        for i in range(n):
            k = y[i]
            w = weight[i] if weighted else 1.0
            v = a[i] - pivot[k, j]
            first[k, j] += w * v
            second[k, j] += w * v * v
        j += 1


class _MomentSums:
    """Sums about the pivots, over the cells of a chunk."""

    def __init__(self, pivot: Floats) -> None:
        self.pivot = pivot
        self.total, self.first, self.second = (np.zeros_like(pivot) for _ in range(3))

    @classmethod
    def complete(cls, table: NumberTable, y: Ints, weight: Floats, pivot: Floats) -> "_MomentSums":
        """Those of rows without a gap; they are not finite if there is one."""
        sums = cls(pivot)
        if isinstance(table, SeparateColumns):
            add_columns(table.addresses, table.start, y, weight, *sums)
        elif not lies_in_rows(table) and table.dtype in (np.float64, np.float32):
            room = scratch("tile", tile_rows(table.shape[1]), table.shape[1])
            add_complete_of(table, 0, room, y, weight, *sums)
        else:
            for rows, tile in tiles(table):
                add_complete(tile, y[rows], weight[rows], *sums)
        sums.total[:] = sums.total[:, :1]
        return sums

    @classmethod
    def there(
        cls, table: NumberTable, y: Ints, weight: Floats, pivot: Floats | None, shape: tuple[int, int]
    ) -> "_MomentSums":
        """Those of the cells that are not missing; without pivots, about the first ones of them."""
        sums = cls(np.zeros(shape) if pivot is None else pivot)
        found = np.full(shape, pivot is not None)
        for rows, tile in tiles(table):
            if pivot is None:
                find_pivots(tile, y[rows], sums.pivot, found)
            add_there(tile, y[rows], weight[rows], *sums)
        return sums

    def __iter__(self) -> Iterator[Floats]:
        yield from (self.pivot, self.total, self.first, self.second)

    @property
    def is_finite(self) -> bool:
        """Whether no cell was missing or infinite."""
        return bool(np.isfinite(self.second).all())

    def centred(self) -> tuple[Floats, Floats]:
        """The means less the pivots, and the sums of squares about the means."""
        remainder = ratio(self.first, self.total)
        return remainder, np.maximum(self.second - self.first * remainder, 0.0)


def class_moments(table: NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing."""
    y, w = codes_of(y), weights_of(weight)
    shape = n_classes, table.shape[1]
    gaps = bool(np.isnan(in_rows(table[:PEEK])).any())
    if not gaps:
        sums = _MomentSums.complete(table, y, w, first_rows(table, y, n_classes))
        gaps = not sums.is_finite
    if gaps:
        sums = _MomentSums.there(table, y, w, None, shape)
    remainder, scatter = sums.centred()
    far = sums.first * remainder > FAR_PIVOT * scatter
    if far.any():
        pivot = np.where(far, sums.pivot + remainder, sums.pivot)
        sums = (
            _MomentSums.there(table, y, w, pivot, shape) if gaps else _MomentSums.complete(table, y, w, pivot)
        )
        remainder, scatter = sums.centred()
    return ClassMoments(sums.total, sums.pivot, remainder, scatter, _marks(table, w, sums))


def first_rows(table: NumberTable, y: Ints, n_classes: int) -> Floats:
    """The first row of each class, zeros where there is none."""
    rows = np.empty(n_classes, dtype=np.int64)
    find_first(y, rows)
    seen = np.flatnonzero(rows >= 0)
    pivot = np.zeros((n_classes, table.shape[1]))
    if isinstance(table, SeparateColumns):
        for j, array in enumerate(table.arrays):
            pivot[seen, j] = array[table.start + rows[seen]]
    else:
        pivot[seen] = table[rows[seen]]
    return pivot


def _marks(table: NumberTable, weight: Floats, sums: _MomentSums) -> Floats:
    """Marks of the columns: of their sums, or cell by cell where sums do not tell two columns apart.

    Columns that are equal have equal marks either way.
    """
    mark = column_marks(np.concatenate([sums.pivot, sums.first, sums.second]), None)
    if len(set(mark.tolist())) == len(mark):
        return mark
    cells = (column_marks(tile, weight[rows] if len(weight) else None) for rows, tile in tiles(table))
    return np.asarray(sum(cells, np.zeros(len(mark))))
