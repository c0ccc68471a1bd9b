"""The exponential family: waiting times."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Bools, Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, refuse_outside, table
from posterior.families.left_out.parts import TotalsWithout
from posterior.families.parameters import Parameter, by_column
from posterior.families.sums import column_totals, overall_mean
from posterior.stats import Totals


class ExponentialDistribution(ProductDistribution):
    """Exponential densities with mean (K, d): −x/m − ln m for x ≥ 0.

    >>> ExponentialDistribution(mean=[[2.0]]).log_density(np.array([[0.0]])).round(3)
    array([[-0.693]])
    """

    parts: ClassVar[Mapping[str, Any]] = {"mean": Annotated[Floats, "K d >0"]}

    def __init__(self, mean: ArrayLike) -> None:
        self.mean = table("mean", mean)
        self.n_classes, self.n_columns = self.mean.shape
        if not (self.mean > 0).all():
            raise ValueError("the mean of an exponential density must be positive")

    has_support = True

    def outside(self, block: Floats) -> Bools:
        """Negative numbers."""
        return np.asarray(block < 0)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = -block / self.mean[k] - np.log(self.mean[k])
        terms[self.outside(block)] = -np.inf
        terms[np.isnan(block)] = 0.0
        return np.asarray(terms)

    def marginal(self, columns: Sequence[int]) -> "ExponentialDistribution":
        """The distribution of some of the columns."""
        return ExponentialDistribution(self.mean[:, list(columns)])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return rng.exponential(self.mean[y])

    @property
    def n_parameters(self) -> int:
        """A mean for each class and column."""
        return self.mean.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The mean of every column."""
        return by_column(names, {"mean": self.mean})

    def log_likelihood(self, statistics: Totals) -> float:
        """−Σ (x/m + ln m)."""
        return -float((statistics.total / self.mean + statistics.weight * np.log(self.mean)).sum())


@dataclass(frozen=True)
class Exponential(Family[Totals]):
    """The exponential family by maximum likelihood, for waiting times and other values ≥ 0.

    A class mean below `floor` times the column's mean is raised to it.

    >>> rows = Exponential().summarize(np.array([[1.0], [3.0]]), np.array([0, 0]), None, 1)
    >>> Exponential().estimate(rows).mean
    array([[2.]])
    """

    floor: float = 1e-9
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Values must not be negative."""
        refuse_outside(block < 0, block, names, "an exponential column takes no negative values")

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Totals:
        """Weight and sum by class."""
        return column_totals(block, np.zeros_like(block), y, weight, n_classes)

    def estimate(self, statistics: Totals) -> ExponentialDistribution:
        """The class means."""
        overall = overall_mean(statistics)
        mean = np.divide(
            statistics.total,
            statistics.weight,
            out=np.broadcast_to(overall, statistics.total.shape).copy(),
            where=statistics.weight > 0,
        )
        lowest = np.where(overall > 0, self.floor * overall, 1.0)
        return ExponentialDistribution(np.maximum(mean, lowest))

    def leave_one_out(
        self, statistics: Totals, distribution: ExponentialDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The class means without the row, and the floor under them."""

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            without = TotalsWithout.of(statistics, block, y, weight)
            overall = without.overall
            lowest = np.where(overall > 0, self.floor * overall, 1.0)
            x = np.where(np.isnan(block), 0.0, block)
            out = np.empty((len(y), distribution.n_classes))
            for k in range(distribution.n_classes):
                rows, total = without.of_class(k)
                mean = np.divide(total, rows, out=overall.copy(), where=rows > 0)
                mean = np.maximum(mean, lowest)
                out[:, k] = np.where(np.isnan(block), 0.0, -x / mean - np.log(mean)).sum(axis=1)
            return LeftOut(out, without.delicate)

        return left_out
