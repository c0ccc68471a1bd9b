"""The longest row of a table in the metric of a quadratic form, which bounds how fast a loss can bend.

Reference: `Objective.longest_row` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.columns import pack
from posterior.kernels.compiled.jit import ANY_ORDER, CODES, TABLE, kernel
from posterior.kernels.layouts import SeparateColumns, tile_rows, tiles
from posterior.kernels.memory import scratch

TILE = 128


@kernel("float64(float64[:, ::1], float64[::1], float64[:, ::1])", fastmath=ANY_ORDER)
def largest_square(X: Floats, shift: Floats, upper: Floats) -> float:
    """Max ‖U (x − shift, 1)‖² over rows, U being upper triangular."""
    m, d = X.shape
    T = TILE
    x, square = np.zeros((d + 1, T)), np.empty(T)
    one, two = np.empty(T), np.empty(T)
    largest = 0.0
    for at in range(0, m, T):
        k = min(T, m - at)
        x[:] = 0.0
        for r in range(k):
            for j in range(d):
                x[j, r] = X[at + r, j] - shift[j]
        for r in range(k):
            x[d, r] = 1.0
        square[:] = 0.0
        for i in range(0, d, 2):
            a = upper[i, i]
            for r in range(T):
                one[r] = a * x[i, r]
                two[r] = 0.0
            for j in range(i + 1, d + 1):
                a, b = upper[i, j], upper[i + 1, j]
                for r in range(T):
                    one[r] += a * x[j, r]
                    two[r] += b * x[j, r]
            for r in range(T):
                square[r] += one[r] * one[r] + two[r] * two[r]
        if d % 2 == 0:
            a = upper[d, d]
            for r in range(T):
                one[r] = a * x[d, r]
                square[r] += one[r] * one[r]
        for r in range(T):
            largest = max(largest, square[r])
    return largest


@kernel(f"float64({CODES}, int64, int64, {TABLE}, float64[::1], {TABLE})")
def largest_square_of_columns(
    addresses: Ints, start: int, m: int, room: Floats, shift: Floats, upper: Floats
) -> float:
    """What `largest_square` finds, from columns that lie apart; as many rows at a time as there is room."""
    largest = 0.0
    for at in range(0, m, len(room)):
        rows = room[: min(len(room), m - at)]
        pack(addresses, start + at, rows)
        largest = max(largest, largest_square(rows, shift, upper))
    return largest


def longest(table: Any, shift: Floats, turn: Floats) -> float:
    """Max ‖(x − shift, 1)·turn‖² over rows, turn being (d + 1, q)."""
    upper = np.linalg.qr(turn.T, mode="r")
    square = np.zeros((len(turn), len(turn)))
    square[: len(upper)] = upper
    if isinstance(table, SeparateColumns):
        m, d = table.shape
        room = scratch("tile", tile_rows(d), d)
        return float(largest_square_of_columns(table.addresses, table.start, m, room, shift, square))
    return max(float(largest_square(X, shift, square)) for _, X in tiles(table))
