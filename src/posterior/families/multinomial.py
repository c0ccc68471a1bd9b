"""Counts of several things in one row, such as the words of a document."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import gammaln

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import Distribution, Family, LeftOut, refuse_outside, table
from posterior.families.left_out.parts import loses_digits
from posterior.families.parameters import Parameter, by_column
from posterior.families.sums import (
    ALPHAS,
    LARGE,
    about_mean,
    alphas,
    alphas_of,
    log_ratio,
    log_times,
    safe_log,
    shares,
)
from posterior.stats import Totals

NEGATIVE = "Negative values in data passed to a model of counts; counts must not be negative"


class MultinomialDistribution(Distribution):
    """Counts x with n = Σ x drawn with probabilities (K, d): ln n! − Σ ln x_j! + Σ x_j ln p_j.

    The total n carries no information on the class. With `ordered=True` the density is that of the
    draws in their order, without the number of orders ln n!/Πx! (posteriors are the same).
    A missing count is left out and the other probabilities are rescaled: the exact density of the
    counts that are there, given their total.

    >>> die = MultinomialDistribution(probability=[[0.5, 0.5], [0.9, 0.1]])
    >>> np.exp(die.log_density(np.array([[1.0, 1.0]]))).round(2)
    array([[0.5 , 0.18]])
    """

    kind = "count"
    reads = ("matrix", "values")
    parts: ClassVar[Mapping[str, Any]] = {
        "probability": Annotated[Floats, "K d share"],
        "ordered": bool,
        "mean_total": Annotated[Floats | None, "K >=0"],
    }

    def __init__(self, probability: ArrayLike, *, ordered: bool = False) -> None:
        p = np.atleast_2d(np.asarray(probability, dtype=np.float64))
        self.probability = table("probability", p)
        if not (p >= 0).all() or not np.allclose(p.sum(axis=1), 1):
            raise ValueError("the probabilities of each class must not be negative and must sum to 1")
        self.log_probability = safe_log(self.probability)
        self.ordered = ordered
        self.n_classes, self.n_columns = p.shape
        self.mean_total: Floats | None = None

    @classmethod
    def of_shares(cls, probability: Floats, *, ordered: bool) -> Self:
        """The distribution of probabilities that are known to sum to one."""
        self = cls.__new__(cls)
        self.probability, self.ordered, self.mean_total = probability, ordered, None
        self.log_probability = safe_log(probability)
        self.n_classes, self.n_columns = probability.shape
        return self

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The distribution of these parts, the mean total of training among them."""
        self = cls(parts["probability"], ordered=parts["ordered"])
        self.mean_total = parts["mean_total"]
        return self

    @property
    def log_shares(self) -> Floats:
        """The columns count what one total is made of."""
        return self.log_probability

    has_support = True

    def outside(self, block: Any) -> Any:
        """Negative counts, sparse where the block is."""
        if kernels.is_sparse(block) and not has_gaps(block):
            return type(block)(block.shape, dtype=np.bool_)
        return block < 0

    def log_density(self, block: Any) -> Floats:
        """Log density ln p(counts | class)."""
        out = self._log_possible(block)
        impossible = np.asarray(self.outside(block).sum(axis=1)).reshape(-1) > 0
        out[impossible] = -np.inf
        return out

    def _log_possible(self, block: Any) -> Floats:
        """The log density of the counts that are not negative."""
        orders = 0.0 if self.ordered else _log_orders(_split(block)[0])[:, None]
        return np.asarray(orders + self.log_relative(block))

    @cached_property
    def _sums(self) -> kernels.LinearSums:
        return kernels.LinearSums(self.log_probability)

    @cached_property
    def _about_mean(self) -> kernels.LinearSums:
        """Sums of counts times ln p, about the mean over the classes unless columns are many, as of words.

        The counts of words are too small for their logarithms to cancel.
        """
        if self.probability.size >= LARGE:
            return self._sums
        return kernels.LinearSums(about_mean(self.probability)[0])

    @cached_property
    def row_scores(self) -> kernels.RowScores | None:
        """Σ x ln p of rows without missing counts, up to a term of the row, where no probability is 0."""
        return kernels.discrete_scores(self._about_mean.log_table, np.zeros(self.n_classes), "amount")

    def add_relative(self, block: Any, out: Floats) -> None:
        """Σ x ln p added to what is there, without the term that all classes share.

        A row without gaps is scored as if no other had one.
        """
        counts, gaps = _split(block)
        self._about_mean.add_relative(counts, out)
        if gaps is None:
            return
        rows = np.flatnonzero(np.asarray(gaps.sum(axis=1)).reshape(-1))
        rescaling = log_ratio(*(_share_there(gaps[rows], part) for part in self._about_shares))
        total = np.asarray(counts[rows].sum(axis=1)).reshape(-1, 1)
        rescaled = log_times(np.broadcast_to(total, rescaling.shape), rescaling)
        out[rows] -= np.where(np.isneginf(out[rows]), 0.0, rescaled)

    @cached_property
    def _about_shares(self) -> tuple[Floats, Floats, Floats]:
        """Probabilities, their means over the classes (1, d), and what they exceed these by."""
        excess = about_mean(self.probability)[1]
        return self.probability, (self.probability - excess)[:1], excess

    def log_relative(self, block: Any) -> Floats:
        """Σ x ln p, without the term that all classes share."""
        counts, gaps = _split(block)
        out = self._sums.of(counts)
        if gaps is not None:
            there = _share_there(gaps, self.probability)
            total = np.asarray(counts.sum(axis=1)).reshape(-1, 1)
            possible = ~np.isneginf(out)
            out[possible] -= log_times(np.broadcast_to(total, out.shape), safe_log(there))[possible]
        return out

    def log_terms(self, block: Any) -> Floats:
        """x_j ln p_j, with the number of orders shared out evenly."""
        counts = _split(block)[0]
        x = counts.toarray() if kernels.is_sparse(counts) else counts
        terms = log_times(np.broadcast_to(x[:, :, None], (*x.shape, self.n_classes)), self.log_probability.T)
        total = terms.sum(axis=1)
        possible = ~np.isneginf(total)
        rest = np.where(possible, self._log_possible(block), 0.0) - np.where(possible, total, 0.0)
        return np.asarray(terms + rest[:, None, :] / x.shape[1])

    def marginal(self, columns: Sequence[int]) -> "MultinomialDistribution":
        """The distribution of some of the counts, given their total."""
        keep = list(columns)
        p = self.probability[:, keep]
        total = p.sum(axis=1, keepdims=True)
        even = np.full_like(p, 1 / len(keep))
        return MultinomialDistribution(np.divide(p, total, out=even, where=total > 0), ordered=self.ordered)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code, its total being Poisson about the mean total of training (or 10)."""
        mean = np.full(self.n_classes, 10.0) if self.mean_total is None else self.mean_total
        p = self.probability / self.probability.sum(axis=1, keepdims=True)
        return rng.multinomial(rng.poisson(mean[y]), p[y]).astype(np.float64)

    @property
    def n_parameters(self) -> int:
        """D − 1 free probabilities for each class."""
        return self.n_classes * (self.n_columns - 1)

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The share of the total that each column is expected to have."""
        return by_column(names, {"share": self.probability})

    def log_likelihood(self, statistics: Totals) -> float:
        """Σ x ln p, with the number of orders."""
        used = log_times(statistics.total, self.log_probability)
        orders = 0.0 if self.ordered else float(statistics.log_base.sum())
        return float(used.sum()) + orders


def _share_there(gaps: Any, probability: Floats) -> Floats:
    """Probability of the counts that are there, (n, K), summed over them so that nothing cancels."""
    if not kernels.is_sparse(gaps):
        return np.asarray((1 - gaps) @ probability.T)
    out = np.tile(probability.sum(axis=1), (gaps.shape[0], 1))
    rows = np.flatnonzero(np.asarray(gaps.sum(axis=1)).reshape(-1))
    out[rows] = (1 - gaps[rows].toarray()) @ probability.T
    return out


def has_gaps(block: Any) -> bool:
    """Whether a cell is missing or negative."""
    if kernels.known_counts(block):
        return False
    cells = block.data if kernels.is_sparse(block) else block
    return bool(cells.size and not cells.min() >= 0)  # the least is NaN if any cell is


def _split(block: Any) -> tuple[Any, Any]:
    """Counts with 0 for missing cells, and the indicator of missing cells or None; no count is negative."""
    if not has_gaps(block):
        return block, None
    if not kernels.is_sparse(block):
        missing = np.isnan(block) | (block < 0)
        counts = np.where(missing, 0.0, block)
        return counts, missing.astype(np.float64)
    missing = np.isnan(block.data) | (block.data < 0)
    counts = kernels.with_data(block, np.where(missing, 0.0, block.data))
    return counts, kernels.with_data(block, missing)


def _stored(counts: Any) -> tuple[Ints, Ints, Floats]:
    """Rows, columns and values of the counts that are not zero."""
    if not kernels.is_sparse(counts):
        row, column = np.nonzero(counts)
        return row, column, counts[row, column]
    row = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    some = counts.data != 0
    return row[some], counts.indices[some], counts.data[some]


def _log_orders(counts: Any) -> Floats:
    """The logarithm of n!/Πx!: the number of orders in which the counts can come about."""
    total = np.asarray(counts.sum(axis=1)).reshape(-1)
    if kernels.is_sparse(counts):
        logs = kernels.with_data(counts, gammaln(counts.data + 1))
        return np.asarray(gammaln(total + 1) - np.asarray(logs.sum(axis=1)).reshape(-1))
    return np.asarray(gammaln(total + 1) - gammaln(counts + 1).sum(axis=1))


@dataclass(frozen=True)
class Multinomial(Family[Totals]):
    """The multinomial family for a vector of counts, dense or sparse.

    `alpha` is added to every count (one number or one for each column, or "auto"; 0 is maximum likelihood).
    Rows with a missing count are left out of training.

    >>> rows = Multinomial().summarize(np.array([[1.0, 3.0]]), np.array([0]), None, 1)
    >>> Multinomial(alpha=0).estimate(rows).probability
    array([[0.25, 0.75]])
    """

    alpha: Any = 1.0
    ordered: bool = False
    reads: ClassVar[Any] = "matrix"
    kinds: ClassVar[frozenset[str]] = frozenset({"count", "continuous", "binary"})
    joint: bool = field(default=True, init=False, repr=False)

    read_as: ClassVar[str | None] = "count"
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alphas(self.alpha))

    def marginal(self, columns: Sequence[int]) -> Self:
        """The smoothing of some of the columns."""
        return replace(self, alpha=alphas_of(self.alpha, columns))

    def check(self, block: Any, names: Sequence[str]) -> None:
        """Counts must not be negative."""
        if has_gaps(block):
            sparse = kernels.is_sparse(block)
            negative = kernels.with_data(block, block.data < 0) if sparse else block < 0
            refuse_outside(negative, block, names, NEGATIVE)

    def summarize(self, block: Any, y: Ints, weight: Floats | None, n_classes: int) -> Totals:
        """Sum of each count by class."""
        counts, gaps = _split(block)
        unread = 0.0
        if gaps is not None:
            complete = np.asarray(gaps.sum(axis=1)).reshape(-1) == 0
            unread = float((~complete).sum() if weight is None else weight[~complete].sum())
            counts, y = counts[complete], y[complete]
            weight = None if weight is None else weight[complete]
        rows = np.bincount(y, weight, n_classes).astype(np.float64)
        orders = np.zeros(n_classes)
        if not self.ordered:
            each = _log_orders(counts)
            orders += np.bincount(y, each if weight is None else each * weight, n_classes)
        total = kernels.class_sums(counts, y, weight, n_classes)
        return Totals(rows[:, None], total, orders[:, None], unread=unread)

    def estimate(self, statistics: Totals) -> MultinomialDistribution:
        """Smoothed relative frequencies; a class without any count is even-handed."""
        self.refuse_open()
        counts = statistics.total + np.asarray(self.alpha, dtype=np.float64)
        total = counts.sum(axis=1, keepdims=True)
        probability = shares(counts, total, 1 / counts.shape[1])
        distribution = MultinomialDistribution.of_shares(probability, ordered=self.ordered)
        rows = statistics.weight[:, 0]
        mean = statistics.total.sum() / max(rows.sum(), 1e-300)
        distribution.mean_total = np.divide(
            statistics.total.sum(axis=1), rows, out=np.full(len(rows), mean), where=rows > 0
        )
        return distribution

    def leave_one_out(
        self, statistics: Totals, distribution: MultinomialDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """Only the own class changes, in the counts that the row has; a row with a gap was never counted."""

        def left_out(block: Any, y: Ints, weight: Floats | None) -> LeftOut:
            out, n_rows = distribution.log_density(block), len(y)
            counts, gaps = _split(block)
            w = np.ones(n_rows) if weight is None else weight
            if gaps is not None:
                complete = np.flatnonzero(np.asarray(gaps.sum(axis=1)).reshape(-1) == 0)
                counts, y, w = counts[complete], y[complete], w[complete]
            else:
                complete = np.arange(n_rows)
            own, doubt = self._log_without(statistics, counts, y, w)
            out[complete, y] = own if self.ordered else own + _log_orders(counts)
            delicate = np.zeros(n_rows, dtype=np.bool_)
            delicate[complete] = doubt
            return LeftOut(out, delicate)

        return left_out

    def _log_without(self, s: Totals, counts: Any, y: Ints, weight: Floats) -> tuple[Floats, Bools]:
        """Σ x ln p by the counts of the own class without the row, (n,), and where it is too delicate."""
        n_rows, d = counts.shape
        alpha = np.broadcast_to(np.asarray(self.alpha, dtype=np.float64), (d,))
        row, column, x = _stored(counts)
        before, total = s.total[y[row], column], s.total.sum(axis=1)[y]
        size = np.bincount(row, x, n_rows)
        left, rest = before - weight[row] * x, total - weight * size
        delicate = np.bincount(row, loses_digits(left, before, alpha[column]), n_rows) > 0
        delicate |= loses_digits(rest, total, alpha.sum())
        rest = np.maximum(rest, 0.0) + alpha.sum()
        own = np.bincount(row, x * safe_log(np.maximum(left, 0.0) + alpha[column]), n_rows)
        own = np.where(rest > 0, own, 0.0) - size * np.where(rest > 0, safe_log(rest), np.log(d))
        return np.asarray(own, dtype=np.float64), delicate
