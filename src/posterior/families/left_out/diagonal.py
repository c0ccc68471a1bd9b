"""Normal blocks without correlations, each training row scored as if it had not been seen."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import LeftOut
from posterior.families.left_out.covariances import FLATTENED, Covariances, may_be_mended
from posterior.families.left_out.parts import LEAST, any_cell
from posterior.math import LOG_2PI


@dataclass(frozen=True, eq=False)
class LeftOutDiagonal:
    """Covariances without correlations, in which every column has a variance of its own or all have one."""

    parts: Covariances
    spherical: bool

    @cached_property
    def _scatter(self) -> Floats:
        """Sums of squares by column, (K, d), or (1, d) where classes share all."""
        scatter = np.diagonal(self.parts.statistics.scatter, axis1=1, axis2=2)
        return self._even(scatter)

    def _even(self, values: Floats) -> Floats:
        """The mean over columns in every column, if spherical."""
        if not self.spherical:
            return values
        return np.broadcast_to(values.mean(axis=1, keepdims=True), values.shape)

    @cached_property
    def _firm(self) -> Floats:
        return self.parts.firmness(self._scatter)

    def __call__(self, block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
        """Log densities without the row, (n, K)."""
        parts = self.parts
        r = parts.removal(y, weight)
        location, total = parts.location, self._scatter.sum(axis=0)
        deviation = block - location.pivot[y]
        deviation -= location.remainder[y]
        loss = self._even(r.pull[:, None] * deviation**2)
        shared = (total - loss) / r.pooled[:, None]
        delicate = r.emptied | self._delicate(loss, total, y)
        out = np.empty((len(y), len(location.pivot)))
        for k, rows in enumerate(kernels.rows_by_class(y, out.shape[1])):
            z = location.deviation(block, k)
            z[rows] *= r.stretch[rows, None]
            if parts.empty[k]:
                z *= (parts.total / (parts.total - r.weight))[:, None]
            variance = np.empty_like(z)
            variance[:] = self._mixed(k, parts.statistics.weight[[k]], 0.0, shared)
            variance[rows] = self._mixed(k, r.rest[rows], loss[rows], shared[rows])
            variance[delicate] = 1.0
            fit = np.einsum("ij,ij->i", z, z / variance)
            log_det = np.log(variance) @ np.ones(block.shape[1])
            out[:, k] = -0.5 * (fit + log_det + block.shape[1] * LOG_2PI)
        return LeftOut(out, delicate)

    def _mixed(self, k: int, weight: Floats, loss: Floats | float, shared: Floats) -> Floats:
        """Variances of class k with that weight, its scatter less by `loss`: own and shared in part."""
        tie = self.parts.ties(k, weight)
        if self.parts.tied == 1 or (tie == 1).all():
            return shared
        divisor = np.where(weight > self.parts.lost, weight - self.parts.lost, 1.0)
        own = (self._scatter[k] - loss) / divisor[:, None]
        return np.asarray((1 - tie) * own + tie * shared if tie.any() else own)

    def _delicate(self, loss: Floats, total: Floats, y: Ints) -> Bools:
        """Rows without which a variance could have to be mended, or has lost its digits."""
        firm = self._firm[y][:, None]
        shared = 1 - loss / total
        if self.parts.tied == 1:
            return any_cell(may_be_mended(shared, firm) | (shared < LEAST))
        before, mended = self._scatter[y], self.parts.faults[y]
        left = 1 - loss / np.where(before > 0, before, np.inf)
        unsure = may_be_mended(left, firm) | (left < LEAST)
        if mended.any():
            unsure = np.where(mended, may_be_mended(shared, firm) | (left < FLATTENED), unsure)
        return any_cell(unsure)
