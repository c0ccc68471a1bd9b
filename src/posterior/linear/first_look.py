"""What is looked for in the rows before anything is learnt from them, in one reading."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from posterior.dataset import Chunk, Rows
from posterior.kernels import SeparateColumns
from posterior.linear.design import Design
from posterior.linear.extremes import Ranges, limits, ranges_of_parts, refuse_ranges
from posterior.stats.base import FieldSums

NO_RANGES = Ranges(np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class FirstLook(FieldSums):
    """How many chunks have gaps, or what the design learns of them; and the ranges of the numbers."""

    gaps: int
    ranges: Ranges
    seen: Any


def learnt_design(rows: Rows, design: Design, degree: int) -> tuple[Design, Ranges | None]:
    """The design with the means, gaps and levels of these rows, and products where `degree` is 2.

    And the ranges of its numbers over all rows, where these came of it. Gaps are refused where a design has
    no place for them, and so are numbers whose squares overflow or vanish.
    """
    numbers = design.numbers
    look = _Look(design, degree)
    found = rows.reduce(look, dense=len(numbers))
    if found.gaps:
        design.refuse_gaps(rows)
    refuse_ranges(rows, numbers, design.schema, degree, found.ranges)
    ranges = found.ranges if numbers and found.ranges.exact else None
    return design.learnt(rows, degree, found.seen if look.learns else None), ranges


class _Look:
    """Looks at a chunk, or at many parts of one by several threads."""

    cells = 1

    def __init__(self, design: Design, degree: int) -> None:
        self._design, self._limits = design, limits(degree)
        self.learns = design.learns_means(degree)
        # Rows of nothing but numbers, of which nothing more is to be learnt.
        self._plain = bool(design.numbers) and not self.learns and not design.factors

    def __call__(self, chunk: Chunk) -> FirstLook:
        design = self._design
        as_they_lie = _ranges_in_place(chunk, design.numbers) if self._plain else None
        if as_they_lie is not None:
            return FirstLook(0, as_they_lie, 0)
        gaps = 0 if design.fill is not None else design.count_gaps(chunk)
        ranges = Ranges.of(chunk.matrix(design.numbers), *self._limits) if design.numbers else NO_RANGES
        return FirstLook(gaps, ranges, design.means_and_gaps(chunk) if self.learns else 0)

    def of_parts(self, chunk: Chunk, size: int) -> "_LookAtParts | None":
        """Looks at parts of the rows, if these are numbers that compiled code reads as they lie."""
        if not self._plain or not chunk.is_in_place(self._design.numbers):
            return None
        parts = ranges_of_parts(chunk.table(self._design.numbers), size)
        return None if parts is None else _LookAtParts(parts)


@dataclass(frozen=True)
class _LookAtParts:
    parts: Any

    def run(self, workers: int) -> None:
        """Look at all parts by so many threads."""
        self.parts.run(workers)

    def total(self) -> FirstLook | None:
        """What was seen in all rows; None where a number is missing or infinite."""
        ranges = Ranges.of_parts(self.parts)
        return None if ranges is None else FirstLook(0, ranges, 0)


def _ranges_in_place(chunk: Chunk, numbers: tuple[int, ...]) -> Ranges | None:
    """The ranges of rows or columns as they lie, without a copy; None of others, or where one is missing."""
    if not chunk.is_in_place(numbers):
        return None
    table = chunk.table(numbers)
    parts = ranges_of_parts(table, max(len(table), 1))
    if parts is not None:
        parts.run(1)
        return Ranges.of_parts(parts)
    if isinstance(table, SeparateColumns) and len(table):
        return Ranges.of_columns([array[table.start : table.stop] for array in table.arrays])
    return None
