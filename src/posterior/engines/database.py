"""A table in a database, streamed or, where sums by column and class will do, summed up there."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from posterior._types import Floats
from posterior.engines.base import FragmentError, Place
from posterior.engines.batches import BatchEngine
from posterior.engines.class_queries import ClassQueries, Dialect
from posterior.engines.labels import Target
from posterior.engines.local import LocalDataset
from posterior.engines.remote import RowReader
from posterior.stats import ClassSums, Location, Moments

# Rows that pivots are taken from, and columns that one query sums up.
PIVOT_ROWS, QUERY_COLUMNS = 1_000, 100
# Where a class is so many standard deviations from the pivot, each class gets one of its own.
FAR = 10.0
# Counts over a wider range, and columns of more categories, are as fast to read.
MOST_VALUES = 10_000

Ask = Callable[[str], Any]


class DatabaseEngine(BatchEngine):
    """Rows in a database that can also be asked for sums.

    A new engine of this kind says what the rows are called in SQL, and how it is asked.
    """

    rows: str

    @property
    def dialect(self) -> Dialect | None:
        """How the database is asked for sums; None where it is asked for rows only."""
        return None

    @property
    def casts(self) -> Mapping[str, str]:
        """The types that columns are asked for as, where that is not their own."""
        return {}

    @abstractmethod
    def asking(self) -> AbstractContextManager[Ask]:
        """A function from a query to a table of Arrow; all that is asked sees the same rows.

        What goes wrong in the database is a FragmentError.
        """

    def class_sums(
        self, reader: RowReader, moments: Sequence[int], values: Sequence[int]
    ) -> ClassSums | None:
        """Moments of some columns and values of others, by class; None where rows must be read."""
        target, dialect = reader.target, self.dialect
        if dialect is None or target is None or target.classes is None or target.class_weight is not None:
            return None
        if reader.n_folds or not self._are_plain(reader, moments, values):
            return None
        floats = frozenset(field.name for field in self.schema if pa.types.is_floating(field.type))
        queries = ClassQueries(dialect, self.rows, target.name, reader.weight, floats, self.casts)
        answers = Answers(self, reader, target, len(target.classes), queries)
        try:
            with self.asking() as ask:
                return answers.sums(ask, moments, values)
        except (FragmentError, OddRowsError):
            return None  # the reading says what is wrong, or finds that nothing is

    def _are_plain(self, reader: RowReader, moments: Sequence[int], values: Sequence[int]) -> bool:
        """Whether cells mean in the database what they mean to a model."""
        schema = reader.schema
        if schema.readings or reader.target is None or not _is_discrete(self._type(reader.target.name)):
            return False
        many = any(schema.columns[j].size > MOST_VALUES for j in values)
        numbers = all(_is_number(self._type(schema.names[j])) for j in moments)
        return numbers and not many and all(_is_discrete(self._type(schema.names[j])) for j in values)

    def _type(self, name: str) -> Any:
        return self.schema.field(name).type


def _is_number(kind: Any) -> bool:
    return any(test(kind) for test in (pa.types.is_floating, pa.types.is_integer, pa.types.is_decimal))


def _is_discrete(kind: Any) -> bool:
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    tests = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_string, pa.types.is_large_string)
    return any(test(kind) for test in tests)


class OddRowsError(Exception):
    """Rows are not what sums in a database are made for: they are left to the reading."""


@dataclass(frozen=True)
class Answers:
    """Puts together what a database answers."""

    engine: DatabaseEngine
    reader: RowReader
    target: Target
    n_classes: int
    queries: ClassQueries

    def sums(self, ask: Ask, moments: Sequence[int], values: Sequence[int]) -> ClassSums:
        """All that was asked for."""
        totals = ask(self.queries.totals())
        n_rows = int(_numbers(totals, "n").sum())
        if not n_rows or _numbers(totals, "odd").any():
            raise OddRowsError
        weight = self._by_class(totals, "w", 1, numbered=False)[:, 0]
        return ClassSums(weight, n_rows, self._moments(ask, moments), self._values(ask, values), self._same)

    def _by_class(self, table: Any, letter: str, d: int, *, numbered: bool = True) -> Floats:
        """Columns of an answer (K, d), with zeros for classes that are not in it."""
        try:
            codes = self.target.read(table.column("t"))
        except ValueError as error:
            raise OddRowsError from error  # a class that is new, which the reading names
        out = np.zeros((self.n_classes, d))
        for k in range(d):
            sums = table.column(f"{letter}{k}" if numbered else letter)
            out[codes, k] = sums.cast(pa.float64()).fill_null(0.0).to_numpy()  # NULL is the sum of no cells
        return out

    def _names(self, columns: Sequence[int]) -> list[str]:
        return [self.reader.schema.names[j] for j in columns]

    # -- numbers ----------------------------------------------------------------------------------

    def _moments(self, ask: Ask, columns: Sequence[int]) -> Moments:
        names = self._names(columns)
        starts = range(0, len(names), QUERY_COLUMNS)
        parts = [self._moments_of(ask, names[a : a + QUERY_COLUMNS]) for a in starts]
        nothing = (np.zeros((self.n_classes, 0)),) * 4
        weight, pivot, mean, scatter = (
            np.concatenate(each, axis=1) for each in zip(nothing, *parts, strict=True)
        )
        found = Moments(weight, Location.sum(pivot, mean), scatter, np.zeros(len(names)))
        if not np.isfinite(scatter).all() or not np.isfinite(mean).all():
            raise OddRowsError
        faint = [names[j] for j in found.faint]
        if faint:  # constant or, which is refused, of so little spread that its squares vanish
            [ends] = ask(self.queries.ranges(faint)).to_pylist()
            if any(ends[f"a{k}"] != ends[f"b{k}"] for k in range(len(faint))):
                raise OddRowsError
        return found

    def _moments_of(self, ask: Ask, names: Sequence[str]) -> tuple[Floats, Floats, Floats, Floats]:
        """Weight, pivot, mean less pivot and sum of squares, each (K, d)."""
        d = len(names)
        pivots = _pivots(ask(self.queries.first_rows(names, PIVOT_ROWS)), d)
        table = ask(self.queries.moments(names, pivots))
        self._refuse_infinity(ask, table, names)
        weight, mean, scatter = self._centred(table, d)
        pivot = np.tile(np.array(pivots), (self.n_classes, 1))
        # One pivot for classes that are 1e8 standard deviations apart would lose all digits.
        far = np.flatnonzero((weight * mean**2 > FAR**2 * scatter).any(axis=0))
        if len(far):
            again = ask(self.queries.moments_about_means([names[j] for j in far.tolist()]))
            _, mean[:, far], scatter[:, far] = self._centred(again, len(far))
            pivot[:, far] = self._by_class(again, "p", len(far))
        return weight, pivot, mean, scatter

    def _centred(self, table: Any, d: int) -> tuple[Floats, Floats, Floats]:
        weight, total, squares = (self._by_class(table, letter, d) for letter in "nsu")
        mean = np.divide(total, weight, out=np.zeros_like(total), where=weight > 0)
        return weight, mean, np.maximum(squares - weight * mean**2, 0.0)

    def _refuse_infinity(self, ask: Ask, table: Any, names: Sequence[str]) -> None:
        """Cells that are there and are not finite are gaps, if they are NaN."""
        odd = [
            name
            for k, name in enumerate(names)
            if name in self.queries.floats and table.column(f"c{k}") != table.column(f"v{k}")
        ]
        if odd and np.isinf(list(ask(self.queries.infinities(odd)).to_pylist()[0].values())).any():
            raise OddRowsError

    # -- values -----------------------------------------------------------------------------------

    def _values(self, ask: Ask, columns: Sequence[int]) -> LocalDataset | None:
        """Weighted rows, one for each value of each column in each class."""
        if not columns:
            return None
        schema, names = self.reader.schema, self._names(columns)
        counts = [schema.names[j] for j in columns if schema.columns[j].kind == "count"]
        if counts:
            [ends] = ask(self.queries.ranges(counts)).to_pylist()
            if any((ends[f"b{k}"] or 0) - (ends[f"a{k}"] or 0) > MOST_VALUES for k in range(len(counts))):
                raise OddRowsError
        starts = range(0, len(names), QUERY_COLUMNS)
        parts = [names[a : a + QUERY_COLUMNS] for a in starts]
        return self._read([(ask(self.queries.values(part)), part) for part in parts])

    def _read(self, answers: Sequence[tuple[Any, Sequence[str]]]) -> LocalDataset:
        """The rows of answers, which have some columns, as models read rows; there are gaps in the others."""
        taken = set(self.reader.columns)
        weight = next(name for name in ("w", *(f"w{k}" for k in range(len(taken) + 1))) if name not in taken)
        tables = [self._as_batch(table, names, weight) for table, names in answers]
        try:
            found = replace(self.reader, weight=weight).read(pa.concat_tables(tables), Place(0, 0))
        except ValueError as error:
            raise OddRowsError from error  # a value that is refused; the reading says in which row
        assert found is not None  # noqa: S101 -- for the type checker: there are rows
        return found

    def _as_batch(self, table: Any, names: Sequence[str], weight: str) -> Any:
        columns = {}
        for name in self.reader.inputs:
            kind, n = self.engine.schema.field(name).type, table.num_rows
            columns[name] = (
                table.column(f"g{names.index(name)}").cast(kind) if name in names else pa.nulls(n, kind)
            )
        ones = pa.array(np.ones(table.num_rows))
        heavy = table.column("w") if "w" in table.column_names else ones
        return pa.table(columns | {self.target.name: table.column("t"), weight: heavy})

    # -- columns that repeat others ---------------------------------------------------------------

    def _same(self, a: int, b: int) -> bool:
        """Whether two columns agree in every row: in their numbers or, if they are categories, in codes."""
        names = self._names([a, b])
        with self.engine.asking() as ask:
            if self.reader.schema.columns[a].kind == "continuous":
                [answer] = ask(self.queries.differing(*names)).to_pylist()
                return bool(answer["n"] == 0)
            pairs = self._read([(ask(self.queries.pairs(*names)), names)])
        cells = pairs.chunk(slice(None)).mixed((a, b)).array
        return np.array_equal(cells[:, 0], cells[:, 1], equal_nan=True)


def _pivots(rows: Any, d: int) -> list[float]:
    """A number of each column from its middle, so that a constant column is at distance zero from it."""
    pivots = []
    for k in range(d):
        cells = np.sort(_numbers(rows, f"z{k}"))
        there = cells[: len(cells) - np.isnan(cells).sum()]
        pivots.append(float(there[len(there) // 2]) if len(there) else 0.0)
    return pivots


def _numbers(table: Any, name: str) -> Floats:
    """A column of an answer, NaN where it has no value."""
    return np.asarray(table.column(name).cast(pa.float64()).to_numpy(), dtype=np.float64)
