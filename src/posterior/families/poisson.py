"""The Poisson family: numbers of events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln, xlogy

from posterior import kernels
from posterior._linalg import AT_ONCE
from posterior._types import Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, SumsOf, refuse_outside, table
from posterior.families.left_out.parts import TotalsWithout, in_dense_parts
from posterior.families.parameters import Parameter, by_column
from posterior.families.stored_cells import not_counts
from posterior.families.sums import (
    ALPHAS,
    SMALL_LOGS,
    about_mean,
    check_alpha,
    column_totals,
    log_factorial,
    log_times,
    overall_mean,
)
from posterior.stats import Totals

# Sum of what rates exceed their means by, up to which nothing is lost where a part is taken off again.
MOST_EXCESS = 4096.0


class PoissonDistribution(ProductDistribution):
    """Poisson probabilities with rate (K, d): x ln λ − λ − ln x! for whole x ≥ 0.

    >>> PoissonDistribution(rate=[[2.0]]).log_density(np.array([[0.0]]))
    array([[-2.]])
    """

    kind = "count"
    reads = ("matrix", "values")
    parts: ClassVar[Mapping[str, Any]] = {"rate": Annotated[Floats, "K d >=0"]}

    def __init__(self, rate: ArrayLike) -> None:
        self.rate = table("rate", rate)
        self.n_classes, self.n_columns = self.rate.shape
        if not (self.rate >= 0).all():
            raise ValueError("the rate of a Poisson distribution must not be negative")

    has_support = True

    def outside(self, block: Any) -> Any:
        """What is no count."""
        return not_counts(block)

    @cached_property
    def _about_mean(self) -> tuple[kernels.LinearSums, Floats]:
        """Sums of counts times ln (λ / m), and λ − m, of the means m over the classes."""
        logs, excess = about_mean(self.rate)
        return kernels.LinearSums(logs), excess

    @cached_property
    def row_scores(self) -> kernels.RowScores | None:
        """Σ (x ln (λ / m) − (λ − m)), where no rate is 0."""
        sums, excess = self._about_mean
        return kernels.discrete_scores(sums.log_table, -excess.sum(axis=1), "count", absent=excess)

    def add_relative(self, block: Any, out: Floats) -> None:
        """Σ (x ln (λ / m) − (λ − m)) added to what is there; the rest is the same for all classes."""
        block, (sums, excess), gaps = self._possible(block), self._about_mean, None
        if kernels.is_sparse(block):
            missing = np.zeros(0, np.bool_) if kernels.are_counts(block) else np.isnan(block.data)
            if missing.any():
                gaps = kernels.with_data(block, missing)
                block = kernels.with_data(block, np.where(missing, 0.0, block.data))
        elif kernels.has_missing(block):
            gaps = np.isnan(block)
            block = np.where(gaps, 0.0, block)
        if gaps is None:
            kernels.add_to_rows(out, -excess.sum(axis=1))
        else:
            out -= _excess_there(gaps, excess)
        sums.add_relative(block, out)

    def class_terms(self, block: Floats, k: int) -> Floats:
        """Log probability of every cell under class `k`; what all classes share is rounded alike in all."""
        outside, (sums, excess) = self.outside(block), self._about_mean
        x, mean = np.where(outside, 0.0, block), (self.rate - excess)[0]
        own = log_times(x, sums.log_table[k]) - excess[k]
        terms = own + (xlogy(x, mean) - mean - gammaln(x + 1))
        terms[outside] = -np.inf
        terms[np.isnan(block)] = 0.0
        return np.asarray(terms)

    def marginal(self, columns: Sequence[int]) -> "PoissonDistribution":
        """The distribution of some of the columns."""
        return PoissonDistribution(self.rate[:, list(columns)])

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        return rng.poisson(self.rate[y]).astype(np.float64)

    @property
    def n_parameters(self) -> int:
        """A rate for each class and column."""
        return self.rate.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The rate of every column."""
        return by_column(names, {"rate": self.rate})

    def log_likelihood(self, statistics: Totals) -> float:
        """Σ (x ln λ − λ − ln x!)."""
        terms = xlogy(statistics.total, self.rate) - statistics.weight * self.rate + statistics.log_base
        return float(terms.sum())


def _excess_there(gaps: Any, excess: Floats) -> Floats:
    """Σ (λ − m) over the counts of each row that are there, (n, K).

    A large one that is missing is never added: taken off again, it would leave its rounding.
    """
    out = np.tile(excess.sum(axis=1), (gaps.shape[0], 1))
    if kernels.is_sparse(gaps) and np.abs(excess).max(axis=0).sum() <= MOST_EXCESS:
        return np.asarray(out - gaps @ excess.T)
    rows = np.flatnonzero(np.asarray(gaps.sum(axis=1)))
    step = max(1, AT_ONCE // gaps.shape[1])
    for start in range(0, len(rows), step):
        some = rows[start : start + step]
        part = gaps[some].toarray() if kernels.is_sparse(gaps) else gaps[some]
        out[some] = (1.0 - part) @ excess.T
    return out


@dataclass(frozen=True)
class Poisson(Family[Totals]):
    """The Poisson family for counts of events.

    `alpha` adds that many rows at the column's overall mean to every class, so that a class in which an
    event never happened does not rule it out; 0 is maximum likelihood, "auto" leaves it to cross-validation.

    >>> rows = Poisson().summarize(np.array([[1.0], [3.0]]), np.array([0, 0]), None, 1)
    >>> Poisson(alpha=0).estimate(rows).rate
    array([[2.]])
    """

    alpha: Any = 1.0
    read_as: ClassVar[str | None] = "count"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}
    reads: ClassVar[Any] = "matrix"
    kinds: ClassVar[frozenset[str]] = frozenset({"count", "continuous"})

    def __post_init__(self) -> None:
        check_alpha(self.alpha)

    def check(self, block: Any, names: Sequence[str]) -> None:
        """Counts are whole numbers, not negative."""
        refuse_outside(not_counts(block), block, names, "a Poisson column takes the counts 0, 1, 2, …")

    @property
    def sums_of(self) -> SumsOf:
        """Each column is summed up by itself."""
        return "values"

    def summarize(self, block: Any, y: Ints, weight: Floats | None, n_classes: int) -> Totals:
        """Weight and sum by class."""
        if kernels.is_sparse(block):
            sums = kernels.count_sums(block, SMALL_LOGS, y, weight, n_classes)
            if sums is not None:
                rows = np.bincount(y, weight, n_classes).astype(np.float64)
                there = np.tile(rows[:, None], block.shape[1])
                return Totals(there, sums.total, -sums.logs, sums.mark)
            base = kernels.with_data(block, -log_factorial(block.data))
        else:
            base = -log_factorial(block)
        return column_totals(block, base, y, weight, n_classes)

    def estimate(self, statistics: Totals) -> PoissonDistribution:
        """The smoothed class rates."""
        self.refuse_open()
        overall = overall_mean(statistics)
        weight = statistics.weight + self.alpha
        rate = np.divide(
            statistics.total + self.alpha * overall,
            weight,
            out=np.broadcast_to(overall, statistics.total.shape).copy(),
            where=weight > 0,
        )
        return PoissonDistribution(rate)

    def leave_one_out(
        self, statistics: Totals, distribution: PoissonDistribution
    ) -> Callable[[Floats, Ints, Floats | None], LeftOut]:
        """The rates without the row; smoothing towards the overall mean changes those of every class."""

        def left_out(block: Floats, y: Ints, weight: Floats | None) -> LeftOut:
            without = TotalsWithout.of(statistics, block, y, weight)
            overall, there = without.overall, ~np.isnan(block)
            x = np.where(there, block, 0.0)
            base = gammaln(x + 1)
            out = np.empty((len(y), distribution.n_classes))
            for k in range(distribution.n_classes):
                rows, total = without.of_class(k)
                rows = rows + self.alpha
                rate = np.divide(total + self.alpha * overall, rows, out=overall.copy(), where=rows > 0)
                out[:, k] = np.where(there, xlogy(x, rate) - rate - base, 0.0).sum(axis=1)
            return LeftOut(out, without.delicate)

        return in_dense_parts(left_out)
