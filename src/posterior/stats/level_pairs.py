"""Weights of levels two by two: what one-dependence models need to know of some rows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.stats.base import ColumnFact, Fill, Recoding, Statistics, within
from posterior.stats.counts import is_identifier


@dataclass(frozen=True, eq=False)
class LevelPairs(Statistics):
    """Weight of the rows of each class that have two levels together, (K, V, V).

    The V levels are those of all columns, one column after the other, `sizes` of each. A level with itself
    has its own weight; two levels of one column have none. A row counts in the pairs of the cells it has.
    """

    counts: Annotated[Floats, "K V V >=0"]
    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls, levels: AnyArray, sizes: Sequence[int], y: Ints, weight: Floats | None, n_classes: int
    ) -> Self:
        """Count rows of levels (n, d), numbered from 0 in each column; −1 is missing."""
        places = placed(levels, sizes)
        counts = kernels.level_pair_counts(places, sum(sizes), y, weight, n_classes)
        return cls(counts, tuple(sizes))

    @property
    def starts(self) -> Ints:
        """The number of the first level of each column."""
        return first_levels(self.sizes)

    @property
    def single(self) -> Floats:
        """Weight of each level by class, (K, V)."""
        return np.diagonal(self.counts, axis1=1, axis2=2)

    def by_column(self, cells: Floats) -> Floats:
        """Sums over the levels of each column, along the last axis."""
        filled = [j for j, size in enumerate(self.sizes) if size]
        out = np.zeros((*cells.shape[:-1], len(self.sizes)))
        if filled:
            out[..., filled] = np.add.reduceat(cells, self.starts[filled], axis=-1)
        return out

    @property
    def column(self) -> Ints:
        """The column of each level, (V,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    @property
    def is_complete(self) -> bool:
        """Whether every row has all cells, or none."""
        rows = self.by_column(self.by_column(self.counts).swapaxes(1, 2)).reshape(len(self.counts), -1)
        return bool(np.allclose(rows, rows[:, :1], rtol=1e-9, atol=0))

    def __add__(self, other: Self) -> Self:
        return replace(self, counts=self.counts + other.counts)

    def recode(self, recoding: Recoding, sizes: Sequence[int]) -> Self:
        """Move each category to its new code; levels of numbers stay."""
        if all(codes is None for codes in recoding):
            return self
        new = [
            own if codes is None else size
            for own, codes, size in zip(self.sizes, recoding, sizes, strict=True)
        ]
        starts = first_levels(new)
        moved = [
            start + (np.arange(own) if codes is None else codes)
            for start, own, codes in zip(starts, self.sizes, recoding, strict=True)
        ]
        places = np.concatenate([np.zeros(0, np.int64), *moved]).astype(np.int64)
        counts = np.zeros((len(self.counts), sum(new), sum(new)))
        counts[:, places[:, None], places] = self.counts
        return replace(self, counts=counts, sizes=tuple(new))

    def marginal(self, columns: Sequence[int]) -> Self:
        """The pairs of some of the columns."""
        keep = levels_of(columns, self.sizes)
        return replace(
            self, counts=self.counts[:, keep[:, None], keep], sizes=tuple(self.sizes[j] for j in columns)
        )

    def _sums(self) -> tuple[Floats, ...]:
        return (self.counts,)

    def impossible(self, weight: Floats) -> str:
        """Pairs that weigh more than one of the two, levels more than rows, tables that are not symmetric."""
        if not np.allclose(self.counts, self.counts.swapaxes(1, 2), rtol=1e-9, atol=0):
            return "pairs of levels that weigh something else the other way round"
        single = self.single
        if not within(self.by_column(single), weight[:, None]):
            return "levels that weigh more than their rows"
        same = self.column[:, None] == self.column
        if (self.counts * (same & ~np.eye(len(same), dtype=np.bool_))).any():
            return "two levels of one column in a row"
        if not within(self.by_column(self.counts), single[:, :, None]):
            return "pairs of levels that weigh more than one of the two"
        return ""

    def misfit(self, sizes: Sequence[int], *, joint: bool) -> str:
        """Tables that have no place for a category, or places for others."""
        total, fitting = self.counts.shape[1], len(self.sizes) == len(sizes)
        fitting &= all(size in (0, own) for size, own in zip(sizes, self.sizes, strict=False))
        fitting &= min(self.sizes, default=0) >= 0 and sum(self.sizes) == total
        return "" if fitting else "tables of other levels than the columns have"

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns of one level, repeated ones, and identifiers: a level for nearly every row."""
        seen = self.single.sum(axis=0)
        levels = self.by_column((seen > 0).astype(np.float64)).astype(int).tolist()
        rows = self.by_column(seen).tolist()
        constant = {j for j, n in enumerate(levels) if n <= 1}
        return (
            *(ColumnFact(j, "constant") for j in sorted(constant)),
            *(
                ColumnFact(j, "identifier")
                for j, (n, weight) in enumerate(zip(levels, rows, strict=True))
                if is_identifier(n, weight)
            ),
            *self._repeats(constant),
        )

    def _repeats(self, constant: set[int]) -> list[ColumnFact]:
        """Columns whose levels are always those of an earlier column."""
        total, single = self.counts.sum(axis=0), self.single.sum(axis=0)
        parts = [slice(a, a + size) for a, size in zip(self.starts.tolist(), self.sizes, strict=True)]
        alike: dict[bytes, list[int]] = {}
        out = []
        for j, own in enumerate(parts):
            if j in constant:
                continue
            before = alike.setdefault(single[own].tobytes(), [])
            same = [i for i in before if np.array_equal(np.diag(total[parts[i], own]), single[own])]
            out += [ColumnFact(j, "duplicate", (i,)) for i in same[:1]]
            before.append(j)
        return out

    def fill(self, fact: ColumnFact) -> Fill | None:
        """Nothing: which value a level of numbers had is not known any more."""
        return None


def first_levels(sizes: Sequence[int]) -> Ints:
    """The number of the first level of each column, where all levels are numbered through.

    >>> first_levels([3, 2, 4]).tolist()
    [0, 3, 5]
    """
    return np.cumsum([0, *sizes])[:-1].astype(np.int64)


def levels_of(columns: Sequence[int], sizes: Sequence[int]) -> Ints:
    """The numbers of the levels of some columns.

    >>> levels_of([2, 0], [3, 2, 4]).tolist()
    [5, 6, 7, 8, 0, 1, 2]
    """
    starts = first_levels(sizes)
    parts = [np.arange(starts[j], starts[j] + sizes[j]) for j in columns]
    return np.concatenate([np.zeros(0, np.int64), *parts]).astype(np.int64)


def placed(levels: AnyArray, sizes: Sequence[int]) -> AnyArray:
    """Levels (n, d) that count from 0 in each column, numbered through; −1 where missing or unknown."""
    known = (levels >= 0) & (levels < np.asarray(sizes, dtype=np.int64))
    return np.where(known, levels + first_levels(sizes), -1).astype(np.int32)
