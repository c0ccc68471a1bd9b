"""Mean vector and scatter matrix of every class: all that a Gaussian block needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from posterior import kernels
from posterior._linalg import dependent_columns
from posterior._types import Floats, Ints
from posterior.stats.base import ColumnFact, Statistics, duplicate_facts
from posterior.stats.location import Location, merge_locations, place


@dataclass(frozen=True, eq=False)
class Scatter(Statistics):
    """Class weight (K,), mean (K, d) and scatter matrix about it, (K, d, d) or pooled (1, d, d).

    `rounding` is the largest rounding error of a value in each column, which says how many digits of a
    deviation are data. `third` and `fourth` hold Σ w z_j² z_l and Σ w z_j² z_l², kept only where a shrinkage
    intensity asks for them (they add up like everything else). `pooled` says that one matrix is kept
    for all classes together.
    """

    weight: Floats
    location: Location
    scatter: Floats
    rounding: Floats
    third: Floats | None = None
    fourth: Floats | None = None
    pooled: bool = False

    @classmethod
    def of(
        cls,
        values: Floats,
        y: Ints,
        weight: Floats | None,
        n_classes: int,
        *,
        pooled: bool = False,
        fourth: bool = False,
    ) -> Self:
        """The scatter of these rows, which must be complete."""
        s = kernels.class_scatter(values, y, weight, n_classes, pooled=pooled, fourth=fourth)
        rounding = kernels.rounding_of(values)
        return cls(s.weight, Location(s.pivot, s.remainder), s.scatter, rounding, s.third, s.fourth, pooled)

    def __add__(self, other: Self) -> Self:
        weight, location, shift, share = merge_locations(
            self.weight[:, None], self.location, other.weight[:, None], other.location
        )
        # The root on both sides keeps the products symmetric to the bit.
        pull = np.sqrt(self.weight[:, None] * share) * shift
        between = (pull.T @ pull)[None] if self.pooled else pull[:, :, None] * pull[:, None, :]
        scatter = self.scatter + other.scatter + between
        rounding = np.maximum(self.rounding, other.rounding)
        if self.third is None or other.third is None:
            return type(self)(weight[:, 0], location, scatter, rounding, pooled=self.pooled)
        a = self._recentred(share * shift)
        b = other._recentred((share - 1) * shift)
        return type(self)(weight[:, 0], location, scatter, rounding, a[0] + b[0], a[1] + b[1])

    def _recentred(self, by: Floats) -> tuple[Floats, Floats]:
        """Third and fourth moments about the mean moved by `by` (K, d), by expanding (z − by)."""
        if self.third is None or self.fourth is None:
            raise ValueError("these statistics hold no fourth moments")
        n = self.weight[:, None, None]
        square = np.diagonal(self.scatter, axis1=1, axis2=2)
        a, b = by[:, :, None], by[:, None, :]
        third = self.third - b * square[:, :, None] - 2 * a * self.scatter - n * a**2 * b
        mixed = 2 * b * self.third
        fourth = (
            self.fourth
            - mixed
            - mixed.transpose(0, 2, 1)
            + b**2 * square[:, :, None]
            + a**2 * square[:, None, :]
            + 4 * a * b * self.scatter
            + n * a**2 * b**2
        )
        return third, fourth

    def reindex(self, classes: Ints, n_classes: int) -> Self:
        """Make room for more classes."""

        def move(array: Floats) -> Floats:
            return place(array, classes, n_classes)

        location = Location(move(self.location.pivot), move(self.location.remainder))
        changed = replace(self, weight=move(self.weight), location=location)
        if self.pooled:
            return changed
        return replace(
            changed,
            scatter=move(self.scatter),
            third=None if self.third is None else move(self.third),
            fourth=None if self.fourth is None else move(self.fourth),
        )

    def marginal(self, columns: Sequence[int]) -> Self:
        """The scatter of some of the columns."""
        keep = list(columns)

        def sub(array: Floats) -> Floats:
            return array[:, keep][:, :, keep]

        return type(self)(
            self.weight,
            self.location[:, keep],
            sub(self.scatter),
            self.rounding[keep],
            None if self.third is None else sub(self.third),
            None if self.fourth is None else sub(self.fourth),
            self.pooled,
        )

    def total(self) -> Floats:
        """Scatter about the overall mean, (d, d)."""
        seen = self.weight > 0
        share = self.weight / self.weight.sum()
        apart = np.where(seen[:, None], self.location - self.location.average(share), 0.0)
        between = np.einsum("k,ki,kj->ij", self.weight, apart, apart)
        return np.asarray(self.scatter.sum(axis=0) + between)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are constant, or a linear combination of earlier ones over all rows.

        Tested on the total scatter: a column that is a combination only within the classes separates
        them perfectly and must stay.
        """
        total = self.total()
        seen = self.weight > 0
        mean = self.location.value[seen]
        within = np.diagonal(self.scatter.sum(axis=0))
        constant = np.flatnonzero((within == 0) & (mean == mean[:1]).all(axis=0)).tolist()
        rest = [j for j in range(len(total)) if j not in set(constant)]
        sub = total[np.ix_(rest, rest)]
        found = self._redundant(sub, rest)
        marks = [
            np.concatenate([self.location.value[:, j], np.diagonal(self.scatter, axis1=1, axis2=2)[:, j]])
            for j in rest
        ]
        repeats = {f.column: f.of for f in duplicate_facts([m.tobytes() for m in marks], set())}
        facts = [ColumnFact(j, "constant") for j in constant]
        for j, on in found:
            of = repeats.get(j, on)
            facts.append(ColumnFact(rest[j], "redundant", tuple(rest[i] for i in of)))
        return tuple(facts)

    def _redundant(self, total: Floats, columns: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Columns that depend on earlier ones over all rows, to the last digit of the spread in a class too.

        With no more rows than columns every column depends on others and nothing can be said.
        """
        weight = float(self.weight.sum())
        if weight <= len(columns):
            return []
        within = self.scatter.sum(axis=0)[np.ix_(columns, columns)]
        also = {j for j, _ in dependent_columns(within, weight, self.rounding[columns])}
        found = dependent_columns(total, weight, self.rounding[columns])
        return [(j, on) for j, on in found if j in also]

    def fill(self, fact: ColumnFact) -> tuple[float, Floats] | None:
        """The regression of a redundant column on the others; the value of a constant one."""
        mean = self.location.average(self.weight / self.weight.sum()).value
        if fact.problem == "constant":
            return float(mean[fact.column]), np.zeros(0)
        on = list(fact.of)
        total = self.total()
        sd = np.sqrt(np.diagonal(total))[on]
        scaled = np.linalg.solve(total[np.ix_(on, on)] / sd[:, None] / sd, total[on, fact.column] / sd)
        coef = scaled / sd
        return float(mean[fact.column] - coef @ mean[on]), coef
