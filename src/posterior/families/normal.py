"""The univariate normal, and the log-normal as a normal of logarithms."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from posterior import kernels
from posterior._linalg import FAR_APART
from posterior._types import Bools, Floats, Ints
from posterior.families.base import (
    AUTO,
    Family,
    LeftOut,
    ProductDistribution,
    Repair,
    SumsOf,
    never_seen,
    refuse_outside,
    table,
)
from posterior.families.left_out.columns import LeftOutColumns, column_scale, with_spread
from posterior.families.parameters import Parameter, by_column
from posterior.forms import QuadraticScores
from posterior.kernels.choice import compiled
from posterior.math import LOG_2PI
from posterior.stats import Location, Moments
from posterior.stats.parts import Parts

SMALLEST_FLOOR = float(np.finfo(np.float64).eps) ** 2
# How often a table of moments is read or written where two are added up.
READINGS = 4
# The compiled scores are of 64 rows whether there are so many or not: fewer than these are left to NumPy.
FEW_ROWS = 16


class NormalDistribution(ProductDistribution):
    """Normal densities with mean and variance (K, d): −½ (x−μ)²/σ² − ½ ln 2πσ².

    >>> heights = NormalDistribution(mean=[[178.0], [165.0]], variance=[[49.0], [36.0]])
    >>> heights.log_density(np.array([[178.0]])).round(3)
    array([[-2.865, -5.058]])
    """

    parts: ClassVar[Mapping[str, Any]] = {
        "location": Annotated[Location, "K d any"],
        "variance": Annotated[Floats, "K d >0"],
        "tied": bool,
        "repairs": tuple[Repair, ...],
    }

    def __init__(
        self,
        mean: "ArrayLike | Location",
        variance: ArrayLike,
        *,
        tied: bool = False,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        self.location = mean if isinstance(mean, Location) else Location.at(table("mean", mean))
        self.n_classes, self.n_columns = self.location.pivot.shape
        self.variance = table("variance", variance, self.n_classes)
        if self.variance.shape != self.location.pivot.shape or not (self.variance > 0).all():
            raise ValueError(
                f"variance must be positive and of the shape of the mean, {self.location.pivot.shape}"
            )
        self.tied = tied
        self.repairs = repairs

    @property
    def mean(self) -> Floats:
        """The class means, (K, d)."""
        return self.location.value

    @cached_property
    def _log_scale(self) -> Floats:
        return -0.5 * (np.log(self.variance) + LOG_2PI)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log density of every cell under class `k`."""
        z = self.location.deviation(block, k)
        z /= np.sqrt(self.variance[k])
        terms = self._log_scale[k] - 0.5 * z * z
        terms[np.isnan(block)] = 0.0
        return np.asarray(terms)

    takes_tables = True

    def log_density(self, block: Floats) -> Floats:
        """The sum over columns."""
        out = np.zeros((len(block), self.n_classes))
        self._add_density(block, out)
        return out

    def log_relative(self, block: Floats) -> Floats:
        """The linear form where classes share their variances, else the log density."""
        out = np.zeros((len(block), self.n_classes))
        self.add_relative(block, out)
        return out

    def add_relative(self, block: kernels.NumberTable, out: Floats) -> None:
        """Add the linear form where classes share their variances, else the log density."""
        if self._linear is None:
            self._add_density(block, out)
            return
        (coef, constant, centre), rows = self._linear, kernels.in_rows(block, "rows")
        scores = kernels.scratch("product", len(rows), self.n_classes)
        np.matmul(rows if centre is None else centre.deviation(rows), coef.T, out=scores)
        scores += constant.sum(axis=1)
        if not np.isfinite(scores.sum()):
            odd = np.flatnonzero(~np.isfinite(scores).all(axis=1))
            z = rows[odd] if centre is None else centre.deviation(rows[odd])
            there = ~np.isnan(z)
            scores[odd] = np.where(there, z, 0.0) @ coef.T + there @ constant.T
        out += scores

    def _add_density(self, block: kernels.NumberTable, out: Floats) -> None:
        """Add the log density, from standard scores about a common centre where classes are not far apart."""
        scores = compiled("scores", block.size if len(block) >= FEW_ROWS else 0, len(block))
        if scores is None or self._far_apart:
            out += self._by_class(kernels.in_rows(block))
            return
        scores.normal_scores(block, self._parameters, out)

    @cached_property
    def row_scores(self) -> kernels.RowScores | None:
        """The linear form where classes share their variances, else the log density."""
        if self._far_apart:
            return None
        (scale, apart), centre = self._standard, (self._centre.pivot, self._centre.remainder)
        if self._linear is None:
            return kernels.normal_scores(scale, apart, self._log_scale, *centre)
        taken = np.ascontiguousarray(0.5 * apart.T**2)
        return kernels.row_linear_scores((scale * apart).T, -taken.sum(axis=0), *centre, taken)

    @property
    def _far_apart(self) -> bool:
        return bool(np.abs(self._standard[1]).max(initial=0.0) > FAR_APART)

    @cached_property
    def _linear(self) -> tuple[Floats, Floats, Location | None] | None:
        """Coefficients and constants (K, d) of what a shared variance leaves; None where there is none.

        They are about a centre, unless that is near zero. The squares that all classes have in common would
        leave few digits of their differences.
        """
        if not self.tied or self._far_apart or (self.variance != self.variance[0]).any():
            return None
        (scale, apart), centre = self._standard, self._centre
        coef, constant = scale * apart, -0.5 * apart**2
        if (np.abs(centre.value) * scale > FAR_APART).any():
            return coef, constant, centre
        return coef, constant - coef * centre.value, None

    @cached_property
    def _standard(self) -> tuple[Floats, Floats]:
        """What turns a deviation from the centre into a standard score: its factor, and what is taken off."""
        scale = 1 / np.sqrt(self.variance)
        return scale, (self.location - self._centre) * scale

    @cached_property
    def _centre(self) -> Location:
        return self.location.average(np.full(self.n_classes, 1 / self.n_classes))

    @cached_property
    def _parameters(self) -> tuple[Floats, ...]:
        tables = (kernels.padded(table) for table in (*self._standard, self._log_scale))
        return self._centre.pivot, self._centre.remainder, *tables

    def _by_class(self, block: Floats) -> Floats:
        """The log density class by class; for complete rows from the squared distances at once."""
        if kernels.has_missing(block):
            return super().log_density(block)
        out = np.empty((len(block), self.n_classes))
        for k in range(self.n_classes):
            z = self.location.deviation(block, k)
            z /= np.sqrt(self.variance[k])
            out[:, k] = self._log_scale[k].sum() - 0.5 * np.einsum("ij,ij->i", z, z)
        return out

    def squared_distance(self, block: Floats) -> Floats:
        """Σ (x−μ)²/σ² over the cells that are there."""
        return np.asarray(-2.0 * self.own_terms(block).sum(axis=1))

    def own_terms(self, block: Floats) -> Floats:
        """−½ (x−μ)²/σ² of each cell, 0 for a missing one."""
        with np.errstate(over="ignore"):
            z = [self.location.deviation(block, k) / np.sqrt(v) for k, v in enumerate(self.variance)]
            terms = -0.5 * np.stack(z, axis=-1) ** 2
        return np.where(np.isnan(terms), 0.0, terms)

    def marginal(self, columns: Sequence[int]) -> "NormalDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return NormalDistribution(self.location[:, keep], self.variance[:, keep], tied=self.tied)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        noise = rng.standard_normal((len(y), self.n_columns))
        return np.asarray(self.mean[y] + np.sqrt(self.variance[y]) * noise)

    @property
    def n_parameters(self) -> int:
        """A mean for each class and column, and the variances."""
        return self.location.pivot.size + (self.n_columns if self.tied else self.variance.size)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Mean and standard deviation of every column."""
        return by_column(names, {"mean": self.mean, "standard deviation": np.sqrt(self.variance)})

    def log_likelihood(self, statistics: Moments) -> float:
        """From the moments: −½ Σ [N ln 2πσ² + (S + N(m−μ)²)/σ²]."""
        seen = statistics.weight > 0
        apart = np.where(seen, statistics.location - self.location, 0.0)
        spread = statistics.scatter + statistics.weight * apart**2
        return float((statistics.weight * self._log_scale - 0.5 * spread / self.variance).sum())

    def quadratic(self, classes: Sequence[int] | None = None) -> QuadraticScores:
        """The log densities of some classes as quadratic functions of x."""
        chosen = list(range(self.n_classes) if classes is None else classes)
        means, variance = self.location[chosen], self.variance[chosen]
        centre = means.average(np.full(len(chosen), 1 / len(chosen)))
        apart = means - centre
        return QuadraticScores(
            centre=centre.value,
            quadratic=np.stack([np.diag(-0.5 / v) for v in variance]),
            linear=apart / variance,
            constant=(self._log_scale[chosen] - 0.5 * apart**2 / variance).sum(axis=1),
            scale=np.sqrt(variance.mean(axis=0)),
        )


@dataclass(frozen=True)
class Normal(Family[Moments]):
    """The normal family for independent columns: mean and variance of the observed cells.

    By maximum likelihood, S / N for a sum of squares S and a weight N. With `variance_rows` every class is
    lent m rows that have the column's variance s² within classes: (S + m s²) / (N + m), the estimate under
    the conjugate prior, so that a class of few rows, or one constant in a column, is no spike. `tied` shares
    the variance of a column among the classes ("auto" leaves it to cross-validation); `bias=False` takes 1
    off the divisor (K when tied). A variance below `floor` times s² is not determined by the rows: it
    becomes that of m = 1, and at least the floor. To every variance `smoothing` times the largest variance
    of any column is added, as scikit-learn does.

    >>> rows = Moments.of(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1]), None, 2)
    >>> Normal().estimate(rows).variance  # one row shows no spread
    array([[1.        ],
           [0.33333333]])
    >>> Normal(variance_rows=4).estimate(rows).variance
    array([[0.77777778],
           [0.53333333]])
    """

    tied: Any = False
    bias: bool = True
    floor: float = 1e-15
    variance_rows: float = 0.0
    smoothing: float = 0.0
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"tied": (True, False)}

    def __post_init__(self) -> None:
        if self.tied not in (True, False, AUTO):
            raise ValueError(
                f"tied must be True or False for one-column families, or 'auto', found {self.tied!r}"
            )
        if not self.floor >= 0:
            raise ValueError(f"floor must not be negative, found {self.floor}")
        if not 0 <= self.variance_rows < np.inf:
            raise ValueError(f"variance_rows is a number of rows, 0 or more, found {self.variance_rows}")
        if not 0 <= self.smoothing < np.inf:
            raise ValueError(f"smoothing is a share of a variance, 0 or more, found {self.smoothing}")

    @property
    def takes_tables(self) -> bool:
        """Moments of infinite numbers are not finite."""
        return True

    @property
    def sums_of(self) -> SumsOf:
        """Moments are all that it needs."""
        return "moments"

    def size(self, n_classes: int, n_columns: int) -> int:
        """Four tables of moments, each read or written several times, where they are large."""
        n_cells = n_classes * n_columns
        return 4 * READINGS * n_cells if n_cells > kernels.MANY_SUMS else 0

    def shares_out(self, n_classes: int, n_columns: int) -> bool:
        """Classes, where there are many."""
        return kernels.shares_out_classes(n_classes, n_columns)

    def summarize(
        self, block: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int
    ) -> Moments:
        """Weight, mean and sum of squares by class."""
        return Moments.of(block, y, weight, n_classes)

    def summarize_parts(
        self, block: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int
    ) -> Parts[Moments] | None:
        """The moments of every `size` rows, by compiled code."""
        return Moments.of_parts(block, y, weight, n_classes, size)

    def estimate(self, statistics: Moments) -> NormalDistribution:
        """The sums of squares, with those of the rows lent to each class, divided by their weights."""
        self.refuse_open()
        weight, within, total = statistics.pooled()
        seen = statistics.weight > 0
        lost = 0.0 if self.bias else 1.0
        scale = column_scale(weight, within, total)
        pooled = kernels.ratio(within, weight - lost * seen.sum(axis=0))
        squares, count = statistics.scatter, statistics.weight
        if self.tied:
            squares, count = np.broadcast_to(within, seen.shape), np.broadcast_to(weight, seen.shape)
            variance = np.broadcast_to(pooled, seen.shape)
        else:
            own = kernels.ratio(squares + self.variance_rows * scale, count + self.variance_rows - lost)
            variance = np.where(seen, own, pooled)
        low = variance < self.lowest(statistics)
        return NormalDistribution(
            statistics.filled_location(),
            with_spread(variance, squares, count, scale, self._floor) + self.added(statistics),
            tied=self.tied,
            repairs=(
                *_spread_lent(low & seen & (total > 0), self.tied),
                *never_seen(~seen & seen.any(axis=1, keepdims=True) & seen.any(axis=0)),
            ),
        )

    @property
    def _floor(self) -> float:
        return max(self.floor, SMALLEST_FLOOR)

    def leave_one_out(self, statistics: Moments, distribution: NormalDistribution) -> LeftOutColumns:
        """Means and variances without the row, the floor under them included."""
        return LeftOutColumns(
            statistics,
            distribution.log_density,
            tied=bool(self.tied),
            lost=0.0 if self.bias else 1.0,
            floor=self._floor,
            variance_rows=self.variance_rows,
            smoothing=self.smoothing,
        )

    def added(self, statistics: Moments) -> np.float64:
        """What is added to every variance."""
        weight, _, total = statistics.pooled()
        return np.float64(self.smoothing * kernels.ratio(total, weight).max(initial=0.0))

    def lowest(self, statistics: Moments) -> Floats:
        """The smallest variance allowed in each column, (d,), relative to the column's own scale."""
        scale = column_scale(*statistics.pooled())
        return np.where(scale > 0, self._floor * scale, 1.0)


def _spread_lent(low: Bools, tied: bool) -> tuple[Repair, ...]:
    """What is said of variances that the rows do not determine, class by class."""
    lines = [(None, low.any(axis=0))] if tied else list(enumerate(low))
    done = "taken from the whole column, as by one row more"
    return tuple(
        Repair(k, tuple(np.flatnonzero(line).tolist()), "variance", "is zero or nearly so", done)
        for k, line in lines
        if line.any()
    )


class LogNormalDistribution(ProductDistribution):
    """exp of a normal: ln p(x) = ln N(ln x; μ, σ²) − ln x, and no density at x ≤ 0.

    >>> LogNormalDistribution(mean=[[0.0]], variance=[[1.0]]).log_density(np.array([[1.0]])).round(3)
    array([[-0.919]])
    """

    parts: ClassVar[Mapping[str, Any]] = NormalDistribution.parts

    def __init__(
        self,
        mean: "ArrayLike | Location",
        variance: ArrayLike,
        *,
        tied: bool = False,
        repairs: tuple[Repair, ...] = (),
    ) -> None:
        self.log_normal, self.repairs = NormalDistribution(mean, variance, tied=tied), repairs
        self.n_classes, self.n_columns = self.log_normal.n_classes, self.log_normal.n_columns

    def to_parts(self) -> dict[str, Any]:
        """Those of the normal."""
        return self.log_normal.to_parts() | {"repairs": self.repairs}

    has_support = True

    def outside(self, block: Floats) -> Bools:
        """Numbers without a logarithm."""
        return np.asarray(block <= 0)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """The normal's term at ln x, less ln x; no density at x ≤ 0."""
        outside = self.outside(block)
        logs = np.log(np.where(outside, 1.0, block))
        terms = self.log_normal.class_terms(logs, k) - np.where(np.isnan(logs), 0.0, logs)
        terms[outside] = -np.inf
        return terms

    def squared_distance(self, block: Floats) -> Floats:
        """That of the logarithms; infinite for a row with a number that has none."""
        outside = self.outside(block)
        squared = self.log_normal.squared_distance(np.log(np.where(outside, 1.0, block)))
        return np.where(outside.any(axis=1, keepdims=True), np.inf, squared)

    def marginal(self, columns: Sequence[int]) -> "LogNormalDistribution":
        """The distribution of some of the columns."""
        part = self.log_normal.marginal(columns)
        return LogNormalDistribution(part.location, part.variance, tied=part.tied)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return np.exp(self.log_normal.sample(y, rng))

    @property
    def n_parameters(self) -> int:
        """Those of the normal."""
        return self.log_normal.n_parameters

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The median exp(μ) of every column, and the standard deviation of its logarithm."""
        with np.errstate(over="ignore"):
            median = np.exp(self.log_normal.mean)
        return by_column(
            names, {"median": median, "log standard deviation": np.sqrt(self.log_normal.variance)}
        )

    def log_likelihood(self, statistics: Moments) -> float:
        """The normal's, less Σ w ln x."""
        logs = statistics.weight * statistics.location.value
        return self.log_normal.log_likelihood(statistics) - float(logs.sum())


@dataclass(frozen=True)
class LogNormal(Family[Moments]):
    """The log-normal family: positive values whose logarithm is normal.

    >>> rows = LogNormal().summarize(np.array([[1.0], [np.e**2]]), np.array([0, 0]), None, 1)
    >>> LogNormal().estimate(rows).log_normal.mean
    array([[1.]])
    """

    tied: Any = False
    bias: bool = True
    floor: float = 1e-15
    kinds: ClassVar[frozenset[str]] = frozenset({"continuous", "count"})
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = Normal.choices

    def __post_init__(self) -> None:
        Normal(self.tied, self.bias, self.floor)  # refuses what is no setting

    def check(self, block: Floats, names: Sequence[str]) -> None:
        """Only positive values have a logarithm."""
        refuse_outside(block <= 0, block, names, "a log-normal column takes positive values only")

    def summarize(self, block: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Moments:
        """The moments of ln x."""
        return Moments.of(np.log(block), y, weight, n_classes)

    def leave_one_out(
        self, statistics: Moments, distribution: LogNormalDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The normal of the logarithms without the row, less Σ ln x."""
        normal = Normal(tied=self.tied, bias=self.bias, floor=self.floor)
        score = normal.leave_one_out(statistics, distribution.log_normal)

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            logs = np.log(block)
            found = score(logs, y, weight)
            return found._replace(log_density=found.log_density - np.nansum(logs, axis=1)[:, None])

        return left_out

    def estimate(self, statistics: Moments) -> LogNormalDistribution:
        """The normal of the logarithms."""
        normal = Normal(tied=self.tied, bias=self.bias, floor=self.floor).estimate(statistics)
        return LogNormalDistribution(
            normal.location, normal.variance, tied=normal.tied, repairs=normal.repairs
        )
