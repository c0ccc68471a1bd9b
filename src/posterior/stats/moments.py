"""Mean and sum of squares of every column in every class, over the cells that are there."""

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Annotated, Any, Self

import numpy as np

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.stats.base import (
    ALIKE,
    VANISHING,
    ColumnFact,
    Fill,
    Statistics,
    addable,
    duplicate_facts,
    within,
)
from posterior.stats.location import Location, merge_locations
from posterior.stats.parts import Parts


@dataclass(frozen=True, eq=False)
class Moments(Statistics):
    """Weight, mean and centred sum of squares, each (K, d); missing cells are not counted.

    `mark` (d,) tells columns apart that have the same moments in other rows.
    """

    weight: Annotated[Floats, "K d >=0"]
    location: Annotated[Location, "K d any"]
    scatter: Annotated[Floats, "K d finite"]
    mark: Annotated[Floats, "d finite"]

    @classmethod
    def of(cls, values: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int) -> Self:
        """The moments of these rows."""
        return cls._of(kernels.class_moments(values, y, weight, n_classes))

    @classmethod
    def of_parts(
        cls, values: kernels.NumberTable, y: Ints, weight: Floats | None, n_classes: int, size: int
    ) -> Parts[Self] | None:
        """The moments of every `size` rows; None where parts are small."""
        found = kernels.moments_of_parts(values, y, weight, n_classes, size)
        return None if found is None else Parts(found, cls._of)

    def at(self, places: Any) -> Self:
        """Those of some parts, where there is an axis for parts in front."""
        sums = self.weight[places], self.location[places], self.scatter[places], self.mark[places]
        return type(self)(*sums)

    def added_up(self) -> Self | None:
        """The sum of all parts, where there is an axis for them in front; they are written to.

        None where compiled code is off.
        """
        sums = self.weight, self.location.pivot, self.location.remainder, self.scatter, self.mark
        if not kernels.add_moment_parts(*sums):
            return None
        weight, pivot, remainder, scatter, mark = (each[0].copy() for each in sums)
        return type(self)(weight, Location(pivot, remainder), scatter, mark)

    @classmethod
    def _of(cls, m: kernels.ClassMoments) -> Self:
        return cls(m.weight, Location.sum(m.pivot, m.remainder), m.scatter, m.mark)

    @property
    def class_weight(self) -> Floats:
        """The weight of each class, of rows without a gap."""
        return self.weight[:, 0]

    @property
    def magnitude(self) -> float:
        """About the largest number among the rows; not finite if one was not."""
        return float(np.abs(self.location.pivot).max(initial=0.0) + np.sqrt(self.scatter.sum()))

    @property
    def faint(self) -> Ints:
        """Columns whose sum of squares is zero or nearly so."""
        return np.flatnonzero(np.atleast_2d(self.scatter.sum(axis=-2) < VANISHING).any(axis=0))

    def __add__(self, other: Self) -> Self:
        weight, location, shift, share = merge_locations(
            self.weight, self.location, other.weight, other.location
        )
        scatter = self.scatter + other.scatter + self.weight * share * shift**2
        return type(self)(weight, location, scatter, self.mark + other.mark)

    def resembles(self, other: Self) -> bool:
        """Whether both could be statistics of the same rows, to rounding."""
        weight, within, _ = self.pooled()
        spread = np.sqrt(kernels.ratio(within, weight))
        size = np.abs(self.location.value).max(axis=0, initial=0.0)
        unit = np.where(spread > 0, spread, size + 1e-300)
        apart = np.abs(self.location - other.location) <= ALIKE * unit + 1e-14 * size
        turned = np.abs(self.scatter - other.scatter) <= ALIKE * weight * unit**2
        return bool(np.allclose(self.weight, other.weight, rtol=ALIKE) and apart.all() and turned.all())

    def impossible(self, weight: Floats) -> str:
        """Cells that weigh more than their rows, and squares that are negative or too large to be added."""
        if not within(self.weight, weight[:, None]):
            return "cells that weigh more than their rows"
        least = -ALIKE * self.scatter.max(axis=0, initial=0.0)
        if (self.scatter < least).any() or self.scatter[self.weight == 0].any():
            return "a sum of squares that no rows have"
        return "" if addable(self.scatter, self.mark) else "sums that are too large to be added to"

    def pooled(self) -> tuple[Floats, Floats, Floats]:
        """Weight, within-class and total sum of squares of each column, each (d,); not to be written to."""
        return self._pooled

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # without what was cached

    @cached_property
    def _pooled(self) -> tuple[Floats, Floats, Floats]:
        weight = self.weight.sum(axis=0)
        within = self.scatter.sum(axis=0)
        seen = self.weight > 0
        anchor = seen.argmax(axis=0)
        columns = np.arange(self.weight.shape[1])
        first = Location(self.location.pivot[anchor, columns], self.location.remainder[anchor, columns])
        apart = np.where(seen, self.location - first, 0.0)
        mean = np.divide(
            (self.weight * apart).sum(axis=0), weight, out=np.zeros_like(weight), where=weight > 0
        )
        total = within + (self.weight * (apart - mean) ** 2).sum(axis=0)
        found = weight, within, np.where((apart == 0).all(axis=0), within, total)
        for sums in found:
            sums.flags.writeable = False
        return found

    def filled_location(self) -> Location:
        """The means; a class that never shows a column takes the column's overall mean."""
        seen = self.weight > 0
        if seen.all():
            return self.location
        total = self.weight.sum(axis=0)
        share = kernels.ratio(self.weight, total)
        mean = (share * self.location.value).sum(axis=0)
        return Location(
            np.where(seen, self.location.pivot, mean), np.where(seen, self.location.remainder, 0.0)
        )

    def facts(self) -> tuple[ColumnFact, ...]:
        """Constant columns and columns that repeat an earlier one."""
        empty = set(np.flatnonzero(self.weight.sum(axis=0) == 0).tolist())
        constant = set(np.flatnonzero(self.pooled()[2] == 0).tolist()) - empty
        return (
            *(ColumnFact(j, "empty") for j in sorted(empty)),
            *(ColumnFact(j, "constant") for j in sorted(constant)),
            *self._repeats(constant | empty),
        )

    def _repeats(self, skip: set[int]) -> list[ColumnFact]:
        """Columns that repeat an earlier one; only those whose marks are equal are looked at closely."""
        _, mark, times = np.unique(self.mark.view(np.int64), return_inverse=True, return_counts=True)
        places = np.flatnonzero(times[mark] > 1)
        if not len(places):
            return []
        sums = np.stack([*self.weight, *self.location.value, *self.scatter, self.mark], axis=1)
        found = duplicate_facts(
            [line.tobytes() for line in sums[places]],
            {k for k, j in enumerate(places.tolist()) if j in skip},
        )
        return [
            ColumnFact(int(places[f.column]), f.problem, tuple(int(places[k]) for k in f.of)) for f in found
        ]

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The value of a constant column."""
        seen = np.flatnonzero(self.weight[:, fact.column] > 0)
        if fact.problem != "constant" or len(seen) == 0:
            return None
        return Fill(float(self.location.value[seen[0], fact.column]), np.zeros(0))
