"""Penalties on the coefficients."""

from dataclasses import dataclass

import numpy as np

from posterior._types import Floats


@dataclass(frozen=True)
class ElasticNet:
    """l1 Σ|w| + ½ l2 Σ w² over the coefficients as the user sees them; intercepts are free.

    With `l1` = 0 it is ridge, with `l2` = 0 the lasso, with both 0 no penalty at all (Zou & Hastie, 2005).

    >>> ElasticNet(l1=1.0, l2=2.0).value(np.array([[1.0, -2.0]]))
    8.0
    """

    l1: float = 0.0
    l2: float = 0.0

    @property
    def smooth(self) -> bool:
        """Whether it has a slope everywhere."""
        return self.l1 == 0

    @property
    def free(self) -> bool:
        """Whether there is no penalty."""
        return self.l1 == 0 and self.l2 == 0

    def value(self, coef: Floats) -> float:
        """The penalty."""
        return float(self.l1 * np.abs(coef).sum() + 0.5 * self.l2 * (coef * coef).sum())

    def slope(self, coef: Floats) -> Floats:
        """The derivatives of its smooth part."""
        return self.l2 * coef

    def conjugate(self, slope: Floats) -> float:
        """Sup Σ slope·w − penalty(w): finite where l2 > 0, or where no slope exceeds l1."""
        over = np.maximum(np.abs(slope) - self.l1, 0.0)
        if self.l2 > 0:
            return float((over**2).sum() / (2 * self.l2))
        return float("inf") if (over > 0).any() else 0.0
