"""The longest row of a table in the metric of a quadratic form, which bounds how fast a loss can bend.

Reference: `Objective.longest_row` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.columns import SOURCES, load_rows, source_of
from posterior.kernels.compiled.jit import ANY_ORDER, TABLE, kernel
from posterior.kernels.layouts import lies_in_rows, tile_rows, tiles
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


@kernel(*(f"float64({each}, int64, int64, {TABLE}, float64[::1], {TABLE})" for each in SOURCES))
def largest_square_of(
    source: AnyArray, start: int, m: int, room: Floats, shift: Floats, upper: Floats
) -> float:
    """What `largest_square` finds, of rows that must be brought into order, as many as there is room for."""
    largest = 0.0
    for at in range(0, m, len(room)):
        rows = room[: min(len(room), m - at)]
        load_rows(source, start + at, rows)
        largest = max(largest, largest_square(rows, shift, upper))
    return largest


def longest(table: Any, shift: Floats, turn: Floats) -> float:
    """Max ‖(x − shift, 1)·turn‖² over rows, turn being (d + 1, q)."""
    upper = np.linalg.qr(turn.T, mode="r")
    square = np.zeros((len(turn), len(turn)))
    square[: len(upper)] = upper
    source = None if lies_in_rows(table) else source_of(table)
    if source is not None:
        m, d = table.shape
        room = scratch("tile", tile_rows(d), d)
        return float(largest_square_of(*source, m, room, shift, square))
    return max(float(largest_square(X, shift, square)) for _, X in tiles(table))
