"""Weights of categories, one table a column or one joint table, and sums of counts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Self

import numpy as np

from posterior import kernels
from posterior._types import AnyArray, Floats, Ints
from posterior.stats.base import (
    ColumnFact,
    Fill,
    Recoding,
    Statistics,
    addable,
    marked_repeats,
    within,
)

IDENTIFIER_LEVELS = 20
IDENTIFIER_SHARE = 0.9


@dataclass(frozen=True, eq=False)
class CategoryCounts(Statistics):
    """Weight of every category by class: a (K, V_j) table for each column, or one (K, V_1, …, V_m).

    `mark` tells columns apart that have the same counts in other rows; it is of the codes as they were
    when a part was counted, which is all the same to two columns that repeat each other. None where nobody
    looks for those.
    """

    tables: Annotated[tuple[Floats, ...], "K ... >=0"]
    joint: bool
    mark: Annotated[Floats | None, "d finite"]
    unread: float = 0.0

    @classmethod
    def of(
        cls,
        codes: AnyArray,
        sizes: Sequence[int],
        y: Ints,
        weight: Floats | None,
        n_classes: int,
        *,
        joint: bool = False,
        marked: bool = True,
    ) -> Self:
        """Count these rows; in a joint table a row with a gap is not counted."""
        mark = kernels.column_marks(codes, weight) if marked and not joint else None
        if not joint:
            return cls(kernels.category_tables(codes, sizes, y, weight, n_classes), joint, mark)
        complete = ((codes >= 0) & (codes < np.asarray(sizes))).all(axis=1)
        cells = int(np.prod(sizes))
        flat = np.ravel_multi_index(tuple(codes[complete].T), tuple(sizes)) if cells else codes[complete, 0]
        w = None if weight is None else weight[complete]
        (table,) = kernels.category_tables(flat[:, None], (cells,), y[complete], w, n_classes)
        gone = float((~complete).sum() if weight is None else weight[~complete].sum())
        return cls((table.reshape(n_classes, *sizes),), joint, mark, gone)

    def __add__(self, other: Self) -> Self:
        tables = tuple(a + b for a, b in zip(self.tables, other.tables, strict=True))
        return type(self)(tables, self.joint, _both(self.mark, other.mark), self.unread + other.unread)

    def recode(self, recoding: Recoding, sizes: Sequence[int]) -> Self:
        """Move each category to its new code."""
        if self.joint:
            table = self.tables[0]
            for axis, (codes, size) in enumerate(zip(recoding, sizes, strict=True), start=1):
                table = _move(table, axis, codes, size)
            return replace(self, tables=(table,))
        columns = zip(self.tables, recoding, sizes, strict=True)
        return replace(self, tables=tuple(_move(t, 1, codes, size) for t, codes, size in columns))

    def _sums(self) -> tuple[Floats, ...]:
        return self.tables

    def impossible(self, weight: Floats) -> str:
        """Categories that weigh more than the rows."""
        counted = [table.reshape(len(weight), -1).sum(axis=1) for table in self.tables]
        if not all(within(each, weight) for each in counted):
            return "categories that weigh more than their rows"
        read = min((each.sum() for each in counted), default=0.0)
        if not (self.unread >= 0 and within(np.array([read + self.unread]), weight.sum(keepdims=True))):
            return "rows that were not counted and yet were"
        return "" if self.mark is None or addable(self.mark) else "sums that are too large to be added to"

    def misfit(self, sizes: Sequence[int], *, joint: bool) -> str:
        """Tables that have no place for a category, or places for others."""
        if self.joint != joint:
            return "a joint table of columns that are apart"
        return tables_misfit(self.tables, sizes, joint=joint)

    def marginal(self, columns: Sequence[int]) -> Self:
        """The counts of some of the columns."""
        mark = None if self.mark is None else self.mark[list(columns)]
        if not self.joint:
            return replace(self, tables=tuple(self.tables[j] for j in columns), mark=mark)
        table = self.tables[0]
        gone = tuple(j + 1 for j in range(table.ndim - 1) if j not in set(columns))
        return replace(self, tables=(table.sum(axis=gone),), mark=mark)

    def facts(self) -> tuple[ColumnFact, ...]:
        """Constant columns, repeated ones, and identifiers: a category for nearly every row."""
        if self.joint:
            return ()
        totals = [t.sum(axis=0) for t in self.tables]
        levels = [int((t > 0).sum()) for t in totals]
        constant = {j for j, n in enumerate(levels) if n <= 1}
        repeats: list[ColumnFact] = []
        if self.mark is not None:
            repeats = marked_repeats(self.mark, lambda j: self.tables[j].tobytes(), constant)
        return (
            *(ColumnFact(j, "constant") for j in sorted(constant)),
            *(
                ColumnFact(j, "identifier")
                for j, (n, t) in enumerate(zip(levels, totals, strict=True))
                if is_identifier(n, t.sum())
            ),
            *repeats,
        )

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The code of a constant column."""
        seen = np.flatnonzero(self.tables[fact.column].sum(axis=0))
        return Fill(float(seen[0]), np.zeros(0)) if fact.problem == "constant" and len(seen) else None


def is_identifier(n_levels: int, weight: float) -> bool:
    """Whether so many categories of so many rows are one for nearly every row."""
    return n_levels >= IDENTIFIER_LEVELS and n_levels >= IDENTIFIER_SHARE * weight


def tables_misfit(tables: Sequence[Floats], sizes: Sequence[int], *, joint: bool) -> str:
    """What is wrong with tables, the class first, of columns with so many categories; empty if nothing is."""
    if not tables or not (joint or all(table.ndim == 2 for table in tables)):
        return "tables of other columns"
    found = list(tables[0].shape[1:]) if joint else [table.shape[1] for table in tables]
    return "" if found == list(sizes) else "tables of other categories than the schema's"


def _both(a: Floats | None, b: Floats | None) -> Floats | None:
    """The marks of both sets of rows; None unless both have some."""
    return None if a is None or b is None else a + b


def _move(table: Floats, axis: int, codes: Ints | None, size: int) -> Floats:
    if codes is None:
        return table
    shape = list(table.shape)
    shape[axis] = size
    out = np.zeros(shape)
    out[(slice(None),) * axis + (codes,)] = table
    return out


@dataclass(frozen=True, eq=False)
class Totals(Statistics):
    """Weight of the cells that are there and weighted sum of their values, (K, d).

    `log_base` is the sum of the part of the log density that no parameter touches, such as −ln x!.
    The values are counts or other non-negative numbers, for which plain sums lose nothing. `mark` tells
    columns apart that have the same totals in other rows; None where columns are too many to compare, or
    nobody looks for those that repeat another.
    The counts of a multinomial are one variable: their `weight` and `log_base` are (K, 1).
    """

    weight: Annotated[Floats, "K w >=0"]
    total: Annotated[Floats, "K d >=0"]
    log_base: Annotated[Floats, "K w finite"]
    mark: Annotated[Floats | None, "d finite"] = None
    binary: bool = False
    unread: float = 0.0

    @property
    def magnitude(self) -> float:
        """Not finite if a number among the rows was not, or all of them together are not."""
        return 0.0 if np.isfinite(self.total.sum()) else np.inf

    @property
    def _is_one_variable(self) -> bool:
        """Whether the columns are the parts of one count, weighed by rows and not by cells."""
        return bool(self.weight.shape[1] != self.total.shape[1])

    def __add__(self, other: Self) -> Self:
        return replace(
            self,
            weight=self.weight + other.weight,
            total=self.total + other.total,
            log_base=self.log_base + other.log_base,
            mark=_both(self.mark, other.mark),
            unread=self.unread + other.unread,
        )

    def _sums(self) -> tuple[Floats, ...]:
        return self.weight, self.total

    def impossible(self, weight: Floats) -> str:
        """Cells that weigh more than their rows, and totals of no cells or too large to be added."""
        if not within(self.weight, weight[:, None]):
            return "cells that weigh more than their rows"
        if (self.total < 0).any() or (self.total * (self.weight == 0)).any():
            return "a total that no rows have"
        if self.binary and not within(self.total, self.weight):
            return "more ones than cells"
        if not within(np.array([self.unread]), weight.sum(keepdims=True)):
            return "rows that were not counted and yet were"
        sums = (self.total, self.log_base) if self.mark is None else (self.total, self.log_base, self.mark)
        return "" if addable(*sums) else "sums that are too large to be added to"

    def misfit(self, sizes: Sequence[int], *, joint: bool) -> str:
        """Weights of cells where the columns are parts of one count, or the other way round."""
        width = 1 if joint else self.total.shape[1]
        return "" if self.weight.shape[1] == width else "sums of rows where those of cells belong"

    def marginal(self, columns: Sequence[int]) -> Self:
        """The totals of some of the columns."""
        return self._some_columns(columns, "d" if self._is_one_variable else "dw")

    def recode(self, recoding: Recoding, sizes: Sequence[int]) -> Self:
        """A binary column whose first category became the second: ones and zeros change places."""
        flip = [codes is not None and len(codes) > 0 and codes[0] == 1 for codes in recoding]
        if not any(flip) or self.total.shape[1] != len(flip):
            return self
        return replace(self, total=np.where(flip, self.weight - self.total, self.total))

    def facts(self) -> tuple[ColumnFact, ...]:
        """Columns that are zero (or, if binary, one) everywhere, and columns that repeat an earlier one."""
        total = self.total.sum(axis=0)
        same = total == 0
        if self.binary:
            same |= np.isclose(total, self.weight.sum(axis=0), rtol=1e-12, atol=0)  # sums of real weights
        constant = set(np.flatnonzero(same).tolist())
        repeats = []
        if self.mark is not None:

            def line(j: int) -> bytes:
                return self.weight[:, j].tobytes() + self.total[:, j].tobytes()

            repeats = marked_repeats(self.mark, line, constant)
        return (*(ColumnFact(j, "constant") for j in sorted(constant)), *repeats)

    def fill(self, fact: ColumnFact) -> Fill | None:
        """The value of a constant column."""
        on = bool(self.total[:, fact.column].any())
        return Fill(float(on), np.zeros(0)) if fact.problem == "constant" else None
