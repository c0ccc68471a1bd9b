"""Scores of Gaussian blocks, added in place: tiles of rows are turned so that rows lie side by side.

Tables of parameters come as `kernels.padded` makes them, for loops of whole steps.
"""

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.columns import COLUMNS, addresses_of, column
from posterior.kernels.compiled.jit import ANY_ORDER, NUMBERS, ROWS, TABLE, deviation, kernel
from posterior.kernels.compiled.tile_vectors import SQUARE, turn_doubles
from posterior.kernels.compiled.vectors import COORDINATES, LANES, WIDTH, add_squared_coordinates
from posterior.kernels.layouts import NumberTable, SeparateColumns, tiles
from posterior.kernels.memory import scratch

TILE = 64
Parameters: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]
CENTRED = f"{ROWS}, {NUMBERS}, {NUMBERS}"
# Cells of rows that are turned at a time, which stay in the second cache of a core, and how many rows.
TURNED_CELLS, FEWEST, MOST = 1 << 15, 32, 128


@kernel(f"boolean({ROWS}, int64, {NUMBERS}, {NUMBERS}, float64[:, ::1])", fastmath=ANY_ORDER)
def load_rows(values: Floats, start: int, pivot: Floats, remainder: Floats, x: Floats) -> bool:
    """A tile of rows less the centre, side by side; whether all are finite."""
    check = 0.0
    for r in range(TILE):
        for j in range(values.shape[1]):
            v = deviation(values[start + r, j], pivot[j], remainder[j])
            x[j, r] = v
            check += 0.0 * v
    return check == 0.0


@kernel(
    *(f"boolean({each}, int64, {NUMBERS}, {NUMBERS}, float64[:, ::1])" for each in COLUMNS),
    fastmath=ANY_ORDER,
)
def load_columns(addresses: AnyArray, start: int, pivot: Floats, remainder: Floats, x: Floats) -> bool:
    """What `load_rows` does, from columns that lie apart."""
    check = 0.0
    for j in range(len(addresses)):
        own = column(addresses, j, start, TILE)
        for r in range(TILE):
            x[j, r] = deviation(own[r], pivot[j], remainder[j])
        for r in range(TILE):
            check += 0.0 * x[j, r]
    return check == 0.0


@kernel(f"void(boolean, float64[:, ::1], {ROWS}, {ROWS}, {ROWS}, {ROWS}, float64[:, :])", fastmath=ANY_ORDER)
def add_tile(
    complete: bool, x: Floats, there: Floats, scale: Floats, mean: Floats, level: Floats, out: Floats
) -> None:
    """Add Σ_j level_jk − ½ (x_j scale_jk − mean_jk)² over the cells that are there."""
    width, classes = scale.shape
    scores = np.empty((classes, TILE))
    for k in range(0, classes, 2):
        for r in range(TILE):
            scores[k, r] = 0.0
            scores[k + 1, r] = 0.0
        for j in range(0, width, 2):
            s0, s1, s2, s3 = scale[j, k], scale[j, k + 1], scale[j + 1, k], scale[j + 1, k + 1]
            m0, m1, m2, m3 = mean[j, k], mean[j, k + 1], mean[j + 1, k], mean[j + 1, k + 1]
            l0, l1, l2, l3 = level[j, k], level[j, k + 1], level[j + 1, k], level[j + 1, k + 1]
            if complete:
                for r in range(TILE):
                    a, b = x[j, r] * s0 - m0, x[j + 1, r] * s2 - m2
                    c, e = x[j, r] * s1 - m1, x[j + 1, r] * s3 - m3
                    scores[k, r] += l0 + l2 - 0.5 * (a * a + b * b)
                    scores[k + 1, r] += l1 + l3 - 0.5 * (c * c + e * e)
            else:
                for r in range(TILE):
                    a, b = x[j, r] * s0 - m0, x[j + 1, r] * s2 - m2
                    c, e = x[j, r] * s1 - m1, x[j + 1, r] * s3 - m3
                    t, u = there[j, r], there[j + 1, r]
                    scores[k, r] += t * (l0 - 0.5 * a * a) + u * (l2 - 0.5 * b * b)
                    scores[k + 1, r] += t * (l1 - 0.5 * c * c) + u * (l3 - 0.5 * e * e)
    for r in range(TILE):
        for k in range(out.shape[1]):
            out[r, k] += scores[k, r]


@kernel("void(float64[:, ::1], float64[:, ::1])")
def mark_gaps(x: Floats, there: Floats) -> None:
    """Which cells of a tile are there, 1 or 0; a cell that is missing becomes 0."""
    for j in range(len(x)):
        for r in range(TILE):
            v = x[j, r]
            there[j, r] = 1.0 if v == v else 0.0
            x[j, r] = v if v == v else 0.0


PARAMETERS = f"{NUMBERS}, {NUMBERS}, {ROWS}, {ROWS}, {ROWS}"


@kernel(f"void({ROWS}, {PARAMETERS}, float64[:, ::1])", fastmath=ANY_ORDER)
def add_normal(
    values: Floats, pivot: Floats, remainder: Floats, scale: Floats, mean: Floats, level: Floats, out: Floats
) -> None:
    """Add scores of whole tiles of rows, taken about the centre pivot + remainder."""
    x, there = np.zeros((len(scale), TILE)), np.zeros((0, TILE))
    for start in range(0, len(values), TILE):
        complete = load_rows(values, start, pivot, remainder, x)
        if not complete:
            if not len(there):  # as large as the tile, and for tables with gaps only
                there = np.zeros((len(scale), TILE))
            mark_gaps(x, there)
        add_tile(complete, x, there, scale, mean, level, out[start : start + TILE])


@kernel(*(f"void({each}, int64, {PARAMETERS}, float64[:, ::1])" for each in COLUMNS), fastmath=ANY_ORDER)
def add_normal_columns(
    addresses: AnyArray,
    first: int,
    pivot: Floats,
    remainder: Floats,
    scale: Floats,
    mean: Floats,
    level: Floats,
    out: Floats,
) -> None:
    """What `add_normal` does, from columns that lie apart."""
    x, there = np.zeros((len(scale), TILE)), np.zeros((0, TILE))
    for start in range(0, len(out), TILE):
        complete = load_columns(addresses, first + start, pivot, remainder, x)
        if not complete:
            if not len(there):  # as large as the tile, and for tables with gaps only
                there = np.zeros((len(scale), TILE))
            mark_gaps(x, there)
        add_tile(complete, x, there, scale, mean, level, out[start : start + TILE])


@kernel(f"int64({ROWS}, {NUMBERS}, float64[:, ::1])")
def add_product(product: Floats, level: Floats, out: Floats) -> int:
    """Add product + level to the rows in which it is finite; in how many it is not."""
    n, n_classes = product.shape
    odd = 0
    for i in range(n):
        check = 0.0
        for k in range(n_classes):
            check += 0.0 * product[i, k]
        if check != 0.0:
            odd += 1
            continue
        for k in range(n_classes):
            out[i, k] += product[i, k] + level[k]
    return odd


def normal_scores(table: NumberTable, parameters: Parameters, out: Floats) -> None:
    """Add the scores of normal columns to any number of rows: the last ones get a tile of their own."""
    whole = len(table) // TILE * TILE
    if isinstance(table, SeparateColumns):
        add_normal_columns(addresses_of(table), table.start, *parameters, out[:whole])
    else:
        for rows, tile in tiles(table[:whole]):
            add_normal(tile, *parameters, out[rows])
    rest = len(table) - whole
    if rest:
        tile, scores = np.zeros((TILE, table.shape[1])), np.zeros((TILE, out.shape[1]))
        if isinstance(table, SeparateColumns):
            table[whole:].in_rows(tile[:rest])
        else:
            tile[:rest] = table[whole:]
        add_normal(tile, *parameters, scores)
        out[whole:] += scores[:rest]


@kernel(f"boolean({CENTRED}, float64[:, ::1])", fastmath=ANY_ORDER)
def turn(values: Floats, pivot: Floats, remainder: Floats, out: Floats) -> bool:
    """Rows less the centre, as the columns of `out`, whose first row is ones; whether all are finite."""
    (n, d), found = values.shape, np.zeros(SQUARE)
    rows, columns = n // SQUARE * SQUARE, d // SQUARE * SQUARE
    stride, line = WIDTH * d, WIDTH * out.shape[1]
    own, turned, check = values.ctypes.data, out[1:].ctypes.data, found.ctypes.data
    p, m = pivot.ctypes.data, remainder.ctypes.data
    for r in range(n):
        out[0, r] = 1.0
    for r in range(0, rows, SQUARE):
        for j in range(0, columns, SQUARE):
            to = turned + line * j + WIDTH * r
            at = WIDTH * j
            turn_doubles(own + stride * r + at, stride, to, line, p + at, m + at, check)
    nothing = 0.0
    for r in range(n):
        for j in range(columns if r < rows else 0, d):
            v = deviation(values[r, j], pivot[j], remainder[j])
            out[j + 1, r] = v
            nothing += 0.0 * v
    for place in range(SQUARE):
        nothing += found[place]
    return nothing == 0.0


@kernel(f"int64({CENTRED}, {NUMBERS}, {TABLE}, {TABLE}, {TABLE})")
def add_distances(
    values: Floats,
    pivot: Floats,
    remainder: Floats,
    factors: Floats,
    turned: Floats,
    sums: Floats,
    out: Floats,
) -> int:
    """Add −½ of the squared lengths of the coordinates as far as rows are finite; how many rows that were.

    As many rows at a time as `turned` has columns, a multiple of `LANES`. `factors` are those of
    `Quadratic`.
    """
    (n, d), n_classes, size = values.shape, out.shape[1], turned.shape[1]
    line, own = WIDTH * size, turned.ctypes.data
    total = sums.ctypes.data
    for start in range(0, n, size):
        rows = min(size, n - start)
        if not turn(values[start : start + rows], pivot, remainder, turned):
            return start
        at = factors.ctypes.data
        for k in range(n_classes):
            for r in range(rows):
                sums[0, r] = 0.0
            for first in range(0, d, COORDINATES):
                n_columns = min(first + COORDINATES, d) + 1
                for r in range(0, rows, LANES):
                    add_squared_coordinates(own + WIDTH * r, line, at, n_columns, total + WIDTH * r)
                at += WIDTH * COORDINATES * n_columns
            for r in range(rows):
                out[start + r, k] -= 0.5 * sums[0, r]
    return len(values)


class Quadratic:
    """Squared distances from class means, |(x − c)W_k − m_k|², with W_k upper triangular.

    Some coordinates are worked out at a time, in registers, from as many columns as they look at.
    """

    def __init__(self, whiteners: Iterator[Floats], means: Floats) -> None:
        n_classes, d = means.shape
        widths = [min(first + COORDINATES, d) + 1 for first in range(0, d, COORDINATES)]
        own = COORDINATES * sum(widths)
        self.factors = np.zeros(n_classes * own)
        for k, mean in enumerate(means):
            white, at = next(whiteners), k * own
            for first, width in zip(range(0, d, COORDINATES), widths, strict=True):
                some = self.factors[at : at + COORDINATES * width].reshape(width, COORDINATES)
                last = min(first + COORDINATES, d)
                some[0, : last - first] = -mean[first:last]
                some[1:, : last - first] = white[: width - 1, first:last]
                at += some.size
        self.n_columns = d
        self.at_once = max(FEWEST, min(MOST, TURNED_CELLS // (d + 1))) // LANES * LANES

    def add(self, values: Floats, pivot: Floats, remainder: Floats, out: Floats) -> int:
        """Add −½ of the squared distances as far as rows are finite; how many rows that were."""
        turned = scratch("turned", self.n_columns + 1, self.at_once)
        sums = scratch("product", 1, self.at_once)
        done: int = add_distances(values, pivot, remainder, self.factors, turned, sums, out)
        return done
