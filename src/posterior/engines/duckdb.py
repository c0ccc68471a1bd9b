"""A table, query or relation of DuckDB, streamed in the order of its rows."""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import duckdb

from posterior.engines.base import BATCH_ROWS, Engine, FragmentError
from posterior.engines.batches import BatchEngine
from posterior.engines.class_queries import Dialect
from posterior.engines.database import Ask, DatabaseEngine
from posterior.engines.sql import (
    all_columns,
    possible_tables,
    refuse_engine,
    refuse_unclear,
    select,
    subquery,
)

# 1.5 cuts a stream short without an error when its connection runs another query.
OLDEST = 2


# Not isnan: it is false for every cell of a view on Parquet files that pyarrow wrote.
DIALECT = Dialect(finite="isfinite({x})")


class DuckDBEngine(DatabaseEngine):
    """Rows of a database, read by a cursor of their own where it sees them.

    A second connection sees neither temporary tables nor what is registered under a name: these are read by
    the user's own connection, which can do nothing else meanwhile.
    """

    def __init__(
        self, connection: Any, table: str | None, query: str | None, *, streams: bool = False
    ) -> None:
        self._connection, self._shared = connection, False
        self.keeps_places = table is not None
        # A query would be run again for each sum.
        self._dialect = None if streams or table is None else DIALECT
        candidates = [subquery(query)] if table is None else possible_tables(table)  # type: ignore[arg-type]
        self._name = "the query" if table is None else f"table {table!r}"
        self.rows = self._found(candidates)

    def _found(self, candidates: Sequence[str]) -> str:
        """What the rows are called in SQL, and by whom they are seen."""
        problem: Exception | None = None
        for self._shared in (False, True):
            for rows in candidates:
                try:
                    self.cursor().execute(f"{all_columns(rows)} LIMIT 0")
                except duckdb.Error as error:
                    problem = problem or error
                else:
                    return rows
        raise ValueError(f"{self._name} cannot be read: {problem}") from problem

    def cursor(self) -> Any:
        """Who asks."""
        return self._connection if self._shared else self._connection.cursor()

    @property
    def name(self) -> str:
        """The table."""
        return self._name

    @property
    def dialect(self) -> Dialect | None:
        """How it is asked for sums, if it is."""
        return self._dialect

    @contextmanager
    def asking(self) -> Generator[Ask, None, None]:
        """Queries in one transaction."""
        cursor = self.cursor()
        try:
            if not self._shared:
                cursor.begin()
            yield lambda query: cursor.sql(query).to_arrow_table()
        except duckdb.Error as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error
        finally:
            if not self._shared:
                cursor.close()

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as Arrow has them."""
        return self.cursor().sql(f"{all_columns(self.rows)} LIMIT 0").to_arrow_table().schema

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows in order, as many as are counted in the same transaction."""
        cursor = self.cursor()
        try:
            _refuse_disorder(cursor)
            if not self._shared:
                cursor.begin()
            yield from _whole(cursor.sql(select(columns, self.rows)), _count(cursor, self.rows), self.name)
        except duckdb.Error as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error
        finally:
            if not self._shared:
                cursor.close()


class RelationEngine(BatchEngine):
    """A relation, such as `connection.sql(…)` gives, read by its own connection."""

    name = "the relation"
    keeps_places = False

    def __init__(self, relation: Any) -> None:
        self._relation = relation

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as Arrow has them."""
        return self._relation.limit(0).to_arrow_table().schema

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows in order."""
        try:
            [(n,)] = self._relation.aggregate("count(*)").fetchall()
            yield from _whole(self._relation.select(*map(_column, columns)), n, self.name)
        except duckdb.Error as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error


def _column(name: str) -> Any:
    return duckdb.ColumnExpression(name)


def _count(cursor: Any, rows: str) -> int:
    [(n,)] = cursor.execute(f"SELECT count(*) FROM {rows}").fetchall()  # noqa: S608 -- quoted names
    return int(n)


def _whole(relation: Any, expected: int, name: str) -> Generator[Any, None, None]:
    """The batches of a relation; an error where they do not have all rows."""
    n = 0
    with relation.to_arrow_reader(BATCH_ROWS) as reader:
        for batch in reader:
            n += batch.num_rows
            yield batch
    if n != expected:
        raise FragmentError(
            f"{name} gave {n:,} rows where {expected:,} were counted: it has other rows each time it is "
            "asked, or the stream was cut; copy the rows into a table and scan that"
        )


def _refuse_disorder(cursor: Any) -> None:
    [(ordered,)] = cursor.execute("SELECT current_setting('preserve_insertion_order')").fetchall()
    if not ordered:
        raise ValueError(
            "preserve_insertion_order is off in this database: rows would come in another order each time, "
            "and sums have other bits; SET preserve_insertion_order = true"
        )


def opened(source: Any, table: str | None = None, query: str | None = None, engine: Any = None) -> Engine:
    """The engine of a connection with a table or query, or of a relation."""
    version = duckdb.__version__
    if int(version.partition(".")[0]) < OLDEST:
        raise ValueError(
            f"rows are streamed from DuckDB {OLDEST}.0 on, found {version}, which cuts a stream short "
            "without an error when its connection runs another query: pip install "
            f"'duckdb>={OLDEST}.0', or write Parquet files and scan those"
        )
    refuse_engine(engine)
    if isinstance(source, duckdb.DuckDBPyRelation):
        if table is not None or query is not None:
            raise ValueError("a relation says which rows are meant; leave out table and query")
        return RelationEngine(source)
    refuse_unclear("a connection", table, query)
    return DuckDBEngine(source, table, query, streams=engine == "arrow")
