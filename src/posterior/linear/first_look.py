"""What is looked for in the rows before anything is learnt from them, in one reading."""

from dataclasses import dataclass

from posterior.dataset import Chunk, Rows
from posterior.linear.design import Design
from posterior.linear.extremes import Ranges, limits, refuse_ranges
from posterior.stats.base import FieldSums


@dataclass(frozen=True, eq=False)
class FirstLook(FieldSums):
    """How many chunks have gaps, and the ranges of the numbers."""

    gaps: int
    ranges: Ranges


def refuse_unusable(rows: Rows, design: Design, degree: int) -> None:
    """Refuse gaps where a design has no place for them, and numbers whose squares overflow or vanish."""
    numbers, largest, smallest = design.numbers, *limits(degree)

    def look(chunk: Chunk) -> FirstLook:
        gaps = 0 if design.fill is not None else design.count_gaps(chunk)
        return FirstLook(gaps, Ranges.of(chunk.matrix(numbers), largest, smallest))

    if not numbers:
        if design.fill is None:
            design.refuse_gaps(rows)
        return
    seen = rows.reduce(look, dense=len(numbers))
    if seen.gaps:
        design.refuse_gaps(rows)
    refuse_ranges(rows, numbers, design.schema, degree, seen.ranges)
