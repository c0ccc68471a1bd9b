"""Value, slope and curvature of the logistic loss: two classes, one score.

Rows are read one by one, as they lie, and summed by eights. Loops that sum in any order write nothing (see
`softmax`). Reference: `SoftmaxLoss` of two classes and
`slope_of`, `curvature_of` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.columns import pack
from posterior.kernels.compiled.jit import ANY_ORDER, CODES, TABLE, exp, kernel
from posterior.kernels.compiled.products import ACROSS, DOWN, OURS, add_square, mirrored
from posterior.kernels.compiled.series import add_up, log1p, share
from posterior.kernels.layouts import SeparateColumns, in_rows, lies_in_rows, tile_rows, tiles
from posterior.kernels.memory import NO_WEIGHTS, codes_of, scratch, weights_of

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


@kernel(f"void({CODES}, int64, {TABLE}, int64[::1], {VECTORS}, {TABLE}, float64[::1])")
def add_slope_of_columns(
    addresses: Ints,
    start: int,
    room: Floats,
    target: Ints,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    offset: float,
    value: Floats,
    pull: Floats,
) -> None:
    """What `add_slope` does, from columns that lie apart; as many rows at a time as there is room for."""
    for at in range(0, len(target), len(room)):
        end = min(at + len(room), len(target))
        rows = room[: end - at]
        pack(addresses, start + at, rows)
        some = weight[at:end] if len(weight) else weight
        add_slope(rows, target[at:end], some, shift, coef, offset, value, pull)


@kernel(f"void(float64[:, ::1], {VECTORS}, {TABLE})", fastmath=ANY_ORDER)
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


@kernel(f"void(float64[:, ::1], {VECTORS}, {TABLE}, {TABLE})")
def add_curvature(
    X: Floats, weight: Floats, shift: Floats, coef: Floats, offset: float, room: Floats, out: Floats
) -> None:
    """Add the products of the rows that `fill_roots` writes, above the diagonal of `out`."""
    m, d = X.shape
    for at in range(0, m, len(room)):
        end = min(at + len(room), m)
        some = weight[at:end] if len(weight) else weight
        fill_roots(X[at:end], some, shift, coef, offset, room)
        add_square(room, end - at, d + 1, out)


@kernel(f"void({CODES}, int64, int64, {TABLE}, {VECTORS}, {TABLE}, {TABLE})")
def add_curvature_of_columns(
    addresses: Ints,
    start: int,
    m: int,
    loaded: Floats,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    offset: float,
    room: Floats,
    out: Floats,
) -> None:
    """What `add_curvature` does, from columns that lie apart."""
    for at in range(0, m, len(room)):
        end = min(at + len(room), m)
        rows = loaded[: end - at]
        pack(addresses, start + at, rows)
        some = weight[at:end] if len(weight) else weight
        add_curvature(rows, some, shift, coef, offset, room, out)


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
    line = base, beta, offset[0], value, pull[0]
    if isinstance(table, SeparateColumns):
        room = scratch("tile", tile_rows(table.shape[1]), table.shape[1])
        add_slope_of_columns(table.addresses, table.start, room, y, w, *line)
    else:
        for rows, X in tiles(table):
            add_slope(X, y[rows], w[rows], *line)
    sums = value.sum(axis=1)
    return float(sums[0]), pull, sums[1:]


def curvature(
    table: Any, weight: Floats | None, shift: Floats | None, coef: Floats, offset: Floats
) -> Floats:
    """Σ w p (1 − p) (x − shift, 1)(x − shift, 1)', (d + 1, d + 1)."""
    m, d = table.shape
    base, w, beta = np.zeros(d) if shift is None else shift, weights_of(weight), np.ascontiguousarray(coef[0])
    size = max(TILE, min(m, ROOT_CELLS // (d + 1)))
    if d + 1 > OURS:
        return _wide_curvature(table, w, base, beta, offset[0], size)
    room = scratch("roots", size, -(-(d + 1) // ACROSS) * ACROSS)
    room[:, d + 1 :] = 0.0
    out = np.zeros((-(-(d + 1) // DOWN) * DOWN, room.shape[1]))
    if lies_in_rows(table):
        add_curvature(in_rows(table), w, base, beta, offset[0], room, out)
    elif isinstance(table, SeparateColumns):
        loaded, line = scratch("tile", size, d), (w, base, beta, offset[0], room, out)
        add_curvature_of_columns(table.addresses, table.start, m, loaded, *line)
    else:
        for at in range(0, m, size):
            rows = slice(at, at + size)
            add_curvature(in_rows(table[rows], "tile"), w[rows], base, beta, offset[0], room, out)
    return mirrored(out, d + 1)


def _wide_curvature(
    table: Any, weight: Floats, shift: Floats, coef: Floats, offset: float, size: int
) -> Floats:
    m, d = table.shape
    room, out = np.empty((size, d + 1)), np.zeros((d + 1, d + 1))
    for at in range(0, m, size):
        rows = slice(at, min(at + size, m))
        Z = room[: rows.stop - at]
        fill_roots(in_rows(table[rows]), weight[rows], shift, coef, offset, Z)
        out += Z.T @ Z
    return out
