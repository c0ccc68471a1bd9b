"""The longest row of a table in the metric of a quadratic form, which bounds how fast a loss can bend.

Reference: `Objective.longest_row` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.kernels.compiled.jit import ANY_ORDER, kernel
from posterior.kernels.layouts import tiles

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


def triangle_of(turn: Floats) -> Floats:
    """The upper triangular U with ‖U z‖ = ‖z·turn‖, turn being (d + 1, q)."""
    upper = np.linalg.qr(turn.T, mode="r")
    square = np.zeros((len(turn), len(turn)))
    square[: len(upper)] = upper
    return square


def longest(table: Any, shift: Floats, square: Floats) -> float:
    """Max ‖U (x − shift, 1)‖² over rows, U being what `triangle_of` gives."""
    return max(float(largest_square(X, shift, square)) for _, X in tiles(table))
