"""The curvature of the softmax loss as one matrix product: pairs of classes by pairs of columns.

Every block Σ v_ab x x' of the Hessian is symmetric, so that products of two classes and of two columns, each
formed once, say it all. Reference: `SoftmaxLoss.curvature` and `curvature_of` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.kernels.compiled.jit import ANY_ORDER, kernel
from posterior.kernels.compiled.series import share
from posterior.kernels.layouts import in_rows
from posterior.kernels.memory import weights_of

# Rows whose products with each other stay in the second cache, for some ten columns; fewer of many columns.
TILE, MOST_PRODUCTS = 256, 1 << 21

ROWS = "float64[:, ::1], float64[::1], float64[::1]"
SCORES = "float64[:, ::1], float64[::1], int64"


@kernel(f"void({ROWS}, {SCORES}, float64[:, ::1], float64[:, ::1])", fastmath=ANY_ORDER)
def fill_products(
    X: Floats,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    offset: Floats,
    first: int,
    by_class: Floats,
    by_column: Floats,
) -> None:
    """Write w ∂²ℓ of every two scores (R(R+1)/2, T), and products of every two of (x − shift, 1).

    Rows of these past the last one of X are zero.
    """
    m, d = X.shape
    R, T = len(offset), by_class.shape[1]
    K = R + first
    x, p = np.empty((d + 1, T)), np.empty((K, T))
    peak, total, w = np.empty(T), np.zeros(T), np.zeros(T)
    if m < T:
        x[:] = 0.0
    for r in range(m):
        for j in range(d):
            x[j, r] = X[r, j] - shift[j]
    for r in range(m):
        x[d, r] = 1.0
        w[r] = 1.0
    if len(weight):
        for r in range(m):
            w[r] = weight[r]
    if first:
        for r in range(T):
            p[0, r] = 0.0
    for c in range(R):
        for r in range(T):
            p[first + c, r] = offset[c]
        for j in range(d):
            a = coef[c, j]
            for r in range(T):
                p[first + c, r] += x[j, r] * a
    for r in range(T):
        peak[r] = p[0, r]
    for c in range(1, K):
        for r in range(T):
            peak[r] = max(peak[r], p[c, r])
    for c in range(K):
        for r in range(T):
            e = share(p[c, r] - peak[r])
            p[c, r] = e
            total[r] += e
    for r in range(T):
        total[r] = 1.0 / total[r]
    for c in range(K):
        for r in range(T):
            p[c, r] *= total[r]
    at = 0
    for a in range(first, K):
        for r in range(T):
            total[r] = 0.0  # 1 − p without its rounding
        for b in range(K):
            if b != a:
                for r in range(T):
                    total[r] += p[b, r]
        for r in range(T):
            by_class[at, r] = w[r] * p[a, r] * total[r]
        at += 1
        for b in range(a + 1, K):
            for r in range(T):
                by_class[at, r] = -w[r] * p[a, r] * p[b, r]
            at += 1
    at = 0
    for i in range(d + 1):
        for j in range(i, d + 1):
            for r in range(T):
                by_column[at, r] = x[i, r] * x[j, r]
            at += 1


def curvature(
    table: Any,
    weight: Floats | None,
    shift: Floats | None,
    coef: Floats,
    offset: Floats,
    n_classes: int,
) -> Floats:
    """Σ w ∂²ℓ (x − shift, 1)(x − shift, 1)', pairs of scores by pairs of columns as in `np.triu_indices`."""
    (m, d), R = table.shape, len(offset)
    first = n_classes - R
    base = np.zeros(d) if shift is None else shift
    w = weights_of(weight)
    n_products = (d + 1) * (d + 2) // 2
    T = min(TILE, m, MOST_PRODUCTS // n_products)
    by_class, by_column = np.empty((R * (R + 1) // 2, T)), np.empty((n_products, T))
    out, part = (np.zeros((len(by_class), len(by_column))) for _ in range(2))
    coef, offset = np.ascontiguousarray(coef), np.ascontiguousarray(offset)
    for at in range(0, m, T):
        rows = slice(at, at + T)
        fill_products(in_rows(table[rows]), w[rows], base, coef, offset, first, by_class, by_column)
        out += np.matmul(by_class, by_column.T, out=part)
    return out
