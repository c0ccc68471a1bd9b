"""What the families share that score a training row as if it had not been seen."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.stats import Moments, Totals

# Where a row was nearly all of a sum, the difference has lost too many digits and the row is refitted.
LEAST = 1e-4
# Sparse rows are made dense so many cells at a time.
BATCH_CELLS = 1 << 20


def loses_digits(left: Floats, before: Floats, added: Any = 0.0) -> Bools:
    """Where too little is left of a sum, with what is added to it, to be trusted.

    Differences of whole numbers are exact.
    """
    whole = (left == np.rint(left)) & (before == np.rint(before))
    return np.asarray((left + added < LEAST * before) & ~whole)


def in_dense_parts(
    left_out: Callable[[Floats, Ints, Floats | None], LeftOut],
) -> Callable[[Any, Ints, Floats | None], LeftOut]:
    """The same scores of rows left out, of sparse rows too, some of which are dense at a time."""

    def of_any(block: Any, y: Ints, weight: Floats | None) -> LeftOut:
        if not kernels.is_sparse(block):
            return left_out(block, y, weight)
        step = max(1, BATCH_CELLS // max(block.shape[1], 1))
        slices = [slice(start, start + step) for start in range(0, max(len(y), 1), step)]
        parts = [
            left_out(block[rows].toarray(), y[rows], None if weight is None else weight[rows])
            for rows in slices
        ]
        return LeftOut(*(np.concatenate(each) for each in zip(*parts, strict=True)))

    return of_any


def by_row(weight: Floats | None) -> Floats:
    """The weights of the rows, (n, 1), or (1, 1) where all are 1."""
    return np.ones((1, 1)) if weight is None else weight[:, None]


@dataclass(frozen=True, eq=False)
class TotalsWithout:
    """Totals of non-negative values by class and column, without each of some rows in turn."""

    statistics: Totals
    y: Ints
    weight: Floats
    value: Floats

    @classmethod
    def of(cls, statistics: Totals, block: Floats, y: Ints, weight: Floats | None) -> "TotalsWithout":
        """Leave each row of the block out; a missing cell was never in."""
        there = ~np.isnan(block)
        gone = np.where(there, by_row(weight), 0.0)
        return cls(statistics, y, gone, gone * np.where(there, block, 0.0))

    def of_class(self, k: int) -> tuple[Floats, Floats]:
        """Weight and total of class `k` without each row, both (n, d)."""
        own = (self.y == k)[:, None]
        weight = self.statistics.weight[k] - own * self.weight
        return weight, np.maximum(self.statistics.total[k] - own * self.value, 0.0)

    @property
    def overall(self) -> Floats:
        """The mean of each column over all classes without each row, (n, d)."""
        weight = self.statistics.weight.sum(axis=0) - self.weight
        total = np.maximum(self.statistics.total.sum(axis=0) - self.value, 0.0)
        return np.asarray(np.divide(total, weight, out=np.zeros_like(total), where=weight > 0))

    @property
    def delicate(self) -> Bools:
        """Rows that were nearly all of a sum, (n,)."""
        s, y = self.statistics, self.y
        cells = loses_digits(s.weight[y] - self.weight, s.weight[y])
        cells |= loses_digits(s.total[y] - self.value, s.total[y])
        return np.asarray((cells & (self.weight > 0)).any(axis=1))


def any_cell(cells: Bools) -> Bools:
    """Rows with a cell that is true, (n,); seldom there is any."""
    return np.asarray(cells.any(axis=1)) if cells.any() else np.zeros(len(cells), dtype=np.bool_)


@dataclass(frozen=True, eq=False)
class Removal:
    """What leaving each row out does to the moments of its class, cell by cell, (n, d) or broadcast to it.

    `weight` leaves the class and `rest` stays, deviations from the mean grow by the factor `stretch` and
    the sum of squares falls by `loss`: Welford's (1962) update of mean and sum of squares read backwards.
    Where `emptied`, the row was all that the class had. A missing cell changes nothing.
    """

    there: Bools
    weight: Floats
    rest: Floats
    stretch: Floats
    loss: Floats
    deviation: Floats
    emptied: Bools

    @classmethod
    def of(cls, statistics: Moments, block: Floats, y: Ints, weight: Floats | None) -> "Removal":
        """Leave each row of the block out."""
        deviation = block - statistics.location.pivot[y]
        deviation -= statistics.location.remainder[y]
        there = np.ones((1, 1), dtype=np.bool_)
        if kernels.has_missing(block):
            there = ~np.isnan(block)
            deviation[~there] = 0.0
        gone = np.where(there, by_row(weight), 0.0)
        own = statistics.weight
        if there.all() and (own == own[:, :1]).all():
            own = own[:, :1]  # no column has gaps: one weight for all of them
        own = own[y]
        rest = own - gone
        emptied = there & (rest <= LEAST * own)
        rest = np.where(emptied, 1.0, rest)  # such rows are refitted; nothing here may divide by zero
        stretch = np.divide(own, rest, out=np.ones(rest.shape), where=rest > 0)
        loss = deviation * deviation
        loss *= gone * stretch
        return cls(there, gone, rest, stretch, loss, deviation, emptied)
