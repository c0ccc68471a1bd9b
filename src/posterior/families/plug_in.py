"""A Gaussian whose covariances come from somebody else's estimator."""

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._types import Floats, Ints
from posterior.families.base import Family
from posterior.families.gaussian import MultivariateNormalDistribution
from posterior.families.multivariate_normal import MultivariateNormal
from posterior.stats import Sample, Scatter


class PlugInDistribution(MultivariateNormalDistribution):
    """A Gaussian that was fitted to rows, not to their scatter."""

    def log_likelihood(self, statistics: Any) -> float:
        """From the scatter of the rows."""
        s = statistics
        return super().log_likelihood(Scatter.of(s.values, s.y, s.weight, s.n_classes))


@dataclass(frozen=True)
class PlugInNormal(Family[Sample]):
    """The multivariate normal with covariances by `estimator`, an object with `fit(X)` and `covariance_`.

    Each class is estimated on its own rows; `tied` averages them with the class frequencies.

    >>> class Unit:
    ...     def fit(self, X):
    ...         self.covariance_ = np.eye(X.shape[1])
    >>> family = PlugInNormal(Unit())
    >>> rows = family.summarize(np.array([[0.0], [4.0], [6.0]]), np.array([0, 0, 1]), None, 2)
    >>> family.estimate(rows).covariance
    array([[[1.]]])
    """

    estimator: Any
    tied: bool = True
    joint: bool = field(default=True, init=False, repr=False)

    why_not_mergeable = (
        "a covariance_estimator needs all rows at once; use shrinkage='auto' or a number instead, "
        "whose statistics add up"
    )

    def check(self, block: Floats, names: Any) -> None:
        """Complete rows only: another library's estimator is not asked to fill in gaps."""
        MultivariateNormal().check(block, names)
        gaps = np.isnan(block).sum(axis=0)
        if gaps.any():
            columns = ", ".join(f"{name!r}" for name, gap in zip(names, gaps, strict=True) if gap)
            raise ValueError(
                f"NaN in column {columns}: a covariance_estimator takes complete rows only; leave rows "
                "with gaps out, or drop covariance_estimator: gaps are then filled in by EM"
            )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Sample:
        """The rows themselves."""
        if weight is not None and (weight != 1).any():
            raise ValueError(
                "a covariance_estimator takes no sample_weight; use shrinkage='auto' or a number instead"
            )
        return Sample.of(block, y, weight, n_classes)

    def estimate(self, statistics: Sample) -> PlugInDistribution:
        """One fit of the estimator for each class; a class without rows has the average covariance."""
        s = Scatter.of(statistics.values, statistics.y, statistics.weight, statistics.n_classes)
        seen = s.weight > 0
        cov = np.zeros_like(s.scatter)
        for k in np.flatnonzero(seen):
            estimator = deepcopy(self.estimator)
            estimator.fit(statistics.values[statistics.y == k])
            if not hasattr(estimator, "covariance_"):
                name = type(estimator).__name__
                raise ValueError(f"{name} does not have a covariance_ attribute")
            cov[k] = estimator.covariance_
        average = np.einsum("k,kij->ij", s.weight / s.weight.sum(), cov)
        cov = average[None] if self.tied else np.where(seen[:, None, None], cov, average)
        return PlugInDistribution(s.location, cov, uncounted="another library estimated the covariances")
