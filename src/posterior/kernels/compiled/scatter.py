"""Class scatter: rows less the pivot of their class, put together by class, and a product of each."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels.compiled.columns import TILE, pack
from posterior.kernels.compiled.jit import CODES, NUMBERS, ROWS, kernel
from posterior.kernels.compiled.moments import FAR_PIVOT, first_rows
from posterior.kernels.layouts import NumberTable, SeparateColumns, tiles
from posterior.kernels.memory import codes_of, scratch, weights_of
from posterior.kernels.reference import ClassScatter, ratio

# Cells, and rows of a class, that are put together for one product.
TOGETHER = 1 << 19
ROWS_OF_A_CLASS = 64
GRID = 1024.0


SUMS = f"{ROWS}, float64[::1], float64[:, ::1], float64[::1], float64[:, ::1]"


@kernel(f"void({ROWS}, {CODES}, {NUMBERS}, int64[::1], {SUMS})")
def gather(
    values: Floats,
    y: Ints,
    weight: Floats,
    place: Ints,
    pivot: Floats,
    total: Floats,
    first: Floats,
    largest: Floats,
    out: Floats,
) -> None:
    """Write rows less their pivot, times the root of their weight, to the next place of their class.

    With one place for all classes the rows keep their order. Adds up weights and deviations, and keeps the
    largest size of a value in each column.
    """
    n, d = values.shape
    apart = len(place) > 1
    weighted = len(weight) > 0
    for i in range(n):
        k = y[i]
        g = k if apart else 0
        p, s, z = pivot[k], first[k], out[place[g]]
        place[g] += 1
        if not weighted:
            total[k] += 1.0
            for j in range(d):
                x = values[i, j]
                v = x - p[j]
                z[j] = v
                s[j] += v
                size = abs(x)
                if size > largest[j]:
                    largest[j] = size
            continue
        w = weight[i]
        root = np.sqrt(w)
        total[k] += w
        for j in range(d):
            x = values[i, j]
            v = x - p[j]
            z[j] = v * root
            s[j] += v * w
            size = abs(x)
            if size > largest[j]:
                largest[j] = size


@kernel(f"void({CODES}, int64, {CODES}, {NUMBERS}, int64[::1], {SUMS})")
def gather_columns(
    addresses: Ints,
    start: int,
    y: Ints,
    weight: Floats,
    place: Ints,
    pivot: Floats,
    total: Floats,
    first: Floats,
    largest: Floats,
    out: Floats,
) -> None:
    """What `gather` does, from columns that lie apart."""
    tile = np.empty((TILE, len(addresses)))
    for i in range(0, len(y), TILE):
        end = min(i + TILE, len(y))
        rows = tile[: end - i]
        pack(addresses, start + i, rows)
        gather(rows, y[i:end], weight[i:end], place, pivot, total, first, largest, out)


@kernel(f"void({ROWS}, boolean[::1], boolean[::1])")
def find_precision(values: Floats, double: Bools, off_grid: Bools) -> None:
    """Mark columns with a value that is no single-precision number, or no multiple of 1/1024."""
    n, d = values.shape
    left = d - double.sum()
    for i in range(n):
        if left == 0:
            return
        for j in range(d):
            x = values[i, j]
            if not double[j]:
                if np.float64(np.float32(x)) != x:
                    double[j] = True
                    left -= 1
                elif not off_grid[j]:
                    off_grid[j] = x * GRID != np.floor(x * GRID)


class _ScatterSums:
    """Sums about the pivots."""

    def __init__(self, pivot: Floats, pooled: bool) -> None:
        n_classes, d = pivot.shape
        self.pivot, self.pooled = pivot, pooled
        self.total, self.first, self.largest = np.zeros(n_classes), np.zeros((n_classes, d)), np.zeros(d)
        self.second = np.zeros((1 if pooled else n_classes, d, d))

    def add(self, table: NumberTable, y: Ints, weight: Floats) -> "_ScatterSums":
        """Add rows, as many at a time as one product is worth, whatever their layout."""
        d = self.pivot.shape[1]
        at_once = max(1, min(max(TOGETHER // d, ROWS_OF_A_CLASS * len(self.second)), len(y)))
        buffer = scratch("scatter", at_once, d)
        for start in range(0, len(y), at_once):
            part = slice(start, start + at_once)
            self._add(table[part], y[part], weight[part], buffer)
        return self

    def _add(self, table: NumberTable, y: Ints, weight: Floats, buffer: Floats) -> None:
        counts = np.array([len(y)]) if self.pooled else np.bincount(y, minlength=len(self.second))
        ends = np.cumsum(counts)
        place, sums = ends - counts, (self.pivot, self.total, self.first, self.largest)
        if isinstance(table, SeparateColumns):
            gather_columns(table.addresses, table.start, y, weight, place, *sums, buffer)
        else:
            for rows, tile in tiles(table):
                gather(tile, y[rows], weight[rows], place, *sums, buffer)
        for g, (end, count) in enumerate(zip(ends.tolist(), counts.tolist(), strict=True)):
            if count:
                z = buffer[end - count : end]
                self.second[g] += np.matmul(z.T, z, out=scratch("square", z.shape[1], z.shape[1]))

    @property
    def is_finite(self) -> bool:
        """Whether no cell was missing or infinite."""
        return bool(np.isfinite(self.second).all())

    def centred(self) -> tuple[Floats, Floats, Bools]:
        """The means less the pivots, the scatter about the means, and which pivots lie far off."""
        remainder = ratio(self.first, self.total[:, None])
        pull = np.sqrt(self.total)[:, None] * remainder  # the root on both sides keeps products symmetric
        shift = scratch("square", *self.second.shape[1:])
        far = np.zeros((len(self.second), len(shift)), dtype=np.bool_)
        for g in range(len(self.second)):
            scatter, own = self.second[g], pull if self.pooled else pull[[g]]
            np.matmul(own.T, own, out=shift)
            scatter -= shift
            spread = np.maximum(np.diagonal(scatter), 0.0)
            np.fill_diagonal(scatter, spread)
            far[g] = np.diagonal(shift) > FAR_PIVOT * spread
        return remainder, self.second, far


def class_scatter(
    table: NumberTable, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool
) -> tuple[ClassScatter, Floats] | None:
    """Scatter about the class means, and the rounding of the columns; None where a cell is not finite."""
    y, w = codes_of(y), weights_of(weight)
    sums = _ScatterSums(first_rows(table, y, n_classes), pooled).add(table, y, w)
    if not sums.is_finite:
        return None
    remainder, scatter, far = sums.centred()
    if far.any():
        pivot = np.where(far, sums.pivot + remainder, sums.pivot)
        del sums, scatter  # which may be large
        sums = _ScatterSums(pivot, pooled).add(table, y, w)
        remainder, scatter, _ = sums.centred()
    found = ClassScatter(sums.total, sums.pivot, remainder, scatter, None, None)
    return found, _rounding(table, sums.largest)


def _rounding(table: NumberTable, largest: Floats) -> Floats:
    """The largest rounding error that a value of each column may carry, as `rounding_of` has it."""
    double, off_grid = (np.zeros(len(largest), dtype=np.bool_) for _ in range(2))
    for _, tile in tiles(table):
        if double.all():
            break
        find_precision(tile, double, off_grid)
    single = ~double & off_grid
    return np.where(single, np.finfo(np.float32).eps, np.finfo(np.float64).eps) * largest
