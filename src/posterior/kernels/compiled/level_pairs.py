"""Levels of columns two by two: counted by class, and their log probabilities summed over parent levels."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import exp, kernel
from posterior.kernels.compiled.lines import add_sum_of_lines


@kernel("void(int32[:, ::1], int64[::1], float64[::1], float64[:, :, ::1])")
def add_pairs(places: AnyArray, y: Ints, weight: Floats, counts: Floats) -> None:
    """Add the weight of each row to the cells of its levels, an earlier column with a later one or itself.

    No weights mean that all are 1; a missing cell is place −1.
    """
    n, d = places.shape
    there = np.empty(d, np.uint64)
    for r in range(n):
        m = 0
        for j in range(d):
            there[m] = np.uint64(max(places[r, j], 0))
            m += places[r, j] >= 0
        w = 1.0 if len(weight) == 0 else weight[r]
        table = counts[y[r]]
        for i in range(m):
            line = table[there[i]]
            for j in range(i, m):
                line[there[j]] += w


@kernel(
    "void(int32[:, ::1], int64[::1], int64[::1], int64[::1], float64[:, ::1], float64[:, :, ::1], "
    "float64[:, ::1])"
)
def sum_over_parents(
    places: AnyArray,
    firsts: Ints,
    starts: Ints,
    child: Ints,
    log_level: Floats,
    log_given: Floats,
    out: Floats,
) -> None:
    """Write ln Σ_u p(u) Π_j p(x_j | u) of each row: u is its level of a column, any where that is missing.

    `firsts` are the first levels of the columns, `starts` those of the parent columns, with their end, and
    `child` the columns that those are, −1 for none. The lines of `log_given` (B, P·V, width) hold some
    classes each, those of a parent level next to each other.
    """
    n, d = places.shape
    n_parents, n_classes, line_bytes = len(child), out.shape[1], 8 * log_given.shape[2]
    of_parent = line_bytes * (log_given.shape[1] // len(log_level))
    there, line, some = np.empty(d, np.int64), np.empty(d, np.int64), np.empty(log_given.shape[2])
    score, top, total = np.empty(n_classes), np.empty(n_classes), np.empty(n_classes)
    for r in range(n):
        m = 0
        for j in range(d):
            there[m] = line_bytes * max(places[r, j], 0)
            m += places[r, j] >= 0
        top[:] = -np.inf
        total[:] = 0.0
        for q in range(n_parents):
            begin, end = starts[q], starts[q + 1]
            if child[q] >= 0 and places[r, child[q]] >= 0:
                begin = starts[q] + places[r, child[q]] - firsts[child[q]]
                end = begin + 1
            for u in range(begin, end):
                for k in range(len(score)):
                    score[k] = log_level[u, k]
                for j in range(m):
                    line[j] = of_parent * u + there[j]
                add_sum_of_lines(log_given, line[:m], some, score)
                for k in range(n_classes):
                    if score[k] <= top[k]:
                        total[k] += exp(score[k] - top[k])
                    else:
                        total[k] = 1.0 + (total[k] * exp(top[k] - score[k]) if total[k] > 0.0 else 0.0)
                        top[k] = score[k]
        for k in range(n_classes):
            out[r, k] = top[k] + np.log(total[k])
