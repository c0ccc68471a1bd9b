"""Moments of two functions of every cell, such as a number and its logarithm."""

from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np

from posterior._types import Floats, Ints
from posterior.stats.base import ColumnFact, FieldSums, Fill, Statistics
from posterior.stats.moments import Moments


@dataclass(frozen=True, eq=False)
class PairMoments(FieldSums, Statistics):
    """The moments of two functions of the same cells: `first` tells what the column is, as a table shows it.

    >>> x = np.array([[1.0], [np.e]])
    >>> PairMoments.of(x, np.log(x), np.array([0, 0]), None, 1).second.location.value
    array([[0.5]])
    """

    first: Annotated[Moments, "K d any"]
    second: Annotated[Moments, "K d any"]

    @classmethod
    def of(cls, first: Floats, second: Floats, y: Ints, weight: Floats | None, n_classes: int) -> Self:
        """The moments of these rows."""
        return cls(Moments.of(first, y, weight, n_classes), Moments.of(second, y, weight, n_classes))

    @property
    def weight(self) -> Floats:
        """Weight of the cells that are there, (K, d)."""
        return self.first.weight

    @property
    def magnitude(self) -> float:
        """About the largest number among the rows; not finite if one was not."""
        return max(self.first.magnitude, self.second.magnitude)

    @property
    def faint(self) -> Ints:
        """Columns whose sum of squares is zero or nearly so."""
        return self.first.faint

    def resembles(self, other: Self) -> bool:
        """Whether both could be statistics of the same rows, to rounding."""
        return self.first.resembles(other.first) and self.second.resembles(other.second)

    def impossible(self, weight: Floats) -> str:
        """What is impossible of either, and cells that only one of the two has."""
        apart = not np.allclose(self.first.weight, self.second.weight, rtol=1e-9)
        one = self.first.impossible(weight) or self.second.impossible(weight)
        return one or ("cells of which only one of two functions is known" if apart else "")

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are constant, empty, or repeat an earlier one."""
        return self.first.facts()

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The value of a constant column."""
        return self.first.fill(fact)
