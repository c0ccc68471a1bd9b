"""Smooth functions of numbers, all columns in one call.

Reference: `Curve.functions` in `posterior.linear.curves`.
"""

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import ANY_ROWS, CODES, ROWS, kernel

STACK, STACKS = "Array(float64, 3, 'C', True)", "Array(float64, 4, 'C', True)"
# Rows of one column that stay in the first cache.
TILE = 256


@kernel(f"void({ANY_ROWS}, {CODES}, {CODES}, {ROWS}, {STACK}, {STACKS}, {STACK}, float64[:, :])")
def write_functions(
    X: Floats,
    n_knots: Ints,
    n_functions: Ints,
    knots: Floats,
    shares: Floats,
    cubics: Floats,
    beyond: Floats,
    out: Floats,
) -> None:
    """Write every function of every column; 0 for a gap.

    Curves are as `posterior.linear.curves.packed` has them. They are cubics of the share s of an interval's
    rise that lies below a number, which is itself a cubic of the share t of its width.
    """
    x, share = np.empty(TILE), np.empty(TILE)
    interval = np.empty(TILE, dtype=np.uint64)  # unsigned: compiled code need not look for what is negative
    for start in range(0, len(X), TILE):
        rows, at = min(TILE, len(X) - start), 0
        for j in range(len(n_knots)):
            m, q = n_knots[j], n_functions[j]
            if q == 0:
                continue
            first, last, outside = knots[j, 0], knots[j, m - 1], 0
            for r in range(rows):
                x[r] = X[start + r, j]
                interval[r] = 0
            for i in range(1, m - 1):  # without a branch: as many steps for every number
                knot = knots[j, i]
                for r in range(rows):
                    interval[r] += np.uint64(x[r] >= knot)
            for r in range(rows):
                own = shares[j, interval[r]]
                inside = min(max(x[r], first), last)
                outside += inside != x[r]
                t = (inside - own[0]) * own[1]
                share[r] = min(max(t * (own[2] + t * (own[3] + t * own[4])), 0.0), 1.0)
            for r in range(rows):
                c, s = cubics[j, interval[r]], share[r]
                for f in range(q):
                    out[start + r, at + f] = c[0, f] + s * (c[1, f] + s * (c[2, f] + s * c[3, f]))
            if outside:
                for r in range(rows):
                    if np.isnan(x[r]):
                        for f in range(q):
                            out[start + r, at + f] = 0.0
                    elif x[r] < first:
                        for f in range(q):
                            out[start + r, at + f] += (x[r] - first) * beyond[j, 0, f]
                    elif x[r] > last:
                        for f in range(q):
                            out[start + r, at + f] += (x[r] - last) * beyond[j, 1, f]
            at += q
