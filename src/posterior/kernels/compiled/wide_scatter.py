"""Class scatter of wide tables: rows less the pivot of their class, put together by class, and BLAS."""

import numpy as np

from posterior._types import Bools, Floats, Ints
from posterior.kernels.compiled.gathering import find_precision, gather
from posterior.kernels.compiled.moment_sums import find_first
from posterior.kernels.compiled.moments import FAR_PIVOT
from posterior.kernels.layouts import NumberTable, SeparateColumns, tiles
from posterior.kernels.memory import scratch
from posterior.kernels.reference import ClassScatter, ratio

# Cells that are put together for one product, and rows of each class at least.
TOGETHER, ROWS_OF_A_CLASS = 1 << 19, 64


class _WideSums:
    """Sums about the pivots."""

    def __init__(self, pivot: Floats, pooled: bool) -> None:
        n_classes, d = pivot.shape
        self.pivot, self.pooled = pivot, pooled
        self.total, self.largest, self.first = np.zeros(n_classes), np.zeros(d), np.zeros((n_classes, d))
        self.second = np.zeros((1 if pooled else n_classes, d, d))

    def add(self, table: NumberTable, y: Ints, weight: Floats) -> "_WideSums":
        """Add rows, as many at a time as one product is worth."""
        n_groups, d, _ = self.second.shape
        at_once = max(1, min(max(TOGETHER // d, ROWS_OF_A_CLASS * n_groups), len(y)))
        buffer = scratch("scatter", at_once, d)
        for start in range(0, len(y), at_once):
            part = slice(start, start + at_once)
            self._add(table[part], y[part], weight[part], buffer)
        return self

    def _add(self, table: NumberTable, y: Ints, weight: Floats, buffer: Floats) -> None:
        counts = np.array([len(y)]) if self.pooled else np.bincount(y, minlength=len(self.second))
        ends = np.cumsum(counts)
        place, sums = ends - counts, (self.pivot, self.total, self.first, self.largest)
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


def wide_scatter(
    table: NumberTable, y: Ints, weight: Floats, n_classes: int, *, pooled: bool
) -> tuple[ClassScatter, Floats] | None:
    """Scatter about the class means, and the rounding of the columns; None where a cell is not finite."""
    sums = _WideSums(_first_rows(table, y, n_classes), pooled).add(table, y, weight)
    if not sums.is_finite:
        return None
    remainder, scatter, far = sums.centred()
    if far.any():
        pivot = np.where(far, sums.pivot + remainder, sums.pivot)
        del sums, scatter  # which may be large
        sums = _WideSums(pivot, pooled).add(table, y, weight)
        remainder, scatter, _ = sums.centred()
    found = ClassScatter(sums.total, sums.pivot, remainder, scatter, None, None)
    return found, _rounding(table, sums.largest)


def _rounding(table: NumberTable, largest: Floats) -> Floats:
    """The largest rounding error that a value of each column may carry, as `rounding_of` has it."""
    double, off_grid = (np.zeros(len(largest), dtype=np.bool_) for _ in range(2))
    is_single = table.dtype == np.float32
    for _, tile in tiles(table):
        if double.all() or (is_single and off_grid.all()):
            break
        find_precision(tile, double, off_grid)
    single = ~double & off_grid
    return np.where(single, np.finfo(np.float32).eps, np.finfo(np.float64).eps) * largest


def _first_rows(table: NumberTable, y: Ints, n_classes: int) -> Floats:
    """The first row of each class, zeros where there is none."""
    rows = np.empty(n_classes, dtype=np.int64)
    find_first(y, rows)
    seen = np.flatnonzero(rows >= 0)
    pivot = np.zeros((n_classes, table.shape[1]))
    pivot[seen] = table.some_rows(rows[seen]) if isinstance(table, SeparateColumns) else table[rows[seen]]
    return pivot
