"""Sums by class of dense and sparse rows (CSR), and linear scores of sparse ones."""

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import kernel

ROWS = "float64[::1], {0}[::1], {0}[::1]"
SUMS = f"void({ROWS}, int64[::1], float64[::1], float64[:, ::1])"


@kernel(SUMS.format("int32"), SUMS.format("int64"))
def add_sums(
    data: Floats, indices: AnyArray, indptr: AnyArray, y: Ints, weight: Floats, sums: Floats
) -> None:
    """Add the weighted cells of each row to the sums (K, d) of its class."""
    weighted = len(weight) > 0
    for i in range(len(y)):
        w = weight[i] if weighted else 1.0
        line = sums[y[i]]
        for c in range(indptr[i], indptr[i + 1]):
            line[np.uint64(indices[np.uint64(c)])] += w * data[np.uint64(c)]


@kernel("void(float64[:, ::1], int64[::1], float64[::1], float64[:, ::1])")
def add_dense_sums(values: Floats, y: Ints, weight: Floats, sums: Floats) -> None:
    """Add the weighted cells of each row to the sums (K, d) of its class."""
    n, d = values.shape
    weighted = len(weight) > 0
    for i in range(n):
        w = weight[i] if weighted else 1.0
        row, line = values[i], sums[y[i]]
        for j in range(d):
            line[j] += w * row[j]


SCORES = f"void({ROWS}, float64[:, ::1], float64[:, ::1])"


@kernel(SCORES.format("int32"), SCORES.format("int64"))
def add_scores(data: Floats, indices: AnyArray, indptr: AnyArray, table: Floats, out: Floats) -> None:
    """Add to each row of `out` its cells times the lines of their columns in `table` (d, K)."""
    n, n_classes = out.shape
    sums = np.zeros(n_classes)
    for i in range(n):
        for k in range(n_classes):
            sums[k] = 0.0
        for c in range(indptr[i], indptr[i + 1]):
            x, line = data[np.uint64(c)], table[np.uint64(indices[np.uint64(c)])]
            for k in range(n_classes):
                sums[k] += x * line[k]
        for k in range(n_classes):
            out[i, k] += sums[k]
