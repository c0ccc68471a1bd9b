"""How far a covariance estimate is pulled towards a simpler one, as objects that decide for themselves."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from posterior._types import Floats
from posterior.stats.base import VANISHING


class Shrinkage(ABC):
    """Σ ← D^½ [(1−g) R + g·mean(diag R)·I] D^½ on the correlation scale R, so that units do not matter."""

    needs_fourth: ClassVar[bool] = False
    by_class: ClassVar[bool] = False

    @abstractmethod
    def intensity(self, correlation: Floats, weight: float, fourth: Floats | None) -> float:
        """The amount g of shrinkage, between 0 and 1."""

    def shrink(
        self, covariance: Floats, weight: float, fourth: Floats | None, spare: Floats, inflation: float
    ) -> Floats:
        """The shrunk covariance times `inflation`, which corrects for bias.

        `covariance` and `fourth` are by maximum likelihood, `spare` the standard deviations used where
        a column has none.
        """
        variance = np.diagonal(covariance)
        sd = np.where(variance > VANISHING, np.sqrt(variance), np.where(spare > 0, spare, 1.0))
        unit = sd[:, None] * sd
        correlation = covariance / unit
        quart = None if fourth is None else fourth / unit / unit
        g = self.intensity(correlation, weight, quart)
        target = np.diagonal(correlation).mean() * np.eye(len(sd))
        return np.asarray(((1 - g) * correlation + g * target) * unit * inflation)


@dataclass(frozen=True)
class Fixed(Shrinkage):
    """A given amount."""

    amount: float

    def __post_init__(self) -> None:
        if not 0 <= self.amount <= 1:
            raise ValueError(f"shrinkage must lie between 0 and 1, found {self.amount}")

    def intensity(self, correlation: Floats, weight: float, fourth: Floats | None) -> float:
        """The given amount."""
        return self.amount


@dataclass(frozen=True)
class OracleApproximating(Shrinkage):
    """Chen, Wiesel, Eldar & Hero (2010), Shrinkage algorithms for MMSE covariance estimation."""

    def intensity(self, correlation: Floats, weight: float, fourth: Floats | None) -> float:
        """From the size of the correlations and the number of rows alone."""
        d = len(correlation)
        square = float(np.mean(correlation**2))
        mean = float(np.trace(correlation)) / d
        bottom = (weight + 1) * (square - mean**2 / d)
        return 1.0 if bottom <= 0 else min((square + mean**2) / bottom, 1.0)


@dataclass(frozen=True)
class LedoitWolf(Shrinkage):
    """Ledoit & Wolf (2004), A well-conditioned estimator for large-dimensional covariance matrices."""

    needs_fourth: ClassVar[bool] = True

    def intensity(self, correlation: Floats, weight: float, fourth: Floats | None) -> float:
        """Variance of the correlations, from the fourth moments, against their distance from the target."""
        if fourth is None:
            raise ValueError("Ledoit-Wolf shrinkage needs the fourth moments in the statistics")
        if weight <= 0:
            return 1.0
        square = float((correlation**2).sum())
        distance = square - float(np.trace(correlation)) ** 2 / len(correlation)
        noise = (float(fourth.sum()) / weight - square) / weight
        if not np.isfinite(noise):
            raise ValueError(
                "shrinkage chosen from the data takes the fourth powers of the numbers, and these are beyond "
                "the range of floats; divide the columns by their largest number, or set shrinkage yourself"
            )
        return 0.0 if noise <= 0 or distance <= 0 else min(noise / distance, 1.0)


@dataclass(frozen=True)
class LedoitWolfByClass(LedoitWolf):
    """Ledoit-Wolf within each class before averaging, as scikit-learn's LDA does it."""

    by_class: ClassVar[bool] = True


@dataclass(frozen=True)
class RawFixed(Shrinkage):
    """scikit-learn's `shrinkage` on the raw scale: (1−g) Σ + g·mean(diag Σ)·I."""

    amount: float
    by_class: ClassVar[bool] = True

    def intensity(self, correlation: Floats, weight: float, fourth: Floats | None) -> float:
        """The given amount."""
        return self.amount

    def shrink(
        self, covariance: Floats, weight: float, fourth: Floats | None, spare: Floats, inflation: float
    ) -> Floats:
        """Towards a multiple of the identity in the units of the data."""
        target = np.diagonal(covariance).mean() * np.eye(len(covariance))
        return np.asarray(((1 - self.amount) * covariance + self.amount * target) * inflation)


@dataclass(frozen=True)
class RawIdentity(RawFixed):
    """scikit-learn's `reg_param`: (1−g) Σ + g·I, in the units of the data."""

    def shrink(
        self, covariance: Floats, weight: float, fourth: Floats | None, spare: Floats, inflation: float
    ) -> Floats:
        """Towards the identity."""
        return np.asarray((1 - self.amount) * covariance * inflation + self.amount * np.eye(len(covariance)))


NAMED: dict[str, Shrinkage] = {"oas": OracleApproximating(), "ledoit-wolf": LedoitWolf()}


def shrinkage_named(value: "Shrinkage | str | float | None") -> Shrinkage | None:
    """The object behind what a user may write: None, an amount, a name, or an object; no amount is None."""
    if value is None or isinstance(value, Shrinkage):
        return value
    if isinstance(value, str):
        if value not in NAMED:
            raise ValueError(
                f"shrinkage must be 'auto', one of {sorted(NAMED)}, a number or None, found {value!r}"
            )
        return NAMED[value]
    return Fixed(float(value)) if value else None
