"""A generative model before it has seen data: which columns go to which family."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Dataset, read
from posterior.families import Family
from posterior.generative.model import Filling, FittedBlock, GenerativeModel
from posterior.generative.notes import Note, column_note, hint_note, no_family_note, repair_note
from posterior.generative.priors import Priors
from posterior.generative.statistics import ClassStatistics
from posterior.schema import Schema
from posterior.stats import Statistics
from posterior.stats.base import Problem

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


@dataclass(frozen=True)
class _Sums:
    """Class weights and block statistics of some rows."""

    weight: Floats
    n_rows: int
    blocks: tuple[Statistics, ...]

    def __add__(self, other: "_Sums") -> "_Sums":
        pairs = zip(self.blocks, other.blocks, strict=True)
        return _Sums(self.weight + other.weight, self.n_rows + other.n_rows, tuple(a + b for a, b in pairs))


@dataclass(frozen=True)
class GenerativeSpec:
    """Blocks that are independent given the class, and how the class priors come about.

    `without_family` are columns of a kind that no family was given for: pointed out and left out.
    """

    blocks: tuple[Block, ...]
    priors: Priors = field(default_factory=Priors)
    without_family: tuple[int, ...] = ()

    def summarize(self, dataset: Dataset, classes: AnyArray) -> ClassStatistics:
        """Read the rows once."""
        names = dataset.schema.names
        n_classes = len(classes)

        def sums(chunk: Chunk) -> _Sums:
            y, weight = chunk.y, chunk.weight
            parts = []
            for block in self.blocks:
                rows = block.read(chunk)
                block.family.check(rows, [names[j] for j in block.columns])
                parts.append(block.family.summarize(rows, y, weight, n_classes))
            return _Sums(np.bincount(y, weight, n_classes).astype(np.float64), chunk.n_rows, tuple(parts))

        dense = sum(len(block.columns) for block in self.blocks if block.family.reads == "values")
        total = dataset.reduce(sums, dense=dense)
        columns = tuple(block.columns for block in self.blocks)
        return ClassStatistics(classes, dataset.schema, total.weight, total.n_rows, columns, total.blocks)

    def joined_by(self, fuller: "GenerativeSpec", late: set[int]) -> "GenerativeSpec":
        """The same blocks and, of a fuller composition, the columns that had no value and no block before."""
        late = late - {j for block in self.blocks for j in block.columns}
        blocks = [
            replace(block, columns=found)
            for block in fuller.blocks
            if (found := tuple(j for j in block.columns if j in late))
        ]
        rest = tuple(j for j in self.without_family if j not in {c for b in blocks for c in b.columns})
        return replace(self, blocks=(*self.blocks, *blocks), without_family=rest)

    def widened(self, statistics: ClassStatistics, nothing: Chunk) -> ClassStatistics:
        """Statistics of fewer blocks with empty ones for the others; `nothing` is a chunk without rows."""
        more = [
            block.family.summarize(block.read(nothing), nothing.y, None, len(statistics.classes))
            for block in self.blocks[len(statistics.blocks) :]
        ]
        columns = tuple(block.columns for block in self.blocks)
        return replace(statistics, columns=columns, blocks=(*statistics.blocks, *more))

    def estimate(self, statistics: ClassStatistics) -> GenerativeModel:
        """The model that fits the statistics; no look at the data."""
        fitted: list[FittedBlock] = []
        columns = statistics.schema.columns
        notes = [
            no_family_note(columns[j].name, "empty" if columns[j].empty else columns[j].kind)
            for j in self.without_family
        ]
        used = [columns[j] for block in self.blocks for j in block.columns]
        notes += [hint_note(column.name, column.hint) for column in used if column.hint]
        log_likelihood = 0.0
        for block, sums in zip(self.blocks, statistics.blocks, strict=True):
            part, found, gain = _estimate_block(block, sums, statistics)
            notes += found
            fitted.append(part)
            log_likelihood += gain
        log_prior = self.priors.log_prior(statistics.weight, statistics.classes)
        with np.errstate(invalid="ignore"):
            log_likelihood += float(np.nansum(statistics.weight * log_prior))
        unread = max((sums.unread for sums in statistics.blocks), default=0.0)
        return GenerativeModel(
            classes=statistics.classes,
            schema=statistics.schema,
            log_prior=log_prior,
            blocks=tuple(fitted),
            spec=self,
            statistics=statistics if all(b.family.mergeable for b in self.blocks) else None,
            log_likelihood=None if unread else log_likelihood,
            why_no_likelihood=f"{unread:g} rows have gaps in a joint block and were left out of it: "
            "the likelihood of all rows, AIC and BIC are not known",
            weight=float(statistics.weight.sum()),
            notes=tuple(notes),
        )

    def why_not_mergeable(self, schema: Schema) -> str | None:
        """The reason why models of this kind cannot be updated or added, or None."""
        for block in self.blocks:
            if not block.family.mergeable:
                names = ", ".join(repr(schema.names[j]) for j in block.columns)
                return f"column {names}: {block.family.why_not_mergeable}"
        return None


def _estimate_block(
    block: Block, sums: Statistics, statistics: ClassStatistics
) -> tuple[FittedBlock, list[Note], float]:
    """The distribution of the columns worth keeping, what was noticed, and the log-likelihood."""
    names = [statistics.schema.names[j] for j in block.columns]
    notes, gone, fillings = [], set(), []
    facts = sums.facts() if block.leave_out else ()
    for fact in (f for f in facts if f.problem not in block.family.unharmed_by):
        leave = fact.problem in block.leave_out
        notes.append(
            column_note(fact.problem, names[fact.column], [names[j] for j in fact.of], left_out=leave)
        )
        if leave:
            gone.add(fact.column)
            filling = sums.fill(fact)
            if filling is not None:
                sources = tuple(block.columns[j] for j in fact.of)
                fillings.append(Filling(block.columns[fact.column], filling[0], sources, filling[1]))
    keep = [j for j in range(len(block.columns)) if j not in gone]
    if not keep:
        return FittedBlock((), None, tuple(fillings)), notes, 0.0
    kept = sums.marginal(keep) if gone else sums
    distribution = (block.family.marginal(keep) if gone else block.family).estimate(kept)
    notes += [repair_note(r, statistics.classes, [names[j] for j in keep]) for r in distribution.repairs]
    columns = tuple(block.columns[j] for j in keep)
    part = FittedBlock(columns, distribution, tuple(fillings), block.family.reads)
    return part, notes, distribution.log_likelihood(kept)
