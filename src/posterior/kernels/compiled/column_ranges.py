"""The smallest and the largest number of every column, and whether all are finite, in one reading."""

from math import gcd
from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import EXACT, LINE, TABLE, kernel
from posterior.kernels.compiled.line_products import EIGHT
from posterior.kernels.compiled.row_tiles import PLACES, RowPlaces, places_of
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out
from posterior.kernels.compiled.vectors import (
    SINGLE,
    WIDTH,
    widen_8_doubles,
    widen_8_singles,
    widen_double,
    widen_single,
)

# Lines, and numbers, that are read 8 at a time before the next ones: nearly in the order in which they lie.
LINES, NUMBERS = 4, 128
# Parts that threads share out: their ranges take no memory to speak of beside the table.
MOST_PARTS = 256


@kernel(f"void(int64, int64, int64, int64, int64, {TABLE})", fastmath=EXACT, inner=True)
def widen_lines(at: int, stride: int, size: int, n: int, width: int, ends: Floats) -> None:
    """Widen the ranges `ends` by n lines of so many numbers: the smallest of each place, the largest, Σ 0·x.

    That sum is 0 only if all are finite.
    """
    line, together = WIDTH * ends.shape[1], max(LINES, NUMBERS // width)
    for first in range(0, n, together):
        k, begin = min(together, n - first), at + first * stride
        for j in range(width // EIGHT):
            here, end = begin + EIGHT * j * size, ends.ctypes.data + WIDTH * EIGHT * j
            if size == SINGLE:
                widen_8_singles(here, stride, k, end, line)
            else:
                widen_8_doubles(here, stride, k, end, line)
        for j in range(width // EIGHT * EIGHT, width):
            here, end = begin + j * size, ends.ctypes.data + WIDTH * j
            if size == SINGLE:
                widen_single(here, stride, k, end, line)
            else:
                widen_double(here, stride, k, end, line)


@kernel(f"void({PLACES}, int64, {COUNTER}, int64, int64, {TABLE}, {TABLE}, {LINE})")
def find_ranges(
    addresses: Ints,
    stride: int,
    size: int,
    upright: bool,
    n: int,
    counter: Ints,
    most: int,
    part: int,
    lows: Floats,
    highs: Floats,
    checks: Floats,
) -> None:
    """Ranges of the columns in the next parts of n rows; the check of a part is 0 if all is finite."""
    d = len(addresses)
    width = d if upright else 1  # numbers of a row that lie side by side
    # Rows in one piece of memory are read several at a time, as lines of a multiple of 8 numbers.
    together = EIGHT // gcd(width, EIGHT) if stride == width * size else 1
    ends = np.empty((3, together * width))
    for _ in range(most):
        place = take_next(counter)
        if place >= len(lows):
            break
        begin, k = place * part, min(part, n - place * part)
        for first in range(0, d, width):
            at = addresses[first] + begin * stride
            ends[0], ends[1], ends[2] = np.inf, -np.inf, 0.0
            widen_lines(at, together * stride, size, k // together, together * width, ends)
            widen_lines(at + k // together * together * stride, stride, size, k % together, width, ends)
            for i in range(together * width):
                j = first + i % width
                lows[place, j] = min(lows[place, j], ends[0, i])
                highs[place, j] = max(highs[place, j], ends[1, i])
                checks[place] += ends[2, i]


class RangesOfParts:
    """The ranges of the columns in parts of the rows, which several threads look for."""

    def __init__(self, table: Any, places: RowPlaces, size: int) -> None:
        self._table, n = table, len(table)  # which must live as long as its addresses are read from
        part = max(size, -(-n // MOST_PARTS))
        shape = max(1, -(-n // part)), len(places.addresses)
        self._found = np.full(shape, np.inf), np.full(shape, -np.inf), np.zeros(shape[0])
        self._counter = np.zeros(1, np.int64)
        self._arguments: tuple[Any, ...] = *places, n, self._counter, MOST, part, *self._found

    def run(self, workers: int) -> None:
        """Look at all parts by so many threads."""
        share_out(find_ranges, self._counter, len(self._found[0]), lambda: self._arguments, workers)

    def ranges(self) -> tuple[Floats, Floats] | None:
        """The smallest and the largest number of every column; None where one is missing or infinite."""
        low, high, check = self._found
        return None if check.any() else (low.min(axis=0), high.max(axis=0))


def ranges_of_parts(table: Any, size: int) -> RangesOfParts | None:
    """Those of parts of at least `size` rows; None of numbers other than floats of 8 and 4 bytes."""
    places = places_of(table) if len(table) and table.shape[1] else None
    return None if places is None else RangesOfParts(table, places, size)
