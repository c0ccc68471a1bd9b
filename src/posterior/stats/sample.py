"""The rows themselves, for estimates that no fixed set of sums can give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from posterior._types import Floats, Ints
from posterior.schema.kinds import SMALLEST
from posterior.stats.base import ColumnFact, Fill, Statistics, within
from posterior.stats.scatter import Scatter


@dataclass(frozen=True, eq=False)
class Sample(Statistics):
    """Every row with its class and weight. It adds up inside one fit but grows with the data."""

    values: Floats
    y: Ints
    weight: Floats
    n_classes: int

    @classmethod
    def of(cls, values: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Self:
        """Keep a copy of these rows."""
        return cls(values.copy(), y, np.ones(len(y)) if weight is None else weight, n_classes)

    def __add__(self, other: Self) -> Self:
        return type(self)(
            np.concatenate([self.values, other.values]),
            np.concatenate([self.y, other.y]),
            np.concatenate([self.weight, other.weight]),
            self.n_classes,
        )

    @property
    def magnitude(self) -> float:
        """The largest number among the rows."""
        return float(np.nanmax(np.abs(self.values), initial=0.0))

    @property
    def faint(self) -> Ints:
        """Columns that are constant or nearly so."""
        spread = np.fmax.reduce(self.values, axis=0) - np.fmin.reduce(self.values, axis=0)
        return np.flatnonzero(spread < SMALLEST)

    def reindex(self, classes: Ints, n_classes: int) -> Self:
        """Make room for more classes."""
        return type(self)(self.values, classes[self.y], self.weight, n_classes)

    def impossible(self, weight: Floats) -> str:
        """Rows of classes that are not there, or that weigh more than these."""
        if not ((self.y >= 0) & (self.y < len(weight))).all():
            return "rows of classes that are not there"
        found = np.asarray(np.bincount(self.y, self.weight, len(weight)), dtype=np.float64)
        return "" if within(found, weight) else "rows that weigh more than their class"

    def marginal(self, columns: Sequence[int]) -> Self:
        """Some of the columns."""
        return type(self)(self.values[:, list(columns)], self.y, self.weight, self.n_classes)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Constant columns."""
        levels = [len(np.unique(x[~np.isnan(x)])) for x in self.values.T]
        return tuple(ColumnFact(j, "constant") for j, n in enumerate(levels) if n <= 1)

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The value of a constant column."""
        known = self.values[~np.isnan(self.values[:, fact.column]), fact.column]
        return Fill(float(known[0]), np.zeros(0)) if len(known) else None


class CompleteSample(Sample):
    """Complete rows, in which columns that are combinations of others are found as for any Gaussian."""

    @property
    def scatter(self) -> Scatter:
        """Mean and scatter by class."""
        return Scatter.of(self.values, self.y, self.weight, self.n_classes)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are constant, or a linear combination of earlier ones over all rows."""
        return self.scatter.facts()

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The regression of a redundant column on the others; the value of a constant one."""
        return self.scatter.fill(fact)

    @property
    def in_order(self) -> "CompleteSample":
        """The same rows sorted by class, then by value, so that no result depends on their order."""
        order = np.lexsort((*self.values.T[::-1], self.y))
        return CompleteSample(self.values[order], self.y[order], self.weight[order], self.n_classes)

    def rows_of(self, k: int) -> Floats:
        """The rows of class `k`, each as often as its weight says, a whole number."""
        own = self.y == k
        return np.repeat(self.values[own], self.weight[own].astype(np.int64), axis=0)
