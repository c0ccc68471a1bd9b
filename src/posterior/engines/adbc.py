"""A table or query of PostgreSQL, or of any database that ADBC reaches, streamed."""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cached_property, partial
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
from adbc_driver_manager import Error, NotSupportedError

from posterior._loading import load_module
from posterior.engines.base import Engine, FragmentError
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

DRIVERS = {
    "postgresql": "adbc_driver_postgresql.dbapi",
    "postgres": "adbc_driver_postgresql.dbapi",
}
# A scan that begins where another one is, or is shared by workers, gives rows in another order each time.
SAME_ROWS = ("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", "SET synchronize_seqscans = off")
IN_ORDER = ("SET synchronize_seqscans = off", "SET max_parallel_workers_per_gather = 0")


# Dates alone have isfinite. Mean and variance of a column share one sum, a centred one. Weighted sums have
# nothing to share, and take as long as it takes to send the rows.
POSTGRESQL = Dialect(
    finite="{x} > CAST('-Infinity' AS DOUBLE PRECISION) AND {x} < CAST('Infinity' AS DOUBLE PRECISION)",
    total="avg({z}) * count({z})",
    squares="(var_pop({z}) + avg({z}) * avg({z})) * count({z})",
    weighs=False,
)


class ADBCEngine(DatabaseEngine):
    """Rows that each reading asks for by a connection of its own, which is closed when it ends.

    So it is not disturbed by what the user does with theirs; but what they have not committed, and temporary
    tables, are not seen.
    """

    keeps_places = False  # a server may start in the middle of a table that another query reads

    def __init__(
        self,
        connect: Callable[[], Any],
        table: str | None,
        query: str | None,
        secrets: Sequence[str] = (),
        *,
        streams: bool = False,
    ) -> None:
        self._connect, self._secrets = connect, tuple(secrets)
        self.vendor = ""
        self._name = "the query" if table is None else f"table {table!r}"
        # A query would be run again for each sum.
        self._sums = table is not None and not streams
        self.rows, self._found = self._described(
            [subquery(query)] if table is None else possible_tables(table)  # type: ignore[arg-type]
        )

    @property
    def name(self) -> str:
        """The table."""
        return self._name

    def _described(self, candidates: Sequence[str]) -> tuple[str, Any]:
        """What the rows are called in SQL, and the columns as the driver gives them."""
        problem: Exception | None = None
        for rows in candidates:
            try:
                with self.cursor() as cursor:
                    return rows, _schema_of(cursor, all_columns(rows))
            except (Error, OSError) as error:
                problem = problem or error
        raise ValueError(
            f"{self._name} cannot be read: {self._shown(problem)}; a name is taken as it is spelled, and a "
            "second connection sees only what was committed, and no temporary tables"
        ) from None

    @property
    def dialect(self) -> Dialect | None:
        """How it is asked for sums, if it is."""
        return POSTGRESQL if self._sums and self.vendor == "PostgreSQL" else None

    @contextmanager
    def asking(self) -> Generator[Ask, None, None]:
        """Queries in one transaction, which sees the rows as they were when it began."""

        def answer(query: str) -> Any:
            cursor.execute(query)
            return cursor.fetch_arrow_table()

        try:
            with self.cursor(SAME_ROWS) as cursor:
                yield answer
        except (Error, OSError, pa.ArrowException) as error:
            raise FragmentError(f"{self.name} cannot be read: {self._shown(error)}") from None

    @contextmanager
    def cursor(self, settings: Sequence[str] = IN_ORDER) -> Iterator[Any]:
        """Who asks; what is under way is cancelled, and nothing is left behind, where it ends early."""
        connection = self._connect()
        try:
            self.vendor = self.vendor or str(connection.adbc_get_info().get("vendor_name"))
            cursor = connection.cursor()
            try:
                if self.vendor == "PostgreSQL":
                    for setting in settings:
                        cursor.execute(setting)
                yield cursor
            except BaseException:
                with suppress(Exception):
                    cursor.adbc_cancel()
                raise
            finally:
                with suppress(Exception):  # of a connection that broke
                    cursor.close()
        finally:
            with suppress(Exception):
                connection.close()

    @cached_property
    def casts(self) -> dict[str, str]:
        """The types that are asked for in place of those that Arrow has not: numbers, else texts."""
        return {field.name: kind for field in self._found if (kind := _cast(field.type))}

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as they are asked for."""
        types = {"DOUBLE PRECISION": pa.float64(), "TEXT": pa.string()}
        return pa.schema(
            [
                pa.field(f.name, types[self.casts[f.name]] if f.name in self.casts else f.type)
                for f in self._found
            ]
        )

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows as the server gives them, which is the order of a table that nobody changes."""
        schema = pa.schema([self.schema.field(name) for name in columns])
        try:
            with self.cursor() as cursor:
                cursor.execute(select(columns, self.rows, self.casts))
                for batch in cursor.fetch_record_batch():
                    yield _as_described(batch, schema, self.name)
        except (Error, OSError, pa.ArrowException) as error:
            raise FragmentError(f"{self.name} cannot be read: {self._shown(error)}") from None

    def _shown(self, error: Exception | None) -> str:
        return without_secrets(" ".join(str(error).split()), self._secrets)


def _as_described(batch: Any, schema: Any, name: str) -> Any:
    if not batch.schema.equals(schema):
        if not batch.schema.remove_metadata().equals(schema):
            raise FragmentError(f"{name} has other columns than before: {batch.schema}; scan it again")
        batch = batch.replace_schema_metadata(None)
    return batch


def _schema_of(cursor: Any, query: str) -> Any:
    try:
        return cursor.adbc_execute_schema(query)
    except NotSupportedError:
        cursor.execute(query)
        return cursor.fetch_record_batch().schema


def _cast(kind: Any) -> str | None:
    """What a column is asked for as, if Arrow knows its type by name only."""
    if getattr(kind, "type_name", None) == "numeric":
        return "DOUBLE PRECISION"
    return "TEXT" if isinstance(kind, pa.BaseExtensionType) else None


def without_secrets(text: str, secrets: Sequence[str]) -> str:
    """A message without the passwords in it.

    >>> without_secrets("no host in postgresql://me:tiger@/x", ["tiger"])
    'no host in postgresql://me:***@/x'
    """
    for secret in secrets:
        text = text.replace(secret, "***")
    return text


def secrets_in(address: str) -> list[str]:
    """The passwords of an address, as they are written there and as they are meant.

    >>> secrets_in("postgresql://me:ti%20ger@host/db")
    ['ti%20ger', 'ti ger']
    """
    rest = urlsplit(address.replace("[", "").replace("]", ""))
    found = [rest.password or ""]
    found += [
        word.partition("=")[2] for word in rest.query.split("&") if word.lower().startswith("password=")
    ]
    both = [word for each in found for word in (each, unquote(each)) if word]
    return list(dict.fromkeys(both))


def _connected(address: str) -> Any:
    scheme = address.partition("://")[0]
    if scheme not in DRIVERS:
        raise ValueError(
            f"{scheme}:// is no address that can be opened, {' and '.join(f'{d}://' for d in DRIVERS)} are; "
            "for other databases give an ADBC connection"
        )
    try:
        return load_module(DRIVERS[scheme]).connect(address)
    except Error as error:
        # Not `from error`: libpq repeats an address that it cannot read, with its password.
        shown = without_secrets(" ".join(str(error).split()), secrets_in(address))
        raise FragmentError(f"the database cannot be reached: {shown}") from None


def opened(source: Any, table: str | None = None, query: str | None = None, engine: Any = None) -> Engine:
    """The engine of a connection or address with a table or query."""
    refuse_engine(engine)
    refuse_unclear("a database", table, query)
    if not isinstance(source, str):
        return ADBCEngine(source.adbc_clone, table, query, streams=engine == "arrow")
    return ADBCEngine(
        partial(_connected, source), table, query, secrets_in(source), streams=engine == "arrow"
    )
