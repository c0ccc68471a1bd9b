"""Complete rows, for densities of several columns together that no fixed set of sums can give."""

import numpy as np

from posterior._types import Floats
from posterior.stats.base import ColumnFact, Fill
from posterior.stats.sample import Sample
from posterior.stats.scatter import Scatter


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
