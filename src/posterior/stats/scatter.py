"""Mean vector and scatter matrix of every class: all that a Gaussian block needs."""

from dataclasses import dataclass, replace
from typing import Annotated, Any, Self, TypeVar

import numpy as np

from posterior import kernels
from posterior._linalg import dependent_columns
from posterior._types import Bools, Floats, Ints
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
from posterior.stats.moments import Moments
from posterior.stats.parts import Parts

T = TypeVar("T")

# A row further off than this, in standard deviations, from an exact combination of columns breaks it.
NOTICEABLE = 1e-6
# Bytes that scatter matrices may take; a fit needs about three times as much in all.
LARGEST = 4 << 30
# Cells of scatter matrices that are changed at once.
SMALL = 1 << 16


@dataclass(frozen=True, eq=False)
class Scatter(Statistics):
    """Class weight (K,), mean (K, d) and scatter matrix about it, (K, d, d) or pooled (1, d, d).

    `rounding` is the largest rounding error of a value in each column, which says how many digits of a
    deviation are data. `third` and `fourth` hold Σ w z_j² z_l and Σ w z_j² z_l², kept only where a shrinkage
    intensity asks for them (they add up like everything else). `pooled` says that one matrix is kept
    for all classes together. Rows with gaps are kept apart: `gaps` holds the moments of the cells they have,
    None where every row is complete. Statistics that are what is expected of such rows say in `pairs`
    (K, d, d) how much weight of rows shows both of two columns.
    """

    weight: Annotated[Floats, "K >=0"]
    location: Annotated[Location, "K d any"]
    scatter: Annotated[Floats, "G d d finite"]
    rounding: Annotated[Floats, "d >=0"]
    third: Annotated[Floats | None, "G d d finite"] = None
    fourth: Annotated[Floats | None, "G d d finite"] = None
    pooled: bool = False
    gaps: Annotated[Moments | None, "K d any"] = None
    pairs: Annotated[Floats | None, "K d d >=0"] = None

    @classmethod
    def of(
        cls,
        values: kernels.NumberTable,
        y: Ints,
        weight: Floats | None,
        n_classes: int,
        *,
        pooled: bool = False,
        fourth: bool = False,
    ) -> Self:
        """The scatter of the complete rows, and the moments of those with gaps."""
        _refuse_too_large(values.shape[1], (1 if pooled else n_classes) * (3 if fourth else 1))
        found = kernels.complete_scatter(values, y, weight, n_classes, pooled=pooled, fourth=fourth)
        if found is None:
            return cls._with_gaps(kernels.in_rows(values), y, weight, n_classes, pooled=pooled, fourth=fourth)
        return cls._of(*found, pooled=pooled)

    @classmethod
    def of_parts(
        cls,
        values: kernels.NumberTable,
        y: Ints,
        weight: Floats | None,
        n_classes: int,
        size: int,
        *,
        pooled: bool = False,
    ) -> Parts[Self] | None:
        """The scatter of every `size` rows; None where parts are small."""
        found = kernels.scatter_of_parts(values, y, weight, n_classes, size, pooled=pooled)
        return None if found is None else Parts(found, lambda sums: cls._of(*sums, pooled=pooled))

    def at(self, places: Any) -> Self:
        """Those of some parts without gaps, where there is an axis for parts in front."""
        sums = self.weight[places], self.location[places], self.scatter[places], self.rounding[places]
        return type(self)(*sums, pooled=self.pooled)

    def added_up(self) -> Self | None:
        """The sum of all parts, where there is an axis for them in front; they are written to.

        None where compiled code is off, or products are not added up class by class.
        """
        sums = self.weight, self.location.pivot, self.location.remainder, self.scatter, self.rounding
        if (self.pooled and not _few_products(self.location.pivot)) or not kernels.add_scatter_parts(*sums):
            return None
        weight, pivot, remainder, scatter, rounding = (each[0].copy() for each in sums)
        return type(self)(weight, Location(pivot, remainder), scatter, rounding, pooled=self.pooled)

    @classmethod
    def _of(cls, s: kernels.ClassScatter, rounding: Floats, *, pooled: bool) -> Self:
        location = Location.sum(s.pivot, s.remainder)
        return cls(s.weight, location, s.scatter, rounding, s.third, s.fourth, pooled)

    @property
    def class_weight(self) -> Floats:
        """The weight of each class, of rows without a gap."""
        return self.weight

    @classmethod
    def _with_gaps(
        cls, values: Floats, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool, fourth: bool
    ) -> Self:
        lacking = ~np.isfinite(values).all(axis=1)
        some, others = np.flatnonzero(lacking), np.flatnonzero(~lacking)
        gaps = Moments.of(values[some], y[some], None if weight is None else weight[some], n_classes)
        complete = cls.of(
            values[others],
            y[others],
            None if weight is None else weight[others],
            n_classes,
            pooled=pooled,
            fourth=fourth,
        )
        return replace(complete, gaps=gaps)

    @property
    def magnitude(self) -> float:
        """About the largest number among the rows; not finite if one was not."""
        size = np.abs(self.location.pivot).max(initial=0.0)
        spread = np.sqrt(np.einsum("...jj->...", self.scatter).sum())
        return float(size + spread) + (0.0 if self.gaps is None else self.gaps.magnitude)

    @property
    def degree(self) -> int:
        """1 where numbers are squared, 2 where their squares are squared too."""
        return 1 if self.fourth is None else 2

    @property
    def faint(self) -> Ints:
        """Columns whose sum of squares is zero or nearly so."""
        squares = np.einsum("...kjj->...j", self.scatter)
        return np.flatnonzero(np.atleast_2d(squares < VANISHING ** (1 / self.degree)).any(axis=0))

    @property
    def has_gaps(self) -> bool:
        """Whether rows with gaps have a say: rows without any cell have none, if every class has others."""
        return self.gaps is not None and bool(self.gaps.weight.any() or not self.weight.all())

    def observed(self) -> Moments:
        """The moments of all cells that are there; where the scatter is pooled, only its sum is right."""
        d = len(self.rounding)
        spread = np.zeros((len(self.weight), d))
        spread[: len(self.scatter)] = np.diagonal(self.scatter, axis1=1, axis2=2)
        weight = np.repeat(self.weight[:, None], d, axis=1)
        complete = Moments(weight, self.location, spread, np.zeros(d))
        return complete if self.gaps is None else complete + self.gaps

    def __add__(self, other: Self) -> Self:
        weight, location, shift, share = merge_locations(
            self.weight[..., None], self.location, other.weight[..., None], other.location
        )
        # The root on both sides keeps the products symmetric to the bit.
        pull = np.sqrt(self.weight[..., None] * share) * shift
        scatter = self._scatter_with(other, pull)
        third, fourth = None, None
        if self.third is not None and other.third is not None:
            a, b = self._recentred(share * shift), other._recentred((share - 1) * shift)
            third, fourth = a[0] + b[0], a[1] + b[1]
        return type(self)(
            weight[..., 0],
            location,
            scatter,
            np.maximum(self.rounding, other.rounding),
            third,
            fourth,
            self.pooled,
            _added(self.gaps, other.gaps),
            _added(self.pairs, other.pairs),
        )

    def _scatter_with(self, other: Self, pull: Floats) -> Floats:
        """The scatter of both sets of rows, or of every pair of parts, about their common means."""
        scatter = self.scatter + other.scatter
        if self.pooled and _few_products(pull):
            for k in range(pull.shape[-2]):  # in the order in which `added_up` adds them, to the bit
                scatter += (pull[..., k, :, None] * pull[..., k, None, :])[..., None, :, :]
        elif self.pooled:
            scatter += (pull.swapaxes(-1, -2) @ pull)[..., None, :, :]
        elif pull.ndim > 2 or scatter.size <= SMALL:
            scatter += pull[..., :, None] * pull[..., None, :]
        else:
            for k, apart in enumerate(pull):  # one by one: there may be many
                scatter[k] += apart[:, None] * apart
        return scatter

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
        return self._placed(classes, n_classes, "K" if self.pooled else "KG")

    def resembles(self, other: Self) -> bool:
        """Whether both could be statistics of the same rows, to rounding."""
        spread = np.sqrt(np.diagonal(self.scatter.sum(axis=0)) / max(float(self.weight.sum()), 1e-300))
        unit = np.where(spread > 0, spread, np.abs(self.location.value).max(axis=0, initial=0.0) + 1e-300)
        apart = np.abs(self.location - other.location) <= ALIKE * unit + 8 * self.rounding
        turned = np.abs(self.scatter - other.scatter) <= ALIKE * self.weight.sum() * unit[:, None] * unit
        return bool(np.allclose(self.weight, other.weight, rtol=ALIKE) and apart.all() and turned.all())

    def impossible(self, weight: Floats) -> str:
        """Rows that weigh more than their class, and matrices that are no sum of squares of deviations."""
        groups = self.weight.sum(keepdims=True) if self.pooled else self.weight
        if len(self.scatter) != len(groups) or (self.third is None) != (self.fourth is None):
            return "other matrices than it has classes and moments"
        if not within(self.weight, weight):
            return "rows that weigh more than their class"
        matrices = [m for m in (self.scatter, self.third, self.fourth) if m is not None]
        if not addable(self.rounding, *matrices):
            return "sums that are too large to be added to"
        if not _are_scatters(self.scatter) or self.scatter[groups == 0].any():
            return "a scatter matrix that no rows have"
        if self.fourth is not None and (self.fourth < -ALIKE * np.abs(self.fourth).max(initial=0.0)).any():
            return "a sum of squares that no rows have"
        return "" if self.gaps is None else self.gaps.impossible(weight)

    @property
    def never_seen(self) -> Bools:
        """Columns (K, d) that a class with rows never shows."""
        if self.pairs is None:
            return np.zeros(self.location.pivot.shape, dtype=np.bool_)
        cells = np.diagonal(self.pairs, axis1=1, axis2=2)
        return np.asarray((cells == 0) & (self.weight > 0)[:, None])

    def total(self) -> Floats:
        """Scatter about the overall mean, (d, d)."""
        seen = self.weight > 0
        share = self.weight / self.weight.sum()
        apart = np.where(seen[:, None], self.location - self.location.average(share), 0.0)
        pull = np.sqrt(self.weight)[:, None] * apart
        between = pull.T @ pull
        return np.asarray(self.scatter.sum(axis=0) + between)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are constant, or a linear combination of earlier ones over all rows.

        Tested on the total scatter: a column that is a combination only within the classes separates
        them perfectly and must stay. Rows with gaps have a say in what is constant only.
        """
        weight, _, spread = self.observed().pooled()
        empty = np.flatnonzero(weight == 0).tolist()
        constant = np.flatnonzero((weight > 0) & (spread == 0)).tolist()
        rest = [j for j in range(len(self.rounding)) if j not in {*empty, *constant}]
        found = self._redundant(rest)
        facts = [ColumnFact(j, "empty") for j in empty]
        facts += [ColumnFact(j, "constant") for j in constant]
        sums = np.concatenate([self.location.value, np.diagonal(self.scatter, axis1=1, axis2=2)])
        marks = [column.tobytes() for column in sums[:, rest].T] if found else []
        repeats = {f.column: f.of for f in duplicate_facts(marks, set())}
        for j, on in found:
            of = repeats.get(j, on)
            facts.append(ColumnFact(rest[j], "redundant", tuple(rest[i] for i in of)))
        return tuple(facts)

    def _redundant(self, columns: list[int]) -> list[tuple[int, tuple[int, ...]]]:
        """Columns that depend on earlier ones over all rows, to the last digit of the spread in a class too.

        With no more rows than columns every column depends on others and nothing can be said.
        """
        weight = float(self.weight.sum())
        if weight <= len(columns):
            return []
        there = self.observed().weight.sum(axis=0)[columns]
        order = np.argsort(-there, kind="stable").tolist()  # columns with many gaps give way to others
        columns = [columns[j] for j in order]
        total = self.total()[np.ix_(columns, columns)]
        within = self.scatter.sum(axis=0)[np.ix_(columns, columns)]
        also = {j for j, _ in dependent_columns(within, weight, self.rounding[columns])}
        found = dependent_columns(total, weight, self.rounding[columns])
        return sorted((order[j], tuple(sorted(order[i] for i in on))) for j, on in found if j in also)

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The regression of a redundant column on the others; the value of a constant one."""
        if fact.problem != "redundant":
            return self.observed().fill(fact)
        mean = self.location.average(self.weight / self.weight.sum()).value
        on = list(fact.of)
        total = self.total()
        sd = np.sqrt(np.diagonal(total))[on]
        scaled = np.linalg.solve(total[np.ix_(on, on)] / sd[:, None] / sd, total[on, fact.column] / sd)
        coef = scaled / sd
        rounding = self.rounding[fact.column] + np.abs(coef) @ self.rounding[on]
        spread = np.sqrt(total[fact.column, fact.column] / self.weight.sum())
        slack = NOTICEABLE * spread + 8 * rounding
        return Fill(float(mean[fact.column] - coef @ mean[on]), coef, float(slack))


def _few_products(pull: Floats) -> bool:
    """Whether the products of (…, K, d) are added up class by class, and not by a product of matrices."""
    return bool(pull.shape[-2] * pull.shape[-1] ** 2 <= SMALL)


def _are_scatters(matrices: Floats) -> bool:
    """Whether matrices (G, d, d) are symmetric and positive semidefinite, to rounding."""
    for matrix in matrices:
        spread = np.sqrt(np.maximum(np.diagonal(matrix), 0.0))
        unit = np.where(spread > 0, spread, 1.0)
        scaled = matrix / unit[:, None] / unit
        if not np.allclose(scaled, scaled.T, rtol=0.0, atol=ALIKE):
            return False
        try:
            np.linalg.cholesky(scaled + len(scaled) * ALIKE * np.eye(len(scaled)))
        except np.linalg.LinAlgError:
            return False
    return True


def _refuse_too_large(d: int, matrices: int) -> None:
    """Refuse what would take too much memory, before any of it is taken."""
    size = 8 * matrices * d**2
    if size > LARGEST:
        several = "a matrix" if matrices == 1 else f"{matrices:,} matrices"
        raise ValueError(
            f"covariances of {d:,} columns need {several} of {d:,} × {d:,} numbers, {size / 2**30:.1f} GiB "
            f"of the {LARGEST >> 30} GiB that are allowed; choose fewer columns (SelectKBest, PCA), or "
            "use GaussianNB, which has no covariances, or LogisticRegression, which reads sparse tables"
        )


def _added(a: T | None, b: T | None) -> T | None:
    if a is None or b is None:
        return b if a is None else a
    total: T = a + b  # type: ignore[operator]  # moments and arrays add up
    return total
