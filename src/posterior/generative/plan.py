"""Which columns of a block are worth describing, decided once from the statistics of all rows."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.dataset import Chunk, read
from posterior.families import Family
from posterior.stats import Statistics
from posterior.stats.base import ColumnFact, Problem

WITHOUT_EFFECT: frozenset[Problem] = frozenset({"constant", "redundant"})
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
    """How to write a column that the model left out: intercept + Σ coef · other columns."""

    column: int
    intercept: float
    sources: tuple[int, ...]
    coef: Floats


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

    def part(self, statistics: Statistics) -> Any:
        """The statistics of the columns that are kept."""
        return statistics if self.whole else statistics.marginal(self.keep)


def planned(block: Block, statistics: Statistics) -> Plan:
    """What is worth keeping of a block."""
    found = statistics.facts() if block.leave_out else ()
    facts = tuple(
        (f, f.problem in block.leave_out) for f in found if f.problem not in block.family.unharmed_by
    )
    gone = {fact.column for fact, left_out in facts if left_out}
    fillings = []
    for fact, left_out in facts:
        filling = statistics.fill(fact) if left_out else None
        if filling is not None:
            sources = tuple(block.columns[j] for j in fact.of)
            fillings.append(Filling(block.columns[fact.column], filling[0], sources, np.asarray(filling[1])))
    keep = tuple(j for j in range(len(block.columns)) if j not in gone)
    family = block.family.marginal(keep) if gone and keep else block.family
    return Plan(keep, family, facts, tuple(fillings), whole=not gone)
