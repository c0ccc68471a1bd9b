"""Smooth functions of numbers, all columns in one call.

Reference: `Curve.functions` in `posterior.linear.curves`.
"""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import ANY_ROWS, CODES, ROWS, kernel

STACK = "Array(float64, 3, 'C', True)"


@kernel(f"void({ANY_ROWS}, {CODES}, {CODES}, {ROWS}, {ROWS}, {ROWS}, {STACK}, {STACK}, float64[:, :])")
def write_functions(
    X: Floats,
    n_knots: Ints,
    n_functions: Ints,
    knots: Floats,
    places: Floats,
    slopes: Floats,
    heights: Floats,
    bends: Floats,
    out: Floats,
) -> None:
    """Write every function of every column; 0 for a gap."""
    for r in range(len(X)):
        at = 0
        for j in range(len(n_knots)):
            m, q, x = n_knots[j], n_functions[j], X[r, j]
            if q == 0:
                continue
            if np.isnan(x):
                for f in range(q):
                    out[r, at + f] = 0.0
                at += q
                continue
            k = 0
            for i in range(1, m - 1):  # without a branch: as many steps for every number
                k += x >= knots[j, i]
            inside = min(max(x, knots[j, 0]), knots[j, m - 1])
            width, rise = knots[j, k + 1] - knots[j, k], places[j, k + 1] - places[j, k]
            t = (inside - knots[j, k]) / width
            a, b = slopes[j, k] * width, slopes[j, k + 1] * width
            u = t * (a + t * (3 * rise - 2 * a - b + t * (a + b - 2 * rise)))
            right = min(max(u / rise, 0.0), 1.0)
            left = 1.0 - right
            bent = rise * rise / 6
            one, two = bent * (left * left * left - left), bent * (right * right * right - right)
            for f in range(q):
                value = left * heights[j, k, f] + right * heights[j, k + 1, f]
                out[r, at + f] = value + one * bends[j, k, f] + two * bends[j, k + 1, f]
            if inside != x:
                low = x < inside
                k = 0 if low else m - 2
                rise = places[j, k + 1] - places[j, k]
                beyond = (x - inside) * (slopes[j, 0] if low else slopes[j, m - 1])
                for f in range(q):
                    steep = (heights[j, k + 1, f] - heights[j, k, f]) / rise
                    if low:
                        steep -= rise / 6 * (2 * bends[j, 0, f] + bends[j, 1, f])
                    else:
                        steep += rise / 6 * (bends[j, m - 2, f] + 2 * bends[j, m - 1, f])
                    out[r, at + f] += beyond * steep
            at += q
