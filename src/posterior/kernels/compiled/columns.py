"""Rows that do not lie one after the other as doubles: columns apart, single precision, other orders."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.extending import intrinsic, overload

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ROWS, CODES, kernel
from posterior.kernels.layouts import NumberTable, SeparateColumns

WIDTH = 8
TILE = 512


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def doubles_at(typing_context: Any, address: Any) -> Any:
    """The doubles at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def singles_at(typing_context: Any, address: Any) -> Any:
    """The numbers of single precision at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], ir.FloatType().as_pointer())

    return types.CPointer(types.float32)(types.int64), generate


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


# The types of what `load_rows` reads: the addresses of columns, or an array of any order.
SOURCES = (CODES, ANY_ROWS, "Array(float32, 2, 'A', True)")


def source_of(table: NumberTable) -> tuple[AnyArray, int] | None:
    """What `load_rows` reads a table from, and its first row there; None where it does not know how."""
    if isinstance(table, SeparateColumns):
        return table.addresses, table.start
    return (table, 0) if table.dtype in (np.float64, np.float32) else None


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
