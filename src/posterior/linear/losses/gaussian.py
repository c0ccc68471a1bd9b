"""The squared error."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from posterior._loading import load_module
from posterior._types import AnyArray, Floats
from posterior.linear.duality import DualRay, mean_row
from posterior.linear.losses.base import Loss, Noise
from posterior.stats.scatter import Scatter

if TYPE_CHECKING:
    from posterior.linear.objective import Objective, Point
    from posterior.linear.scan import RowBlock, Scan


class NormalNoise:
    """Normal noise; its scale is the root of the mean squared error."""

    def scale(self, mean_loss: float) -> float:
        """The standard deviation."""
        return float(np.sqrt(2 * mean_loss))

    def variance(self, scale: float) -> float:
        """The squared scale."""
        return scale**2 * 1.0

    def log_likelihood(self, scale: float, weight: float) -> float:
        """−½ W (ln 2πσ² + 1)."""
        return -0.5 * weight * float(np.log(2 * np.pi * scale**2) + 1.0)

    def distribution(self, loc: Any, scale: float) -> Any:
        """`scipy.stats.norm`."""
        stats = load_module("scipy.stats")  # takes a while to import
        return stats.norm(loc=loc, scale=scale)


@dataclass(frozen=True)
class GaussianLoss(Loss):
    """Half the squared error: −ln of a normal density up to its scale. The target is a number.

    >>> GaussianLoss().slope(np.array([[1.0]]), np.array([3.0]), None)
    (2.0, array([[-2.]]))
    """

    n_scores: int = 1
    self_concordance: float = 0.0
    curvature_bound: float = 1.0
    has_standard_errors: ClassVar[bool] = True
    compiled_steps: ClassVar[bool] = True
    estimates_dispersion: ClassVar[bool] = True
    noise: ClassVar[Noise | None] = NormalNoise()

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """Σ w ½(η − t)², and w (η − t)."""
        error = scores - target
        pull = error if weight is None else error * weight
        return 0.5 * float((pull * error).sum()), pull

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """The weights themselves."""
        return np.ones((1, scores.shape[1])) if weight is None else weight[None]

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """½(η − t)²."""
        return np.asarray(0.5 * (scores[0] - target) ** 2)

    def dual_ray(self, objective: "Objective", point: "Point", origin: "Point") -> DualRay:
        """The ray of u = residuals less their mean, for which ℓ*(u) = ½u² + u·target."""
        coef, level = objective.free(point.theta)
        pull, square, linear = point.pull, 2.0 * point.loss, -float((point.pull * coef).sum())
        if objective.basis.intercept:
            mean = point.level
            pull = pull - np.outer(mean, mean_row(objective)) if mean.any() else pull
            square -= float(mean @ mean)
            linear -= float(mean @ (level + origin.level - mean))
        square = max(square, 0.0)
        linear += square
        return DualRay(linear, square, pull, max(linear / square, 0.0) if square > 0 else 0.0)

    def constant_scores(self, slope: Floats) -> Floats:
        """The mean of the target."""
        return -slope

    def dispersion(self, value: float, df: float) -> float:
        """The residual variance, Σ w e² per degree of freedom."""
        return 2.0 * value / df

    def log_likelihood(self, value: float, weight: float) -> float:
        """That of normal errors with this sum of squares, at the variance that makes it largest."""
        with np.errstate(divide="ignore"):
            return float(-weight / 2 * (np.log(2 * np.pi * (2 * value) / weight) + 1))

    def null_value(self, scan: "Scan", weight: float, intercept: bool) -> float:
        """Half the squared deviations of the target from its mean, or from 0 without an intercept."""
        target = scan.fold(_target_scatter)
        mean = float(target.location.value[0, 0])
        return (float(target.scatter[0, 0, 0]) + (0.0 if intercept else weight * mean**2)) / 2


def _target_scatter(block: "RowBlock") -> Scatter:
    target = np.asarray(block.target, dtype=np.float64)[:, None]
    return Scatter.of(target, np.zeros(len(target), dtype=np.int64), block.weight, 1)
