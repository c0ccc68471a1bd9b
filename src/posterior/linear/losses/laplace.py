"""The absolute error."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from posterior._loading import load_module
from posterior._types import AnyArray, Floats
from posterior.linear.losses.base import Loss, Noise


class LaplaceNoise:
    """Laplace noise; its scale is the mean absolute error."""

    def scale(self, mean_loss: float) -> float:
        """The mean absolute error."""
        return float(mean_loss)

    def variance(self, scale: float) -> float:
        """Twice the squared scale."""
        return scale**2 * 2.0

    def log_likelihood(self, scale: float, weight: float) -> float:
        """−W (ln 2b + 1)."""
        return -weight * float(np.log(2 * scale) + 1.0)

    def distribution(self, loc: Any, scale: float) -> Any:
        """`scipy.stats.laplace`."""
        stats = load_module("scipy.stats")  # takes a while to import
        return stats.laplace(loc=loc, scale=scale)


@dataclass(frozen=True)
class LaplaceLoss(Loss):
    """The absolute error: −ln of a Laplace density up to its scale. The target is a number.

    It has a kink where the score meets the target and no curvature elsewhere, so that Newton's method has
    no Hessian to use: `LeastAbsolute` minimises it.

    >>> LaplaceLoss().slope(np.array([[1.0]]), np.array([3.0]), None)
    (2.0, array([[-1.]]))
    """

    n_scores: int = 1
    self_concordance: float = 0.0
    kinked: ClassVar[bool] = True
    solver: ClassVar[str | None] = "least-absolute"
    noise: ClassVar[Noise | None] = LaplaceNoise()

    def slope(self, scores: Floats, target: AnyArray, weight: Floats | None) -> tuple[float, Floats]:
        """Σ w |η − t|, and w sign(η − t)."""
        error = scores - target
        pull = np.sign(error) if weight is None else np.sign(error) * weight
        return float((pull * error).sum()), pull

    def curvature(self, scores: Floats, target: AnyArray, weight: Floats | None) -> Floats:
        """Zero, wherever there is one."""
        return np.zeros((1, scores.shape[1]))

    def values(self, scores: Floats, target: AnyArray) -> Floats:
        """|η − t|."""
        return np.asarray(np.abs(scores[0] - target))
