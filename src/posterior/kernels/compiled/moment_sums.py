"""Sums of deviations and their squares by class and column, of arrays and of columns that lie apart.

Each class and column is summed up in the order of its rows, whatever the layout: any table, the same bits.
"""

import numpy as np

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels.compiled.columns import COLUMNS, column
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, SINGLE_ROWS, kernel
from posterior.kernels.compiled.vectors import (
    WIDTH,
    add_1_there,
    add_4_moments,
    add_4_there,
    add_8_moments,
    add_8_there,
    add_apart,
)

SUMS = f"{ROWS}, float64[:, ::1], float64[:, ::1], float64[:, ::1]"


@kernel(*(f"void({each}, int64, {CODES}, {NUMBERS}, {SUMS})" for each in (ROWS, SINGLE_ROWS)), inner=True)
def add_complete(
    source: Floats,
    start: int,
    y: Ints,
    weight: Floats,
    pivot: Floats,
    total: Floats,
    first: Floats,
    second: Floats,
) -> None:
    """Add up deviations from the pivots and their squares; the weights of the rows go to `total[:, 0]`."""
    values = source[start : start + len(y)]
    n, d = values.shape
    if len(weight) == 0:
        # Steps of eight and four doubles, and the rest of a row one by one.
        size, row = values.itemsize, WIDTH * d
        xs, ps, ss, qs = values.ctypes.data, pivot.ctypes.data, first.ctypes.data, second.ctypes.data
        for i in range(n):
            k = y[i]
            total[k, 0] += 1.0
            x, own, j = xs + i * d * size, k * row, 0
            while j + 8 <= d:
                at = own + j * WIDTH
                add_8_moments(x + j * size, ps + at, ss + at, qs + at, values)
                j += 8
            while j + 4 <= d:
                at = own + j * WIDTH
                add_4_moments(x + j * size, ps + at, ss + at, qs + at, values)
                j += 4
            for c in range(j, d):
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


@kernel(*(f"void({each}, {CODES}, {NUMBERS}, {SUMS})" for each in (ROWS, SINGLE_ROWS)))
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
    if len(weight) == 0:
        size, row = values.itemsize, WIDTH * d
        xs, ps, ts = values.ctypes.data, pivot.ctypes.data, total.ctypes.data
        ss, qs = first.ctypes.data, second.ctypes.data
        for i in range(n):
            x, own, j = xs + i * d * size, y[i] * row, 0
            while j + 8 <= d:
                at = own + j * WIDTH
                add_8_there(x + j * size, ps + at, ts + at, ss + at, qs + at, values)
                j += 8
            while j + 4 <= d:
                at = own + j * WIDTH
                add_4_there(x + j * size, ps + at, ts + at, ss + at, qs + at, values)
                j += 4
            while j < d:
                at = own + j * WIDTH
                add_1_there(x + j * size, ps + at, ts + at, ss + at, qs + at, values)
                j += 1
        return
    for i in range(n):
        k, w = y[i], weight[i]
        p, t, s, q = pivot[k], total[k], first[k], second[k]
        for j in range(d):
            x = values[i, j]
            there = x == x
            v = x - p[j] if there else 0.0
            t[j] += w if there else 0.0
            s[j] += w * v
            q[j] += w * v * v


@kernel(*(f"void({each}, {CODES}, float64[:, ::1], boolean[:, ::1])" for each in (ROWS, SINGLE_ROWS)))
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


@kernel(*(f"void({each}, int64, {CODES}, {NUMBERS}, {SUMS})" for each in COLUMNS), inner=True)
def add_columns(
    addresses: AnyArray,
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
        a, b = column(addresses, j, start, n), column(addresses, j + 1, start, n)
        c, e = column(addresses, j + 2, start, n), column(addresses, j + 3, start, n)
        for k in range(n_classes):
            for m in range(4):
                sums[k, m] = pivot[k, j + m]
                sums[k, 4 + m] = first[k, j + m]
                sums[k, 8 + m] = second[k, j + m]
        if not weighted:
            size, line, lines = a.itemsize, 12 * WIDTH, sums.ctypes.data
            at_a, at_b, at_c, at_e = a.ctypes.data, b.ctypes.data, c.ctypes.data, e.ctypes.data
            for i in range(n):
                step = size * i
                add_apart(at_a + step, at_b + step, at_c + step, at_e + step, lines + line * y[i], a)
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
        a = column(addresses, j, start, n)
        for i in range(n):
            k = y[i]
            w = weight[i] if weighted else 1.0
            v = a[i] - pivot[k, j]
            first[k, j] += w * v
            second[k, j] += w * v * v
        j += 1
