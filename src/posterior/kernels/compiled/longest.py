"""The longest row of a table in the metric of a quadratic form, which bounds how fast a loss can bend.

Reference: `Objective.longest_row` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import LINE, NUMBERS, TABLE, kernel
from posterior.kernels.compiled.line_products import EIGHT, add_all
from posterior.kernels.compiled.row_tiles import (
    PLACES,
    TILE,
    RowPlaces,
    clear_behind,
    load_tile,
    parts,
    places_of,
    room_for,
    whole,
)
from posterior.kernels.compiled.sharing import COUNTER, MOST, take_next
from posterior.kernels.compiled.team import share_out
from posterior.kernels.compiled.vectors import WIDTH
from posterior.kernels.memory import scratch


@kernel(
    f"void({PLACES}, int64, {NUMBERS}, {TABLE}, {TABLE}, {TABLE}, {TABLE}, {COUNTER}, int64, int64, {LINE})",
    own=("rows", "columns", "turned"),
)
def find_largest(
    addresses: Ints,
    stride: int,
    size: int,
    upright: bool,
    n: int,
    shift: Floats,
    upper: Floats,
    rows: Floats,
    columns: Floats,
    turned: Floats,
    counter: Ints,
    most: int,
    part: int,
    found: Floats,
) -> None:
    """Max ‖U (x − shift, 1)‖² over the rows of each of the next parts.

    U is upper triangular, with zeros up to a multiple of EIGHT lines of as many numbers.
    """
    q = len(upper)
    line, side = WIDTH * q, WIDTH * TILE
    square = np.empty(TILE)
    clear_behind(len(shift), rows, columns)
    for _ in range(most):
        place = take_next(counter)
        if place >= len(found):
            break
        largest, end = 0.0, min((place + 1) * part, n)
        for at in range(place * part, end, TILE):
            load_tile(addresses, stride, size, upright, at, min(TILE, end - at), shift, rows, columns)
            square[:] = 0.0
            for i in range(0, q, EIGHT):
                turned[:] = 0.0
                left, right = upper[i, i:].ctypes.data, columns[i:].ctypes.data
                add_all(left, line, WIDTH, right, side, q - i, EIGHT, TILE, turned.ctypes.data, side)
                for k in range(EIGHT):
                    for r in range(TILE):
                        square[r] += turned[k, r] * turned[k, r]
            for r in range(TILE):
                largest = max(largest, square[r])
        found[place] = largest


def triangle_of(turn: Floats) -> Floats:
    """The upper triangular U with ‖U z‖ = ‖z·turn‖, turn being (d + 1, q), as `find_largest` takes it."""
    upper = np.linalg.qr(turn.T, mode="r")
    q = whole(len(turn))
    square = np.zeros((q, q))
    square[: len(upper), : len(turn)] = upper
    return square


class LongestOfParts:
    """Max ‖U (x − shift, 1)‖² of every `size` rows, U being what `triangle_of` gives, by several threads."""

    def __init__(self, places: RowPlaces, n: int, shift: Floats, upper: Floats, size: int) -> None:
        self._rows, self._size = (*places, n, shift, upper), size
        self._found, self._counter = np.zeros(max(1, -(-n // size))), np.zeros(1, np.int64)

    def run(self, workers: int) -> None:
        """Look at all parts by so many threads."""
        share_out(find_largest, self._counter, len(self._found), self._arguments, workers)

    def _arguments(self) -> tuple[Any, ...]:
        room = *room_for(len(self._rows[-2])), scratch("scores", EIGHT, TILE)
        return *self._rows, *room, self._counter, MOST, self._size, self._found

    def largest(self) -> float:
        """That of all rows."""
        return float(self._found.max())


def longest_of_parts(table: Any, shift: Floats, upper: Floats, size: int) -> LongestOfParts | None:
    """Those of a table, which must live as long; None where compiled code does not read it as it lies."""
    places = places_of(table)
    return None if places is None else LongestOfParts(places, len(table), shift, upper, size)


def longest(table: Any, shift: Floats, upper: Floats) -> float:
    """Max ‖U (x − shift, 1)‖² over rows, U being what `triangle_of` gives."""
    most = 0.0
    for rows, places, _ in parts(table):
        n = rows.stop - rows.start
        found = LongestOfParts(places, n, shift, upper, max(n, 1))
        found.run(1)
        most = max(most, found.largest())
    return most
