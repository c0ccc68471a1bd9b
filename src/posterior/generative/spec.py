"""A generative model before it has seen data: which columns go to which family."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._over_rows import least_and_most
from posterior._types import AnyArray, Floats
from posterior.dataset import Chunk, Rows
from posterior.families import Expected
from posterior.families.base import AUTO
from posterior.generative.expectation_maximization import Filled, filled_in, spared
from posterior.generative.model import FittedBlock, GenerativeModel
from posterior.generative.notes import (
    Note,
    column_note,
    gaps_message,
    hint_note,
    no_value_note,
    refusal,
    repair_note,
)
from posterior.generative.overflow import refuse_faint, refuse_large, refuse_parameters
from posterior.generative.plan import Block, Plan, planned
from posterior.generative.priors import Priors
from posterior.generative.push_down import pushed_down
from posterior.generative.statistics import ClassStatistics
from posterior.schema import Schema
from posterior.schema.kinds import LARGEST
from posterior.stats import Statistics
from posterior.stats.parts import Parts, sum_of_parts

# Statistics of numbers this large are looked at again, cell by cell.
SUSPICIOUS = 0.1 * LARGEST
# How often the values of a chunk are in memory at once, in families that do not read them as they lie.
COPIES = 4


@dataclass(frozen=True)
class Sums:
    """Class weights and block statistics of some rows."""

    weight: Floats
    n_rows: int
    blocks: tuple[Statistics, ...]

    def __add__(self, other: "Sums") -> "Sums":
        pairs = zip(self.blocks, other.blocks, strict=True)
        return Sums(self.weight + other.weight, self.n_rows + other.n_rows, tuple(a + b for a, b in pairs))


@dataclass(frozen=True)
class GenerativeSpec:
    """Blocks that are independent given the class, and how the class priors come about.

    `without_family` are columns without a value, of no known kind: pointed out and left out. `remarks` are
    what else is worth saying about the composition.

    `weights` are the exponents with which columns count in posteriors: one for all, or one for each column of
    the table; none where all are 1. `learn_weights` leaves them to cross-validation: "one" for all, or
    "columns", one for each.
    """

    blocks: tuple[Block, ...]
    priors: Priors = field(default_factory=Priors)
    without_family: tuple[int, ...] = ()
    remarks: tuple[Note, ...] = field(default=(), compare=False)
    weights: tuple[float, ...] = ()
    learn_weights: Literal["", "one", "columns"] = ""
    n_learnt_weights: int = field(default=0, compare=False)

    def column_weights(self, n_columns: int) -> Floats | None:
        """The weight of each column of a table; None where all are 1."""
        if all(weight == 1.0 for weight in self.weights):
            return None
        return np.array(self.weights if len(self.weights) > 1 else self.weights * n_columns)

    def prepared(self, rows: Rows) -> "GenerativeSpec":
        """The composition whose families know what they must before they count, such as words."""
        blocks = tuple(replace(b, family=b.family.prepared(rows, b.columns)) for b in self.blocks)
        return replace(self, blocks=blocks)

    def fit(self, rows: Rows, classes: AnyArray) -> GenerativeModel:
        """The model of these rows: one reading, and more only to fill in gaps where a family needs them."""
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused
            spec = self.prepared(rows)
            return spec.finished(spec.summarize(rows, classes), rows)

    def finished(self, statistics: ClassStatistics, rows: Rows) -> GenerativeModel:
        """The model that fits the statistics of these rows, read again where gaps must be filled in."""
        if not statistics.has_gaps:
            return self.estimate(statistics)
        plans = self.plans(statistics, rows)

        def model(filled: Filled) -> GenerativeModel:
            return self._estimate(statistics, plans, filled)

        return model(filled_in(self.blocks, plans, statistics, rows, model))

    def plans(self, statistics: ClassStatistics, rows: Rows | None = None) -> list[Plan]:
        """What is kept of each block; rows with gaps may spare columns that complete rows would drop."""
        plans = [planned(block, sums) for block, sums in zip(self.blocks, statistics.blocks, strict=True)]
        return plans if rows is None else spared(plans, self.blocks, statistics, rows)

    def summarize(self, dataset: Rows, classes: AnyArray) -> ClassStatistics:
        """Read the rows once."""
        schema = dataset.schema
        K = len(classes)
        known = pushed_down(self, dataset, K, SUSPICIOUS)
        if known is not None:
            return self.statistics(Sums(*known), schema, classes)
        size = sum(block.family.size(K, len(block.columns)) for block in self.blocks)
        total = dataset.reduce(BlockSums(self, schema, K), dense=self.dense, size=size)
        return self.statistics(total, schema, classes)

    def sums(self, chunk: Chunk, schema: Schema, n_classes: int) -> Sums:
        """What each family needs to know of some rows."""
        y, weight = chunk.y, chunk.weight
        suspicious = _suspicious(weight)
        parts = []
        for block in self.blocks:
            family, columns = block.family, block.columns
            if family.takes_tables:
                rows = block.as_it_lies(chunk)
            else:
                rows = block.read(chunk)
                family.check(rows, schema.names_of(columns))
            with np.errstate(over="ignore", invalid="ignore"):
                part = family.summarize(rows, y, weight, n_classes)
            if family.reads in ("values", "matrix") and not part.magnitude < suspicious ** (1 / part.degree):
                refuse_large(block, chunk, part, schema)
                family.check(block.read(chunk), schema.names_of(columns))
            if len(part.faint):
                refuse_faint(block, chunk, part, schema)
            parts.append(part)
        return Sums(kernels.class_weights(y, weight, n_classes), chunk.n_rows, tuple(parts))

    def sums_of_parts(self, chunk: Chunk, size: int, n_classes: int) -> "BlockParts | None":
        """What `sums` gives of every `size` rows, if all families have it by compiled code."""
        y, weight = chunk.y, chunk.weight
        found = []
        for block in self.blocks:
            family = block.family
            if not family.takes_tables or family.reads != "values" or not chunk.is_in_place(block.columns):
                return None
            parts = family.summarize_parts(chunk.table(block.columns), y, weight, n_classes, size)
            if parts is None:
                return None
            found.append(parts)
        return BlockParts(found, chunk.n_rows, size, _suspicious(weight)) if found else None

    def statistics(self, sums: Sums, schema: Schema, classes: AnyArray) -> ClassStatistics:
        """Sums with what gives their positions a meaning."""
        columns = tuple(block.columns for block in self.blocks)
        return ClassStatistics(classes, schema, sums.weight, sums.n_rows, columns, sums.blocks)

    @property
    def dense(self) -> int:
        """How many cells a row takes while its values are summed up, which families may do in copies."""
        reading = [block for block in self.blocks if block.family.reads in ("values", "mixed")]
        return sum(len(block.columns) * (1 if block.family.takes_tables else COPIES) for block in reading)

    @property
    def is_open(self) -> bool:
        """Whether settings are left to cross-validation."""
        return bool(self.learn_weights) or any(block.family.open_settings for block in self.blocks)

    def unsettled(self, chosen: Collection[str]) -> "GenerativeSpec":
        """The composition with these settings, named as in a `Tuning`, left open again."""
        blocks = []
        for block in self.blocks:
            family, whose = block.family, type(block.family).__name__
            names = [name for name in family.choices if {name, f"{name} of {whose}"} & set(chosen)]
            again = dict.fromkeys(names, AUTO)
            blocks.append(replace(block, family=replace(family, **again)) if again else block)  # type: ignore[type-var]
        weights = () if "weights" in chosen else self.weights
        return replace(self, blocks=tuple(blocks), weights=weights)

    def joined_by(self, fuller: "GenerativeSpec", late: set[int]) -> "GenerativeSpec":
        """The same blocks and, of a fuller composition, the columns that had no value and no block before."""
        late = late - {j for block in self.blocks for j in block.columns}
        blocks = []
        for block in fuller.blocks:
            places = [i for i, j in enumerate(block.columns) if j in late]
            if places:
                columns = tuple(block.columns[i] for i in places)
                blocks.append(replace(block, columns=columns, family=block.family.marginal(places)))
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
        for block, sums in zip(self.blocks, statistics.blocks, strict=True):
            if sums.has_gaps:
                raise ValueError(gaps_message([statistics.schema.names[j] for j in block.columns]))
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            return self._estimate(statistics, self.plans(statistics), None)

    def _estimate(
        self, statistics: ClassStatistics, plans: Sequence[Plan], filled: Filled | None
    ) -> GenerativeModel:
        fitted: list[FittedBlock] = []
        schema = statistics.schema
        notes = [no_value_note(schema.columns[j].name) for j in self.without_family]
        notes += self.remarks
        notes += [hint_note(reading.name, reading.hint, left_out=True) for reading in schema.gone]
        hinted = schema.hinted
        used = [j for block in self.blocks for j in block.columns if j in hinted] if hinted else []
        notes += [hint_note(schema.input_of(j), schema.columns[j].hint) for j in used]
        log_likelihood = 0.0
        parts = zip(self.blocks, statistics.blocks, plans, strict=True)
        for i, (block, sums, plan) in enumerate(parts):
            expected = None if filled is None else filled.blocks.get(i)
            part, gain = _estimate_block(block, sums, plan, expected, statistics.schema)
            notes += _notes(block, plan, part, statistics)
            fitted.append(part)
            log_likelihood += gain
        log_prior = self.priors.log_prior(statistics.weight, statistics.classes)
        with np.errstate(invalid="ignore"):
            log_likelihood += float(np.nansum(statistics.weight * log_prior))
        unread = max((sums.unread for sums in statistics.blocks), default=0.0)
        reasons = [p.distribution.why_no_likelihood for p in fitted if p.distribution is not None]
        why_not = next(filter(None, reasons), "")
        return GenerativeModel(
            classes=statistics.classes,
            schema=statistics.schema,
            log_prior=log_prior,
            blocks=tuple(fitted),
            spec=self,
            statistics=statistics
            if filled is None and all(b.family.mergeable for b in self.blocks)
            else None,
            log_likelihood=None if unread or why_not else log_likelihood,
            why_no_likelihood=why_not
            or f"{unread:g} rows have gaps in a joint block and were left out of it: "
            "the likelihood of all rows, AIC and BIC are not known",
            weight=float(statistics.weight.sum()),
            notes=(*notes, *(() if filled is None else filled.notes)),
            path=None if filled is None else filled.path + (log_likelihood - filled.log_likelihood),
            weights=self.column_weights(len(schema)),
        )

    def why_not_mergeable(self, schema: Schema) -> str | None:
        """The reason why models of this kind cannot be updated or added, or None."""
        for block in self.blocks:
            names = ", ".join(repr(schema.names[j]) for j in block.columns)
            if not block.family.mergeable:
                return f"column {names}: {block.family.why_not_mergeable}"
            for setting in block.family.open_settings:
                return (
                    f'column {names}: {setting}="auto" is chosen by cross-validation, which needs all rows '
                    "at once; use fit, read the chosen value from tuning_, and set it"
                )
        return None


@dataclass(frozen=True)
class BlockSums:
    """Sums up chunks for a composition. Small: it travels to where rows are."""

    spec: GenerativeSpec
    schema: Schema
    n_classes: int

    def __call__(self, chunk: Chunk) -> Sums:
        """The sums of a chunk."""
        return self.spec.sums(chunk, self.schema, self.n_classes)

    @property
    def cells(self) -> int:
        """About how many cells the sums of a chunk have."""
        K = self.n_classes
        blocks = ((block.family, len(block.columns)) for block in self.spec.blocks)
        return 1 + sum(4 * K * d + family.size(K, d) for family, d in blocks)

    @property
    def shares_out(self) -> bool:
        """Whether threads share out the work on one chunk."""
        blocks = ((block.family, len(block.columns)) for block in self.spec.blocks)
        return all(family.shares_out(self.n_classes, d) for family, d in blocks)

    def of_parts(self, chunk: Chunk, size: int) -> "BlockParts | None":
        """The sums of every `size` rows of a chunk, if compiled code has them."""
        return self.spec.sums_of_parts(chunk, size, self.n_classes)


@dataclass(frozen=True)
class BlockParts:
    """The sums of parts of `size` rows each, which several threads work out."""

    blocks: Sequence[Parts[Any]]
    n_rows: int
    size: int
    suspicious: float

    def run(self, workers: int) -> None:
        """Work out all parts by so many threads."""
        for parts in self.blocks:
            parts.run(workers)

    def total(self) -> Sums | None:
        """The sums of all parts; None where one has gaps or odd numbers."""
        found = []
        with np.errstate(over="ignore", invalid="ignore"):
            for parts in self.blocks:
                stack = parts.whole()
                if stack is None or len(stack.faint) or not stack.magnitude < self.suspicious:
                    return None
                found.append(sum_of_parts(stack, -(-self.n_rows // self.size)))
        return Sums(found[0].class_weight, self.n_rows, tuple(found))


def _suspicious(weight: Floats | None) -> float:
    """The magnitude from which on numbers are looked at; a light row shows by the root of its weight."""
    if weight is None or not len(weight):
        return SUSPICIOUS
    return SUSPICIOUS * min(1.0, float(np.sqrt(least_and_most(weight)[0])))


def _estimate_block(
    block: Block, sums: Statistics, plan: Plan, expected: Expected[Any] | None, schema: Schema
) -> tuple[FittedBlock, float]:
    """The distribution of the columns worth keeping, and its log-likelihood."""
    if not plan.keep:
        return FittedBlock((), None, plan.fillings), 0.0
    kept = plan.part(sums) if expected is None else expected.statistics
    columns = block.columns if plan.whole else tuple(np.take(block.columns, plan.keep).tolist())
    with np.errstate(over="ignore", invalid="ignore"):
        refuse_parameters(kept.magnitude, columns, schema)
        distribution = plan.family.estimate(kept)
        gain = 0.0 if expected is None else expected.log_likelihood
        if expected is None and not distribution.why_no_likelihood:
            gain = distribution.log_likelihood(kept)
        refuse_parameters(gain, columns, schema)
    return FittedBlock(columns, distribution, plan.fillings, block.family.reads, plan), gain


def _notes(block: Block, plan: Plan, part: FittedBlock, statistics: ClassStatistics) -> list[Note]:
    """What was noticed about the columns of a block and about its parameters, in words."""
    names = statistics.schema.names_of(block.columns)
    notes = [
        column_note(fact.problem, names[fact.column], [names[j] for j in fact.of], left_out=left_out)
        for fact, left_out in plan.facts
    ]
    repairs = () if part.distribution is None else part.distribution.repairs
    for repair in repairs:
        notes.append(repair_note(repair, statistics.classes, [names[j] for j in plan.keep]))
        if repair.refused:
            raise ValueError(refusal(notes[-1]))
    return notes
