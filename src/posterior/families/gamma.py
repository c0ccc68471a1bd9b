"""The gamma family: sizes, durations, incomes and other positive numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln, polygamma

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import (
    Family,
    LeftOut,
    ProductDistribution,
    Repair,
    never_seen,
    refuse_outside,
    table,
)
from posterior.families.left_out.parts import LEAST, Removal, any_cell
from posterior.families.parameters import Parameter, by_column
from posterior.stats import Moments, PairMoments

# From this shape on, series in 1/shape are exact to the last digit and differences of large numbers are not.
LARGE = 1e3
# Below this squared coefficient of variation c the mean of ln x is that of ln(mean) less c/2, to rounding.
NARROW = 1e-9
# Deviations from the mean up to this share of it have their logarithm from a series.
CLOSE = 0.05
HALVES = 1 / np.arange(2.0, 14.0)


class GammaDistribution(ProductDistribution):
    """Gamma densities with shape a and mean m, (K, d): xᵃ⁻¹ exp(−ax/m) (a/m)ᵃ / Γ(a) for x > 0.

    >>> GammaDistribution(shape=[[1.0]], mean=[[2.0]]).log_density(np.array([[2.0]])).round(3)
    array([[-1.693]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "shape": Annotated[Floats, "K d >0"],
        "mean": Annotated[Floats, "K d >0"],
        "repairs": tuple[Repair, ...],
    }
    has_support = True

    def __init__(self, shape: ArrayLike, mean: ArrayLike, *, repairs: tuple[Repair, ...] = ()) -> None:
        self.shape, self.repairs = table("shape", shape), repairs
        self.n_classes, self.n_columns = self.shape.shape
        self.mean = table("mean", mean, self.n_classes)
        if self.mean.shape != self.shape.shape or not ((self.shape > 0) & (self.mean > 0)).all():
            raise ValueError(f"shape and mean must be positive and of one shape, {self.shape.shape}")

    def outside(self, block: Floats) -> Bools:
        """Numbers that are not positive."""
        return np.asarray(block <= 0)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        outside = self.outside(block)
        terms = _log_density(np.where(outside, 1.0, block), self.shape[k], self.mean[k])
        terms[outside] = -np.inf
        terms[np.isnan(block)] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "GammaDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return GammaDistribution(self.shape[:, keep], self.mean[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return rng.gamma(self.shape[y], self.mean[y] / self.shape[y])

    @property
    def n_parameters(self) -> int:
        """A shape and a mean for each class and column."""
        return 2 * self.shape.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Shape and mean of every column."""
        return by_column(names, {"shape": self.shape, "mean": self.mean})

    def log_likelihood(self, statistics: PairMoments) -> float:
        """Σ w (a (ln r − r + 1) − ln x) + w c(a) with r = x/m, from the means of x and ln x."""
        a, s = self.shape, statistics
        mean, log_mean = s.first.location.value, s.second.location.value
        fit = a * (log_mean - np.log(self.mean) - mean / self.mean + 1) - log_mean
        return float((s.weight * (fit + stirling(a))).sum())


@dataclass(frozen=True)
class Gamma(Family[PairMoments]):
    """The gamma family by maximum likelihood, for positive numbers with a long right tail.

    The mean is that of the class; the shape a solves ln a − ψ(a) = ln(mean of x) − mean of ln x (Minka 2002,
    Estimating a Gamma distribution). A class whose squared coefficient of variation is below `floor` times
    that within all classes gets one row more that has the latter.

    >>> rows = Gamma().summarize(np.array([[1.0], [2.0], [6.0]]), np.array([0, 0, 0]), None, 1)
    >>> Gamma().estimate(rows).mean, Gamma().estimate(rows).shape.round(3)
    (array([[3.]]), array([[2.]]))
    """

    floor: float = 1e-15
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})

    def __post_init__(self) -> None:
        if not self.floor >= 0:
            raise ValueError(f"floor must not be negative, found {self.floor}")

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Values must be positive."""
        refuse_outside(block <= 0, block, names, "a gamma column takes positive values only")

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> PairMoments:
        """The moments of x and of ln x."""
        return PairMoments.of(block, np.log(block), y, weight, n_classes)

    def estimate(self, statistics: PairMoments) -> GammaDistribution:
        """Shape and mean of each class and column; of a class without values, those of all rows."""
        first, second = statistics.first, statistics.second
        mean, gap, _ = self._gaps(first, second)
        overall, overall_gap = _overall(first, second)
        empty = first.weight <= 0
        unknown = never_seen(empty & (first.weight > 0).any(axis=1, keepdims=True))
        shape = _shape(np.where(empty, overall_gap, gap))
        return GammaDistribution(shape, np.where(empty, overall, mean), repairs=tuple(unknown))

    def _gaps(self, first: Moments, second: Moments) -> tuple[Floats, Floats, Bools]:
        """Means, ln(mean of x) − mean of ln x of every class and column, and where a class was too narrow."""
        mean = np.where(first.weight > 0, first.location.value, 1.0)
        square = kernels.ratio(first.scatter, first.weight) / mean**2
        gap = _gap(mean, np.where(first.weight > 0, second.location.value, 0.0), square)
        scale = _within(first, mean)
        low = (square < self.floor * scale) | (square == 0)
        lent = (first.weight * square + scale) / (first.weight + 1)
        return mean, np.where(low, 0.5 * lent, gap), low & (first.weight > 0)

    def leave_one_out(
        self, statistics: PairMoments, distribution: GammaDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The row's own class without it; rows are refitted where a class is too narrow, or nearly so."""
        first, second = statistics.first, statistics.second

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            x = Removal.of(first, block, y, weight)
            logs = Removal.of(second, np.log(block), y, weight)
            pull = kernels.ratio(np.broadcast_to(x.weight, x.deviation.shape), x.rest)
            mean = first.location.value[y] - pull * x.deviation
            log_mean = second.location.value[y] - pull * logs.deviation
            left = first.scatter[y] - x.loss
            mean = np.where(mean > 0, mean, 1.0)
            square = kernels.ratio(np.maximum(left, 0.0), x.rest) / mean**2
            out = distribution.log_density(block)
            terms = _log_density(np.where(x.there, block, 1.0), _shape(_gap(mean, log_mean, square)), mean)
            out[np.arange(len(y)), y] = np.where(x.there, terms, 0.0).sum(axis=1)
            scale = _within(first, first.location.value)
            delicate = (left < LEAST * first.scatter[y]) | (square * LEAST < self.floor * scale)
            delicate |= x.emptied | (first.scatter[y] == 0)
            narrow = bool(self._gaps(first, second)[2].any() or (first.weight <= 0).any())
            return LeftOut(out, any_cell(delicate & x.there) | narrow)

        return left_out


def _within(first: Moments, mean: Floats) -> Floats:
    """The squared coefficient of variation of each column within classes, or in all where that is zero."""
    weight, within, total = first.pooled()
    overall = kernels.ratio((first.weight * np.where(first.weight > 0, mean, 0.0)).sum(axis=0), weight)
    spread = np.where(within > 0, within, total)
    square = kernels.ratio(spread, weight * overall**2)
    return np.where(square > 0, square, 1.0)


def _overall(first: Moments, second: Moments) -> tuple[Floats, Floats]:
    """The mean of all rows, and ln(mean of x) − mean of ln x, of each column."""
    weight = first.weight.sum(axis=0)
    share = kernels.ratio(first.weight, weight)
    mean = np.where(weight > 0, (share * first.location.value).sum(axis=0), 1.0)
    log_mean = (share * second.location.value).sum(axis=0)
    square = kernels.ratio(first.pooled()[2], weight * mean**2)
    gap = _gap(mean, log_mean, square)
    return mean, np.where((weight > 0) & (gap > 0), gap, 0.5)


def _gap(mean: Floats, log_mean: Floats, square: Floats) -> Floats:
    """ln(mean of x) − mean of ln x: half the squared coefficient of variation where that is tiny."""
    return np.where(square < NARROW, 0.5 * square, np.maximum(np.log(mean) - log_mean, 0.25 * NARROW))


def _shape(gap: Floats) -> Floats:
    """The a of which ln a − ψ(a) is the gap, by Minka's (2002) iteration in 1/a."""
    gap = np.clip(gap, 1e-290, 1e290)
    a = np.asarray((3 - gap + np.sqrt((gap - 3) ** 2 + 24 * gap)) / (12 * gap))
    a = np.where(gap > 1e8, 1 / gap, a)  # where the difference above has no digits left
    with np.errstate(over="ignore", invalid="ignore"):
        for _ in range(8):
            large = a > LARGE
            some = np.where(large, LARGE, a)
            rest = np.where(large, 0.5 / a + 1 / (12 * a * a), np.log(some) - digamma(some))
            slope = np.where(large, -0.5 / a**2 - 1 / (6 * a**3), 1 / some - polygamma(1, some))
            a = 1 / (1 / a + (rest - gap) / (a * a * slope))
    return a


def stirling(a: Floats) -> Floats:
    """The value of a ln a − a − ln Γ(a), by Stirling's series where these are large."""
    large = a > LARGE
    some = np.where(large, LARGE, a)
    series = 0.5 * np.log(a / (2 * np.pi)) - 1 / (12 * a) + 1 / (360 * a**3)
    return np.where(large, series, some * np.log(some) - some - gammaln(some))


def _log_density(x: Floats, a: Floats, mean: Floats) -> Floats:
    """A (ln r − r + 1) − ln x + c(a), with r = x/m; digits are kept however narrow the density is."""
    d = (x - mean) / mean
    near = np.abs(d) < CLOSE
    small = np.where(near, d, 0.0)
    series = np.zeros_like(small)
    for term in HALVES[::-1]:
        series = term - small * series
    with np.errstate(divide="ignore", invalid="ignore"):
        far = np.log(np.where(near, 1.0, x / mean)) - np.where(near, 0.0, d)
    return np.asarray(a * np.where(near, -small * small * series, far) - np.log(x) + stirling(a))
