"""The gamma family: sizes, durations and other positive numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma, gammaln, polygamma, xlogy

from posterior.families import Family, LeftOut, Parameter, ProductDistribution
from posterior.stats import Statistics

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# A sum from which nearly all was taken away has too few digits left.
DIGITS = 1e-4


@dataclass(frozen=True, eq=False)
class GammaSums(Statistics):
    """Weight, sum and sum of logarithms of the cells that are there, by class and column."""

    weight: Annotated[Floats, "K d >=0"]
    total: Annotated[Floats, "K d >=0"]
    log_total: Annotated[Floats, "K d finite"]

    def __add__(self, other: Self) -> Self:
        return type(self)(
            self.weight + other.weight, self.total + other.total, self.log_total + other.log_total
        )

    def reindex(self, classes: Ints, n_classes: int) -> Self:
        """Make room for more classes."""
        wide = np.zeros((3, n_classes, self.weight.shape[1]))
        wide[:, classes] = self.weight, self.total, self.log_total
        return type(self)(*wide)

    def marginal(self, columns: Sequence[int]) -> Self:
        """The sums of some of the columns."""
        keep = list(columns)
        return type(self)(self.weight[:, keep], self.total[:, keep], self.log_total[:, keep])

    def impossible(self, weight: Floats) -> str:
        """Cells that weigh more than their rows, and logarithms above that of the mean (Jensen)."""
        if (self.weight > weight[:, None] * (1 + 1e-9)).any():
            return "cells that weigh more than their rows"
        if not (np.abs([self.total, self.log_total]) <= 1e300).all() or self.total[self.weight == 0].any():
            return "a total that no rows have"
        highest = self.weight * np.log(
            self.total / np.where(self.weight > 0, self.weight, 1),
            where=self.total > 0,
            out=np.zeros_like(self.total),
        )
        off = self.log_total - highest > 1e-9 * (self.weight + np.abs(highest))
        return "logarithms that no rows have" if off.any() else ""


class GammaDistribution(ProductDistribution):
    """Gamma densities with shape a and mean m, (K, d): x^(a−1) exp(−ax/m) (a/m)^a / Γ(a) for x > 0."""

    has_support = True
    parts: ClassVar[Mapping[str, Any]] = {
        "shape": Annotated[Floats, "K d >0"],
        "mean": Annotated[Floats, "K d >0"],
    }

    def __init__(self, shape: Floats, mean: Floats) -> None:
        self.shape, self.mean = shape, mean
        self.n_classes, self.n_columns = shape.shape

    def outside(self, block: Floats) -> Any:
        """Numbers without a logarithm."""
        return block <= 0

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = _log_density(np.where(self.outside(block), 1.0, block), self.shape[k], self.mean[k])
        return np.where(np.isnan(block), 0.0, np.where(self.outside(block), -np.inf, terms))

    def marginal(self, columns: Sequence[int]) -> Self:
        """The distribution of some of the columns."""
        keep = list(columns)
        return type(self)(self.shape[:, keep], self.mean[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return rng.gamma(self.shape[y], self.mean[y] / self.shape[y])

    @property
    def n_parameters(self) -> int:
        """A shape and a mean for each class and column."""
        return 2 * self.shape.size

    def parameters(self, names: Sequence[str], levels: Sequence[Any]) -> list[Parameter]:
        """Shape and mean of every column."""
        return [
            Parameter((column,), name, table[:, j].copy())
            for j, column in enumerate(names)
            for name, table in (("shape", self.shape), ("mean", self.mean))
        ]

    def log_likelihood(self, statistics: GammaSums) -> float:
        """Σ w ln p from the sums, in which the density is linear."""
        a, s = self.shape, statistics
        each = (a - 1) * s.log_total - a / self.mean * s.total
        return float((each + s.weight * (a * np.log(a / self.mean) - gammaln(a))).sum())


@dataclass(frozen=True)
class Gamma(Family[GammaSums]):
    """The gamma family by maximum likelihood; no shape is above `most`, which equal values would have.

    A class that never shows a column has that of all classes together.
    """

    most: float = 1e6
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Values are positive."""
        for j, name in enumerate(names):
            if (block[:, j] <= 0).any():
                least = np.nanmin(block[:, j])
                raise ValueError(
                    f"column {name!r}: a gamma column takes positive values only, found {least:g}"
                )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> GammaSums:
        """Weight, sum and sum of logarithms."""
        there, w = ~np.isnan(block), np.ones(len(y)) if weight is None else weight
        x = np.where(there, block, 1.0)
        sums = np.zeros((3, n_classes, block.shape[1]))
        for out, cells in zip(sums, (there * 1.0, there * x, np.log(x)), strict=True):
            np.add.at(out, y, w[:, None] * cells)
        return GammaSums(*sums)

    def estimate(self, statistics: GammaSums) -> GammaDistribution:
        """Means, and shapes a with ln a − ψ(a) = ln(mean) − mean of logs."""
        sums = np.stack([statistics.weight, statistics.total, statistics.log_total])
        overall = sums.sum(axis=1, keepdims=True)
        overall[:, overall[0] == 0] = np.array([[1.0], [1.0], [0.0]])  # no class has a value
        shape, mean = self._fitted(*np.where(sums[0] > 0, sums, overall))
        return GammaDistribution(shape, mean)

    def _fitted(self, weight: Floats, total: Floats, log_total: Floats) -> tuple[Floats, Floats]:
        mean = total / weight
        gap = np.maximum(np.log(mean) - log_total / weight, 0.5 / self.most)
        # Minka (2002): Newton's method in 1/a, from a start that is within 1.5 %.
        a = (3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap)
        for _ in range(6):
            slope = 1 / a - polygamma(1, a)
            a = 1 / (1 / a + (np.log(a) - digamma(a) - gap) / (a**2 * slope))
        return np.minimum(a, self.most), mean

    def leave_one_out(
        self, statistics: GammaSums, distribution: GammaDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """Only the own class changes: its sums without the row give other parameters for it."""

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            w = np.where(np.isnan(block), 0.0, 1.0 if weight is None else weight[:, None])
            x = np.where(np.isnan(block), 1.0, block)
            own = [a[y] for a in (statistics.weight, statistics.total, statistics.log_total)]
            rest = [a - w * b for a, b in zip(own, (1.0, x, np.log(x)), strict=True)]
            few = (rest[0] <= DIGITS * own[0]) | (rest[1] <= DIGITS * own[1])
            shape, mean = self._fitted(*(np.where(few, 1.0, a) for a in rest))
            out = distribution.log_density(block)
            terms = np.where(np.isnan(block), 0.0, _log_density(x, shape, mean))
            out[np.arange(len(y)), y] = terms.sum(axis=1)
            return LeftOut(out, few.any(axis=1))

        return left_out


def _log_density(x: Floats, shape: Floats, mean: Floats) -> Floats:
    rate = shape / mean
    return xlogy(shape - 1, x) - rate * x + shape * np.log(rate) - gammaln(shape)
