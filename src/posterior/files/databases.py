"""Tables of SQLite and DuckDB files, which are opened for reading only and never changed."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from posterior.files.cells import unique_names
from posterior.files.columnar import ready
from posterior.files.errors import FileError, extra_module, reason
from posterior.files.options import Reading
from posterior.files.parts import chosen_part
from posterior.files.sources import BLOCK, ByteSource
from posterior.files.text import CellBlock
from posterior.files.values import typed_block

_ROWS = 1 << 16
_FIRST_ROWS = 256
# A value of bytes has no place in a table of cells: a short one is a key, a long one is told by its size.
_CELL = """CASE typeof({0}) WHEN 'blob' THEN
    CASE WHEN length({0}) <= 64 THEN hex({0}) ELSE '(' || length({0}) || ' bytes)' END ELSE {0} END"""
_SQLITE_TABLES = """SELECT name FROM sqlite_master
    WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' ORDER BY rowid"""
_DUCKDB_TABLES = """SELECT schema_name, table_name FROM duckdb_tables() WHERE NOT internal
    UNION ALL SELECT schema_name, view_name FROM duckdb_views() WHERE NOT internal ORDER BY ALL"""
# A view may name other files, and a query may put rows aside: neither is for a file that is only read.
_DUCKDB_SETTINGS = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "temp_directory": "",
    "memory_limit": "2GiB",
    "threads": "1",
}


class SqliteTable:
    """A table or view of an SQLite file, its cells with the types that they have there."""

    def __init__(self, source: ByteSource, reading: Reading) -> None:
        self._source, self._reading = source, reading
        self._place = source.place()
        self._sqlite = extra_module("sqlite3", "reading SQLite files", "a Python built with sqlite3", None)
        try:
            with closing(self._connected()) as connection:
                found = [name for (name,) in connection.execute(_SQLITE_TABLES)]
                table = quoted(chosen_part(source.name, "table", found, source.part))
                nobody = connection.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608 -- quoted
                columns = [column[0] for column in nobody.description]
        except (self._sqlite.Error, UnicodeDecodeError) as error:  # names may be no text
            raise self._trouble(error) from error
        self.names = unique_names(source.name, columns)
        self._query = f"SELECT {', '.join(_CELL.format(quoted(each)) for each in columns)} FROM {table}"  # noqa: S608 -- quoted

    def blocks(self) -> Iterator[CellBlock]:
        """Give some megabytes of rows at a time, cells as strings beside their types."""
        size = _FIRST_ROWS
        try:
            with closing(self._connected()) as connection:
                cursor = connection.execute(self._query)
                while rows := cursor.fetchmany(size):
                    block = self._block(rows)
                    yield block
                    n_bytes = sum(column.nbytes for column in block.columns.values())
                    size = min(max(16, len(rows) * BLOCK // max(1, n_bytes)), 4 * size, _ROWS)
        except (self._sqlite.Error, UnicodeDecodeError) as error:  # names may be no text
            raise self._trouble(error) from error

    def _block(self, rows: list[tuple[Any, ...]]) -> CellBlock:
        columns = dict(zip(self.names, zip(*rows, strict=True), strict=True))
        return typed_block(len(rows), columns, self._reading)

    def _connected(self) -> Any:
        connection = self._sqlite.connect(f"{self._place.as_uri()}?{self._mode()}", uri=True)
        connection.execute("PRAGMA trusted_schema = OFF")
        return connection

    def _mode(self) -> str:
        """Return how to open the file so that nothing is written, beside it neither.

        SQLite makes two files beside one that has a write-ahead log, even for readers, unless it is told that
        nobody writes; that is so where there is no log.
        """
        log, shared = (Path(f"{self._place}{end}") for end in ("-wal", "-shm"))
        with self._place.open("rb") as file:
            logged = file.read(20)[18:] == b"\2\2"
        if not logged:
            return "mode=ro"
        if not log.exists() or not log.stat().st_size:
            return "mode=ro&immutable=1"
        if not shared.exists():
            raise FileError(
                self._source.name,
                f"has changes in {log.name} that are not in it yet; open it with the program that wrote it",
            )
        return "mode=ro"

    def _trouble(self, error: Exception) -> FileError:
        return FileError(self._source.name, f"cannot be read as an SQLite database: {reason(error)}")


class DuckdbTable:
    """A table or view of a DuckDB file."""

    def __init__(self, source: ByteSource, reading: Reading) -> None:
        self._source, self._reading = source, reading
        self._place = source.place()
        self._duckdb = extra_module("duckdb", "reading DuckDB files", "duckdb", "duckdb")

    def tables(self) -> Iterator[Any]:
        """Give the rows some at a time; at least one table, which tells the columns."""
        name = self._source.name
        try:
            with self._duckdb.connect(
                str(self._place), read_only=True, config=_DUCKDB_SETTINGS
            ) as connection:
                found = {
                    table if schema == "main" else f"{schema}.{table}": f"{quoted(schema)}.{quoted(table)}"
                    for schema, table in connection.execute(_DUCKDB_TABLES).fetchall()
                }
                table = found[chosen_part(name, "table", list(found), self._source.part)]
                reader = connection.sql(f"SELECT * FROM {table}").to_arrow_reader(_ROWS)  # noqa: S608 -- quoted
                yield ready(name, reader.schema.empty_table(), self._reading)
                for batch in reader:
                    yield ready(name, batch, self._reading)
        except self._duckdb.Error as error:
            raise FileError(name, f"cannot be read as a DuckDB database: {reason(error)}") from error


def quoted(name: str) -> str:
    """Return the name of a table or column as SQL writes it.

    >>> quoted('5" disks')
    '"5"" disks"'
    """
    return '"' + name.replace('"', '""') + '"'
