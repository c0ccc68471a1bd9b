"""Databases in which queries run: DuckDB in this process, PostgreSQL on a server of the tests' own."""

from dataclasses import dataclass
from typing import Any

import adbc_driver_postgresql.dbapi
import duckdb
import numpy as np
import pyarrow as pa
from sqlglot import exp


@dataclass
class Database:
    """A connection, and how tables come in and answers out."""

    dialect: str
    connection: Any

    @classmethod
    def duckdb(cls) -> "Database":
        return cls("duckdb", duckdb.connect())

    @classmethod
    def postgres(cls, uri: str) -> "Database":
        return cls("postgres", adbc_driver_postgresql.dbapi.connect(uri, autocommit=True))

    def put(self, name: str, table: pa.Table) -> None:
        """Write a table, in the place of one of that name."""
        quoted = exp.to_identifier(name, quoted=True).sql(self.dialect)
        self.do(f"DROP TABLE IF EXISTS {quoted}")
        if self.dialect == "duckdb":
            self.connection.register("coming", table)
            self.do(f"CREATE TABLE {quoted} AS SELECT * FROM coming")
            self.connection.unregister("coming")
            return
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="create")

    def do(self, statement: str) -> None:
        """Run a statement that answers nothing."""
        if self.dialect == "duckdb":
            self.connection.execute(statement)
            return
        with self.connection.cursor() as cursor:
            cursor.executescript(statement)

    def ask(self, query: str) -> pa.Table:
        """The answer to a query."""
        if self.dialect == "duckdb":
            found = self.connection.sql(query).arrow()
            return found if isinstance(found, pa.Table) else found.read_all()
        with self.connection.cursor() as cursor:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

    def close(self) -> None:
        self.connection.close()


def columns_of(table: pa.Table, start: str) -> np.ndarray:
    """The numbers (n, K) of the columns whose names begin so; NaN for NULL."""
    names = [name for name in table.column_names if name.startswith(start)]
    return np.array([table[name].to_pylist() for name in names], dtype=float).T


def relative(found: np.ndarray, wanted: np.ndarray) -> float:
    """The largest difference, relative to 1 + |value|; infinities must be the same, and none be NaN."""
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    if not len(wanted):
        return 0.0
    infinite = np.isinf(wanted)
    if not np.array_equal(np.where(infinite, wanted, 0.0), np.where(np.isinf(found), found, 0.0)):
        return np.inf
    apart = np.abs(np.where(infinite, 0.0, found) - np.where(infinite, 0.0, wanted))
    worst = (apart / (1 + np.abs(np.where(infinite, 0.0, wanted)))).max()
    return np.inf if np.isnan(worst) else float(worst)
