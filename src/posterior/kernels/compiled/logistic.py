"""Value, slope and curvature of the logistic loss: two classes, one score.

Rows are read one by one, as they lie, and summed by eights. Loops that sum in any order write nothing (see
`softmax`). Reference: `SoftmaxLoss` of two classes and
`slope_of`, `curvature_of` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, exp, kernel
from posterior.kernels.compiled.series import add_up, log1p, share
from posterior.kernels.layouts import in_rows, tiles
from posterior.kernels.memory import NO_WEIGHTS, codes_of, weights_of

TILE = 32
# Rows by columns of which the products are added up at a time.
ROOT_CELLS = 1 << 15

VECTORS = "float64[::1], float64[::1], float64[::1], float64"


@kernel(f"void(float64[:, ::1], int64[::1], {VECTORS}, float64[:, ::1], float64[::1])", fastmath=ANY_ORDER)
def add_slope(
    X: Floats,
    target: Ints,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    offset: float,
    value: Floats,
    pull: Floats,
) -> None:
    """Add the loss of rows and its derivative by the offset to `value`'s sums, those by coef to `pull` (d,).

    An empty `shift` is zero.
    """
    m, d = X.shape
    T = TILE
    centred, s, w, sign = np.zeros((T, d)), np.zeros(T), np.empty(T), np.ones(T)
    for at in range(0, m, T):
        k = min(T, m - at)
        if len(shift) or k < T:
            z = centred
            for r in range(k):
                for j in range(d):
                    z[r, j] = X[at + r, j]
            if len(shift):
                for r in range(k):
                    for j in range(d):
                        z[r, j] -= shift[j]
            for r in range(k, T):
                for j in range(d):
                    z[r, j] = 0.0
        else:
            z = X[at : at + T]
        for r in range(T):
            t = 0.0
            for j in range(d):
                t += z[r, j] * coef[j]
            s[r] = t
        for r in range(k, T):
            w[r] = 0.0
        for r in range(k):
            sign[r] = 1.0 - 2.0 * target[at + r]
            w[r] = 1.0
        if len(weight):
            for r in range(k):
                w[r] = weight[at + r]
        for r in range(T):
            wrong = (s[r] + offset) * sign[r]
            e = share(-abs(wrong))
            s[r] = w[r] * sign[r] * (1.0 if wrong > 0 else e) / (1.0 + e)
            w[r] *= max(wrong, 0.0) + log1p(e)
        loss, total = 0.0, 0.0
        for r in range(T):
            loss += w[r]
            total += s[r]
        add_up(value[0], loss)
        add_up(value[1], total)
        for r in range(0, T, 8):
            a, b, c, f = s[r], s[r + 1], s[r + 2], s[r + 3]
            g, h, p, q = s[r + 4], s[r + 5], s[r + 6], s[r + 7]
            for j in range(d):
                one = (a * z[r, j] + b * z[r + 1, j]) + (c * z[r + 2, j] + f * z[r + 3, j])
                two = (g * z[r + 4, j] + h * z[r + 5, j]) + (p * z[r + 6, j] + q * z[r + 7, j])
                pull[j] += one + two


@kernel(f"void(float64[:, ::1], {VECTORS}, float64[:, ::1])", fastmath=ANY_ORDER)
def fill_roots(X: Floats, weight: Floats, shift: Floats, coef: Floats, offset: float, out: Floats) -> None:
    """Rows (x − shift, 1) times √(w p (1 − p)), (m, d + 1), whose products add up to the curvature."""
    m, d = X.shape
    s = np.empty(m)
    for r in range(m):
        for j in range(d):
            out[r, j] = X[r, j] - shift[j]
    for r in range(m):
        t = 0.0
        for j in range(d):
            t += out[r, j] * coef[j]
        s[r] = t
    for r in range(m):
        root = exp(-0.5 * abs(s[r] + offset))  # whose square reaches the smallest numbers there are
        s[r] = root / (1.0 + root * root)
    if len(weight):
        for r in range(m):
            s[r] *= np.sqrt(weight[r])
    for r in range(m):
        for j in range(d):
            out[r, j] *= s[r]
        out[r, d] = s[r]


def slope(
    table: Any,
    target: AnyArray,
    weight: Floats | None,
    shift: Floats | None,
    coef: Floats,
    offset: Floats,
) -> tuple[float, Floats, Floats]:
    """Σ w ℓ of scores coef (x − shift) + offset, coef (1, d), and its derivatives by coef and offset."""
    value, pull = np.zeros((2, 2)), np.zeros(coef.shape)
    y, w = codes_of(target), weights_of(weight)
    base = NO_WEIGHTS if shift is None else shift
    beta = np.ascontiguousarray(coef[0])
    for rows, X in tiles(table):
        add_slope(X, y[rows], w[rows], base, beta, offset[0], value, pull[0])
    sums = value.sum(axis=1)
    return float(sums[0]), pull, sums[1:]


def curvature(
    table: Any, weight: Floats | None, shift: Floats | None, coef: Floats, offset: Floats
) -> Floats:
    """Σ w p (1 − p) (x − shift, 1)(x − shift, 1)', (d + 1, d + 1)."""
    m, d = table.shape
    base, w, beta = np.zeros(d) if shift is None else shift, weights_of(weight), np.ascontiguousarray(coef[0])
    size = max(TILE, min(m, ROOT_CELLS // (d + 1)))
    room, out = np.empty((size, d + 1)), np.zeros((d + 1, d + 1))
    for at in range(0, m, size):
        rows = slice(at, min(at + size, m))
        Z = room[: rows.stop - at]
        fill_roots(in_rows(table[rows]), w[rows], base, beta, offset[0], Z)
        out += Z.T @ Z
    return out
