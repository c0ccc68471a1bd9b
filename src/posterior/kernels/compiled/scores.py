"""Scores of Gaussian blocks, added in place: tiles of rows are turned so that rows lie side by side.

Tables of parameters come as `kernels.padded` makes them, for loops of whole steps.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.kernels.compiled.columns import COLUMNS, addresses_of, column
from posterior.kernels.compiled.jit import ANY_ORDER, NUMBERS, ROWS, TABLE, deviation, kernel
from posterior.kernels.compiled.vectors import WIDTH, add_squared_coordinates
from posterior.kernels.layouts import NumberTable, SeparateColumns, tiles
from posterior.kernels.memory import scratch

TILE = 64
Parameters: TypeAlias = tuple[Floats, Floats, Floats, Floats, Floats]
CENTRED = f"{ROWS}, {NUMBERS}, {NUMBERS}"
# Cells of the product of rows and factors that are in memory at once, and how wide it may be.
PRODUCT_CELLS, PRODUCT_WIDTH = 1 << 15, 1 << 12
# Into how many parts the coordinates of a class are split, and how many make a part.
LARGEST_SPLIT, SMALLEST_PART = 4, 8
# Columns up to which distances are worked out in registers: so many coordinates of so many rows at a time, of
# so many rows that are turned at once.
NARROW, COORDINATES, LANES, TURNED = 48, 4, 8, 128


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
    n, d = values.shape
    check = 0.0
    for r in range(n):
        out[0, r] = 1.0
        for j in range(d):
            v = deviation(values[r, j], pivot[j], remainder[j])
            out[j + 1, r] = v
            check += 0.0 * v
    return check == 0.0


@kernel(f"void({ROWS}, int64, float64[:, :])", fastmath=ANY_ORDER)
def add_squares(white: Floats, first: int, out: Floats) -> None:
    """Add −½ |white_k|² to the classes from `first` on; each has its coordinates one below the other."""
    n_classes, n_rows = out.shape[1] - first, white.shape[1]
    d = len(white) // n_classes
    sums = np.empty(n_rows)
    for k in range(n_classes):
        for r in range(n_rows):
            sums[r] = 0.0
        for j in range(k * d, (k + 1) * d):
            for r in range(n_rows):
                sums[r] += white[j, r] * white[j, r]
        for r in range(n_rows):
            out[r, first + k] -= 0.5 * sums[r]


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
    `NarrowQuadratic`.
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


class NarrowQuadratic:
    """Squared distances from class means, |(x − c)W_k − m_k|², with W_k upper triangular, of few columns.

    Coordinates are worked out four at a time, in registers, from as many columns as they look at.
    """

    def __init__(self, whiteners: Iterator[Floats], means: Floats) -> None:
        d = means.shape[1]
        parts: list[Floats] = []
        for mean in means:
            white = next(whiteners)
            factor = np.concatenate([-mean[None], white])  # (d + 1, d)
            for first in range(0, d, COORDINATES):
                last = min(first + COORDINATES, d)
                four = np.zeros((last + 1, COORDINATES))
                four[:, : last - first] = factor[: last + 1, first:last]
                parts.append(four.ravel())
        self.factors = np.concatenate(parts)
        self.n_columns = d

    def add(self, values: Floats, pivot: Floats, remainder: Floats, out: Floats) -> int:
        """Add −½ of the squared distances as far as rows are finite; how many rows that were."""
        turned, sums = scratch("turned", self.n_columns + 1, TURNED), scratch("product", 1, TURNED)
        done: int = add_distances(values, pivot, remainder, self.factors, turned, sums, out)
        return done


def quadratic(whiteners: Iterator[Floats], means: Floats) -> "NarrowQuadratic | Quadratic":
    """Squared distances from class means, in the way that is fastest for so many columns."""
    return (NarrowQuadratic if means.shape[1] <= NARROW else Quadratic)(whiteners, means)


class Quadratic:
    """Squared distances from class means as matrix products: |(x − c)W_k − m_k|², with W_k upper triangular.

    The factors of some coordinates of all classes, one below the other, make one product with rows; those
    of the first coordinates are short, for they look at the first columns only.
    """

    def __init__(self, whiteners: Iterator[Floats], means: Floats) -> None:
        n_classes, d = means.shape
        self.n_columns = d
        parts = max(1, min(LARGEST_SPLIT, d // SMALLEST_PART))
        edges = [d * i // parts for i in range(parts + 1)]
        at_once = max(1, min(n_classes, PRODUCT_WIDTH // d))
        self.blocks: list[tuple[int, Floats]] = []
        for k in range(0, n_classes, at_once):
            own = means[k : k + at_once]
            white = np.stack([next(whiteners).T for _ in own])
            factors = np.concatenate([-own[:, :, None], white], axis=2)
            for a, b in pairwise(edges):
                self.blocks.append((k, np.ascontiguousarray(factors[:, a:b, : b + 1]).reshape(-1, b + 1)))
        self.at_once = at_once
        widest = max(len(factor) for _, factor in self.blocks)
        self.n_rows = max(TILE, PRODUCT_CELLS // widest)

    def add(self, values: Floats, pivot: Floats, remainder: Floats, out: Floats) -> int:
        """Add −½ of the squared distances as far as rows are finite; how many rows that were."""
        n_rows = self.n_rows
        for start in range(0, len(values), n_rows):
            part = values[start : start + n_rows]
            own = scratch("turned", self.n_columns + 1, len(part))
            if not turn(part, pivot, remainder, own):
                return start
            for k, factor in self.blocks:
                product = scratch("product", len(factor), len(part))
                np.matmul(factor, own[: factor.shape[1]], out=product)
                add_squares(product, k, out[start : start + n_rows, : k + self.at_once])
        return len(values)
