"""Which columns of a block are worth describing, decided once from the statistics of all rows."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, get_args

import numpy as np

from posterior._types import Bools, Floats
from posterior.dataset import Chunk, as_stored, read
from posterior.families import Family
from posterior.schema.columns import all_places
from posterior.stats import Statistics
from posterior.stats.base import ColumnFact, Problem

WITHOUT_EFFECT: frozenset[Problem] = frozenset({"empty", "constant", "redundant", "wordless"})
NOT_WORTH_KEEPING: frozenset[Problem] = WITHOUT_EFFECT | {"identifier"}
NOTHING: frozenset[Problem] = frozenset()
EVERYTHING: frozenset[Problem] = frozenset(get_args(Problem))


@dataclass(frozen=True)
class Block:
    """Columns that one family describes, which problem columns it leaves out, and which it mentions.

    To leave a column out is to integrate it out: the model is that of the table without it.
    """

    columns: tuple[int, ...]
    family: Family[Any]
    leave_out: frozenset[Problem] = field(default=WITHOUT_EFFECT, compare=False)
    mention: frozenset[Problem] = field(default=EVERYTHING, compare=False)

    def read(self, chunk: Chunk) -> Any:
        """The columns of a chunk, as the family takes them."""
        cells = read(chunk, self.family.reads, self.columns)
        return as_stored(cells, chunk, self.columns) if self.family.as_stored else cells

    def as_it_lies(self, chunk: Chunk) -> Any:
        """The columns of a chunk as they lie in memory, for a family that takes tables."""
        if self.family.reads == "values":
            return chunk.table(self.columns)
        cells = chunk.matrix(self.columns, check=False)
        return as_stored(cells, chunk, self.columns) if self.family.as_stored else cells


@dataclass(frozen=True, eq=False)
class Filling:
    """How to write a column that the model left out: intercept + Σ coef · other columns, within `slack`."""

    column: int
    intercept: float
    sources: tuple[int, ...]
    coef: Annotated[Floats, "s finite"]
    slack: float = float("inf")

    def broken(self, chunk: Chunk) -> Bools:
        """Rows whose value is not what the other columns make it; never where a value is missing."""
        values = chunk.values((self.column, *self.sources))
        apart = np.abs(values[:, 0] - self.intercept - values[:, 1:] @ self.coef)
        return np.asarray(apart > self.slack)


@dataclass(frozen=True, eq=False)
class Plan:
    """What is kept of a block: positions of columns, and the family of those.

    `facts` are what was noticed of the columns, each with whether its column was left out for it;
    `fillings` say how to write the columns that were left out.
    """

    keep: tuple[int, ...]
    family: Family[Any]
    facts: tuple[tuple[ColumnFact, bool], ...] = ()
    fillings: tuple[Filling, ...] = ()
    whole: bool = True

    @property
    def rules(self) -> tuple[Filling, ...]:
        """The rules that all rows must keep."""
        return tuple(filling for filling in self.fillings if filling.slack < np.inf)

    def part(self, statistics: Statistics) -> Any:
        """The statistics of the columns that are kept."""
        return statistics if self.whole else statistics.marginal(self.keep)

    def described_by(self, family: Family[Any]) -> "Plan":
        """The same columns, described by another family of the whole block."""
        return replace(self, family=family if self.whole or not self.keep else family.marginal(self.keep))


def planned(block: Block, statistics: Statistics, spared: Collection[int] = ()) -> Plan:
    """What is worth keeping of a block; columns at the places `spared` are no combinations of others."""
    worth = (block.leave_out | block.mention) - block.family.unharmed_by
    facts = statistics.facts() if worth else ()
    found = [f for f in facts if not (f.problem == "redundant" and f.column in spared)]
    noticed = tuple((f, f.problem in block.leave_out) for f in found if f.problem in worth)
    gone = {fact.column for fact, left_out in noticed if left_out}
    fillings = []
    for fact, left_out in noticed:
        fill = statistics.fill(fact) if left_out else None
        if fill is not None:
            sources = tuple(block.columns[j] for j in fact.of)
            column = block.columns[fact.column]
            fillings.append(Filling(column, fill.intercept, sources, fill.coef, fill.slack))
    places = all_places(len(block.columns))
    keep = tuple(np.delete(places, list(gone)).tolist()) if gone else places
    family = block.family.marginal(keep) if gone and keep else block.family
    return Plan(keep, family, noticed, tuple(fillings), whole=not gone)
