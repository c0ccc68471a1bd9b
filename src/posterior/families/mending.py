"""What is done about a covariance that the rows do not determine. Never an inverse of rubbish."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from posterior._linalg import are_clear, dependent_columns, is_positive_definite
from posterior._types import Floats
from posterior.families.base import Repair
from posterior.stats import Scatter

# Below this share of a column's variance a difference of variances is rounding.
ROUNDING = 1e-11

OnSingular = Literal["shrink", "pool", "error"]


class Mended(NamedTuple):
    """A covariance that can be inverted, and what was done to it (None: nothing)."""

    covariance: Floats
    repair: Repair | None = None


@dataclass(frozen=True)
class Mender:
    """Mends the covariances of one fit.

    A column that is constant, or a combination of other columns, within every class but not over all
    rows separates the classes perfectly. It is kept: its spread about the combination is taken to be the
    share d/(N+d) of what the classes spread it. Where rows are too few a class's covariance is shrunk
    towards the pooled one (`on_singular="shrink"`), weight d/(N_k+d), or replaced by it ("pool"); the
    pooled one is shrunk towards its diagonal, weight d/(N+d). "error" marks the repair as refused.
    """

    statistics: Scatter
    floor: float
    on_singular: OnSingular

    @property
    def _blend(self) -> float:
        d = len(self.statistics.rounding)
        return d / (float(self.statistics.weight.sum()) + d)

    def are_determined(self, covariances: Floats) -> bool:
        """Whether nothing is to be mended of any of these, (g, d, d): most are, and one look will do."""
        return are_clear(covariances, self.statistics.rounding)

    def pooled(self, raw: Floats) -> Mended:
        """The covariance within classes."""
        s = self.statistics
        total, d = float(s.weight.sum()), len(raw)
        found = self._undetermined(raw)
        if not found:
            return Mended(raw)
        if total - (s.weight > 0).sum() >= d:
            mended = raw + np.diag(self._lift(found))
            if not self._undetermined(mended):
                return Mended(mended, self._separators(found))
        variance = np.diagonal(raw)
        least = self.floor * np.diagonal(s.total()) / total
        lifted = np.where(variance > 0, variance, np.where(least > 0, least, 1.0))
        mended = (1 - self._blend) * raw + np.diag(
            self._blend * lifted + (1 - self._blend) * (lifted - variance)
        )
        return Mended(mended, self._too_few(None, found, "its diagonal", self._blend))

    def _lift(self, columns: list[int]) -> Floats:
        """Spread to give to columns that others determine within the classes, (d,); 0 for the others."""
        s = self.statistics
        total = s.total() / float(s.weight.sum())
        variance = np.diagonal(total)
        sd = np.where(variance > 0, np.sqrt(variance), 1.0)
        correlation = total / sd[:, None] / sd
        kept = [j for j in range(len(total)) if j not in set(columns)]
        cross = correlation[np.ix_(kept, columns)]
        explained = (np.linalg.lstsq(correlation[np.ix_(kept, kept)], cross)[0] * cross).sum(axis=0)
        between = 1 - explained
        share = np.zeros(len(total))
        share[columns] = np.where(between > ROUNDING, self._blend * between, self.floor)
        return np.asarray(share * sd**2)

    def own(self, raw: Floats, pooled: Mended, k: int) -> Mended:
        """The covariance of class k. Without correlations only the columns at fault are blended."""
        weight, d = float(self.statistics.weight[k]), len(raw)
        if weight <= 0:
            return Mended(pooled.covariance)
        found = self._undetermined(raw)
        if not found:
            return Mended(raw)
        known = set() if pooled.repair is None else set(pooled.repair.columns)
        if weight > d and set(found) <= known:  # the separators of all classes, told of once
            raised = raw + np.diag(self._lift(found))
            if not self._undetermined(raised):
                return Mended(raised)
        blend = d / (weight + d) if raw.any() and self.on_singular != "pool" else 1.0
        mended = (1 - blend) * raw + blend * pooled.covariance
        if _is_diagonal(raw) and _is_diagonal(pooled.covariance):
            variance = np.diagonal(raw).copy()
            variance[found] = np.diagonal(mended)[found]
            mended = np.diag(variance)
        return Mended(mended, self._too_few(k, found, "the pooled covariance", blend))

    def _undetermined(self, covariance: Floats) -> list[int]:
        """Columns that the ones before them determine; all, should the matrix resist factoring still."""
        found = [j for j, _ in dependent_columns(covariance, 1.0, self.statistics.rounding)]
        return found if found or is_positive_definite(covariance) else list(range(len(covariance)))

    def _separators(self, columns: list[int]) -> Repair:
        return Repair(
            None,
            tuple(columns),
            "covariance",
            "is singular within every class but not over all rows, as where a column is a combination of "
            "others plus a shift by class: perfect separators",
            f"kept, with {self._blend:.3g} of the spread that the classes give them",
            refused=self.on_singular == "error",
        )

    def _too_few(self, k: int | None, columns: list[int], towards: str, blend: float) -> Repair:
        s = self.statistics
        rows = float(s.weight.sum() if k is None else s.weight[k])
        few = f"is not determined by its {rows:g} rows"
        if rows <= len(s.rounding):
            few += f", too few for {len(s.rounding)} columns"
        done = f"blended with {towards}, weight {blend:.3g}" if blend < 1 else f"replaced by {towards}"
        return Repair(
            k,
            tuple(columns),
            "covariance",
            few,
            done,
            refused=self.on_singular == "error",
        )


def _is_diagonal(matrix: Floats) -> bool:
    return bool(np.count_nonzero(matrix - np.diag(np.diagonal(matrix))) == 0)
