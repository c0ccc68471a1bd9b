"""Rows less the pivot of their class, put together by class; and how precise columns are."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, ROWS, SINGLE_ROWS, TABLE, kernel
from posterior.kernels.compiled.vectors import WIDTH, put_4_deviations, put_8_deviations, put_deviation

GRID = 1024.0
SUMS = f"{ROWS}, {LINE}, {TABLE}, {LINE}"


@kernel(*(f"void({each}, {CODES}, {NUMBERS}, int64[::1], {SUMS}, {TABLE})" for each in (ROWS, SINGLE_ROWS)))
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
    line, own_line, size = WIDTH * out.shape[1], WIDTH * pivot.shape[1], values.itemsize
    xs, ps, ss, os = values.ctypes.data, pivot.ctypes.data, first.ctypes.data, out.ctypes.data
    sizes = largest.ctypes.data
    for i in range(n):
        k = y[i]
        g = k if apart else 0
        w = weight[i] if weighted else 1.0
        root = np.sqrt(w) if weighted else 1.0
        total[k] += w
        x, p, s, z = xs + size * d * i, ps + own_line * k, ss + own_line * k, os + line * place[g]
        place[g] += 1
        j = 0
        while j + 8 <= d:
            at = WIDTH * j
            put_8_deviations(x + size * j, p + at, s + at, sizes + at, z + at, w, root, values)
            j += 8
        if j + 4 <= d:
            at = WIDTH * j
            put_4_deviations(x + size * j, p + at, s + at, sizes + at, z + at, w, root, values)
            j += 4
        while j < d:
            at = WIDTH * j
            put_deviation(x + size * j, p + at, s + at, sizes + at, z + at, w, root, values)
            j += 1


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
