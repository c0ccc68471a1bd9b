"""Kernel densities: numbers of any distribution, by how near those of training are."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from posterior._types import Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, is_open, table
from posterior.families.left_out.values import ValuesWithout, without_each
from posterior.families.parameters import Parameter, by_column
from posterior.families.sums import safe_log
from posterior.stats import ValueTable

# So many places of kernels are kept of a column.
MOST = 512
# Distances, in bandwidths, whose squares are finite.
FARTHEST = 1e150
# Products of rows and kernels that are worked on at a time.
CELLS = 1_000_000
# The middle half of a normal distribution is so many standard deviations wide.
MIDDLE_HALF = 1.3489795003921634
# A class with fewer rows has its spread filled up with rows that say that of the column.
ENOUGH = 10.0
LOG_ROOT = 0.5 * np.log(2 * np.pi)


class KernelDensityDistribution(ProductDistribution):
    """Kernel densities: normal kernels of one width at the training values, and one wide normal.

    Of column j, `places[j]` (V,) are the middles of the kernels and `share[j]` (K, V) how much each weighs in
    each class; `bandwidth` (K, d) are their standard deviations. `wide` (K, d) is the share of the wide
    density, which all classes have at `middle` (d,) with the standard deviation `spread` (d,).

    >>> one = KernelDensityDistribution([[0.0]], [[[1.0]]], [[1.0]], [[0.0]], [0.0], [1.0])
    >>> one.log_density(np.array([[0.0]])).round(3)
    array([[-0.919]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "places": Annotated[tuple[Floats, ...], "... value"],
        "share": Annotated[tuple[Floats, ...], "K ... share"],
        "bandwidth": Annotated[Floats, "K d >0"],
        "wide": Annotated[Floats, "K d share"],
        "middle": Annotated[Floats, "d value"],
        "spread": Annotated[Floats, "d >0"],
    }

    def __init__(
        self,
        places: Sequence[ArrayLike],
        share: Sequence[ArrayLike],
        bandwidth: ArrayLike,
        wide: ArrayLike,
        middle: ArrayLike,
        spread: ArrayLike,
    ) -> None:
        self.places = tuple(np.asarray(each, dtype=np.float64) for each in places)
        self.share = tuple(np.asarray(each, dtype=np.float64) for each in share)
        self.bandwidth = table("bandwidth", bandwidth)
        self.n_classes, self.n_columns = self.bandwidth.shape
        self.wide = table("wide", wide, self.n_classes)
        self.middle, self.spread = (np.asarray(each, dtype=np.float64) for each in (middle, spread))
        if wrong := self.impossible():
            raise ValueError(wrong)

    def impossible(self) -> str:
        """Kernels of other columns, shares that do not add up to 1, and widths that are none."""
        sizes = {len(self.places), len(self.share), self.n_columns, self.wide.shape[1]}
        if len(sizes) > 1 or self.middle.shape != (self.n_columns,) or self.spread.shape != (self.n_columns,):
            return "places, share, bandwidth, wide, middle and spread must be of the same columns"
        for places, share in zip(self.places, self.share, strict=True):
            if places.ndim != 1 or share.shape != (self.n_classes, len(places)):
                return "share must have a row for each class and a number for each place"
            if not ((share >= 0).all() and np.allclose(share.sum(axis=1), 1, rtol=1e-6)):
                return "the shares of the kernels must add up to 1 in every class"
        if not ((self.wide >= 0) & (self.wide <= 1)).all():
            return "the share of the wide density must be between 0 and 1"
        return "" if (self.bandwidth > 0).all() and (self.spread > 0).all() else "widths must be positive"

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        terms = np.empty(block.shape)
        missing = np.isnan(block)
        for j, x in enumerate(np.where(missing, self.middle, block).T):
            there = self.share[j][k] > 0
            places, log_share = self.places[j][there], np.log(self.share[j][k][there])
            size = max(1, CELLS // max(len(places), 1))
            width = self.bandwidth[k, j]
            for start in range(0, len(x), size):
                part = slice(start, start + size)
                terms[part, j] = _log_mean(x[part, None] - places, width, log_share)
            far = _log_normal(x - self.middle[j], self.spread[j])
            share = self.wide[k, j]
            terms[:, j] = np.logaddexp(terms[:, j] + safe_log(1 - share), far + safe_log(share))
        terms[missing] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "KernelDensityDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        places, share = (tuple(each[j] for j in keep) for each in (self.places, self.share))
        bandwidth, wide = self.bandwidth[:, keep], self.wide[:, keep]
        return KernelDensityDistribution(places, share, bandwidth, wide, self.middle[keep], self.spread[keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        out = np.empty((len(y), self.n_columns))
        for j, (places, share) in enumerate(zip(self.places, self.share, strict=True)):
            below = np.cumsum(share, axis=1)
            point = np.empty(len(y))
            for k in range(self.n_classes):
                own = y == k
                drawn = rng.random(int(own.sum())) * below[k, -1]
                point[own] = places[np.searchsorted(below[k], drawn, side="right").clip(0, len(places) - 1)]
            wide = rng.random(len(y)) < self.wide[y, j]
            middle = np.where(wide, self.middle[j], point)
            out[:, j] = middle + np.where(wide, self.spread[j], self.bandwidth[y, j]) * rng.normal(
                size=len(y)
            )
        return out

    @property
    def n_parameters(self) -> int:
        """Refused: kernels are as many as the rows."""
        raise ValueError(
            "the number of free parameters has no meaning here: a kernel density has a kernel for every row; "
            "compare models by rows held out"
        )

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Bandwidth, and the wide density; the kernels are too many to be read."""
        whole = np.ones((self.n_classes, 1))
        found = {
            "bandwidth": self.bandwidth,
            "share of the wide density": self.wide,
            "middle of the wide density": whole * self.middle,
            "standard deviation of the wide density": whole * self.spread,
        }
        return by_column(names, found)

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the places of the kernels."""
        total = 0.0
        for j, (x, tables) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            one = self.marginal([j])
            for k, weight in enumerate(tables):
                total += float(weight @ one.class_terms(x[:, None], k)[:, 0])
        return total


@dataclass(frozen=True)
class KernelDensity(Family[ValueTable]):
    """A kernel density estimate for each column, for numbers that follow no standard distribution.

    Normal kernels about the numbers of the class, with the standard deviation
    `bandwidth` · 0.9 · min(s, q/1.35) · N^−1/5 (Silverman 1986): s is the standard deviation and q the width
    of the middle half of the class. Fewer than ten rows are filled up with rows that have the spread within
    all classes, and s and q/1.35 are at least `floor` times that. "auto" leaves the bandwidth to
    cross-validation. One row more, in every class, is a normal density about the median of all rows with
    twice their standard deviation, so that far numbers say little. Of more than 512 distinct numbers in a
    column so many cells of a grid are kept, each with one kernel: memory is bounded, and parts add up.

    >>> family = KernelDensity()
    >>> rows = family.summarize(np.array([[0.0], [1.0], [2.0], [9.0]]), np.zeros(4, dtype=int), None, 1)
    >>> family.estimate(rows).bandwidth.round(2)
    array([[2.41]])
    """

    bandwidth: Any = 1.0
    floor: float = 0.05
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"bandwidth": (3.0, 2.0, 1.4, 1.0, 0.7, 0.5, 0.35)}

    def __post_init__(self) -> None:
        number = isinstance(self.bandwidth, int | float | np.number) and not isinstance(self.bandwidth, bool)
        if not is_open(self.bandwidth) and not (number and 0 < self.bandwidth < np.inf):
            raise ValueError(f"bandwidth must be a positive number or 'auto', found {self.bandwidth!r}")
        if not self.floor > 0:
            raise ValueError(f"floor must be positive, found {self.floor}")

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct numbers and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes, most=MOST)

    def estimate(self, statistics: ValueTable) -> KernelDensityDistribution:
        """Kernels and their widths of each class; of a class without values, those of all rows."""
        self.refuse_open()
        fits = [
            self._widths(x, list(tables[:, None]), tables.sum(axis=0, keepdims=True))
            for x, tables in zip(statistics.values, statistics.tables, strict=True)
        ]
        return KernelDensityDistribution(
            statistics.values,
            [fit.share[:, 0] for fit in fits],
            np.stack([fit.bandwidth[:, 0] for fit in fits], axis=1),
            np.stack([fit.wide[:, 0] for fit in fits], axis=1),
            [fit.middle[0] for fit in fits],
            [fit.spread[0] for fit in fits],
        )

    def _widths(self, x: Floats, tables: Sequence[Floats], everyone: Floats) -> "_Widths":
        """What m samples need, each of values (V,) with weights (m, V) for each of K classes and for all."""
        centred = x - x[len(x) // 2]
        variances = np.stack([_variance(centred, weight) for weight in tables])
        rows = np.stack([weight.sum(axis=1) for weight in tables])
        total = rows.sum(axis=0)
        overall = _variance(centred, everyone)
        within = (rows * variances).sum(axis=0) / np.maximum(total, 1e-300)
        within = np.where(within > 0, within, np.where(overall > 0, overall, 1.0))
        bandwidth = []
        for weight, variance, n in zip(tables, variances, rows, strict=True):
            lent = np.maximum(ENOUGH - n, 0.0)
            square = (n * variance + lent * within) / (n + lent)
            half = _quantile(x, weight, 0.75) - _quantile(x, weight, 0.25)
            narrow = np.where((half > 0) & (n >= ENOUGH), half / MIDDLE_HALF, np.inf)
            width = np.maximum(np.minimum(np.sqrt(square), narrow), self.floor * np.sqrt(within))
            bandwidth.append(self.bandwidth * 0.9 * width * np.where(n > 0, n, total) ** -0.2)
        shown = [np.where((n > 0)[:, None], w, everyone) for w, n in zip(tables, rows, strict=True)]
        return _Widths(
            np.stack([w / w.sum(axis=1, keepdims=True) for w in shown]),
            np.stack(bandwidth),
            1 / (np.where(rows > 0, rows, total) + 1),
            _quantile(x, everyone, 0.5),
            2 * np.sqrt(np.where(overall > 0, overall, within)),
        )

    def leave_one_out(
        self, statistics: ValueTable, distribution: KernelDensityDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The densities without the row's kernel, with the widths that are right without it."""

        def terms(rows: ValuesWithout) -> Floats:
            tables = [rows.of_class(k) for k in range(len(rows.table))]
            fit = self._widths(rows.x, tables, rows.everyone)
            away = rows.left[:, None] - rows.x
            near = np.stack(
                [
                    _log_mean(away, width[:, None], safe_log(share))
                    for width, share in zip(fit.bandwidth, fit.share, strict=True)
                ]
            )
            far = _log_normal(rows.left - fit.middle, fit.spread)
            return np.logaddexp(near + safe_log(1 - fit.wide), far + safe_log(fit.wide)).T

        return without_each(statistics, terms)


@dataclass(frozen=True, eq=False)
class _Widths:
    """Shares of kernels (K, m, V), their widths and the share of the wide density (K, m), and that (m,)."""

    share: Floats
    bandwidth: Floats
    wide: Floats
    middle: Floats
    spread: Floats


def _variance(x: Floats, weight: Floats) -> Floats:
    """The variances (m,) of values with weights (m, V)."""
    rows = np.maximum(weight.sum(axis=1), 1e-300)
    mean = weight @ x / rows
    return np.asarray(np.einsum("mv,mv->m", weight, (x - mean[:, None]) ** 2) / rows)


def _quantile(x: Floats, weight: Floats, level: float) -> Floats:
    """The first values (m,) that are not exceeded by this share of the weights (m, V)."""
    below = np.cumsum(weight, axis=1)
    place = (below < level * below[:, -1:] * (1 - 1e-12)).sum(axis=1)
    return np.asarray(x[place.clip(0, len(x) - 1)])


def _log_normal(away: Floats, spread: Floats | float) -> Floats:
    """The log density of normal distributions at this distance from their middle."""
    z = np.clip(away / spread, -FARTHEST, FARTHEST)
    return np.asarray(-0.5 * z * z - np.log(spread) - LOG_ROOT)


def _log_mean(away: Floats, spread: Floats | float, log_share: Floats) -> Floats:
    """The log of a weighted sum of normal densities, from the distances (m, V) of their middles."""
    logs = _log_normal(away, spread) + log_share
    peak = logs.max(axis=1, initial=-1e308)
    return np.asarray(np.log(np.exp(logs - peak[:, None]).sum(axis=1)) + peak)
