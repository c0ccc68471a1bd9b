"""A table that is read where it lives: what `scan` returns and every estimator's `fit` takes."""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa

from posterior._text import did_you_mean, listed
from posterior._types import AnyArray, Floats, Progress
from posterior.engines.base import Engine, ScannedTable
from posterior.engines.class_sample import draw_by_class
from posterior.engines.labels import Target, sorted_classes
from posterior.engines.remote import RemoteRows, RowReader, RowSample, read_weight, table_of
from posterior.engines.survey import (
    MOST_LEVELS,
    Levels,
    Survey,
    SurveyWork,
    as_array,
    columns_of_strings,
    counting_rows,
    is_number,
)
from posterior.engines.surveyed import SurveyedSource
from posterior.engines.watched import WatchedEngine
from posterior.notices import DataWarning, warn
from posterior.schema import Schema

HEAD_ROWS = 10_000
# Rows of a rare class among those that choose settings.
FEW_OF_A_CLASS = 50


class TableScan(ScannedTable):
    """Rows elsewhere, with the name of the column to learn and of that of the weights.

    It takes no memory to speak of. `fit` of an estimator reads the rows as often as it must: once for
    what is counted or averaged, a few times for what is solved by steps.

    >>> import tempfile, pyarrow.parquet as pq
    >>> from posterior import LDA, scan
    >>> rows = pa.table({"x": [1.0, 2.0, 5.0, 7.0], "late": ["no", "no", "yes", "yes"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pq.write_table(rows, f"{folder}/part-0.parquet")
    ...     table = scan(f"{folder}/*.parquet", target="late")
    ...     LDA().fit(table).predict(pa.table({"x": [6.0]})), table.n_rows
    (array(['yes'], dtype='<U3'), 4)
    """

    def __init__(
        self,
        engine: Engine,
        target: str | None = None,
        *,
        weight: str | None = None,
        columns: Sequence[str] | None = None,
        kinds: Any = None,
        drops_unlabelled: bool = False,
    ) -> None:
        names = engine.schema.names
        for role, name in (("target", target), ("weight", weight)):
            if name is not None and name not in names:
                raise ValueError(f"{role}={name!r} is no column of {engine.name}; {_columns(name, names)}")
        if isinstance(columns, str):
            raise TypeError(
                f"columns must be a list of names, found the string {columns!r}: use [{columns!r}]"
            )
        unknown = [name for name in columns or () if name not in names]
        if unknown:
            raise ValueError(
                f"{listed(unknown)} is no column of {engine.name}; {_columns(unknown[0], names)}"
            )
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{engine.name} has several columns called {listed(twice)}; rename them")
        if weight is not None and not is_number(engine.schema.field(weight).type):
            raise ValueError(
                f"weight={weight!r} holds {engine.schema.field(weight).type}; a weight must be a number"
            )
        if target is not None and target == weight:
            raise ValueError(f"{target!r} is both the target and the weight; name two columns")
        self.engine, self.target, self.weight, self.kinds = engine, target, weight, kinds
        self.drops_unlabelled = drops_unlabelled
        asked = names if columns is None else list(columns)
        self._asked = [name for name in asked if name not in (target, weight)]
        if not self._asked:
            raise ValueError(f"{engine.name} has no column to learn from besides {target!r}")
        if len(set(self._asked)) < len(self._asked):
            raise ValueError(f"columns={list(columns or ())!r} names a column twice")
        self._levels: dict[str, Levels] = {}
        self.resume: Any = None

    def __repr__(self) -> str:
        return f"<scan of {self.engine.name}: {len(self._asked)} columns, target {self.target!r}>"

    def kinds_for(self, estimator: Any) -> Any:
        """The kinds that were declared here; none where the estimator has some of its own."""
        if self.kinds is None or getattr(estimator, "kinds", None) is not None:
            return None
        if not hasattr(estimator, "kinds"):
            raise ValueError(
                f"{type(estimator).__name__} reads columns in its own way, and the scan declares kinds; "
                "leave them out, or use NaiveBayes, GenerativeClassifier or LogisticRegression"
            )
        return self.declared

    @property
    def declared(self) -> Any:
        """The kinds that were declared of the columns that are read; None where there are none."""
        if self.kinds is None:
            return None
        pairs = list(self.kinds.items()) if isinstance(self.kinds, Mapping) else list(self.kinds)
        gone = set(self.engine.schema.names) - set(self.names if self.rereads else self._asked)
        return [pair for pair in pairs if not (isinstance(pair[0], str) and pair[0] in gone)] or None

    @property
    def rereads(self) -> bool:
        """Whether the rows can be read more than once."""
        return self.engine.rereads

    def parts(self) -> Iterator[tuple[Any, AnyArray, Floats | None]]:
        """All rows that count, part by part: a table of Arrow, the target, and weights if there are any."""
        name = self.target_name("a model")
        columns = [*self._asked, name, *([] if self.weight is None else [self.weight])]
        for batch in self.engine.batches(columns):
            labelled = counting_rows(batch, name if self.drops_unlabelled else None, self.weight)
            if not labelled.num_rows:
                continue
            weight = None if self.weight is None else read_weight(labelled.column(self.weight), self.weight)
            yield table_of(labelled).select(self._asked), as_array(labelled.column(name)), weight

    # -- what all rows show -----------------------------------------------------------------------

    @cached_property
    def survey(self) -> Survey:
        """How many rows count, and the levels of the target and of columns of strings; one reading."""
        strings = columns_of_strings(self.engine.schema, self._asked)
        return self._surveyed([*strings, *([] if self.target is None else [self.target])])

    def _surveyed(self, names: Sequence[str]) -> Survey:
        work = SurveyWork(tuple(names), self.target, self.weight)
        beside = [name for name in (self.target, self.weight) if name is not None and name not in names]
        read = [*names, *beside] or self._asked[:1]
        return self.engine.survey(work) or self.engine.fold(work, read)

    @property
    def n_rows(self) -> int:
        """How many rows count: those with a class, and not of weight zero."""
        return self.survey.n_rows

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The columns to learn from; one with a string of its own in nearly every row is not among them."""
        many = {name for name, found in self.survey.levels.items() if found.counts is None} - {self.target}
        for name in sorted(many):
            warn(
                f"column {name!r} has more than {MOST_LEVELS:,} different strings, like an identifier or a "
                "text: left out; put what it says into other columns",
                DataWarning,
            )
        return tuple(name for name in self._asked if name not in many)

    def levels(self, name: str) -> Levels:
        """The different values of a column; one reading for all columns of whole numbers."""
        if name not in self._levels:
            whole = [n for n in self.names if pa.types.is_integer(self.engine.schema.field(n).type)]
            self._levels |= self._surveyed(list(dict.fromkeys([name, *whole]))).levels
        return self._levels[name]

    @cached_property
    def source(self) -> SurveyedSource:
        """The columns as a schema is inferred from them."""
        head = self.engine.head(self.names, HEAD_ROWS)
        if not head.num_rows:
            raise ValueError(f"{self.engine.name} has no rows; a filter upstream may have removed them all")
        frame = nw.from_native(head, eager_only=True)
        known = {name: found for name, found in self.survey.levels.items() if name in self.names}
        return SurveyedSource(frame, self.names, known, self.levels)

    # -- the column to learn ----------------------------------------------------------------------

    def target_name(self, who: str) -> str:
        """The name of the column to learn."""
        if self.target is None:
            raise ValueError(
                f"{who} learns from a column that the scan does not name; use scan(…, target='column')"
            )
        return self.target

    @cached_property
    def classes(self) -> AnyArray:
        """The classes, sorted."""
        name = self.target_name("a classifier")
        found = self.survey.levels[name]
        if found.counts is None:
            raise ValueError(
                f"column {name!r} has too many different values to be classes; a number is predicted by "
                "LinearRegression"
            )
        if not found.counts:
            heavy = "" if self.weight is None else f" and a weight above zero in {self.weight!r}"
            raise ValueError(f"{self.engine.name} has no rows with a value in column {name!r}{heavy}")
        return sorted_classes(found.counts, name)

    def _refuse_unlabelled(self) -> None:
        name = self.target_name("a model")
        n = self.survey.levels[name].n_missing
        if n and not self.drops_unlabelled:
            raise ValueError(
                f"Input y contains NaN: {n:,} of {n + self.n_rows:,} rows have no value in column {name!r}; "
                "leave those rows out, as by scan(…, unlabelled='drop')"
            )

    # -- rows -------------------------------------------------------------------------------------

    @property
    def class_weights(self) -> Floats:
        """The weight of the rows of each class."""
        survey = self.survey
        counted = survey.levels[str(self.target)].counts if self.weight is None else survey.weights
        found: Mapping[Any, float] = counted or {}
        return np.array([found[label] for label in self.classes.tolist()], dtype=np.float64)

    def rows(
        self,
        schema: Schema,
        classes: AnyArray | None,
        class_weight: Floats | None = None,
        *,
        draws: bool = False,
    ) -> RemoteRows:
        """The rows as models ask for them; without classes the target holds numbers."""
        self._refuse_unlabelled()
        reader = RowReader(
            schema, self.names, Target(self.target_name("a model"), classes, class_weight), self.weight
        )
        return RemoteRows(self.engine, reader, self.n_rows, draws)

    def draw(self, quotas: Mapping[Any, int]) -> Any:
        """So many rows of each class as a table of Arrow with target and weights; the same every time."""
        return draw_by_class(self, quotas)

    def selected(self, names: Sequence[str]) -> "TableScan":
        """The same rows with some of the columns to learn from; nothing is surveyed again."""
        some = TableScan(
            self.engine,
            self.target,
            weight=self.weight,
            columns=names,
            kinds=self.kinds,
            drops_unlabelled=self.drops_unlabelled,
        )
        some.__dict__["survey"] = self.survey
        some._levels = self._levels
        return some

    def read_as(self, names: Sequence[str] | None, n: int, who: str) -> "TableScan":
        """The same rows with the columns that a model was fitted with, in their order."""
        wanted = self.inputs_of(names, n, who)
        if set(wanted) <= set(self._asked):
            return self.selected(wanted)
        return TableScan(
            self.engine,
            self.target,
            weight=self.weight,
            columns=wanted,
            kinds=self.kinds,
            drops_unlabelled=self.drops_unlabelled,
        )

    def resumed_from(self, resume: Any) -> "TableScan":
        """The same rows, of which a fit keeps sums in a file to go on from."""
        some = copy(self)
        some.resume = resume
        return some

    def watched(self, progress: Progress) -> "TableScan":
        """The same rows, whose readings by threads of this process are told to `progress`."""
        some = copy(self)
        some.engine = WatchedEngine(self.engine, progress)
        return some

    # -- what a model says of the rows ------------------------------------------------------------

    def inputs_of(self, names: Sequence[str] | None, n: int, who: str) -> tuple[str, ...]:
        """The columns that a model reads, by the names of training, or all n of them in their order."""
        there = self.engine.schema.names
        if names is None:
            if len(self._asked) != n:
                raise ValueError(
                    f"{who} was fitted to {n} columns without names, and the scan has {len(self._asked)}; "
                    "name them in order: scan(…, columns=[…])"
                )
            return tuple(self._asked)
        absent = [name for name in names if name not in there]
        if absent:
            raise ValueError(
                f"{self.engine.name} has no column {listed(absent)}, which {who} was fitted with; it has "
                f"{listed(there, 12)}"
            )
        return tuple(names)

    def sample(self, n: int = 100_000) -> tuple[Any, Any, Floats | None]:
        """So many rows in memory, or all of fewer: a table of Arrow, the target, and weights if any.

        Rows are chosen by their places, so that the same are drawn every time.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, found {n}")
        share = (n + 6 * n**0.5) / max(self.n_rows, 1)
        columns = [*self.names, *(name for name in (self.target, self.weight) if name is not None)]
        if self.target is not None:
            self._refuse_unlabelled()
        drawn = self.engine.fold(RowSample(share, self.target, self.weight), columns).table
        if drawn.num_rows > n:
            drawn = drawn.take(pa.array(np.linspace(0, drawn.num_rows - 1, n).astype(np.int64)))
        return self._apart(drawn)

    def sample_by_class(self, n: int) -> tuple[Any, Any, Floats | None]:
        """About n rows as `sample` gives them, every class in proportion, a rare one with a few rows."""
        self._refuse_unlabelled()
        counts = self.survey.levels[self.target_name("a classifier")].counts or {}
        share = n / max(self.n_rows, 1)
        return self._apart(
            self.draw({k: min(c, max(FEW_OF_A_CLASS, round(share * c))) for k, c in counts.items()})
        )

    def _apart(self, drawn: Any) -> tuple[Any, Any, Floats | None]:
        """The columns to learn from, the target and the weights of some rows."""
        target = None if self.target is None else as_array(drawn.column(self.target))
        weight = None if self.weight is None else read_weight(drawn.column(self.weight), self.weight)
        return drawn.select(list(self.names)), target, weight


def _columns(name: str, names: Sequence[str]) -> str:
    """The columns there are, after the one that may have been meant."""
    meant = did_you_mean(name, names, 1)
    return f"{meant} {'It' if meant else 'it'} has {listed(names, 12)}".strip()
