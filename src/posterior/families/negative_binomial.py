"""The negative binomial family: numbers of events that vary more than those of a Poisson distribution."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import digamma, gammaln

from posterior._types import Bools, Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, refuse_outside, table
from posterior.families.gamma import stirling
from posterior.families.left_out.parts import in_dense_parts
from posterior.families.left_out.values import ValuesWithout, without_each
from posterior.families.parameters import Parameter, by_column
from posterior.families.stored_cells import not_counts
from posterior.families.sums import ALPHAS, check_alpha
from posterior.stats import ValueTable

# The largest size r, relative to the mean: beyond it the probabilities are those of a Poisson distribution.
LARGEST_SIZE = 1e5
SMALLEST_SIZE = 1e-8
STEPS = 60
# So many distinct counts are kept one by one.
DISTINCT = 2**16


class NegativeBinomialDistribution(ProductDistribution):
    """Negative binomial probabilities with mean m and dispersion φ, (K, d): variance m + φ m².

    With the size r = 1/φ it is Γ(x+r) / (Γ(r) x!) (r/(r+m))ʳ (m/(r+m))ˣ for whole x ≥ 0; a dispersion of 0 is
    the Poisson distribution.

    >>> NegativeBinomialDistribution(mean=[[2.0]], dispersion=[[1.0]]).log_density(np.array([[0.0]])).round(3)
    array([[-1.099]])
    """

    kind = "count"
    reads = ("matrix", "values")
    parts: ClassVar[Mapping[str, Any]] = {
        "mean": Annotated[Floats, "K d >=0"],
        "dispersion": Annotated[Floats, "K d >=0"],
    }
    has_support = True

    def __init__(self, mean: ArrayLike, dispersion: ArrayLike) -> None:
        self.mean = table("mean", mean)
        self.n_classes, self.n_columns = self.mean.shape
        self.dispersion = table("dispersion", dispersion, self.n_classes)
        if self.dispersion.shape != self.mean.shape or not ((self.mean >= 0) & (self.dispersion >= 0)).all():
            raise ValueError(f"mean and dispersion must be of one shape, {self.mean.shape}, and not negative")

    def outside(self, block: Any) -> Any:
        """What is no count."""
        return not_counts(block)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log probability of every cell under class `k`."""
        outside = self.outside(block)
        missing = np.isnan(block)
        terms = _log_probability(np.where(outside | missing, 0.0, block), self.mean[k], self.dispersion[k])
        terms[outside] = -np.inf
        terms[missing] = 0.0
        return terms

    def marginal(self, columns: Sequence[int]) -> "NegativeBinomialDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return NegativeBinomialDistribution(self.mean[:, keep], self.dispersion[:, keep])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code: Poisson numbers whose rates have a gamma distribution."""
        mean, dispersion = self.mean[y], self.dispersion[y]
        some = np.where(dispersion > 0, dispersion, 1.0)
        rate = np.where(dispersion > 0, rng.gamma(1 / some, some * mean), mean)
        return rng.poisson(rate).astype(np.float64)

    @property
    def n_parameters(self) -> int:
        """A mean and a dispersion for each class and column."""
        return 2 * self.mean.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """Mean and dispersion of every column."""
        return by_column(names, {"mean": self.mean, "dispersion": self.dispersion})

    def log_likelihood(self, statistics: ValueTable) -> float:
        """Summed over the distinct values."""
        total = 0.0
        for j, (x, weight) in enumerate(zip(statistics.values, statistics.tables, strict=True)):
            terms = _log_probability(x, self.mean[:, [j]], self.dispersion[:, [j]])
            total += float(np.where(weight > 0, weight * terms, 0.0).sum())
        return total


@dataclass(frozen=True)
class NegativeBinomial(Family[ValueTable]):
    """The negative binomial family for counts that vary more than Poisson counts with the same mean.

    Mean and dispersion are those of maximum likelihood in each class; where the variance is not above the
    mean the dispersion is 0 and the class is Poisson. `alpha` adds that many rows, spread as the column is
    over all classes, to every class; 0 is maximum likelihood, "auto" leaves it to cross-validation. Of more
    than 65,536 distinct counts in a column, so many cells of a grid are kept.

    >>> counts = np.array([[0.0], [0.0], [1.0], [7.0]])
    >>> rows = NegativeBinomial().summarize(counts, np.zeros(4, dtype=int), None, 1)
    >>> found = NegativeBinomial(alpha=0).estimate(rows)
    >>> found.mean, found.dispersion.round(3)
    (array([[2.]]), array([[2.706]]))
    """

    alpha: Any = 1.0
    read_as: ClassVar[str | None] = "count"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}
    reads: ClassVar[Any] = "matrix"
    kinds: ClassVar[frozenset[str]] = frozenset({"count", "continuous"})

    def __post_init__(self) -> None:
        check_alpha(self.alpha)
        if np.ndim(self.alpha):
            raise ValueError(f"alpha must be one number for all columns, or 'auto'; found {self.alpha!r}")

    def check(self, block: Any, names: Sequence[str]) -> None:
        """Counts are whole numbers, not negative."""
        refuse_outside(
            not_counts(block), block, names, "a negative binomial column takes the counts 0, 1, 2, …"
        )

    def summarize(self, block: Any, y: Ints, weight: Floats | None, n_classes: int) -> ValueTable:
        """The distinct counts and their weights by class."""
        return ValueTable.of(block, y, weight, n_classes, most=DISTINCT)

    def estimate(self, statistics: ValueTable) -> NegativeBinomialDistribution:
        """Mean and dispersion of each class and column; of a class without values, those of all rows."""
        self.refuse_open()
        if not statistics.sizes.all():
            raise ValueError("a column without a value has no distribution; leave it out")
        x, tables, starts = statistics.flat()
        everyone = np.add.reduceat(tables.sum(axis=0), starts)
        share = tables.sum(axis=0) / np.repeat(everyone, statistics.sizes)
        there = np.add.reduceat(tables, starts, axis=1) > 0
        added = np.repeat(np.where(there, self.alpha, max(self.alpha, 1.0)), statistics.sizes, axis=1)
        mean, dispersion = _likeliest(x, tables + added * share, starts)
        return NegativeBinomialDistribution(mean, dispersion)

    def _smoothed(self, weight: Floats, everyone: Floats) -> Floats:
        """Weights (m, V) of values with the rows that `alpha` adds; `everyone` has those of all classes."""
        share = everyone / everyone.sum(axis=-1, keepdims=True)
        added = np.where(weight.any(axis=1), self.alpha, max(self.alpha, 1.0))
        return np.asarray(weight + added[:, None] * share)

    def leave_one_out(
        self, statistics: ValueTable, distribution: NegativeBinomialDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """Mean and dispersion without the row, solved for once for all rows that have the same count."""

        def terms(rows: ValuesWithout) -> Floats:
            smoothed = (self._smoothed(rows.of_class(k), rows.everyone) for k in range(len(rows.table)))
            return np.stack(
                [_log_probability(rows.left, *_of_one_column(rows.x, weight)) for weight in smoothed], axis=1
            )

        return in_dense_parts(without_each(statistics, terms))


def _of_one_column(x: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Mean and dispersion (m,) of counts (V,) with weights (m, V)."""
    mean, dispersion = _likeliest(x, weight, np.zeros(1, dtype=np.int64))
    return mean[:, 0], dispersion[:, 0]


def _likeliest(x: Floats, weight: Floats, starts: Ints) -> tuple[Floats, Floats]:
    """Mean and dispersion (m, d) of maximum likelihood, of counts (V,) with weights (m, V).

    The counts of each column begin at `starts` (d,). The dispersion is 0 unless the variance is above the
    mean; else the size r is the only root of Σ w (ψ(x+r) − ψ(r)) + N ln(r/(r+m)) (Levin & Reeds 1977), found
    by Ridders' (1979) method in ln r, for all columns at once.
    """
    column = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(x))))
    rows = np.add.reduceat(weight, starts, axis=1)
    mean = np.add.reduceat(weight * x, starts, axis=1) / rows
    variation = np.add.reduceat(weight * (x - mean[:, column]) ** 2, starts, axis=1)
    more = variation > rows * mean * (1 + 1e-9)
    high = np.log(LARGEST_SIZE * np.maximum(mean, 1.0))
    more[more] &= _slope(x, weight, column, rows, mean, more)(high[more]) < 0
    dispersion = np.zeros(rows.shape)
    if more.any():
        low = np.full(int(more.sum()), np.log(SMALLEST_SIZE))
        slope = _slope(x, weight, column, rows, mean, more)
        dispersion[more] = np.exp(-_root(slope, low, high[more]))
    return mean, dispersion


def _slope(
    x: Floats, weight: Floats, column: Ints, rows: Floats, mean: Floats, which: Bools
) -> Callable[[Floats], Floats]:
    """The slope of the log-likelihood in the size, by its logarithm, of those (m, d) that are asked for."""
    number = np.cumsum(which).reshape(which.shape) - 1
    line, cell = np.nonzero(which[:, column] & (weight > 0))
    place = number[line, column[cell]]
    counts, w, total, m = x[cell], weight[line, cell], rows[which], mean[which]

    def slope(log_size: Floats) -> Floats:
        r = np.exp(log_size)
        terms = w * (digamma(counts + r[place]) - digamma(r)[place])
        return np.asarray(np.bincount(place, terms, len(r)) - total * np.log1p(m / r))

    return slope


def _root(slope: Callable[[Floats], Floats], low: Floats, high: Floats) -> Floats:
    """Where functions that are positive at `low` and negative at `high` are zero, by Ridders' method."""
    at_low, at_high = slope(low), slope(high)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        at_middle = slope(middle)
        root = np.sqrt(np.maximum(at_middle**2 - at_low * at_high, 1e-300))
        new = np.clip(middle + (middle - low) * at_middle / root, low, high)
        at_new = slope(new)
        # Of the four points the two next to each other between which the sign changes.
        first, second = np.minimum(middle, new), np.maximum(middle, new)
        swap = new < middle
        at_first, at_second = np.where(swap, at_new, at_middle), np.where(swap, at_middle, at_new)
        low, at_low, high, at_high = (
            np.where(at_second > 0, second, np.where(at_first > 0, first, low)),
            np.where(at_second > 0, at_second, np.where(at_first > 0, at_first, at_low)),
            np.where(at_first <= 0, first, np.where(at_second <= 0, second, high)),
            np.where(at_first <= 0, at_first, np.where(at_second <= 0, at_second, at_high)),
        )
        if (high - low <= 1e-13 * np.abs(new)).all():
            break
    return new


def _log_probability(x: Floats, mean: Floats, dispersion: Floats) -> Floats:
    """Ln Γ(x+r)/(Γ(r) x!) (r/(r+m))ʳ (m/(r+m))ˣ, in an order in which large numbers do not cancel."""
    x, mean, dispersion = np.broadcast_arrays(x, mean, dispersion)
    poisson, none = dispersion <= 0, mean <= 0
    r, m = 1 / np.where(poisson, 1.0, dispersion), np.where(none, 1.0, mean)
    some = np.where(x > 0, x, 1.0)
    apart = (x - m) / (m + r)
    near = np.abs(apart) < 0.5
    ratio = np.where(near, np.log1p(np.where(near, apart, 0.0)), np.log(x + r) - np.log(m + r))
    small = np.log1p(r / some) - np.log1p(r / m)
    scattered = r * ratio + x * np.where(r < m, small, np.log(m / some) + ratio)
    scattered += np.where(x > 0, stirling(some) - np.log(some) + stirling(r) - stirling(some + r), 0.0)
    even = np.asarray(x * np.log(m) - m - gammaln(x + 1))
    return np.where(none, np.where(x > 0, -np.inf, 0.0), np.where(poisson, even, scattered))
