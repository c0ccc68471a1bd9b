"""Student's t family: numbers about a middle with some that are far off."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import digamma, gammaln

from posterior._types import Floats, Ints
from posterior.families.base import Family, ProductDistribution, table
from posterior.families.parameters import Parameter, by_column
from posterior.stats import Location, ValueTable

# Degrees of freedom from those of a Cauchy distribution, from which on the likelihood has one maximum only
# (Kent & Tyler 1991), to those of which nobody can tell the density from a normal one.
TRIED = (1.0, 2.0, 5.0, 20.0, 200.0)
STEPS = 100


class StudentTDistribution(ProductDistribution):
    """Student's t densities with location, scale and degrees of freedom ν, (K, d).

    Γ((ν+1)/2) / (Γ(ν/2) √(πν) s) (1 + z²/ν)^−(ν+1)/2 with z = (x − location)/s.

    >>> t = StudentTDistribution(location=[[0.0]], scale=[[1.0]], degrees=[[1.0]])
    >>> np.exp(t.log_density(np.array([[1.0]]))) * 2 * np.pi
    array([[1.]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "location": Annotated[Location, "K d any"],
        "scale": Annotated[Floats, "K d >0"],
        "degrees": Annotated[Floats, "K d >0"],
    }

    def __init__(self, location: ArrayLike | Location, scale: ArrayLike, degrees: ArrayLike) -> None:
        found = location if isinstance(location, Location) else table("location", location)
        self.location = Location.at(found)
        self.n_classes, self.n_columns = self.location.pivot.shape
        self.scale, self.degrees = (
            table(name, given, self.n_classes) for name, given in (("scale", scale), ("degrees", degrees))
        )
        shape = self.location.pivot.shape
        right = self.scale.shape == shape and self.degrees.shape == shape
        if not right or not ((self.scale > 0) & (self.degrees > 0)).all():
            raise ValueError(f"scale and degrees must be positive and of the shape of the location, {shape}")

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The distribution of these parts."""
        return cls(**parts)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = _log_density(self.location.deviation(block, k), self.scale[k], self.degrees[k])
        terms[np.isnan(block)] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "StudentTDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return StudentTDistribution(self.location[:, keep], self.scale[:, keep], self.degrees[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return self.location.value[y] + self.scale[y] * rng.standard_t(self.degrees[y])

    @property
    def n_parameters(self) -> int:
        """A location, a scale and degrees of freedom for each class and column."""
        return 3 * self.scale.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Location, scale and degrees of freedom of every column."""
        found = {"location": self.location.value, "scale": self.scale, "degrees of freedom": self.degrees}
        return by_column(names, found)

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the distinct values."""
        total = 0.0
        for j, (x, tables) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            one = self.marginal([j])
            for k, weight in enumerate(tables):
                total += float(weight @ one.class_terms(x[:, None], k)[:, 0])
        return total


@dataclass(frozen=True)
class StudentT(Family[ValueTable]):
    """Student's t by maximum likelihood, for numbers with outliers.

    Location, scale and degrees of freedom, between 1 and 200, are those of maximum likelihood in each class.
    A class with fewer than `scale_rows` rows is filled up to so many that say the scale that the column has
    within classes. A scale below `floor` times that one is raised to it. Of more than 4,096 distinct numbers
    in a column, so many cells of a grid are kept.

    >>> x = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 40.0])[:, None]
    >>> rows = StudentT().summarize(x, np.zeros(7, dtype=int), None, 1)
    >>> found = StudentT(scale_rows=0).estimate(rows)
    >>> found.location.value.round(2), found.scale.round(2), found.degrees.round(2)
    (array([[-0.2]]), array([[0.86]]), array([[1.]]))
    """

    scale_rows: float = 10.0
    floor: float = 0.05

    def __post_init__(self) -> None:
        if not (self.scale_rows >= 0 and self.floor > 0):
            raise ValueError(
                f"scale_rows must not be negative and floor must be positive, found {self.scale_rows} "
                f"and {self.floor}"
            )

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes)

    def estimate(self, statistics: ValueTable) -> StudentTDistribution:
        """The densities of each class and column; of a class without values, those of all rows."""
        columns = [
            self._column(x, tables) for x, tables in zip(statistics.values, statistics.tables, strict=True)
        ]
        pivot, shift, scale, degrees = np.moveaxis(np.array(columns), (0, 1), (2, 1))
        return StudentTDistribution(Location.sum(pivot, shift), scale, degrees)

    def _column(self, x: Floats, tables: Floats) -> list[tuple[float, float, float, float]]:
        """Location in two parts, scale and degrees of freedom of each class, of values (V,)."""
        everyone = tables.sum(axis=0)
        weights = [w if w.any() else everyone for w in tables]
        middles = [_median(x, w) for w in weights]
        unit = _spread(x, tables, middles) or max(abs(m - middles[0]) for m in middles) or 1.0
        unit = max(unit, 1e-100 * float(x[-1] - x[0]))  # so that squares are finite
        found = []
        for weight, middle in zip(weights, middles, strict=True):
            some = weight > 0
            lent = max(0.0, self.scale_rows - float(weight.sum()))
            point = _likeliest((x[some] - middle) / unit, weight[some], lent, self.floor)
            found.append((middle, point.location * unit, np.exp(point.log_scale) * unit, point.degrees))
        return found


class _Point(NamedTuple):
    """A location, the logarithm of a scale, and degrees of freedom."""

    location: float
    log_scale: float
    degrees: float


def _likeliest(x: Floats, weight: Floats, lent: float, floor: float) -> _Point:
    """The most likely point for values about 0 with weights, and `lent` rows that say a scale of 1.

    The best of some degrees of freedom, and then the maximum beside it: where the slope is zero.
    """
    tried = [_located(x, weight, lent, floor, _Point(0.0, 0.0, nu)) for nu in TRIED]
    best = int(np.argmax([point.height for point in tried]))
    latest = tried[best].point

    def slope(log_degrees: float) -> float:
        """By how much the likelihood rises with the degrees, location and scale being at their best."""
        nonlocal latest
        latest = _located(x, weight, lent, floor, latest._replace(degrees=float(np.exp(log_degrees)))).point
        return _slope(x, weight, latest)

    low, high = np.log(TRIED[max(best - 1, 0)]), np.log(TRIED[min(best + 1, len(TRIED) - 1)])
    if slope(low) > 0 > slope(high):
        slope(brentq(slope, low, high, xtol=1e-13, rtol=1e-14))
        return latest
    return tried[best].point


def _slope(x: Floats, weight: Floats, at: _Point) -> float:
    """The derivative of the log-likelihood by the degrees of freedom, twice."""
    nu, square = at.degrees, ((x - at.location) * np.exp(-at.log_scale)) ** 2
    constant = digamma((nu + 1) / 2) - digamma(nu / 2) - 1 / nu
    return float(weight @ (constant - np.log1p(square / nu) + (nu + 1) / nu * square / (nu + square)))


class _Located(NamedTuple):
    """A point with the log-likelihood there."""

    point: _Point
    height: float


def _located(x: Floats, weight: Floats, lent: float, floor: float, start: _Point) -> _Located:
    """Location and scale of maximum likelihood for given degrees of freedom.

    Newton's method; where a step of it does not raise the likelihood, one of the EM algorithm, which does.
    """
    nu, rows = start.degrees, float(weight.sum())
    lowest = np.log(floor)

    def height(m: float, log_scale: float) -> float:
        z = (x - m) * np.exp(-log_scale)
        own = -rows * log_scale - (nu + 1) / 2 * float(weight @ np.log1p(z * z / nu))
        return float(own - lent * (log_scale + 0.5 * np.exp(-2 * log_scale)))

    m, log_scale = start.location, max(start.log_scale, lowest)
    now = height(m, log_scale)
    for _ in range(STEPS):
        step = _newton(x, weight, lent, _Point(m, log_scale, nu), log_scale <= lowest)
        new, new_log = m + step[0], max(log_scale + step[1], lowest)
        then = height(new, new_log)
        if not then >= now - 1e-12 * (1 + abs(now)) or abs(new_log - log_scale) > 3:
            new, new_log = _expected(x, weight, lent, _Point(m, log_scale, nu))
            new_log = max(new_log, lowest)
            then = height(new, new_log)
        moved = abs(new - m) * np.exp(-new_log) + abs(new_log - log_scale)
        m, log_scale, now = new, new_log, then
        if moved < 1e-13:
            break
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(nu)
    return _Located(_Point(m, log_scale, nu), now + rows * float(constant))


def _newton(x: Floats, weight: Floats, lent: float, at: _Point, bound: bool) -> tuple[float, float]:
    """Newton's step for location and log scale; for the location alone where the scale is at its bound."""
    nu, s = at.degrees, float(np.exp(at.log_scale))
    z = (x - at.location) / s
    u = (nu + 1) / (nu + z * z)
    a = u * (nu - z * z) / (nu + z * z)
    rise = float(weight @ (u * z)) / s
    rise_log = float(weight @ (u * z * z - 1)) + lent * (s**-2 - 1)
    bend = float(weight @ a) / s**2
    cross = float(weight @ (z * (a + u))) / s
    bend_log = float(weight @ (z * z * (a + u))) + 2 * lent * s**-2
    determinant = bend * bend_log - cross * cross
    if bound and rise_log <= 0:
        return (rise / bend, 0.0) if bend > 0 else (np.inf, 0.0)
    if bend <= 0 or determinant <= 0:
        return np.inf, 0.0
    return (bend_log * rise - cross * rise_log) / determinant, (bend * rise_log - cross * rise) / determinant


def _expected(x: Floats, weight: Floats, lent: float, at: _Point) -> tuple[float, float]:
    """A step of the EM algorithm: means with the weights that the values are expected to have."""
    z = (x - at.location) * np.exp(-at.log_scale)
    u = weight * (at.degrees + 1) / (at.degrees + z * z)
    m = float(u @ x / u.sum())
    square = (float(u @ (x - m) ** 2) + lent) / (float(weight.sum()) + lent)
    return m, 0.5 * float(np.log(max(square, 1e-300)))


def _spread(x: Floats, tables: Floats, middles: Sequence[float]) -> float:
    """The standard deviation within classes that a normal distribution with the same middle half has.

    Where most rows are at the middle of their class it goes by the mean distance from it instead.
    """
    away = np.concatenate([np.abs(x - middle) for middle in middles])
    order = np.argsort(away, kind="stable")
    weight = tables.ravel()
    half = _median(away[order], weight[order]) / 0.6744897501960817
    return half or float(np.sqrt(np.pi / 2) * (weight @ away) / weight.sum())


def _median(x: Floats, weight: Floats) -> float:
    """A value with at most half of the weight on either side."""
    total = np.cumsum(weight)
    return float(x[np.searchsorted(total, 0.5 * total[-1] * (1 - 1e-12))])


def _log_density(deviation: Floats, scale: Floats, nu: Floats) -> Floats:
    t = np.abs(deviation) / (scale * np.sqrt(nu))
    far = t > 1e8  # so that no square overflows
    logs = np.where(far, 2 * np.log(np.where(far, t, 1.0)), np.log1p(np.where(far, 0.0, t) ** 2))
    constant = gammaln((nu + 1) / 2) - gammaln(nu / 2) - 0.5 * np.log(np.pi * nu) - np.log(scale)
    return np.asarray(constant - (nu + 1) / 2 * logs)
