"""Value, slope and curvature of the logistic loss: two classes, one score.

Rows are read once, a tile at a time, as they lie; all sums of a chunk are one call. Reference: `SoftmaxLoss`
of two classes and `slope_of`, `curvature_of` in `posterior.linear`.
"""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.compiled.jit import CODES, LINE, NUMBERS, TABLE, kernel
from posterior.kernels.compiled.line_products import add_one, add_upper
from posterior.kernels.compiled.row_tiles import PLACES, TILE, load_tile, parts, room_for, whole
from posterior.kernels.compiled.series import add_up, log1p, share, sum_of_tile
from posterior.kernels.compiled.vectors import WIDTH
from posterior.kernels.memory import codes_of, scratch, weights_of

# Lines of TILE numbers: the score, which becomes the force; loss; curvature; weight; sign.
LINES = 5


ROWS = f"{PLACES}, {CODES}, {NUMBERS}, {NUMBERS}, {LINE}"


@kernel(f"void({ROWS}, {TABLE}, {TABLE}, {TABLE}, {LINE}, {LINE}, {TABLE})")
def add_sums(
    addresses: Ints,
    stride: int,
    size: int,
    upright: bool,
    target: Ints,
    weight: Floats,
    shift: Floats,
    coef: Floats,
    rows: Floats,
    columns: Floats,
    room: Floats,
    value: Floats,
    pull: Floats,
    bend: Floats,
) -> None:
    """Add the loss of rows to the sum of `value`, its derivatives to `pull`, the second ones to `bend`.

    Coefficients, with the level last, and `pull` have a multiple of eight numbers, `bend` as many lines of as
    many, written to from the diagonal on; an empty one is not asked for.
    """
    m, q = len(target), len(coef)
    line, side = WIDTH * q, WIDTH * TILE
    s, loss, v, w, sign = room[0], room[1], room[2], room[3], room[4]
    for at in range(0, m, TILE):
        k = min(TILE, m - at)
        load_tile(addresses, stride, size, upright, at, k, shift, rows, columns)
        for r in range(TILE):
            s[r] = 0.0
        add_one(coef.ctypes.data, columns.ctypes.data, side, q, TILE, s.ctypes.data)
        for r in range(k):
            sign[r] = 1.0 - 2.0 * target[at + r]
        if len(weight):
            for r in range(k):
                w[r] = weight[at + r]
        else:
            for r in range(k):
                w[r] = 1.0
        for r in range(k, TILE):
            sign[r] = w[r] = 0.0
        for r in range(TILE):
            wrong = s[r] * sign[r]
            e = share(-abs(wrong))
            part = 1.0 / (1.0 + e)
            s[r] = w[r] * sign[r] * ((1.0 if wrong > 0 else e) * part)
            v[r] = w[r] * (e * part * part)
            loss[r] = w[r] * (max(wrong, 0.0) + log1p(e))
        add_up(value, sum_of_tile(loss))
        add_one(s.ctypes.data, rows.ctypes.data, line, TILE, q, pull.ctypes.data)
        if len(bend):
            for j in range(q):
                for r in range(TILE):
                    columns[j, r] *= v[r]
            add_upper(
                columns.ctypes.data, side, WIDTH, rows.ctypes.data, line, TILE, q, bend.ctypes.data, line
            )


def sums(
    table: Any,
    target: AnyArray,
    weight: Floats | None,
    shift: Floats | None,
    coef: Floats,
    offset: Floats,
    n_classes: int = 2,
    *,
    curved: bool,
) -> tuple[float, Floats, Floats, Floats | None]:
    """Σ w ℓ of scores coef (x − shift) + offset, coef (1, d), and its derivatives by coef and offset.

    And the upper triangle of Σ w p (1 − p) (x − shift, 1)(x − shift, 1)', (1, q(q+1)/2) with q = d + 1, where
    that is asked for.
    """
    d = table.shape[1]
    q = whole(d + 1)
    base, y, w = np.zeros(d) if shift is None else shift, codes_of(target), weights_of(weight)
    line = np.zeros(q)
    line[:d], line[d] = coef[0], offset[0]
    rows, columns = room_for(d)
    value, pull, bend = np.zeros(2), np.zeros(q), np.zeros((q if curved else 0, q))
    room = scratch("scores", LINES, TILE)
    for some, places, _ in parts(table):
        add_sums(*places, y[some], w[some], base, line, rows, columns, room, value, pull, bend)
    triangle = bend[np.triu_indices(d + 1)][None] if curved else None
    return float(value.sum()), pull[None, :d], pull[d : d + 1], triangle
