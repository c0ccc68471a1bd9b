"""Columns of any kinds as levels: categories as they are, numbers in bins."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Rows, in_memory
from posterior.families.parameters import level_name
from posterior.schema import Codes, Mixed

# A column of numbers with no more distinct values has one level for each.
FEW_VALUES = 10
# Rows that quantiles are read off where the others are not in memory.
SAMPLED_ROWS = 100_000


@dataclass(frozen=True)
class NumberLevels:
    """The levels of a column of numbers: below the first of `cuts`, from there to the next, and so on.

    `middles` are numbers that stand for the levels, where rows are drawn from a model. Cuts that were `given`
    are not learnt anew from other rows.

    >>> levels = NumberLevels((18.0, 65.0))
    >>> levels.of(np.array([3.0, 18.0, np.nan, 99.0])).tolist(), levels.names
    ([0, 1, -1, 2], ('< 18', '18 to 65', '>= 65'))
    """

    cuts: tuple[float, ...]
    middles: tuple[float, ...] = field(default=(), compare=False, repr=False)
    given: bool = field(default=False, compare=False, repr=False)

    def impossible(self) -> str:
        """Cuts are finite and rise; each level has a middle of its own, or none has."""
        cuts = np.array(self.cuts, dtype=np.float64)
        if not (np.isfinite(cuts).all() and (np.diff(cuts) > 0).all()):
            return "cuts between numbers that do not rise"
        middles = np.array(self.middles, dtype=np.float64)
        fitting = not len(middles) or np.array_equal(self.of(middles), np.arange(self.size))
        return "" if fitting else "numbers that stand for other levels"

    @property
    def size(self) -> int:
        """The number of levels."""
        return len(self.cuts) + 1

    @property
    def names(self) -> tuple[str, ...]:
        """What the levels are called."""
        if not self.cuts:
            return ("any number",)
        cuts = [f"{cut:.6g}" for cut in self.cuts]
        between = [f"{a} to {b}" for a, b in pairwise(cuts)]
        return (f"< {cuts[0]}", *between, f">= {cuts[-1]}")

    def of(self, values: Floats) -> AnyArray:
        """The level of each number, −1 for NaN."""
        levels = np.searchsorted(np.array(self.cuts, dtype=np.float64), values, side="right")
        return np.where(np.isnan(values), -1, levels)

    def drawn(self, levels: AnyArray) -> Floats:
        """The numbers that stand for levels."""
        return np.array(self.middles or _between(self.cuts))[levels]


Levels = tuple[NumberLevels | None, ...]


def read_levels(block: "Codes | Mixed", known: Levels | None) -> tuple[AnyArray, tuple[int, ...]]:
    """The levels (n, d) of rows, −1 where missing, and how many levels each column has."""
    array = block.array
    numbers = {j: levels for j, levels in enumerate(known or ()) if levels is not None}
    sizes = tuple(numbers[j].size if j in numbers else size for j, size in enumerate(block.sizes))
    if not numbers and array.dtype.kind == "i":
        return array, sizes
    out = np.empty(array.shape, dtype=np.int32, order="F")
    for j in range(array.shape[1]):
        column = array[:, j]
        out[:, j] = (
            numbers[j].of(column.astype(np.float64))
            if j in numbers
            else np.where(np.isnan(column), -1, column)
        )
    return out, sizes


def learnt_levels(rows: Rows, column: int, bins: int, given: NumberLevels | None) -> NumberLevels:
    """The levels of a column of numbers: its few values, or bins of about equal weight; or those given.

    Of rows that are elsewhere a sample tells.
    """
    parts = in_memory(rows, SAMPLED_ROWS).reduce(lambda chunk: [_cells(chunk, column)], dense=1)
    values = np.concatenate([part for part, _ in parts])
    weights = [weight for _, weight in parts if weight is not None]
    if weights:
        order = np.argsort(values)
        values, up_to = values[order], np.cumsum(np.concatenate(weights)[order])
    else:
        values, up_to = np.sort(values), np.arange(1.0, len(values) + 1)
    cuts = _cuts(values, up_to, bins) if given is None else given.cuts
    middles = _between(cuts)
    bounds = [0, *np.searchsorted(values, cuts).tolist(), len(values)]
    for level, (first, end) in enumerate(pairwise(bounds)):
        if first < end:
            below = up_to[first - 1] if first else 0.0
            middles[level] = float(_quantiles(values[first:end], up_to[first:end] - below, [0.5])[0])
    return NumberLevels(cuts, tuple(middles), given is not None)


def _cells(chunk: Chunk, column: int) -> tuple[Floats, Floats | None]:
    """The numbers of a column that are there, with their weights; None where all are 1."""
    values, weight = chunk.values((column,))[:, 0], chunk.weight
    there = ~np.isnan(values)
    return values[there], None if weight is None else weight[there]


def _cuts(values: Floats, up_to: Floats, bins: int) -> tuple[float, ...]:
    """Cuts half-way between neighbours among sorted values, which weigh so much up to each."""
    firsts = values[1:][values[1:] > values[:-1]]
    if len(firsts) >= FEW_VALUES:
        firsts = np.unique(_quantiles(values, up_to, np.arange(1, bins) / bins))
        firsts = firsts[firsts > values[0]]
    before = values[np.searchsorted(values, firsts) - 1]
    middle = before / 2 + firsts / 2
    return tuple(np.unique(np.where(middle > before, middle, firsts)).tolist())


def _quantiles(values: Floats, up_to: Floats, shares: Any) -> Floats:
    """The smallest of sorted values up to which lies more than each share of the weight.

    A row of weight 2 counts as two rows.
    """
    places = np.searchsorted(up_to, np.asarray(shares) * up_to[-1], side="right")
    return np.asarray(values[np.minimum(places, len(values) - 1)])


def _between(cuts: Sequence[float]) -> list[float]:
    """A number of each level that no row has: the least of it, or just below the first cut."""
    return [float(np.nextafter(cuts[0], -np.inf)), *cuts] if cuts else [0.0]


def names_of_levels(levels: Sequence[Any] | None, own: NumberLevels | None, size: int) -> list[str]:
    """What the levels of a column are called, which are its categories or its bins."""
    return list(own.names) if own is not None else [level_name(levels, code) for code in range(size)]
