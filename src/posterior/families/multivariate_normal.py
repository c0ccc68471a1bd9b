"""The multivariate normal and everything between LDA and QDA."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.families.base import (
    AUTO,
    Expected,
    GapFillingFamily,
    NoClosedFormError,
    is_open,
    never_seen,
)
from posterior.families.filling import (
    Anchor,
    expected_scatter,
    leap,
    neutral,
    starting_point,
    with_counts,
)
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.families.left_out.covariances import Covariances
from posterior.families.left_out.normal import Score, left_out_normal
from posterior.families.mending import Mender, OnSingular
from posterior.families.shrinkage import Shrinkage, shrinkage_named
from posterior.stats import Location, Scatter
from posterior.stats.base import Problem
from posterior.stats.parts import Parts


@dataclass(frozen=True)
class MultivariateNormal(GapFillingFamily[Scatter]):
    """The multivariate normal family.

    `tied` goes from 0 (a covariance for each class: QDA) to 1 (one for all: LDA), the line between them
    being Σ_k = (1−tied) S_k + tied S (regularised discriminant analysis). `shape` is "full",
    "diagonal" (naive Bayes) or "spherical". `shrinkage` pulls each estimate towards its diagonal on the
    correlation scale: an amount, "oas" or "ledoit-wolf". Each of the three may be "auto", which leaves it to
    cross-validation. `bias=True` divides by N, `False` by N−1
    within a class and N−K over all (as R's MASS does).

    `on_singular` says what becomes of a class whose rows do not determine its covariance: "shrink" blends
    it with the pooled one, weight d/(N_k+d) on the pooled; "pool" replaces it; "error" refuses. A pooled
    one that is not determined is blended with its diagonal in the same way.

    Gaps in training are filled in by EM until an iteration gains no more than `tol` in log-likelihood for
    a row (Little & Rubin, Statistical analysis with missing data).

    >>> two = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> family = MultivariateNormal()
    >>> family.estimate(family.summarize(two, np.zeros(4, int), None, 1)).covariance
    array([[[1., 0.],
            [0., 1.]]])
    """

    tied: Any = 0.0
    shape: Any = "full"
    shrinkage: Shrinkage | str | float | None = None
    bias: bool = True
    floor: float = 1e-9
    on_singular: OnSingular = "shrink"
    tol: float = 1e-10
    max_iter: int = 1000
    joint: bool = field(default=True, init=False, repr=False)
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "shape": ("spherical", "diagonal", "full"),
        "tied": (1.0, 0.9, 0.75, 0.5, 0.25, 0.1, 0.0),
        "shrinkage": (1.0, 0.75, 0.5, 0.25, 0.1, 0.05, 0.0),
    }

    def __post_init__(self) -> None:
        if not is_open(self.tied) and not (isinstance(self.tied, int | float) and 0 <= self.tied <= 1):
            raise ValueError(f"tied must lie between 0 (QDA) and 1 (LDA) or be 'auto', found {self.tied!r}")
        if self.shape not in ("full", "diagonal", "spherical", AUTO):
            raise ValueError(
                f"shape must be 'full', 'diagonal' or 'spherical', or 'auto', found {self.shape!r}"
            )
        if self.on_singular not in ("shrink", "pool", "error"):
            raise ValueError(f"on_singular must be 'shrink', 'pool' or 'error', found {self.on_singular!r}")
        if not self.tol >= 0 or not self.max_iter >= 1:
            raise ValueError(
                f"tol must not be negative and max_iter at least 1, found {self.tol!r} and {self.max_iter!r}"
            )
        self._shrink  # noqa: B018  (refuses what is no shrinkage, at once)

    @property
    def plainest(self) -> Self:
        """Without correlations there is nothing to shrink, and shrinkage in full leaves none."""
        if self.shape == "full" and self.shrinkage == 1:
            return replace(self, shape="diagonal", shrinkage=0.0)
        return self if self.shape == "full" else replace(self, shrinkage=0.0)

    @property
    def unharmed_by(self) -> frozenset[Problem]:
        """Without correlations no column is a combination of others: naive Bayes keeps them all."""
        return frozenset() if self.shape == "full" else frozenset({"redundant"})

    @cached_property
    def _shrink(self) -> Shrinkage | None:
        return None if is_open(self.shrinkage) else shrinkage_named(self.shrinkage)

    @property
    def takes_tables(self) -> bool:
        """Moments of infinite numbers are not finite."""
        return True

    def size(self, n_classes: int, n_columns: int) -> int:
        """Those of the scatter matrices."""
        return (1 if self._pools_at_once else n_classes) * (3 if self._wants_fourth else 1) * n_columns**2

    def summarize(
        self, block: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int
    ) -> Scatter:
        """Weight, mean and scatter by class, pooled at once where classes share all."""
        return Scatter.of(block, y, weight, n_classes, pooled=self._pools_at_once, fourth=self._wants_fourth)

    def summarize_parts(
        self, block: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int
    ) -> Parts[Scatter] | None:
        """The scatter of every `size` rows, by compiled code."""
        if self._wants_fourth:
            return None
        return Scatter.of_parts(block, y, weight, n_classes, size, pooled=self._pools_at_once)

    @property
    def _pools_at_once(self) -> bool:
        """Whether one scatter for all classes will do."""
        shrink = self._shrink
        by_class = shrink is not None and (shrink.by_class or shrink.needs_fourth)
        return bool(self.tied == 1) and not by_class

    def estimate(self, statistics: Scatter) -> MultivariateNormalDistribution:
        """Estimate, shape, shrink, tie, and repair what the data leave open."""
        self.refuse_open()
        mender = Mender(statistics, self.floor, self.on_singular)
        every, tied = range(len(statistics.weight)), self.tied
        raw = np.empty((1 if tied == 1 else 1 + len(every), *statistics.scatter.shape[1:]))
        raw[0] = self._pooled(statistics)
        for k in every[: len(raw) - 1]:
            raw[1 + k] = self._own(statistics, k)
        mended = []
        if not ((statistics.weight > 0).all() and mender.are_determined(raw)):
            pooled = mender.pooled(raw[0])
            mended = [pooled, *(mender.own(raw[1 + k], pooled, k) for k in every if tied < 1)]
            raw = np.stack([m.covariance for m in mended])
        covariances = raw if tied == 1 else raw[1:]
        if 0 < tied < 1:
            covariances *= 1 - tied
            covariances += tied * raw[:1]
        repairs = [m.repair for m in mended if m.repair is not None]
        location = _fill_empty(statistics)
        if statistics.pairs is not None and (missing := statistics.never_seen).any():
            location, covariances = neutral(statistics, location, covariances, raw[0])
            repairs += never_seen(missing)
        return MultivariateNormalDistribution(
            location,
            covariances,
            shape=self.shape,
            uncounted=self._uncounted(),
            repairs=tuple(repairs),
            copy=False,
        )

    def leave_one_out(self, statistics: Scatter, distribution: MultivariateNormalDistribution) -> Score:
        """Rank-one changes of the covariances; a shrinkage target changes in full, and has no closed form."""
        if self._shrink is not None:
            raise NoClosedFormError("shrinkage changes with each row in every direction")
        lost = 0.0 if self.bias else 1.0
        pools = self.on_singular == "pool"
        parts = Covariances(
            statistics, distribution.location, distribution.repairs, float(self.tied), lost, pools
        )
        return left_out_normal(parts, self.shape)

    @property
    def likeliest(self) -> Self:
        """Own covariances, or one for all, without shrinkage."""
        return replace(self, tied=float(self.tied == 1), shrinkage=None, bias=True)

    def start(self, statistics: Scatter) -> MultivariateNormalDistribution:
        """Means and variances of the cells that are there, and no correlation."""
        return starting_point(statistics)

    @property
    def refuses(self) -> bool:
        """Whether a covariance that the rows do not determine is an error."""
        return self.on_singular == "error"

    def anchor(self, statistics: Scatter, expected: Scatter) -> Anchor:
        """What keeps the covariances of small classes from collapsing."""
        return Anchor.of(statistics, expected)

    def leap(self, first: Any, second: Any, third: Any) -> MultivariateNormalDistribution:
        """Squared extrapolation, as far as covariances stay positive definite."""
        return leap(first, second, third)

    def expect(
        self,
        block: Floats,
        y: Ints,
        weight: Floats | None,
        given: MultivariateNormalDistribution,
        *,
        first: bool = False,
    ) -> Expected[Scatter]:
        """Moments of the rows with their gaps filled in, and the spread of what is not known of them."""
        expected = expected_scatter(
            block, y, weight, given, pooled=self._pools_at_once, fourth=self._wants_fourth
        )
        return with_counts(expected, block, y, weight) if first else expected

    def misfit(self, statistics: Scatter, sizes: Sequence[int]) -> str:
        """Sums that are pooled or not, and moments that are there or not, against the settings."""
        if statistics.pooled != self._pools_at_once:
            return "sums of all classes where each has its own"
        has_fourth = statistics.fourth is not None
        return "" if has_fourth == self._wants_fourth else "other moments than were asked for"

    @property
    def _wants_fourth(self) -> bool:
        shrink = self._shrink
        return shrink is not None and shrink.needs_fourth

    def _own(self, s: Scatter, k: int) -> Floats:
        """Covariance of class k, shaped and shrunk; zero where the class has too few rows."""
        weight = float(s.weight[k])
        divisor = weight - (0 if self.bias else 1)
        if divisor <= 0:
            return np.zeros_like(s.scatter[k])
        spare = np.sqrt(np.diagonal(s.scatter, axis1=1, axis2=2).sum(axis=0) / s.weight.sum())
        fourth = None if s.fourth is None else s.fourth[k]
        return self._shrunk(s.scatter[k] / weight, weight, fourth, spare, weight / divisor)

    def _pooled(self, s: Scatter) -> Floats:
        """Covariance within classes, shaped and shrunk."""
        lost = 0.0 if self.bias else 1.0
        freedom = np.maximum(s.weight - lost, 0.0)
        total = float(s.weight.sum())
        shrink = self._shrink
        if shrink is not None and shrink.by_class:
            own = (freedom[k] * self._own(s, k) for k in range(len(freedom)))
            return np.asarray(sum(own, np.zeros_like(s.scatter[0])) / max(freedom.sum(), 1e-300))
        fourth = None if s.fourth is None else s.fourth.sum(axis=0)
        divisor = max(total - lost * int((s.weight > 0).sum()), min(total, 1.0))
        within = s.scatter.sum(axis=0) / total
        return self._shrunk(within, total, fourth, np.zeros(len(within)), total / divisor)

    def _shrunk(
        self, covariance: Floats, weight: float, fourth: Floats | None, spare: Floats, inflation: float
    ) -> Floats:
        """A maximum likelihood covariance, shrunk, brought to the divisor asked for, and shaped."""
        shrink = self._shrink
        if shrink is None:
            return self._shaped(covariance * inflation)
        return self._shaped(shrink.shrink(covariance, weight, fourth, spare, inflation))

    def _shaped(self, covariance: Floats) -> Floats:
        if self.shape == "full":
            return covariance
        variance = np.diagonal(covariance)
        return np.diag(variance if self.shape == "diagonal" else np.full_like(variance, variance.mean()))

    def _uncounted(self) -> str | None:
        if self._shrink is not None:
            return f"shrinkage={self.shrinkage!r} pulls the covariances towards fewer parameters"
        if 0 < self.tied < 1:
            return f"tied={self.tied} lies between one covariance for all classes and one for each"
        return None


def _fill_empty(s: Scatter) -> Location:
    """A class without rows takes the overall mean."""
    empty = s.weight <= 0
    if not empty.any():
        return s.location
    mean = s.location.average(s.weight / s.weight.sum())
    return Location(
        np.where(empty[:, None], mean.pivot, s.location.pivot),
        np.where(empty[:, None], mean.remainder, s.location.remainder),
    )
