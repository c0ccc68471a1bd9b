"""Rows that do not lie one after the other as doubles: columns apart, single precision, other orders."""

from typing import Any

import numpy as np
from llvmlite import ir
from numba import carray, types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.jit import CODES, ROWS, SINGLE_ROWS, kernel
from posterior.kernels.compiled.tile_vectors import (
    DOUBLE,
    SINGLE,
    SIZE,
    SQUARE,
    WORD,
    _load,
    _store,
    _transposed,
)
from posterior.kernels.compiled.vectors import AHEAD, WIDTH, doubles_at, prefetch, singles_at
from posterior.kernels.compiled.vectors import SINGLE as SINGLE_WIDTH
from posterior.kernels.layouts import NumberTable, SeparateColumns, rows_as_stored

TILE = 512


# The addresses of columns of doubles, and of numbers in single precision: the type tells compiled code which.
COLUMNS = (CODES, "Array(uint64, 1, 'C', True)")


def addresses_of(table: SeparateColumns) -> AnyArray:
    """The addresses of columns that lie apart, as one of the `COLUMNS`."""
    return table.addresses if table.dtype == np.float64 else table.addresses.view(np.uint64)


def column(addresses: AnyArray, j: int, start: int, n: int) -> Floats:
    """Rows of a column from `start` on, as they lie; for compiled code."""
    raise NotImplementedError


@overload(column)  # type: ignore[untyped-decorator]  # numba has no types
def _column(addresses: Any, j: Any, start: Any, n: Any) -> Any:
    def doubles(addresses: Any, j: Any, start: Any, n: Any) -> Any:
        return carray(doubles_at(addresses[j] + WIDTH * start), (n,))

    def singles(addresses: Any, j: Any, start: Any, n: Any) -> Any:
        return carray(singles_at(np.int64(addresses[j]) + SINGLE_WIDTH * start), (n,))

    return singles if addresses.dtype == types.uint64 else doubles


def _turn(number: Any) -> Any:
    """The type and the code that turn 8 numbers of 8 columns into rows of doubles."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        columns, out, line = arguments
        vector = ir.VectorType(number, SQUARE)
        found = [_load(builder, at, vector, SIZE[number]) for at in cgutils.unpack_tuple(builder, columns)]
        for r, row in enumerate(_transposed(builder, found)):
            wide = row if number == DOUBLE else builder.fpext(row, ir.VectorType(DOUBLE, SQUARE))
            _store(builder, wide, builder.add(out, builder.mul(line, WORD(r))), WIDTH)
        return context.get_dummy_value()

    return types.void(types.UniTuple(types.int64, SQUARE), types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_doubles(t: Any, columns: Any, out: Any, line: Any) -> Any:
    """Write 8 doubles of each of 8 columns, at these addresses, as 8 rows that are `line` bytes apart."""
    return _turn(DOUBLE)


@intrinsic  # type: ignore[untyped-decorator]  # numba has no types
def turn_singles(t: Any, columns: Any, out: Any, line: Any) -> Any:
    """The same of numbers in single precision, as doubles."""
    return _turn(SINGLE)


def turn_8_columns(addresses: AnyArray, j: int, at: int, out: int, line: int) -> None:
    """Write 8 rows, from row `at` on, of 8 columns from column j on; for compiled code."""
    raise NotImplementedError


@overload(turn_8_columns)  # type: ignore[untyped-decorator]  # numba has no types
def _turn_8_columns(addresses: Any, j: Any, at: Any, out: Any, line: Any) -> Any:
    single = addresses.dtype == types.uint64
    size, turned = (SIZE[SINGLE], turn_singles) if single else (SIZE[DOUBLE], turn_doubles)

    def turn(addresses: Any, j: Any, at: Any, out: Any, line: Any) -> None:
        offset = size * at
        columns = (
            np.int64(addresses[j]) + offset,
            np.int64(addresses[j + 1]) + offset,
            np.int64(addresses[j + 2]) + offset,
            np.int64(addresses[j + 3]) + offset,
            np.int64(addresses[j + 4]) + offset,
            np.int64(addresses[j + 5]) + offset,
            np.int64(addresses[j + 6]) + offset,
            np.int64(addresses[j + 7]) + offset,
        )
        for c in range(SQUARE):  # of the next `TILE` rows
            prefetch(columns[c] + AHEAD)
        turned(columns, out, line)

    return turn


@kernel(*(f"void({each}, int64, float64[:, ::1])" for each in COLUMNS))
def pack(addresses: AnyArray, start: int, out: Floats) -> None:
    """Write the rows from `start` on, of columns at these addresses, one after the other."""
    n, d = out.shape
    line, own = WIDTH * d, out.ctypes.data
    for first in range(0, n, TILE):
        size = min(TILE, n - first)
        at, whole = start + first, size // SQUARE * SQUARE
        j = 0
        while j + SQUARE <= d:
            for r in range(0, whole, SQUARE):
                turn_8_columns(addresses, j, at + r, own + line * (first + r) + WIDTH * j, line)
            for i in range(j, j + SQUARE):
                a = column(addresses, i, at, size)
                for r in range(whole, size):
                    out[first + r, i] = a[r]
            j += SQUARE
        while j + 4 <= d:
            a, b = column(addresses, j, at, size), column(addresses, j + 1, at, size)
            c, e = column(addresses, j + 2, at, size), column(addresses, j + 3, at, size)
            for r in range(size):
                out[first + r, j] = a[r]
                out[first + r, j + 1] = b[r]
                out[first + r, j + 2] = c[r]
                out[first + r, j + 3] = e[r]
            j += 4
        while j < d:
            a = column(addresses, j, at, size)
            for r in range(size):
                out[first + r, j] = a[r]
            j += 1


# The types of what `load_rows` reads: the addresses of columns, or an array of rows one after the other.
ROW_SOURCES = (*COLUMNS, ROWS, SINGLE_ROWS)


def row_source(table: NumberTable) -> tuple[AnyArray, int]:
    """What one of the `ROW_SOURCES` a table is, and its first row there; a copy of arrays in other orders."""
    if isinstance(table, SeparateColumns):
        return addresses_of(table), table.start
    return rows_as_stored(table), 0


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


def is_single(source: AnyArray) -> bool:
    """Whether the numbers of a source are in single precision; for compiled code."""
    raise NotImplementedError


@overload(is_single)  # type: ignore[untyped-decorator]  # numba has no types
def _is_single(source: Any) -> Any:
    single = source.dtype in (types.uint64, types.float32)

    def known(source: Any) -> Any:
        return single

    return known
