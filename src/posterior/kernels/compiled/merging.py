"""Moments and scatter of many parts of the rows, added up in pairs, pairs of pairs and so on, in one call.

Chan, Golub & LeVeque (1979), as `merge_locations` has it: by NumPy, dozens of calls for each level of the
tree, all other threads waiting meanwhile, took longer than sixteen threads need for 500,000 rows.
"""

import numpy as np

from posterior._types import Floats
from posterior.kernels.compiled.jit import EXACT, STACK, TABLE, kernel

ANY_STACK, ANY_MATRICES = "float64[:, :, :]", "float64[:, :, :, :]"


@kernel(f"void({TABLE}, {STACK}, {STACK}, {ANY_MATRICES}, {TABLE})", fastmath=EXACT)
def add_scatter_pairs(
    weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, rounding: Floats
) -> None:
    """Add up parts 2p and 2p + 1 at place p, level by level; what is left over stays where it is.

    Weights (n, K), locations (n, K, d), scatter (n, K or 1, d, d), rounding (n, d).
    """
    n, n_classes, d = pivot.shape
    pooled = scatter.shape[1] < n_classes
    pull = np.empty((n_classes, d))
    while n > 1:
        for p in range(n // 2):
            a, b = 2 * p, 2 * p + 1
            for k in range(n_classes):
                w, more = weight[a, k], weight[b, k]
                share = more / (w + more) if w + more > 0.0 else 0.0
                root = np.sqrt(w * share)  # on both sides of a product, which is symmetric then
                for j in range(d):
                    x, y = pivot[a, k, j], pivot[b, k, j]
                    u, v = remainder[a, k, j], remainder[b, k, j]
                    shift = (y - x) + (v - u) if w > 0.0 and more > 0.0 else 0.0
                    pull[k, j] = root * shift
                    pivot[p, k, j] = y if w == 0.0 else x
                    remainder[p, k, j] = v if w == 0.0 else u + share * shift
                weight[p, k] = w + more
            for j in range(d):
                rounding[p, j] = max(rounding[a, j], rounding[b, j])
            for g in range(scatter.shape[1]):
                for i in range(d):
                    for j in range(d):
                        scatter[p, g, i, j] = scatter[a, g, i, j] + scatter[b, g, i, j]
            for k in range(n_classes):
                g = 0 if pooled else k
                for i in range(d):
                    for j in range(d):
                        scatter[p, g, i, j] += pull[k, i] * pull[k, j]
        n //= 2


@kernel(f"void({ANY_STACK}, {STACK}, {STACK}, {ANY_STACK}, {TABLE})", fastmath=EXACT)
def add_moment_pairs(weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, mark: Floats) -> None:
    """The same of moments: weights, locations and sums of squares (n, K, d), marks (n, d)."""
    n, n_classes, d = pivot.shape
    while n > 1:
        for p in range(n // 2):
            a, b = 2 * p, 2 * p + 1
            for k in range(n_classes):
                for j in range(d):
                    w, more = weight[a, k, j], weight[b, k, j]
                    share = more / (w + more) if w + more > 0.0 else 0.0
                    x, y = pivot[a, k, j], pivot[b, k, j]
                    u, v = remainder[a, k, j], remainder[b, k, j]
                    shift = (y - x) + (v - u) if w > 0.0 and more > 0.0 else 0.0
                    both = scatter[a, k, j] + scatter[b, k, j]
                    scatter[p, k, j] = both + w * share * (shift * shift)
                    pivot[p, k, j] = y if w == 0.0 else x
                    remainder[p, k, j] = v if w == 0.0 else u + share * shift
                    weight[p, k, j] = w + more
            for j in range(d):
                mark[p, j] = mark[a, j] + mark[b, j]
        n //= 2
