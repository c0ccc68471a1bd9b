"""Parquet and Arrow files: columns that know their types."""

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq

from posterior.files.cells import clean, columns_by_name, unique_names
from posterior.files.errors import FileError, reason
from posterior.files.options import Reading
from posterior.files.sources import ByteSource

_ROWS = 1 << 16


class ColumnarTable:
    """A table in a Parquet file, an Arrow file (Feather) or an Arrow stream."""

    def __init__(self, source: ByteSource, reading: Reading, *, parquet: bool) -> None:
        self._source, self._reading, self._parquet = source, reading, parquet

    def tables(self) -> Iterator[Any]:
        """Give the rows some at a time; at least one table, which tells the columns."""
        try:
            yield from self._parquet_tables() if self._parquet else self._arrow_tables()
        except (pa.ArrowException, EOFError, UnicodeDecodeError) as error:  # names may be no text
            kind = "a Parquet" if self._parquet else "an Arrow"
            raise FileError(
                self._source.name, f"cannot be read as {kind} file, it may be damaged: {reason(error)}"
            ) from error

    def _parquet_tables(self) -> Iterator[Any]:
        with self._source.seekable() as file, pq.ParquetFile(file, pre_buffer=False) as parquet:
            yield self._ready(parquet.schema_arrow.empty_table())
            for batch in parquet.iter_batches(_ROWS):
                yield self._ready(batch)

    def _arrow_tables(self) -> Iterator[Any]:
        if self._source.stream.head.startswith(b"ARROW1"):
            with self._source.seekable() as file, pyarrow.ipc.open_file(file) as arrow:
                yield self._ready(arrow.schema.empty_table())
                for i in range(arrow.num_record_batches):
                    yield self._ready(arrow.get_batch(i))
        else:
            with self._source.open() as stream, pyarrow.ipc.open_stream(stream) as arrow:
                yield self._ready(arrow.schema.empty_table())
                for batch in arrow:
                    yield self._ready(batch)

    def _ready(self, rows: Any) -> Any:
        return ready(self._source.name, rows, self._reading)


def ready(name: str, rows: Any, reading: Reading) -> Any:
    """Return typed rows of a file as a table: checked, words for gaps taken as such, decimals as numbers."""
    # An Arrow file's offsets are not looked at when it is opened, and may point anywhere.
    rows.validate(full=True)
    unique_names(name, rows.schema.names)
    named = Reading(missing=reading.missing, usual_missing=False, trim=False)
    columns = columns_by_name(rows if isinstance(rows, pa.Table) else pa.Table.from_batches([rows]))
    for each, column in columns.items():
        cells = column.cast(pa.string()) if pa.types.is_large_string(column.type) else column
        if pa.types.is_decimal(cells.type):
            cells = cells.cast(pa.float64())
        gaps = named.missing and pa.types.is_string(cells.type)
        columns[each] = clean(cells, named) if gaps else cells
    return pa.table(columns)
