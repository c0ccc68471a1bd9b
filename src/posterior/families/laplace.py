"""The Laplace (double exponential) family: median and mean absolute deviation."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Floats, Ints
from posterior.families.base import Family, ProductDistribution, table
from posterior.families.parameters import Parameter, by_column
from posterior.stats import Sample


class LaplaceDistribution(ProductDistribution):
    """Laplace densities with location and scale (K, d): −|x−m|/b − ln 2b.

    >>> LaplaceDistribution(location=[[0.0]], scale=[[0.5]]).log_density(np.array([[1.0]]))
    array([[-2.]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "location": Annotated[Floats, "K d finite"],
        "scale": Annotated[Floats, "K d >0"],
    }

    def __init__(self, location: ArrayLike, scale: ArrayLike) -> None:
        self.location = table("location", location)
        self.n_classes, self.n_columns = self.location.shape
        self.scale = table("scale", scale, self.n_classes)
        if self.scale.shape != self.location.shape or not (self.scale > 0).all():
            raise ValueError(
                f"scale must be positive and of the shape of the location, {self.location.shape}"
            )

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = -np.abs(block - self.location[k]) / self.scale[k] - np.log(2 * self.scale[k])
        terms[np.isnan(block)] = 0.0
        return np.asarray(terms)

    def marginal(self, columns: Sequence[int]) -> "LaplaceDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return LaplaceDistribution(self.location[:, keep], self.scale[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return rng.laplace(self.location[y], self.scale[y])

    @property
    def n_parameters(self) -> int:
        """A location and a scale for each class and column."""
        return 2 * self.location.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Median and scale, the mean absolute deviation from it, of every column."""
        return by_column(names, {"median": self.location, "scale": self.scale})

    def log_likelihood(self, statistics: Sample) -> float:
        """Summed over the rows themselves."""
        own = self.log_density(statistics.values)[np.arange(len(statistics.y)), statistics.y]
        return float(statistics.weight @ own)


@dataclass(frozen=True)
class Laplace(Family[Sample]):
    """The Laplace family by maximum likelihood: weighted median and mean absolute deviation about it.

    Where a whole interval minimises the absolute deviations the middle of it is taken. A scale below
    `floor` times the column's scale within classes is raised to it.

    >>> rows = Sample.of(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 0]), None, 1)
    >>> Laplace().estimate(rows).location, Laplace().estimate(rows).scale.round(3)
    (array([[2.]]), array([[1.667]]))
    """

    floor: float = 1e-9

    why_not_mergeable = (
        "the Laplace family needs the median, and medians of parts do not add up to that of the whole; "
        "fit all rows at once, or use Normal for this column"
    )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Sample:
        """The rows themselves."""
        return Sample.of(block, y, weight, n_classes)

    def estimate(self, statistics: Sample) -> LaplaceDistribution:
        """Median and mean absolute deviation of each class and column."""
        shape = (statistics.n_classes, statistics.values.shape[1])
        centre, scale, weight = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        for j in range(shape[1]):
            x = statistics.values[:, j]
            there = ~np.isnan(x) & (statistics.weight > 0)
            overall = _weighted_median(x[there], statistics.weight[there]) if there.any() else 0.0
            for k in range(shape[0]):
                rows = there & (statistics.y == k)
                w = statistics.weight[rows]
                weight[k, j] = w.sum()
                centre[k, j] = _weighted_median(x[rows], w) if rows.any() else overall
                scale[k, j] = w @ np.abs(x[rows] - centre[k, j])
        within = scale.sum(axis=0) / np.maximum(weight.sum(axis=0), 1e-300)
        spread = np.abs(centre - centre[:1]).max(axis=0)
        own = np.where(within > 0, within, spread)
        lowest = np.where(own > 0, self.floor * own, 1.0)
        scale = np.divide(scale, weight, out=np.broadcast_to(own, shape).copy(), where=weight > 0)
        return LaplaceDistribution(centre, np.maximum(scale, lowest))


def _weighted_median(x: Floats, weight: Floats) -> float:
    order = np.argsort(x, kind="stable")
    x, cumulated = x[order], np.cumsum(weight[order])
    half = 0.5 * cumulated[-1]
    low = int(np.searchsorted(cumulated, half * (1 - 1e-12)))
    high = int(np.searchsorted(cumulated, half * (1 + 1e-12)))
    return float(x[low] + 0.5 * (x[min(high, len(x) - 1)] - x[low]))
