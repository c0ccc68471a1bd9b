"""Class scatter of wide tables: rows less the pivot of their class, in panels, and products of these.

Rows of one class are taken together from wherever they lie, as many at a time as stay in a core's cache.
"""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, ROWS, SINGLE_ROWS, STACK, TABLE, kernel
from posterior.kernels.compiled.panels import (
    add_products,
    next_row,
    put_rows,
    row_bases,
)
from posterior.kernels.compiled.sums import add_weights
from posterior.kernels.compiled.vectors import CACHE_LINE, prefetch

# Cells of panels, which stay in the cache of a core, and rows of them at least.
CELLS, FEWEST = 1 << 15, 64
# Rows of each class that are taken together, if there are so many.
ROWS_OF_A_CLASS = 64
# Rows by which memory is asked for ahead.
ROWS_AHEAD = 4


def panel_rows(width: int) -> int:
    """Rows that panels of so many columns have room for."""
    return max(FEWEST, CELLS // width)


def rows_together(at_once: int, n_groups: int) -> int:
    """Rows that are sorted by class together, the same in any layout."""
    return max(at_once, ROWS_OF_A_CLASS * n_groups)


@kernel("void(Array(int64, 1, 'C', True), int64[::1], int64[::1])", inner=True)
def sort_rows(y: Ints, ends: Ints, order: Ints) -> None:
    """The rows by class, in their order, and the end of each class among them."""
    ends[:] = 0
    for i in range(len(y)):
        ends[y[i]] += 1
    at = 0
    for k in range(len(ends)):
        at += ends[k]
        ends[k] = at
    for i in range(len(y) - 1, -1, -1):
        ends[y[i]] -= 1
        order[ends[y[i]]] = i
    for k in range(len(ends) - 1):
        ends[k] = ends[k + 1]
    ends[len(ends) - 1] = len(y)


@kernel(
    *(
        f"void({each}, {CODES}, {NUMBERS}, {ROWS}, {LINE}, {TABLE}, {LINE}, {TABLE}, {STACK})"
        for each in (ROWS, SINGLE_ROWS)
    ),
    inner=True,
)
def add_wide_rows(
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
    """Add up deviations and, above the diagonal, their products: as many rows at a time as panels hold.

    Panels have room for whole ones, and what they have beyond the columns is zero.
    """
    (n, d), n_groups, at_once = values.shape, len(second), len(panels)
    ends, order, place = np.empty(n_groups, np.int64), np.arange(n), np.empty(1, np.int64)
    bases, size = row_bases(values, pivot, first, panels), values.itemsize * d
    add_weights(y, weight, total)
    ends[0] = n
    if n_groups > 1:
        sort_rows(y, ends, order)
    start = 0
    for g in range(n_groups):
        for begin in range(start, ends[g], at_once):
            end = min(begin + at_once, ends[g])
            place[0] = 0
            for r in range(begin, end):
                ahead = bases[0] + size * order[min(r + ROWS_AHEAD, n - 1)]
                for byte in range(0, size, CACHE_LINE):
                    prefetch(ahead + byte)
                put_rows(values, (next_row(bases, order[r], y, weight, place),), largest, panels)
            add_products(panels, 0, end - begin, d, second[g])
        start = ends[g]
