"""Normal columns, each training row scored as if it had not been seen."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.parts import LEAST, Removal, any_cell
from posterior.math import LOG_2PI
from posterior.stats import Moments


@dataclass(frozen=True, eq=False)
class LeftOutColumns:
    """Scores the rows of normal columns without themselves.

    `log_density` is that of the fitted columns; `lost` is what a divisor falls short of its weight (1 for
    `bias=False`); `floor`, `variance_rows` and `smoothing` are those of the family.
    """

    statistics: Moments
    log_density: Callable[[Floats], Floats]
    tied: bool
    lost: float
    floor: float
    variance_rows: float = 0.0
    smoothing: float = 0.0

    def __call__(self, block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        """Log densities without the row, (n, K)."""
        removal = Removal.of(self.statistics, block, y, weight)
        with np.errstate(divide="ignore", invalid="ignore"):  # in rows that are refitted
            if self.tied or self.smoothing or self._all_may_change(removal):
                return self._every_class(block, y, removal)
            return self._own_class(block, y, removal)

    def _all_may_change(self, removal: Removal) -> bool:
        """Whether some variance could reach the floor, or be lent by other classes, without a row.

        What a row that is not refitted leaves of a variance is at least the share LEAST.
        """
        s = self.statistics
        weight, within = s.weight.sum(axis=0), s.scatter.sum(axis=0)
        rest = weight - removal.weight.max()
        if self.variance_rows:
            return True
        if not (s.weight > self.lost).all() or not (rest > 0).all():
            return True
        return not (LEAST * s.scatter / (s.weight - self.lost) > self.floor * within / rest).all()

    def _own_class(self, block: Floats, y: Ints, r: Removal) -> LeftOut:
        """The row's own class changes, the others stay as fitted."""
        out = self.log_density(block)
        before = self.statistics.scatter[y]
        left, divisor = before - r.loss, r.rest - self.lost
        delicate = any_cell(r.there & (left < LEAST * before))
        delicate |= any_cell(r.emptied | (r.there & (divisor <= LEAST * r.rest)))
        left /= divisor
        out[np.arange(len(y)), y] = _log_normal(r.stretch * r.deviation, left, r.there)
        return LeftOut(out, delicate)

    def _every_class(self, block: Floats, y: Ints, r: Removal) -> LeftOut:
        """All classes change: they share the variance, or the floor under it."""
        s = self.statistics
        weight, within, _ = s.pooled()
        seen = s.weight > 0
        rest, left = weight - r.weight, within - r.loss
        freedom = rest - self.lost * seen.sum(axis=0)
        pooled = kernels.ratio(left, freedom)
        scale, delicate = self._scale(block, r)
        added, added_delicate = self._added(block, r)
        now, before = s.scatter[y] - r.loss, s.scatter[y]
        if self.tied:
            delicate |= ((left < LEAST * within) & (within > 0)) | (freedom <= LEAST * weight)
        else:
            delicate |= (now + self.variance_rows * scale < LEAST * before) & (before > 0)
            delicate |= r.rest + self.variance_rows - self.lost <= LEAST * r.rest
        out = np.empty((len(y), len(seen)))
        for k in range(len(seen)):
            own = (y == k)[:, None]
            z = s.location.deviation(block, k)
            z *= np.where(own, r.stretch, 1.0)
            variance, squares, count = pooled, left, rest
            if not self.tied:
                squares = np.where(own, now, s.scatter[k])
                count = np.where(own, r.rest, s.weight[k])
                lent = self.variance_rows
                own_variance = kernels.ratio(squares + lent * scale, count + lent - self.lost)
                variance = np.where(seen[k], own_variance, pooled)
            if not seen[k].all():
                z = np.where(seen[k], z, self._from_overall(block, r))
            variance = with_spread(variance, squares, count, scale, self.floor) + added
            out[:, k] = _log_normal(z, variance, r.there)
        return LeftOut(out, any_cell(delicate & r.there) | any_cell(r.emptied) | added_delicate)

    def _from_overall(self, block: Floats, r: Removal) -> Floats:
        """Deviation from the mean of the other rows of all classes, which a class without rows takes."""
        s = self.statistics
        columns = np.arange(block.shape[1])
        anchor = s.location[(s.weight > 0).argmax(axis=0), columns]
        weight = s.weight.sum(axis=0)
        share = kernels.ratio(s.weight, weight)
        mean = (share * np.where(s.weight > 0, s.location - anchor, 0.0)).sum(axis=0)
        z = (block - anchor.pivot) - (anchor.remainder + mean)
        return np.asarray(z * kernels.ratio(np.broadcast_to(weight, z.shape), weight - r.weight))

    def _scale(self, block: Floats, r: Removal) -> tuple[Floats, Bools]:
        """The scale of each column without each row, (n, d), and where it is too delicate."""
        weight, within, total = self.statistics.pooled()
        rest, left = weight - r.weight, within - r.loss
        delicate = np.zeros(left.shape, dtype=np.bool_)
        around = total
        if (within == 0).any():
            around = self._around(block, r)
            delicate = (within == 0) & (around < LEAST * total)
        return np.where(within > 0, kernels.ratio(left, rest), kernels.ratio(around, rest)), delicate

    def _around(self, block: Floats, r: Removal) -> Floats:
        """The sum of squares of each column about its overall mean without each row, (n, d)."""
        weight, _, total = self.statistics.pooled()
        apart = self._from_overall(block, r)
        fall = r.weight * kernels.ratio(np.broadcast_to(weight - r.weight, apart.shape), weight) * apart**2
        return np.asarray(total - np.where(r.there, fall, 0.0))

    def _added(self, block: Floats, r: Removal) -> tuple[Floats, Bools]:
        """What is added to every variance without each row, (n, 1), and the rows too delicate for that."""
        if not self.smoothing:
            return np.zeros((1, 1)), np.zeros(len(block), dtype=np.bool_)
        weight, _, total = self.statistics.pooled()
        around = self._around(block, r)
        left = kernels.ratio(np.maximum(around, 0.0), np.broadcast_to(weight - r.weight, around.shape))
        return self.smoothing * left.max(axis=1, keepdims=True), any_cell(around < LEAST * total)


def column_scale(weight: Floats, within: Floats, total: Floats) -> Floats:
    """The variance of each column within classes, or in all where that is zero: it tells them apart."""
    return np.where(within > 0, kernels.ratio(within, weight), kernels.ratio(total, weight))


def with_spread(variance: Floats, squares: Floats, count: Floats, scale: Floats, floor: float) -> Floats:
    """Variances, those below the floor replaced by (S + s²) / (N + 1); 1 where a column is constant.

    `squares` are S, `count` is N and `scale` is s²; a constant column has a density that cancels.
    """
    lowest = np.where(scale > 0, floor * scale, 1.0)
    low = variance < lowest
    if not low.any():
        return variance
    lent = kernels.ratio(squares + scale, count + 1.0)
    return np.where(low, np.maximum(lent, lowest), variance)


def _log_normal(deviation: Floats, variance: Floats, there: Bools) -> Floats:
    """−½ Σ [z²/v + ln 2πv] over the cells that are there, (n,)."""
    if there.all():
        fit = np.einsum("ij,ij->i", deviation, deviation / variance)
        log_det = np.log(variance) @ np.ones(deviation.shape[1])
        return np.asarray(-0.5 * (fit + log_det + deviation.shape[1] * LOG_2PI))
    terms = deviation**2 / variance + np.log(variance) + LOG_2PI
    return np.asarray(-0.5 * np.where(there, terms, 0.0).sum(axis=1))
