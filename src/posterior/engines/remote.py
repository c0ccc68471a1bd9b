"""Rows that live elsewhere, as models ask for them: sums, and a sample."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn, TypeVar

import numpy as np
import pyarrow as pa

from posterior._loading import load_module
from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk
from posterior.engines.base import Engine, Place
from posterior.engines.labels import Target
from posterior.engines.local import LocalDataset
from posterior.engines.survey import counting_rows
from posterior.engines.workers import threads
from posterior.schema import ArrowSource, Schema, Source
from posterior.stats import ClassSums

S = TypeVar("S")
A = TypeVar("A", bound=AnyArray)

# The most cells and rows of a sample, which is kept in memory.
SAMPLE_CELLS, SAMPLE_ROWS = 1 << 24, 200_000
NOT_IN_MEMORY = (
    "this asks for something of every row, and the rows are not in memory; fit to some of them: "
    "X, y, weight = scan.sample(100_000)"
)
# A multiplier without small factors spreads neighbouring rows over all folds and samples (Knuth, 1973).
SPREAD = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class RowReader:
    """Turns a batch of Arrow into rows as models read them. Small: it travels to where the rows are.

    `inputs` are the columns of the table, `target` that of the classes or numbers to learn, if any, and
    `n_folds` the number of folds of a cross-validation, into which rows are dealt by their places.
    """

    schema: Schema
    inputs: tuple[str, ...]
    target: Target | None = None
    weight: str | None = None
    n_folds: int = 0

    @property
    def columns(self) -> list[str]:
        """All columns that are read."""
        return [
            *self.inputs,
            *([self.target.name] if self.target else []),
            *([self.weight] if self.weight else []),
        ]

    def read(self, batch: Any, place: Place) -> LocalDataset | None:
        """The rows of a batch that count, if there are any."""
        some = counting_rows(batch, None if self.target is None else self.target.name, self.weight)
        if not some.num_rows:
            return None
        whole = some.num_rows == batch.num_rows
        folds = None
        if self.n_folds:
            numbers = scattered(place, batch.num_rows) % np.uint64(self.n_folds)
            folds = numbers.astype(np.int64)
            if not whole:
                folds = folds[_kept(batch, self)]
        y = None if self.target is None else self.target.read(some.column(self.target.name))
        weight = None if self.weight is None else read_weight(some.column(self.weight), self.weight)
        if self.target is not None and self.target.class_weight is not None and y is not None:
            extra = self.target.class_weight[y]
            weight = extra if weight is None else extra * weight
        data = self.schema.encode(self.source(some))
        return LocalDataset(self.schema, data, y, weight, folds)

    def source(self, batch: Any) -> Source:
        """The columns of a batch that models read."""
        return ArrowSource(table_of(batch).select(list(self.inputs)))


def _kept(batch: Any, reader: RowReader) -> Ints:
    numbered = batch.append_column("", pa.array(np.arange(batch.num_rows)))
    kept = counting_rows(numbered, None if reader.target is None else reader.target.name, reader.weight)
    return np.asarray(kept.column(kept.num_columns - 1).to_numpy(), dtype=np.int64)


def scattered(place: Place, n: int) -> Any:
    """A number for each of n rows, evenly spread and the same whenever the rows are read, uint64."""
    with np.errstate(over="ignore"):
        rows = np.arange(place.first, place.first + n, dtype=np.uint64)
        mixed = (rows + np.uint64(1)) * SPREAD + np.uint64(place.fragment) * np.uint64(0xBF58476D1CE4E5B9)
        mixed ^= mixed >> np.uint64(29)
        mixed *= np.uint64(0x94D049BB133111EB)
        return mixed >> np.uint64(16)


def read_weight(column: Any, name: str) -> Floats:
    """The weights of rows, finite and not negative."""
    weight = np.asarray(column.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)
    bad = ~((weight >= 0) & (weight < np.inf))
    if bad.any():
        raise ValueError(
            f"column {name!r} of weights holds {weight[bad.argmax()]:g}; a weight must be finite and not "
            "negative"
        )
    return weight


def table_of(batch: Any) -> Any:
    """A table of Arrow of a batch, which may be one already."""
    return pa.Table.from_batches([batch]) if isinstance(batch, pa.RecordBatch) else batch


@dataclass(frozen=True)
class RowSum:
    """Sums up the rows of a batch: what a fit sends to where the rows are."""

    reader: RowReader
    summarize: Callable[[Chunk], Any]
    dense: int
    size: int

    def __call__(self, batch: Any, place: Place) -> Any:
        """The sum over a batch; None where no row counts."""
        rows = self.reader.read(batch, place)
        if rows is None:
            return None
        with threads(1):
            return rows.reduce(self.summarize, dense=self.dense, size=self.size)


@dataclass(frozen=True)
class Batches:
    """Some rows, as tables of Arrow, one after the other."""

    parts: tuple[Any, ...]

    def __add__(self, other: "Batches") -> "Batches":
        return Batches((*self.parts, *other.parts))

    @property
    def table(self) -> Any:
        """All rows as one table."""
        return pa.concat_tables(self.parts)


@dataclass(frozen=True)
class RowSample:
    """Takes every row whose scattered place is below a share of all places."""

    share: float
    target: str | None
    weight: str | None

    def __call__(self, batch: Any, place: Place) -> Batches | None:
        """Some rows of a batch."""
        chosen = scattered(place, batch.num_rows) < np.uint64(min(self.share, 1.0) * 2**48)
        some = batch if self.share >= 1.0 else batch.filter(pa.array(chosen))
        some = counting_rows(some, self.target, self.weight)
        return Batches((table_of(some),)) if some.num_rows else None


@dataclass(frozen=True)
class FirstSums:
    """A sum over some rows, and a sample of them."""

    total: Any
    batches: Batches

    def __add__(self, other: "FirstSums") -> "FirstSums":
        return FirstSums(self.total + other.total, self.batches + other.batches)


@dataclass(frozen=True)
class FirstReading:
    """Sums up the rows of a batch, and takes some of them."""

    work: RowSum
    sampling: RowSample

    def __call__(self, batch: Any, place: Place) -> FirstSums | None:
        """The sum and the sample of a batch; None where no row counts."""
        total = self.work(batch, place)
        return None if total is None else FirstSums(total, self.sampling(batch, place) or Batches(()))


@dataclass(frozen=True, eq=False)
class RemoteRows:
    """Rows that an engine reads, with classes or numbers to learn, and weights.

    Where it travels with a sum to the rows, the engine stays behind. With `draws` the first reading draws a
    sample too, from which solvers start.
    """

    engine: Engine | None
    reader: RowReader
    n_rows: int
    draws: bool = False
    _samples: dict[int, LocalDataset] = field(default_factory=dict, repr=False)
    _drawn: dict[int, Any] = field(default_factory=dict, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {"engine": None, "reader": self.reader, "n_rows": self.n_rows, "draws": False} | {
            "_samples": {},
            "_drawn": {},
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.reader.schema

    @property
    def costly(self) -> bool:
        """Whether reading the rows costs more than most sums over them."""
        return self._all is None

    @property
    def _all(self) -> LocalDataset | None:
        """All rows, where they are few and were drawn as a sample."""
        return self._samples.get(self.n_rows) if self._most == self.n_rows else None

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int, size: int = 0) -> S:
        """Add up `summarize(chunk)` over all rows, where they are; few rows that were drawn stay here."""
        if self._all is not None:
            return self._all.reduce(summarize, dense=dense, size=size)
        work = RowSum(self.reader, summarize, dense, size)
        if self.draws and not self._drawn:
            first = self._engine.fold(FirstReading(work, self._sampling(self._most)), self.reader.columns)
            self._drawn[self._most] = first.batches.table
            found: S = first.total
            return found
        total: S = self._engine.fold(work, self.reader.columns)
        return total

    def class_sums(self, moments: Sequence[int], values: Sequence[int]) -> ClassSums | None:
        """Moments of some columns and values of others, if they can be had where the rows are."""
        found: ClassSums | None = self._engine.class_sums(self.reader, moments, values)
        return found

    @property
    def _engine(self) -> Engine:
        if self.engine is None:
            raise ValueError("these rows were left where they are; fit again to read them")
        return self.engine

    def resumed(self, resume: Any, task: Mapping[str, Any]) -> "RemoteRows":
        """The same rows, whose sums are kept in a file while they are added up; `task` says what for."""
        reader, target = self.reader, self.reader.target
        known = None if target is None or target.classes is None else target.classes.tolist()
        about = {
            **task,
            "columns": list(reader.inputs),
            "target": [None if target is None else target.name, known],
            "weight": reader.weight,
        }
        resuming = load_module("posterior.engines.resuming")
        return replace(self, engine=resuming.ResumedEngine(self._engine, resume, about))

    @property
    def keeps_places(self) -> bool:
        """Whether rows have the same places in every reading, so that folds are the same."""
        return self._engine.keeps_places

    def in_folds(self, n: int) -> "RemoteRows":
        """The same rows, dealt out in n folds by their places."""
        return replace(self, reader=replace(self.reader, n_folds=n), _samples={}, _drawn={})

    def sample(self, n: int) -> LocalDataset:
        """About n rows in memory, or fewer where they would take too much; one reading, which is remembered.

        Rows are chosen by their places, so that the same are drawn every time.
        """
        most = self._most
        n = min(n, most)
        if n not in self._samples:
            if most not in self._drawn:  # stages of a solver ask for ever more rows, of one reading
                self._drawn[most] = self._draw(most)
            if most == self.n_rows and n != most:
                self.sample(most)
            held = self._drawn[most]
            chosen = np.arange(0, held.num_rows, max(1, held.num_rows // n))
            found = self.reader.read(held.take(pa.array(chosen)), Place(0, 0))
            assert found is not None  # noqa: S101 -- for the type checker: an empty sample was refused
            self._samples[n] = found
        return self._samples[n]

    @property
    def _most(self) -> int:
        """How many rows a sample has at most."""
        return max(1, min(self.n_rows, SAMPLE_ROWS, SAMPLE_CELLS // max(len(self.reader.inputs), 1)))

    def _draw(self, n: int) -> Any:
        return self._engine.fold(self._sampling(n), self.reader.columns).table

    def _sampling(self, n: int) -> RowSample:
        target = None if self.reader.target is None else self.reader.target.name
        return RowSample(n / max(self.n_rows, 1), target, self.reader.weight)

    def every(self, step: int) -> LocalDataset:
        """A sample of one of so many rows."""
        return self.sample(max(1, self.n_rows // step))

    def map(self, score: Callable[[Chunk], A], *, dense: int) -> NoReturn:
        """Refused: what is asked of each row would not fit in memory."""
        raise ValueError(NOT_IN_MEMORY)

    def fill(self, write: Callable[[Chunk, A], None], out: A, *, dense: int) -> NoReturn:
        """Refused: what is asked of each row would not fit in memory."""
        raise ValueError(NOT_IN_MEMORY)
