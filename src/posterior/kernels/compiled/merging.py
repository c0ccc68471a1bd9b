"""Sums of many parts of the rows, added up in pairs, pairs of pairs and so on, in one call.

Chan, Golub & LeVeque (1979), as `merge_locations` has it: by NumPy, dozens of calls for each level of the
tree, all other threads waiting meanwhile, took longer than sixteen threads need for 500,000 rows.
"""

from functools import lru_cache
from itertools import pairwise

import numpy as np

from posterior._types import Floats, Ints
from posterior.kernels.compiled.jit import EXACT, STACK, TABLE, kernel

ANY_STACK, ANY_MATRICES = "float64[:, :, :]", "float64[:, :, :, :]"
STEPS = "int64[:, ::1]"


@lru_cache(maxsize=64)
def _steps(n: int) -> Ints:
    """The additions of the tree over n parts: two places, and where their sum goes, the last one to 0.

    Parts 2p and 2p + 1 are added up at place p, level by level; then what was left over, the last rows first.
    """
    found, left = [], []
    while n > 1:
        found += [(2 * p, 2 * p + 1, p) for p in range(n // 2)]
        left += [n - 1] * (n % 2)
        n //= 2
    left.append(0)
    found += [(place, after, place) for after, place in pairwise(left)]
    return np.array(found, np.int64).reshape(-1, 3)


def add_scatter_parts(
    weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, rounding: Floats
) -> None:
    """Add up all parts at place 0, in the order of `added`; what is in the other places has no meaning then.

    Weights (n, K), locations (n, K, d), scatter (n, K or 1, d, d), rounding (n, d).
    """
    _add_scatter(_steps(len(weight)), weight, pivot, remainder, scatter, rounding)


def add_moment_parts(weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, mark: Floats) -> None:
    """The same of moments: weights, locations and sums of squares (n, K, d), marks (n, d)."""
    _add_moments(_steps(len(weight)), weight, pivot, remainder, scatter, mark)


def add_lines(*sums: Floats) -> None:
    """The same of arrays of any shape with an axis for parts in front, side by side in memory."""
    for each in sums:
        if each.size:
            _add_lines(_steps(len(each)), each.reshape(len(each), -1))


@kernel(f"void({STEPS}, {TABLE})", fastmath=EXACT)
def _add_lines(steps: Ints, lines: Floats) -> None:
    for s in range(len(steps)):
        a, b, p = lines[steps[s, 0]], lines[steps[s, 1]], lines[steps[s, 2]]
        for j in range(len(p)):
            p[j] = a[j] + b[j]


@kernel(f"void({STEPS}, {TABLE}, {STACK}, {STACK}, {ANY_MATRICES}, {TABLE})", fastmath=EXACT)
def _add_scatter(
    steps: Ints, weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, rounding: Floats
) -> None:
    _, n_classes, d = pivot.shape
    pooled = scatter.shape[1] < n_classes
    pull = np.empty((n_classes, d))
    for s in range(len(steps)):
        a, b, p = steps[s, 0], steps[s, 1], steps[s, 2]
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


@kernel(f"void({STEPS}, {ANY_STACK}, {STACK}, {STACK}, {ANY_STACK}, {TABLE})", fastmath=EXACT)
def _add_moments(
    steps: Ints, weight: Floats, pivot: Floats, remainder: Floats, scatter: Floats, mark: Floats
) -> None:
    _, n_classes, d = pivot.shape
    for s in range(len(steps)):
        a, b, p = steps[s, 0], steps[s, 1], steps[s, 2]
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
