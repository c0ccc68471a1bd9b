"""Rows to learn from, in memory or elsewhere: what a fit asks of them."""

from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import clone

from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk, Dataset
from posterior.engines import LocalDataset
from posterior.estimators.callbacks import fit_inside
from posterior.estimators.device import RowsThere
from posterior.estimators.state import install
from posterior.generative import GenerativeSpec
from posterior.linear import Design, Problem, Scan
from posterior.linear.first_look import learnt_design
from posterior.linear.scaled_design import ScaledDesign
from posterior.schema import LabelledTable, Schema, Source
from posterior.schema.classes import class_weights
from posterior.stats.base import FieldSums

# Rows of a sample by which settings are chosen for rows that are elsewhere.
SAMPLED_ROWS = 20_000
# Rows of a sample of which some are held out, for what is learnt from rows that a model has not seen.
HELD_OUT_ROWS = 100_000


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """Rows in memory, with class codes or numbers to learn, and weights."""

    elsewhere: ClassVar[bool] = False
    problem: ClassVar[type[Problem]] = Problem
    source: Source
    target: AnyArray
    weight: Floats | None = None
    n_classes: int = 0
    kinds: Any = None

    @classmethod
    def of(cls, table: LabelledTable, weight: Floats | None = None) -> "TrainingRows":
        """The rows of a table with classes; other weights may take the place of theirs."""
        heavy = table.weight if weight is None else weight
        return cls(table.source, table.codes, heavy, len(table.classes))

    def dataset(self, schema: Schema) -> Dataset:
        """The rows as a schema reads them."""
        return LocalDataset(schema, schema.encode(self.source), self.target, self.weight)

    def scan(self, schema: Schema, design: Design, degree: int) -> Scan:
        """The rows as a design reads them that has learnt what it must of them."""
        dataset = self.dataset(schema)
        learnt, ranges = learnt_design(dataset, design, degree)
        return replace(Scan.of(dataset, learnt), ranges=ranges)

    def scaled(self, scan: Scan) -> tuple[Scan, ScaledDesign]:
        """The rows of a scan with their numbers in units of what they spread, and these units."""
        design = ScaledDesign.learnt_from(scan.dataset, scan.design)
        return Scan.of(scan.dataset, design), design

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.target) if self.weight is None else self.weight.sum())

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        return class_weights(self.target, self.weight, self.n_classes)

    @property
    def strata(self) -> tuple[Ints, Floats | None]:
        """What rows are dealt out in folds by: their classes, if they have any, and their weights."""
        return (self.target if self.n_classes else np.zeros(len(self.target), np.int64)), self.weight

    def mean_target(self) -> tuple[float, float]:
        """The mean of numbers to learn, and the largest size of one."""
        return float(np.average(self.target, weights=self.weight)), float(np.abs(self.target).max())


@dataclass(frozen=True, eq=False)
class RowsElsewhere(TrainingRows):
    """Rows that are read where they live, in which `target` and `weight` stay."""

    elsewhere: ClassVar[bool] = True
    table: Any = None
    class_weight: Floats | None = None
    _seen: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def scanned(
        cls, table: Any, *, classes: bool = True, class_weight: Floats | None = None
    ) -> "RowsElsewhere":
        """The rows of a scan; without classes its target holds numbers."""
        refuse_resume(table)
        n = len(table.classes) if classes else 0
        return cls(table.source, np.zeros(0), None, n, table.declared, table=table, class_weight=class_weight)

    def dataset(self, schema: Schema) -> Dataset:
        """The rows as a schema reads them, where they are."""
        classes = self.table.classes if self.n_classes else None
        rows: Dataset = self.table.rows(schema, classes, self.class_weight, draws=True)
        return rows

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(self.class_weights.sum()) if self.n_classes else self._numbers().weight

    @property
    def class_weights(self) -> Floats:
        """The weight of each class."""
        found: Floats = self.table.class_weights
        return found if self.class_weight is None else found * self.class_weight

    @property
    def strata(self) -> tuple[Ints, Floats | None]:
        """Nobody knows them without all rows."""
        raise ValueError("rows that are elsewhere are not dealt out one by one; set the value that is 'auto'")

    def mean_target(self) -> tuple[float, float]:
        """The mean of numbers to learn, and the largest size of one; one reading."""
        found = self._numbers()
        return found.total / found.weight, found.largest

    def _numbers(self) -> "_Numbers":
        if "numbers" not in self._seen:
            schema = Schema.of(self.source, self.kinds)
            self._seen["numbers"] = self.dataset(schema).reduce(_Numbers.of, dense=1)
        found: _Numbers = self._seen["numbers"]
        return found


@dataclass(frozen=True, eq=False)
class _Numbers(FieldSums, largest=max):
    """Sums of numbers to learn."""

    weight: float
    total: float
    largest: float

    @classmethod
    def of(cls, chunk: Chunk) -> "_Numbers":
        y = np.asarray(chunk.y)
        weight = np.ones(len(y)) if chunk.weight is None else chunk.weight
        return cls(float(weight.sum()), float(weight @ y), float(np.abs(y).max(initial=0.0)))


def refuse_kept_rows(spec: GenerativeSpec, schema: Schema) -> None:
    """Refuse families that keep all rows, which are too many."""
    for block in spec.blocks:
        if not block.family.mergeable:
            names = ", ".join(repr(schema.names[j]) for j in block.columns)
            raise ValueError(
                f"column {names}: {block.family.why_not_mergeable}. A scan is learnt by sums over its rows: "
                "use another family, or fit to a sample: X, y, weight = scan.sample(100_000)"
            )


def refuse_one_reading(table: Any, who: str, instead: str = "") -> None:
    """Refuse a stream that can be read once, where a solver reads rows several times."""
    if not table.rereads:
        raise ValueError(
            f"{who} reads the rows several times, and a stream can be read once; write it to Parquet files "
            f"first and scan those{instead}"
        )


def refuse_resume(table: Any) -> None:
    """Refuse to keep the sums of a fit by several readings, each of which is another sum."""
    if table.resume is not None:
        raise ValueError(
            "resume= keeps the sums of generative models, which are learnt in one reading; regressions and "
            "what is made of several models read rows several times: leave it out"
        )


def sampled_table(table: Any) -> LabelledTable:
    """A sample of rows elsewhere with their classes, to hold some out; every class must be in it."""
    refuse_resume(table)
    X, y, weight = table.sample(HELD_OUT_ROWS)
    found = LabelledTable.of(X, y, weight).among(table.classes)
    counts = np.bincount(found.codes, minlength=len(found.classes))
    if not counts.all():
        label = table.classes.tolist()[int(counts.argmin())]
        raise ValueError(
            f"{len(found):,} of {table.n_rows:,} rows are drawn to hold some of them out, and none of class "
            f"{label!r} is among them; fit the classifier to all rows, and put it in a FrozenEstimator to be "
            "fitted here to rows in memory that show every class"
        )
    return found


def fit_elsewhere(estimator: Any, table: Any) -> Any:
    """A clone of an estimator of ours, fitted to all rows of a scan, or on a device, where they are."""
    if isinstance(table, RowsThere):
        return fit_inside(clone(estimator), *table.fit_arguments)
    if not takes_scans(estimator):
        raise ValueError(
            f"{type(estimator).__name__} is not of this library and takes no scan; fit it to some rows: "
            "X, y, weight = scan.sample(100_000)"
        )
    return fit_inside(clone(estimator), table)


def takes_scans(estimator: Any) -> bool:
    """Whether an estimator is one of ours, whose `fit` takes a scan."""
    return type(estimator).__module__.startswith("posterior.")


def settled_by_sample(estimator: Any, table: Any, *, classes: bool) -> Any:
    """An unfitted copy of an estimator, its settings that are "auto" chosen by a sample of the rows.

    With `classes` a rare one has a few rows in it, however many rows there are.
    """
    copy = told_kinds(clone(estimator), table)
    if not any(isinstance(value, str) and value == "auto" for value in _tuned_settings(estimator)):
        return copy
    draw = table.sample_by_class if classes else table.sample
    X, y, weight = draw(SAMPLED_ROWS)
    found = clone(copy).fit(X, y, sample_weight=weight)
    return copy.set_params(**found.best_params_)


def told_kinds(estimator: Any, table: Any) -> Any:
    """An estimator that was told the kinds that a scan declares, unless it has some of its own."""
    kinds = table.kinds_for(estimator)
    return estimator if kinds is None else estimator.set_params(kinds=kinds)


def _tuned_settings(estimator: Any) -> list[Any]:
    return [getattr(estimator, name, None) for name in ("degree", "C", "alpha")]


def taken_over(estimator: Any, fitted: Any) -> None:
    """Let an estimator as the user set it have all that a fitted copy of it learnt."""
    settings = estimator.get_params(deep=False)
    install(estimator, **{name: value for name, value in vars(fitted).items() if name not in settings})
