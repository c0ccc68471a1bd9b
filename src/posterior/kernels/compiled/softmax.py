"""Value and slope of the softmax loss: scores, log of their sum and derivatives in one pass.

A tile of rows is turned on its side, so that every step runs along rows; it stays in the processor's first
cache. Loops that sum in any order write nothing: where a loop does, the compiler makes a second version for
arrays that lie close together, with another order, and bits would depend on addresses. Reference:
`SoftmaxLoss.slope` and `slope_of` in `posterior.linear`.
"""

from typing import Any

import numba
import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import ANY_ORDER, kernel
from posterior.kernels.compiled.series import add_up, log1p, share
from posterior.kernels.layouts import tiles
from posterior.kernels.memory import codes_of, weights_of

TILE = 128


@numba.njit(fastmath=set(ANY_ORDER), error_model="numpy")  # type: ignore[untyped-decorator]  # numba has no types
def _forces(e: Floats, first: int, target: Ints, weight: Floats, room: Floats) -> float:
    """Turn a tile's scores (K, T) into w (p − 1[class]) of the scores from `first` on; the loss of its rows.

    Rows past the last one of `target` count nothing.
    """
    n_classes, k, T = len(e), len(target), TILE
    peak, below, own, others, w = room[0], room[1], room[2], room[3], room[4]
    for r in range(T):
        peak[r] = e[0, r]
        others[r] = 0.0
    for c in range(1, n_classes):
        for r in range(T):
            peak[r] = max(peak[r], e[c, r])
    for r in range(T):
        below[r] = 0.0
        own[r] = 1.0
        w[r] = 0.0
    for r in range(k):
        below[r] = peak[r] - e[target[r], r]
        w[r] = 1.0
    if len(weight):
        for r in range(k):
            w[r] = weight[r]
    for c in range(n_classes):
        for r in range(T):
            e[c, r] = share(e[c, r] - peak[r])
    # What the other classes have is summed by itself: 1 − p keeps its digits where p is almost 1.
    for r in range(k):
        own[r] = e[target[r], r]
        e[target[r], r] = 0.0
    for c in range(n_classes):
        for r in range(T):
            others[r] += e[c, r]
    for r in range(T):
        sure = others[r] < own[r]
        odds = others[r] / own[r] if sure else others[r] + own[r] - 1.0
        below[r] = w[r] * ((0.0 if sure else below[r]) + log1p(odds))
        w[r] /= others[r] + own[r]
    for c in range(first, n_classes):
        for r in range(T):
            e[c, r] *= w[r]
    for r in range(k):
        e[target[r], r] = -others[r] * w[r]
    loss = 0.0
    for r in range(T):
        loss += below[r]
    return loss


ROWS = "float64[:, ::1], int64[::1], float64[::1], float64[::1]"
SCORES = "float64[:, ::1], float64[::1], int64"


@kernel(f"void({ROWS}, {SCORES}, float64[::1], float64[:, ::1], float64[::1])", fastmath=ANY_ORDER)
def add_slope(
    X: Floats,
    target: Ints,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    offset: Floats,
    first: int,
    value: Floats,
    pull: Floats,
    level: Floats,
) -> None:
    """Add the loss of rows to the sum of `value`, its derivatives to `pull` (R, d) and `level` (R,)."""
    m, d = X.shape
    R, T = len(offset), TILE
    x, e, room = np.empty((d, T)), np.zeros((R + first, T)), np.empty((5, T))
    for at in range(0, m, T):
        k = min(T, m - at)
        if k < T:
            x[:] = 0.0
        for r in range(k):
            for j in range(d):
                x[j, r] = X[at + r, j] - shift[j]
        if first:
            for r in range(T):
                e[0, r] = 0.0
        for c in range(R):
            for r in range(T):
                e[first + c, r] = offset[c]
        for c in range(0, R - 1, 2):
            for j in range(d):
                a, b = coef[c, j], coef[c + 1, j]
                for r in range(T):
                    v = x[j, r]
                    e[first + c, r] += v * a
                    e[first + c + 1, r] += v * b
        if R % 2:
            for j in range(d):
                a = coef[R - 1, j]
                for r in range(T):
                    e[first + R - 1, r] += x[j, r] * a
        add_up(value, _forces(e, first, target[at : at + k], weight[at : at + k], room))
        for c in range(R):
            s = 0.0
            for r in range(T):
                s += e[first + c, r]
            level[c] += s
        for c in range(0, R - 1, 2):
            for j in range(d):
                s, t = 0.0, 0.0
                for r in range(T):
                    v = x[j, r]
                    s += v * e[first + c, r]
                    t += v * e[first + c + 1, r]
                pull[c, j] += s
                pull[c + 1, j] += t
        if R % 2:
            for j in range(d):
                s = 0.0
                for r in range(T):
                    s += x[j, r] * e[first + R - 1, r]
                pull[R - 1, j] += s


@kernel("float64(float64[:, ::1], int64[::1], float64[::1], int64)", fastmath=ANY_ORDER)
def turn_to_forces(scores: Floats, target: Ints, weight: Floats, first: int) -> float:
    """The loss of rows whose scores (R, m) become its derivatives."""
    R, m = scores.shape
    T = TILE
    e, room = np.zeros((R + first, T)), np.empty((5, T))
    value = np.zeros(2)
    for at in range(0, m, T):
        k = min(T, m - at)
        if first:
            for r in range(T):
                e[0, r] = 0.0
        for c in range(R):
            for r in range(k):
                e[first + c, r] = scores[c, at + r]
            for r in range(k, T):
                e[first + c, r] = 0.0
        add_up(value, _forces(e, first, target[at : at + k], weight[at : at + k], room))
        for c in range(R):
            for r in range(k):
                scores[c, at + r] = e[first + c, r]
    return float(value[0] + value[1])


def slope(
    table: Any,
    target: AnyArray,
    weight: Floats | None,
    shift: Floats | None,
    coef: Floats,
    offset: Floats,
    n_classes: int,
) -> tuple[float, Floats, Floats]:
    """Σ w ℓ of scores coef (x − shift) + offset, and its derivatives by coefficients and offsets.

    Where there is one class more than scores, the score of the first is 0.
    """
    value, pull, level = np.zeros(2), np.zeros(coef.shape), np.zeros(len(offset))
    base = np.zeros(table.shape[1]) if shift is None else shift
    y, w, first = codes_of(target), weights_of(weight), n_classes - len(coef)
    coef, offset = np.ascontiguousarray(coef), np.ascontiguousarray(offset)
    for rows, X in tiles(table):
        add_slope(X, y[rows], w[rows], base, coef, offset, first, value, pull, level)
    return float(value.sum()), pull, level


def forces(scores: Floats, target: AnyArray, weight: Floats | None, n_classes: int) -> tuple[float, Floats]:
    """Σ w ℓ of scores (R, m), and its derivatives by them, which may be in their place."""
    scores = np.ascontiguousarray(scores)
    value = turn_to_forces(scores, codes_of(target), weights_of(weight), n_classes - len(scores))
    return value, scores
