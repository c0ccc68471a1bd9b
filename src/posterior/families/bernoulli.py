"""The Bernoulli family: binary features, thousands of them if need be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Annotated, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from posterior import kernels
from posterior._types import Bools, Floats, Ints
from posterior.families.base import Family, LeftOut, ProductDistribution, SumsOf, refuse_outside, table
from posterior.families.left_out.parts import LEAST, loses_digits
from posterior.families.parameters import Parameter, level_name
from posterior.families.sums import ALPHAS, alphas, alphas_of, log_times, safe_log, shares
from posterior.math import NOT_ONE, sum_to_one
from posterior.stats import Totals

# Rows of unequal weights are scored cell by cell, this many at a time.
BATCH_CELLS = 1 << 20


def above(threshold: float | None) -> float:
    """The number above which a value counts as on."""
    return 0.5 if threshold is None else threshold


def ones_and_gaps(block: Any, threshold: float | None) -> tuple[Any, Any, bool]:
    """Indicators of the cells above the threshold and of missing cells, dense or sparse as the block is."""
    threshold = kernels.in_precision_of(block, above(threshold))
    if not kernels.is_sparse(block):
        missing = np.isnan(block)
        return (block > threshold).astype(np.float64), missing.astype(np.float64), bool(missing.any())
    missing = np.isnan(block.data)
    on = kernels.with_data(block, block.data > threshold)
    if not missing.any():
        return on, type(block)(block.shape), False
    return on, kernels.with_data(block, missing), True


class BernoulliDistribution(ProductDistribution):
    """Probability (K, d) that a binary feature is on; a value counts as on above `threshold`.

    They are compared in the precision of the table: 0.7 in single precision is not above 0.7.

    >>> coin = BernoulliDistribution(probability=[[0.5], [0.9]])
    >>> np.exp(coin.log_density(np.array([[1.0], [0.0], [np.nan]])))
    array([[0.5, 0.9],
           [0.5, 0.1],
           [1. , 1. ]])
    """

    kind = "binary"
    reads = ("matrix", "values")
    as_stored = True
    parts: ClassVar[Mapping[str, Any]] = {
        "log_on": Annotated[Floats, "K d log"],
        "log_off": Annotated[Floats, "K d log"],
        "probability": Annotated[Floats, "K d share"],
        "threshold": float | None,
    }

    def __init__(self, probability: ArrayLike, threshold: float | None = None) -> None:
        self.probability = table("probability", probability)
        if not ((self.probability >= 0) & (self.probability <= 1)).all():
            raise ValueError("a probability must lie between 0 and 1")
        self._set(safe_log(self.probability), safe_log(1 - self.probability), threshold)

    def _set(self, log_on: Floats, log_off: Floats, threshold: float | None) -> None:
        self.log_on, self.log_off, self.threshold = log_on, log_off, threshold
        self.n_classes, self.n_columns = log_on.shape

    @classmethod
    def from_logs(cls, log_on: Floats, log_off: Floats, threshold: float | None) -> Self:
        """The distribution whose two log probabilities are known without taking 1 − p."""
        self = cls.__new__(cls)
        self.probability = np.exp(log_on)
        self._set(log_on, log_off, threshold)
        return self

    @classmethod
    def from_parts(cls, parts: Mapping[str, Any]) -> Self:
        """The distribution of these parts, none of them worked out from another."""
        self = cls.__new__(cls)
        self.probability = parts["probability"]
        self._set(parts["log_on"], parts["log_off"], parts["threshold"])
        return self

    def impossible(self) -> str:
        """On and off are all there is."""
        both = np.exp(np.stack([self.log_on, self.log_off], axis=-1))
        if not sum_to_one(both):
            return "probabilities that do not sum to one"
        if not (np.abs(both[..., 0] - self.probability) <= NOT_ONE).all():
            return "two probabilities of one event"
        finite = self.threshold is None or abs(self.threshold) < np.inf
        return "" if finite else "a threshold that is no number"

    @property
    def cut(self) -> float:
        """The threshold."""
        return above(self.threshold)

    @cached_property
    def _look_ups(self) -> kernels.BinaryLookUps:
        return kernels.BinaryLookUps(self.log_on, self.log_off, above(self.threshold))

    @cached_property
    def row_scores(self) -> kernels.RowScores | None:
        """The log density, linear in what is on, where no feature is certain."""
        with np.errstate(invalid="ignore"):
            odds = self.log_on - self.log_off
        return kernels.discrete_scores(odds, self._off[1], "on or off", above(self.threshold), -self.log_off)

    @cached_property
    def _odds(self) -> kernels.LinearSums:
        """What a feature adds that is on, where all are taken for off; one that is never off adds it all."""
        return kernels.LinearSums(self.log_on - self._off[0])

    @cached_property
    def _off(self) -> tuple[Floats, Floats, Floats | None]:
        """Log probabilities of off, 0 for features that are never off, their sums, and which those are."""
        certain = np.isneginf(self.log_off)
        if not certain.any():
            return self.log_off, self.log_off.sum(axis=1), None
        off = np.where(certain, 0.0, self.log_off)
        return off, off.sum(axis=1), certain.astype(np.float64)

    def log_density(self, block: Any) -> Floats:
        """Log probabilities added up over the features, never dense where the block is sparse."""
        out = np.zeros((block.shape[0], self.n_classes))
        self.add_relative(block, out)
        return out

    def add_relative(self, block: Any, out: Floats) -> None:
        """Log probabilities added to what is there."""
        if not kernels.is_sparse(block):
            self._look_ups.add(block, out)
            return
        on, gap, any_gap = ones_and_gaps(block, self.threshold)
        off, all_off, sure = self._off
        out += all_off
        self._odds.add(on, out)
        if any_gap:
            out -= np.asarray(gap @ off.T)
        if sure is not None:
            out[(sure.sum(axis=1) - (on + gap) @ sure.T) > 0.5] = -np.inf

    def class_terms(self, block: Any, k: int) -> Floats:
        """Log probability of every cell under class `k`."""
        dense = block.toarray() if kernels.is_sparse(block) else block
        on, gap, _ = ones_and_gaps(dense, self.threshold)
        terms = np.where(on > 0, self.log_on[k], self.log_off[k])
        terms[gap > 0] = 0.0
        return np.asarray(terms)

    def in_single(self) -> "BernoulliDistribution":
        """The distribution whose threshold is rounded to single precision."""
        if self.threshold is None:
            return self
        rounded = kernels.in_precision_of(np.empty(0, np.float32), self.threshold)
        return self.from_parts(self.to_parts() | {"threshold": rounded})

    def marginal(self, columns: Sequence[int]) -> "BernoulliDistribution":
        """The distribution of some of the columns."""
        keep = list(columns)
        return self.from_logs(self.log_on[:, keep], self.log_off[:, keep], self.threshold)

    def sample(self, y: Ints, rng: np.random.Generator) -> Floats:
        """One row for each class code."""
        on = (rng.random((len(y), self.n_columns)) < self.probability[y]).astype(np.float64)
        # With a threshold t a one is any value above it; t and t + 1 stand for both sides.
        return on if self.threshold in (None, 0) else on + self.threshold

    @property
    def n_parameters(self) -> int:
        """A probability for each class and column."""
        return self.log_on.size

    def parameters(self, names: Sequence[str], levels: Sequence[Sequence[Any] | None]) -> list[Parameter]:
        """The probability that a column is on, by the name of that level or the threshold it is above."""
        on = [
            f"p({level_name(known, 1)})" if self.threshold is None or known else f"p(> {self.threshold:g})"
            for known in levels
        ]
        columns = zip(names, on, self.probability.T, strict=True)
        return [Parameter((column,), name, values.copy()) for column, name, values in columns]

    def log_likelihood(self, statistics: Totals) -> float:
        """Σ ones·ln p + zeros·ln(1−p)."""
        zeros = statistics.weight - statistics.total
        return float((log_times(statistics.total, self.log_on) + log_times(zeros, self.log_off)).sum())


@dataclass(frozen=True)
class Bernoulli(Family[Totals]):
    """The Bernoulli family for binary features, dense or sparse.

    `alpha` is added to the count of ones and to that of zeros (Laplace's rule with 1, maximum
    likelihood with 0, one number or one for each column, or "auto"). The values are 0 and 1, or with a
    `threshold` any numbers, those above it being ones. With `repeats=False` nobody looks for columns that
    repeat another one. Values are compared in the precision of their table: 0.7 in single precision is not
    above 0.7. Columns of two strings are read as 0 and 1, if the threshold lies between those.

    >>> answers = np.array([[1.0]] * 103 + [[0.0]] * 54 + [[np.nan]] * 25)
    >>> rows = Bernoulli().summarize(answers, np.zeros(182, int), None, 1)
    >>> Bernoulli(alpha=0).estimate(rows).probability == 103 / 157
    array([[ True]])
    """

    alpha: Any = 1.0
    threshold: float | None = None
    repeats: bool = field(default=True, compare=False, repr=False)
    read_as: ClassVar[str | None] = "binary"
    reads: ClassVar[Any] = "matrix"
    as_stored: ClassVar[bool] = True
    kinds: ClassVar[frozenset[str]] = frozenset({"binary", "count", "continuous"})
    choices: ClassVar[Mapping[str, tuple[Any, ...]]] = {"alpha": ALPHAS}

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", alphas(self.alpha))

    def kind_for(self, kind: str) -> str | None:
        """Two values; with a threshold numbers are what they are, and strings have two values all the same.

        Those are 0 and 1 then, which only a threshold between them tells apart.
        """
        if self.threshold is None or (kind not in self.kinds and 0 <= self.threshold < 1):
            return self.read_as
        return None

    def marginal(self, columns: Sequence[int]) -> Self:
        """The smoothing of some of the columns."""
        return replace(self, alpha=alphas_of(self.alpha, columns))

    @property
    def takes_tables(self) -> bool:
        """With a threshold any number will do, but for infinity, which makes the counts not finite."""
        return self.threshold is not None and self.threshold >= 0

    @property
    def sums_of(self) -> SumsOf:
        """Each column is counted by itself."""
        return "values"

    def check(self, block: Any, names: Sequence[str]) -> None:
        """Without a threshold the values are zeros and ones."""
        if kernels.is_sparse(block):
            if self.threshold is not None and self.threshold < 0:
                raise ValueError(
                    f"threshold {self.threshold} would make a one of every cell that a sparse matrix leaves "
                    "empty; pass a dense array, or a threshold of 0 or more"
                )
            return
        if self.threshold is None:
            outside = (block != 0) & (block != 1)
            if not outside.any():
                return
            outside &= ~np.isnan(block)
            rule = "a Bernoulli column takes 0 and 1 (or set a threshold)"
            refuse_outside(outside, block, names, rule)

    def summarize(self, block: Any, y: Ints, weight: Floats | None, n_classes: int) -> Totals:
        """Weight of the rows and of the ones by class."""
        rows = kernels.class_weights(y, weight, n_classes)
        there = np.tile(rows[:, None], block.shape[1])
        mark = None
        if kernels.is_sparse(block):
            on, gap, any_gap = ones_and_gaps(block, self.threshold)
            total = kernels.class_sums(on, y, weight, n_classes)
            if any_gap:
                there -= kernels.class_sums(gap, y, weight, n_classes)
        else:
            total, gaps = kernels.ones_by_class(block, above(self.threshold), y, weight, n_classes)
            there -= gaps
            mark = kernels.column_marks(kernels.in_rows(block), weight) if self.repeats else None
        return Totals(there, total, np.zeros_like(total), mark, binary=True)

    def estimate(self, statistics: Totals) -> BernoulliDistribution:
        """Smoothed frequencies; a class without any row is even-handed."""
        self.refuse_open()
        alpha = np.asarray(self.alpha, dtype=np.float64)
        weight = statistics.weight + 2 * alpha
        ones, zeros = statistics.total + alpha, statistics.weight - statistics.total
        np.maximum(zeros, 0.0, out=zeros)
        zeros += alpha
        on, off = shares(ones, weight, 0.5), shares(zeros, weight, 0.5)
        return BernoulliDistribution.from_parts(
            {
                "log_on": safe_log(on),
                "log_off": safe_log(off),
                "probability": on,
                "threshold": self.threshold,
            }
        )

    def leave_one_out(
        self, statistics: Totals, distribution: BernoulliDistribution
    ) -> Callable[[Any, Ints, Floats | None], LeftOut]:
        """Only the own class changes; rows of equal weight share the tables without one of them."""

        def left_out(block: Any, y: Ints, weight: Floats | None) -> LeftOut:
            out, rows = distribution.log_density(block), np.arange(len(y))
            if len(y) and (weight is None or (weight == weight[0]).all()):
                each = 1.0 if weight is None else float(weight[0])
                own, delicate = self._by_table(statistics, block, each)
                out[rows, y] = own[rows, y]
                return LeftOut(out, delicate[rows, y])
            delicate = np.zeros(len(y), dtype=np.bool_)
            step = max(1, BATCH_CELLS // max(block.shape[1], 1))
            for start in range(0, len(y), step):
                some = rows[start : start + step]
                w = np.ones(len(some)) if weight is None else weight[some]
                out[some, y[some]], delicate[some] = self._by_cell(statistics, block[some], y[some], w)
            return LeftOut(out, delicate)

        return left_out

    def _by_table(self, s: Totals, block: Any, weight: float) -> tuple[Floats, Bools]:
        """Log density (n, K) of rows that each class would lose, and where it is too delicate."""
        alpha = np.asarray(self.alpha, dtype=np.float64)
        rest = s.weight - weight + 2 * alpha
        logs, doubts = [], []
        for before in (s.total, s.weight - s.total):
            left = before - weight
            share = np.divide(
                np.maximum(left, 0.0) + alpha, rest, out=np.full(rest.shape, 0.5), where=rest > 0
            )
            logs.append(safe_log(share))
            doubts.append((left > -LEAST * weight) & loses_digits(left, before, alpha))
        own = BernoulliDistribution.from_logs(logs[0], logs[1], self.threshold).log_density(block)
        delicate = np.zeros(own.shape, dtype=np.bool_)
        if doubts[0].any() or doubts[1].any():
            on, gap, _ = ones_and_gaps(block, self.threshold)
            doubt_on, doubt_off = (doubt.astype(np.float64) for doubt in doubts)
            hits = np.asarray(on @ (doubt_on - doubt_off).T - gap @ doubt_off.T) + doubt_off.sum(axis=1)
            delicate = hits > 0.5
        return own, delicate

    def _by_cell(self, s: Totals, block: Any, y: Ints, weight: Floats) -> tuple[Floats, Bools]:
        """Log density (m,) of rows without themselves in their own class, and where it is too delicate."""
        dense = block.toarray() if kernels.is_sparse(block) else block
        on, gap, _ = ones_and_gaps(dense, self.threshold)
        alpha = np.asarray(self.alpha, dtype=np.float64)
        there = gap == 0
        before = np.where(on > 0, s.total[y], s.weight[y] - s.total[y])
        left, rest = before - weight[:, None], s.weight[y] - weight[:, None] + 2 * alpha
        share = np.divide(np.maximum(left, 0.0) + alpha, rest, out=np.full(rest.shape, 0.5), where=rest > 0)
        delicate = (there & loses_digits(left, before, alpha)).any(axis=1)
        return np.where(there, safe_log(share), 0.0).sum(axis=1), delicate
