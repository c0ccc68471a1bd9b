"""Which columns of a block are worth describing, decided once from the statistics of all rows."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from posterior._types import Bools, Floats
from posterior.dataset import Chunk, read
from posterior.families import Family
from posterior.stats import CategoryCounts, Statistics
from posterior.stats.base import ColumnFact, Fill, Problem

WITHOUT_EFFECT: frozenset[Problem] = frozenset({"empty", "constant", "redundant", "wordless"})
NOT_WORTH_KEEPING: frozenset[Problem] = WITHOUT_EFFECT | {"identifier"}
NOTHING: frozenset[Problem] = frozenset()


@dataclass(frozen=True)
class Block:
    """Columns that one family describes, and which problem columns it leaves out.

    To leave a column out is to integrate it out: the model is that of the table without it.
    """

    columns: tuple[int, ...]
    family: Family[Any]
    leave_out: frozenset[Problem] = field(default=WITHOUT_EFFECT, compare=False)

    def read(self, chunk: Chunk) -> Any:
        """The columns of a chunk, as the family takes them."""
        return read(chunk, self.family.reads, self.columns)


@dataclass(frozen=True, eq=False)
class Filling:
    """How to write a column that the model left out: intercept + Σ coef · other columns, within `slack`."""

    column: int
    intercept: float
    sources: tuple[int, ...]
    coef: Floats
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
    found = statistics.facts() if block.leave_out or isinstance(statistics, CategoryCounts) else ()
    if not block.leave_out:
        found = tuple(fact for fact in found if fact.problem == "identifier")
    found = tuple(f for f in found if not (f.problem == "redundant" and f.column in spared))
    facts = tuple(
        (f, f.problem in block.leave_out) for f in found if f.problem not in block.family.unharmed_by
    )
    gone = {fact.column for fact, left_out in facts if left_out}
    fillings = []
    for fact, left_out in facts:
        filling = statistics.fill(fact) if left_out else None
        if filling is not None:
            sources = tuple(block.columns[j] for j in fact.of)
            fill = Fill(*filling)
            column = block.columns[fact.column]
            fillings.append(Filling(column, fill.intercept, sources, fill.coef, fill.slack))
    keep = tuple(j for j in range(len(block.columns)) if j not in gone)
    family = block.family.marginal(keep) if gone and keep else block.family
    return Plan(keep, family, facts, tuple(fillings), whole=not gone)
