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
    `bias=False`); a variance is at least `floor` times that of its column within classes.
    """

    statistics: Moments
    log_density: Callable[[Floats], Floats]
    tied: bool
    lost: float
    floor: float

    def __call__(self, block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        """Log densities without the row, (n, K)."""
        removal = Removal.of(self.statistics, block, y, weight)
        with np.errstate(divide="ignore", invalid="ignore"):  # in rows that are refitted
            if self.tied or self._floor_may_bind(removal):
                return self._every_class(block, y, removal)
            return self._own_class(block, y, removal)

    def _floor_may_bind(self, removal: Removal) -> bool:
        """Whether some variance could reach the floor, or be taken from other classes, without a row.

        What a row that is not refitted leaves of a variance is at least the share LEAST.
        """
        s = self.statistics
        weight, within = s.weight.sum(axis=0), s.scatter.sum(axis=0)
        rest = weight - removal.weight.max()
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
        lowest, delicate = self._lowest(block, r)
        if self.tied:
            delicate |= ((left < LEAST * within) & (within > 0)) | (freedom <= LEAST * weight)
        else:
            before = s.scatter[y]
            now, divisor = before - r.loss, r.rest - self.lost
            delicate |= ((now < LEAST * before) & (before > 0)) | (divisor <= LEAST * r.rest)
            now = kernels.ratio(now, divisor)
        out = np.empty((len(y), len(seen)))
        for k in range(len(seen)):
            own = (y == k)[:, None]
            z = s.location.deviation(block, k)
            z *= np.where(own, r.stretch, 1.0)
            variance = pooled
            if not self.tied:
                variance = np.where(own, now, kernels.ratio(s.scatter[k], s.weight[k] - self.lost))
                variance = np.where(seen[k], variance, pooled)
            if not seen[k].all():
                z = np.where(seen[k], z, self._from_overall(block, r))
            out[:, k] = _log_normal(z, np.maximum(variance, lowest), r.there)
        return LeftOut(out, any_cell(delicate & r.there) | any_cell(r.emptied))

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

    def _lowest(self, block: Floats, r: Removal) -> tuple[Floats, Bools]:
        """The smallest variance allowed without each row, (n, d), and where it is too delicate.

        The total variance sets the scale of a column that is constant within every class.
        """
        weight, within, total = self.statistics.pooled()
        rest, left = weight - r.weight, within - r.loss
        delicate = np.zeros(left.shape, dtype=np.bool_)
        if (within == 0).any():
            apart = self._from_overall(block, r)
            fall = r.weight * kernels.ratio(np.broadcast_to(rest, apart.shape), weight) * apart**2
            around = total - np.where(r.there, fall, 0.0)
            delicate = (within == 0) & (around < LEAST * total)
            left = np.where(within > 0, left, around)
        scale = kernels.ratio(left, rest)
        return np.where(scale > 0, self.floor * scale, 1.0), delicate


def _log_normal(deviation: Floats, variance: Floats, there: Bools) -> Floats:
    """−½ Σ [z²/v + ln 2πv] over the cells that are there, (n,)."""
    if there.all():
        fit = np.einsum("ij,ij->i", deviation, deviation / variance)
        log_det = np.log(variance) @ np.ones(deviation.shape[1])
        return np.asarray(-0.5 * (fit + log_det + deviation.shape[1] * LOG_2PI))
    terms = deviation**2 / variance + np.log(variance) + LOG_2PI
    return np.asarray(-0.5 * np.where(there, terms, 0.0).sum(axis=1))
