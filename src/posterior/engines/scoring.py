"""What a model says of rows that are elsewhere: scored batch by batch, and written in order to one file."""

import os
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa

from posterior._text import counted, listed
from posterior._types import AnyArray, Floats, Progress
from posterior.engines.base import Engine, FragmentError, Place
from posterior.engines.labels import read_numbers
from posterior.engines.remote import read_weight, table_of
from posterior.engines.survey import as_array, counting_rows
from posterior.engines.workers import in_order
from posterior.files import write_batches
from posterior.notices import Notice, gathered, warn_once
from posterior.stats.adding import added

# Rows by which the columns of scores are found out before all rows are scored.
SHOWN_ROWS = 64


@dataclass(frozen=True)
class BatchScorer:
    """From a record batch of Arrow to one of scores. It can be pickled, and sent to where the rows are.

    `score` gives named columns of a table of Arrow with the columns `inputs`; those of `keep` are copied
    beside them. With a `schema` all batches have its types, and one without rows is not scored.
    """

    score: Callable[[Any], Mapping[str, AnyArray]]
    inputs: tuple[str, ...]
    keep: tuple[str, ...] = ()
    schema: Any = None

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys((*self.keep, *self.inputs)))

    def __call__(self, batch: Any) -> Any:
        """The scores of a batch, with the columns that are kept before them."""
        if self.schema is not None and not batch.num_rows:
            return pa.RecordBatch.from_pylist([], self.schema)
        table = table_of(batch)
        found = self.score(table.select(list(self.inputs)))
        twice = [name for name in self.keep if name in found]
        if twice:
            raise ValueError(f"keep={list(twice)}: the scores have a column of this name; rename yours first")
        parts = {name: table.column(name) for name in self.keep}
        made = pa.table({**parts, **{name: pa.array(values) for name, values in found.items()}})
        made = made if self.schema is None else made.cast(self.schema)
        return made.combine_chunks().to_batches()[0]

    def for_rows(self, engine: Engine) -> "BatchScorer":
        """The same scorer, which knows the schema of its scores by those of a few rows."""
        few = engine.head(self.columns, SHOWN_ROWS)
        if not few.num_rows:
            raise ValueError(f"{engine.name} has no rows to score")
        with gathered():  # the rows themselves will tell
            return replace(self, schema=self(few).schema)


@dataclass(frozen=True)
class RightAnswers:
    """Weighs the rows of a batch that a model is right about, and all of them. It can be pickled."""

    predict: Callable[..., AnyArray]
    inputs: tuple[str, ...]
    target: str
    weight: str | None

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return list(dict.fromkeys([*self.inputs, self.target, *([self.weight] if self.weight else [])]))

    def __call__(self, batch: Any, place: Place) -> Floats | None:
        """Both weights; None where no row counts."""
        rows = table_of(counting_rows(batch, self.target, self.weight))
        if not rows.num_rows:
            return None
        said = np.asarray(self.predict(rows.select(list(self.inputs))))
        right = said == as_array(rows.column(self.target))
        w = np.ones(len(right)) if self.weight is None else read_weight(rows.column(self.weight), self.weight)
        return np.array([w @ right, w.sum()])


@dataclass(frozen=True)
class MeanScores(RightAnswers):
    """Sums up the scores that `predict(rows, classes, weight)` gives on average to rows of a batch."""

    def __call__(self, batch: Any, place: Place) -> Floats | None:
        """The score times the weight, and the weight; None where no row counts."""
        rows = table_of(counting_rows(batch, self.target, self.weight))
        if not rows.num_rows:
            return None
        w = None if self.weight is None else read_weight(rows.column(self.weight), self.weight)
        total = float(rows.num_rows if w is None else w.sum())
        found: Any = self.predict
        return total * np.array(
            [found(rows.select(list(self.inputs)), as_array(rows.column(self.target)), w), 1.0]
        )


@dataclass(frozen=True)
class Errors:
    """Weight and mean of numbers to predict, their squared distances from it, and from what was predicted."""

    weight: float
    mean: float
    spread: float
    residual: float

    def __add__(self, other: "Errors") -> "Errors":
        # Chan, Golub & LeVeque (1979): exact whatever the offset.
        weight, apart = self.weight + other.weight, other.mean - self.mean
        share = other.weight / weight
        return Errors(
            weight,
            self.mean + apart * share,
            self.spread + other.spread + apart**2 * self.weight * share,
            self.residual + other.residual,
        )

    @property
    def r_squared(self) -> float:
        """1 − residual/spread; of numbers that are all the same 1 where they are met, else 0."""
        return 1.0 - self.residual / self.spread if self.spread else float(not self.residual)


@dataclass(frozen=True)
class PredictionErrors(RightAnswers):
    """Sums up how far numbers of a batch are from those that a model predicts. It can be pickled."""

    def __call__(self, batch: Any, place: Place) -> Errors | None:  # type: ignore[override]
        """The errors; None where no row counts."""
        rows = table_of(counting_rows(batch, self.target, self.weight))
        if not rows.num_rows:
            return None
        y = np.asarray(read_numbers(rows.column(self.target), self.target), dtype=np.float64)
        apart = y - np.asarray(self.predict(rows.select(list(self.inputs))))
        w = np.ones(len(y)) if self.weight is None else read_weight(rows.column(self.weight), self.weight)
        mean = float(w @ y / w.sum())
        return Errors(float(w.sum()), mean, float(w @ (y - mean) ** 2), float(w @ apart**2))


def summed(engine: Engine, work: RightAnswers) -> Any:
    """The sum of `work` over all rows, those of a stream in its one reading."""
    if engine.rereads:
        return engine.fold(work, work.columns)
    return added(work(batch, Place(0, 0)) for batch in engine.batches(work.columns))


@dataclass(frozen=True)
class Written:
    """What was written: where, how many rows, and in how many seconds."""

    path: str
    n_rows: int
    seconds: float

    def __str__(self) -> str:
        return f"{self.path}: {counted(self.n_rows, 'row')}, {rate_words(self.n_rows, self.seconds)}"


def rate_words(n_rows: int, seconds: float) -> str:
    """How fast rows go by.

    >>> rate_words(3_000_000, 2.0)
    '1,500,000 rows/s'
    """
    rate = n_rows / max(seconds, 1e-9)
    digits = max(0, len(str(int(rate))) - 3)
    return f"{round(rate, -digits):,.0f} rows/s"


def write_scores(
    engine: Engine,
    scorer: BatchScorer,
    out: str | os.PathLike[str],
    progress: Progress | None = None,
) -> Written:
    """Score all rows by threads and write them in order, the whole file or none; only a few batches wait."""
    refuse_columns(engine, scorer.keep)
    refuse_inputs(engine, out)
    stream = ScoredStream(engine, scorer, progress)
    with closing(stream.tables()) as tables:
        write_batches(out, tables)
    warn_once(stream.notices)
    return Written(os.fspath(out), stream.n_rows, perf_counter() - stream.began)


@dataclass
class ScoredStream:
    """Scores on their way from an engine to a file; the file sets the pace."""

    engine: Engine
    scorer: BatchScorer
    progress: Progress | None = None
    n_rows: int = 0
    notices: list[Notice] = field(default_factory=list)
    began: float = field(default_factory=perf_counter)

    def tables(self) -> Generator[Any, None, None]:
        """The scores, batch by batch in the order of the rows."""
        total = None if self.progress is None else self.engine.counted_rows
        with closing(in_order(self._scored, self._numbered(), ahead=1)) as scored:
            for made, notices in scored:
                self.n_rows += made.num_rows
                self.notices += notices
                yield table_of(made)
                if self.progress is not None:
                    speed = rate_words(self.n_rows, perf_counter() - self.began)
                    self.progress(self.n_rows, total or 0, speed)
        if not self.n_rows:
            raise ValueError(f"{self.engine.name} has no rows to score")

    def _numbered(self) -> Iterator[tuple[int, Any]]:
        first = 0
        for batch in self.engine.batches(self.scorer.columns):
            if batch.num_rows:
                yield first, batch
            first += batch.num_rows

    def _scored(self, piece: tuple[int, Any]) -> tuple[Any, list[Notice]]:
        first, batch = piece
        with gathered() as notices:
            try:
                return self.scorer(batch), notices
            except (ValueError, TypeError) as error:
                last = first + batch.num_rows
                where = f"{self.engine.name}, rows {first:,} to {last - 1:,}"
                raise FragmentError(f"{where}: {error}") from error


def refuse_columns(engine: Engine, keep: Sequence[str]) -> None:
    """Refuse columns to keep that the table does not have."""
    absent = [name for name in keep if name not in engine.schema.names]
    if absent:
        raise ValueError(
            f"keep={listed(absent)} is no column of {engine.name}; it has {listed(engine.schema.names, 12)}"
        )


def refuse_inputs(engine: Engine, out: str | os.PathLike[str]) -> None:
    """Refuse to write to one of the files that are read, or where the next scan would read it."""
    if "://" in os.fspath(out):
        raise ValueError(
            f"out={os.fspath(out)!r}: scores are written to a file of this machine, whole or not at all; "
            "write to one and copy it, pyarrow.fs.copy_files('scores.parquet', 's3://…')"
        )
    where = Path(out).expanduser()
    if engine.would_read(where):
        raise ValueError(
            f"out={os.fspath(out)!r} lies where {engine.name} is read from: the next scan would take the "
            "scores for rows; write to another folder"
        )
    if not where.exists():
        return
    for name in engine.paths:
        if Path(name).exists() and where.samefile(name):
            raise ValueError(f"out={os.fspath(out)!r} is one of the files that are read; write to another")
