"""How the covariances of a multivariate normal come about, and what leaving a row out does to their parts."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from posterior._linalg import determination
from posterior._types import Bools, Floats, Ints
from posterior.families.base import Repair
from posterior.families.left_out.parts import LEAST
from posterior.stats import Location, Scatter

# How clear of the threshold a covariance must stay for certain not to be mended without the row.
CLEAR_OF_MENDING = 100.0
# How clear of it one must be of which a row takes more than a little, for the difference to keep its digits.
MANY_DIGITS, HARDLY_LESS = 1e6, 0.9
# A row that leaves less than this of a column's spread may change how a class is mended.
FLATTENED = 1e-3


class RowRemoval(NamedTuple):
    """What leaving rows out does: `weight` goes, deviations grow by `stretch`, a scatter falls by `pull`·δδ'.

    Each is (n,), or (1,) where it is the same for all rows, as `pooled` is, the divisor of the pooled
    scatter. Where `emptied`, (n,), the row was all that its class had.
    """

    weight: Floats
    rest: Floats
    stretch: Floats
    pull: Floats
    pooled: Floats
    emptied: Bools


@dataclass(frozen=True, eq=False)
class Covariances:
    """How the covariances of a fit come about: Σ_k = (1−tie_k) W_k/ν_k + tie_k W/ν, by column if diagonal.

    `tied` is what was asked for. A class with a repair is tied more closely, as its rows do not determine its
    covariance: by d/(N_k+d), or in full where it has no spread or `pools` says so. `lost` is what a divisor
    falls short of its weight for each class.
    """

    statistics: Scatter
    location: Location
    repairs: tuple[Repair, ...]
    tied: float
    lost: float
    pools: bool

    @cached_property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.statistics.weight.sum())

    @cached_property
    def within(self) -> Floats:
        """Scatter within classes, (d, d)."""
        return np.asarray(self.statistics.scatter.sum(axis=0))

    @cached_property
    def faults(self) -> Bools:
        """The columns (K, d) that a class's rows do not determine; all false where classes share all."""
        found = np.zeros(self.location.pivot.shape, dtype=np.bool_)
        for repair in self.repairs:
            if repair.class_index is not None:
                found[repair.class_index, list(repair.columns)] = True
        return found

    @cached_property
    def empty(self) -> Bools:
        """Classes without rows, (K,): they take the overall mean and the pooled covariance."""
        return np.asarray(self.statistics.weight <= 0)

    @property
    def uses_pooled(self) -> bool:
        """Whether any class leans on the pooled covariance."""
        return bool(self.tied > 0 or self.empty.any() or self.faults.any())

    def blend(self, k: int, weight: Floats) -> Floats:
        """How closely class k is tied where its rows do not determine its covariance and weigh so much."""
        d = len(self.within)
        flat = self.tied < 1 and not np.diagonal(self.statistics.scatter[k]).any()
        if self.pools or flat or self.empty[k]:
            return np.ones_like(weight)
        spread = np.where(weight - self.lost > 0, d / (weight + d), 1.0)
        return np.asarray(self.tied + (1 - self.tied) * spread)

    def ties(self, k: int, weight: Floats) -> Floats:
        """How closely the columns of class k are tied, (m, d), where it weighs `weight` (m,)."""
        if self.empty[k]:
            return np.ones((len(weight), 1))
        if not self.faults[k].any():
            return np.full((1, 1), self.tied)
        return np.where(self.faults[k], self.blend(k, weight)[:, None], self.tied)

    def removal(self, y: Ints, weight: Floats | None) -> RowRemoval:
        """Leave each row out of its class."""
        w = np.ones(1) if weight is None else weight
        if len(w) > 1 and (w == w[0]).all():
            w = w[:1]
        own = self.statistics.weight[y]
        rest = own - w
        enough = 0.0 if self.tied == 1 else self.lost
        emptied = (rest - enough <= LEAST * own) | (self.total - w <= LEAST * self.total)
        rest = np.where(emptied, own + 1.0, rest)  # such rows are refitted; nothing here may divide by zero
        stretch = own / rest
        seen = int((~self.empty).sum())
        left = self.total - w
        pooled = np.maximum(left - self.lost * seen, np.minimum(left, 1.0))
        return RowRemoval(w, rest, stretch, w * stretch, np.where(pooled > 0, pooled, 1.0), emptied)

    def firmness(self, diagonal: Floats | None = None) -> Floats:
        """How far the covariances that matter for rows of each class are from being mended, (K,).

        `diagonal` (K or 1, d) are the scatters of columns without correlations.
        """
        s = self.statistics
        n_classes = len(s.weight)
        out = np.full(n_classes, np.inf)
        if self.uses_pooled:
            within = self.within if diagonal is None else np.diag(diagonal.sum(axis=0))
            out[:] = determination(within / self.total, s.rounding)
        if self.tied == 1:
            return out
        for k in range(n_classes):
            mended = self.faults[k]
            if self.empty[k] or mended.all() or (diagonal is None and mended.any()):
                continue
            own = s.scatter[k] if diagonal is None else np.diag(diagonal[k])
            own = own[np.ix_(~mended, ~mended)] / s.weight[k]
            out[k] = min(out[k], determination(own, s.rounding[~mended]))
        return out


def may_be_mended(left: Floats, firmness: Any) -> Bools:
    """Whether a covariance might have to be mended of which the share `left` remains in some direction.

    Its least residual falls at most by that share, and the rounding of a column weighs the more. A row that
    matters much in a nearly singular covariance leaves few digits, mended or not.
    """
    clear = np.where(left < HARDLY_LESS, MANY_DIGITS, CLEAR_OF_MENDING)
    return np.asarray(left * np.abs(left) * firmness < clear)
