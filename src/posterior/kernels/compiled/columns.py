"""Rows that do not lie one after the other as doubles: columns apart, single precision, other orders."""

from typing import Any

import numpy as np
from numba import carray
from numba.extending import overload

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import CODES, ROWS, SINGLE_ROWS, kernel
from posterior.kernels.compiled.vectors import WIDTH, doubles_at
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_rows

__all__ = ["ROW_SOURCES", "TILE", "WIDTH", "doubles_at", "load_rows", "pack", "row_source"]

TILE = 512


@kernel(f"void({CODES}, int64, float64[:, ::1])")
def pack(addresses: Ints, start: int, out: Floats) -> None:
    """Write the rows from `start` on, of columns at these addresses, one after the other."""
    n, d = out.shape
    for first in range(0, n, TILE):
        size = min(TILE, n - first)
        at = WIDTH * (start + first)
        j = 0
        while j + 4 <= d:
            a = carray(doubles_at(addresses[j] + at), (size,))
            b = carray(doubles_at(addresses[j + 1] + at), (size,))
            c = carray(doubles_at(addresses[j + 2] + at), (size,))
            e = carray(doubles_at(addresses[j + 3] + at), (size,))
            for r in range(size):
                out[first + r, j] = a[r]
                out[first + r, j + 1] = b[r]
                out[first + r, j + 2] = c[r]
                out[first + r, j + 3] = e[r]
            j += 4
        while j < d:
            a = carray(doubles_at(addresses[j] + at), (size,))
            for r in range(size):
                out[first + r, j] = a[r]
            j += 1


# The types of what `load_rows` reads: the addresses of columns, or an array of rows one after the other.
ROW_SOURCES = (CODES, ROWS, SINGLE_ROWS)


def row_source(table: NumberTable) -> tuple[AnyArray, int]:
    """What one of the `ROW_SOURCES` a table is, and its first row there; a copy of arrays in other orders."""
    if isinstance(table, SeparateColumns):
        return table.addresses, table.start
    return (table if table.dtype == np.float32 and table.flags.c_contiguous else in_rows(table)), 0


def load_rows(source: AnyArray, start: int, out: Floats) -> None:
    """Write the rows of a source from `start` on, one after the other, as doubles; for compiled code."""
    raise NotImplementedError


@overload(load_rows)  # type: ignore[untyped-decorator]  # numba has no types
def _load_rows(source: Any, start: Any, out: Any) -> Any:
    def columns(source: Any, start: Any, out: Any) -> None:
        pack(source, start, out)

    def rows(source: Any, start: Any, out: Any) -> None:
        for r in range(out.shape[0]):
            for j in range(out.shape[1]):
                out[r, j] = source[start + r, j]

    return columns if source.ndim == 1 else rows
