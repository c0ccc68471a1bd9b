"""A few rows at a time, upright and on their side, from wherever they lie, as doubles less a shift.

Both are what products of lines read; a last column of ones stands for the level of scores. What is beyond the
last row or column is zero.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import carray

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import CODES, step
from posterior.kernels.compiled.line_products import EIGHT, turn_8
from posterior.kernels.compiled.vectors import SINGLE, WIDTH, doubles_at, singles_at
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_rows
from posterior.kernels.memory import scratch

# Rows of a tile: what is made of them stays in a core's first caches. A multiple of EIGHT.
TILE = 64
# Tiles of rows that are brought into doubles together.
COPIED = 16
# The types of `RowPlaces`.
PLACES = f"{CODES}, int64, int64, boolean"


class RowPlaces(NamedTuple):
    """Where the numbers of a table lie: its first row's addresses, and the bytes from a row to the next.

    `size` is that of a number, 8 or 4 bytes; `upright` says that those of a row lie side by side.
    """

    addresses: Ints
    stride: int
    size: int
    upright: bool


def places_of(table: NumberTable) -> RowPlaces | None:
    """Where the numbers lie; None for types other than floats of 8 and 4 bytes."""
    if isinstance(table, SeparateColumns):
        size = table.dtype.itemsize
        return RowPlaces(table.addresses + size * table.start, size, size, False)
    return _places_of_array(table) if table.dtype in (np.float64, np.float32) else None


def _places_of_array(array: Floats) -> RowPlaces:
    size, (down, across) = array.dtype.itemsize, array.strides
    first = int(array.__array_interface__["data"][0])
    return RowPlaces(first + across * np.arange(array.shape[1]), down, size, across == size and down != size)


@step
def load_upright(
    addresses: Ints, stride: int, size: int, first: int, k: int, shift: Floats, out: Floats
) -> None:
    """Write k rows from `first` on, less the shift, as lines, with a 1 behind."""
    d = len(shift)
    for r in range(k):
        at = addresses[0] + (first + r) * stride
        out[r, d] = 1.0
        if size == SINGLE:
            single = carray(singles_at(at), (d,))
            for j in range(d):
                out[r, j] = np.float64(single[j]) - shift[j]
        else:
            double = carray(doubles_at(at), (d,))
            for j in range(d):
                out[r, j] = double[j] - shift[j]


@step
def load_on_side(
    addresses: Ints, stride: int, size: int, first: int, k: int, shift: Floats, out: Floats
) -> None:
    """Write k rows from `first` on, less the shift, as columns."""
    for j in range(len(shift)):
        at, s, line = addresses[j] + first * stride, shift[j], out[j]
        if stride != size:
            for r in range(k):
                place = at + r * stride
                line[r] = (np.float64(singles_at(place)[0]) if size == SINGLE else doubles_at(place)[0]) - s
        elif size == SINGLE:
            single = carray(singles_at(at), (k,))
            for r in range(k):
                line[r] = np.float64(single[r]) - s
        else:
            double = carray(doubles_at(at), (k,))
            for r in range(k):
                line[r] = double[r] - s


@step
def load_tile(
    addresses: Ints,
    stride: int,
    size: int,
    upright: bool,
    first: int,
    k: int,
    shift: Floats,
    rows: Floats,
    columns: Floats,
) -> None:
    """Write k rows from `first` on, with a 1 behind, to `rows` (TILE, q) and to `columns` (q, TILE).

    q is a multiple of EIGHT. Beyond column d both must be zero at first.
    """
    d, q = len(shift), len(columns)
    line, side = WIDTH * rows.shape[1], WIDTH * TILE
    if upright:
        load_upright(addresses, stride, size, first, k, shift, rows)
        for r in range(k, TILE):
            for j in range(d + 1):
                rows[r, j] = 0.0
        for r in range(0, TILE, EIGHT):
            for j in range(0, q, EIGHT):
                here, there = r * line + j * WIDTH, j * side + r * WIDTH
                turn_8(rows.ctypes.data + here, line, columns.ctypes.data + there, side)
    else:
        load_on_side(addresses, stride, size, first, k, shift, columns)
        for r in range(TILE):
            columns[d, r] = 1.0 if r < k else 0.0
        if k < TILE:
            for j in range(d):
                for r in range(k, TILE):
                    columns[j, r] = 0.0
        for r in range(0, TILE, EIGHT):
            for j in range(0, q, EIGHT):
                here, there = r * line + j * WIDTH, j * side + r * WIDTH
                turn_8(columns.ctypes.data + there, side, rows.ctypes.data + here, line)


def whole(n: int, step: int = EIGHT) -> int:
    """The next multiple."""
    return -(-n // step) * step


def parts(table: NumberTable) -> Iterator[tuple[slice, RowPlaces, Any]]:
    """All rows where they lie, or copies of a few tiles at a time of rows that are no floats.

    What comes last in each part is what must live as long as its addresses.
    """
    places = places_of(table)
    if places is not None:
        yield slice(0, len(table)), places, table
        return
    for at in range(0, len(table), COPIED * TILE):
        rows = slice(at, min(at + COPIED * TILE, len(table)))
        some = in_rows(table[rows], "tile")
        yield rows, _places_of_array(some), some


def room_for(d: int) -> tuple[Floats, Floats]:
    """The `rows` and `columns` of `load_tile` for d columns."""
    q = whole(d + 1)
    return scratch("upright", TILE, q), scratch("on side", q, TILE)


@step
def clear_behind(d: int, rows: Floats, columns: Floats) -> None:
    """Make `rows` and `columns` zero beyond column d, as `load_tile` wants them at first."""
    q = len(columns)
    for r in range(TILE):
        for j in range(d, q):
            rows[r, j] = 0.0
            columns[j, r] = 0.0
