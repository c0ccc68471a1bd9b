"""Rows that Arrow hands over: a table or a data set, read as often as one likes, or a stream, read once."""

from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, ClassVar, NoReturn

import pyarrow as pa
import pyarrow.dataset as ds

from posterior.engines.base import BATCH_ROWS, Engine, FragmentError
from posterior.engines.batches import BatchEngine, even_batches

READ_ONCE = (
    "a stream can be read once, and this reads the rows before it learns from them, or several times; write "
    "the stream to Parquet files and scan those"
)


class ArrowTableEngine(BatchEngine):
    """A table in memory, or a data set of Arrow."""

    def __init__(self, rows: Any, name: str) -> None:
        self._rows, self._name = rows, name

    @property
    def name(self) -> str:
        """What was given."""
        return self._name

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self._rows.schema

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows in order."""
        if isinstance(self._rows, pa.Table):
            yield from self._rows.select(list(columns)).to_batches(max_chunksize=BATCH_ROWS)
            return
        # Whole row groups in advance would take gigabytes.
        lean = {"batch_readahead": 2, "fragment_readahead": 1, "batch_size": BATCH_ROWS}
        try:
            yield from self._rows.to_batches(columns=list(columns), **lean)
        except (OSError, pa.ArrowException) as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error


class StreamEngine(Engine):
    """Batches that come one after the other and are gone when they were read."""

    rereads: ClassVar[bool] = False

    def __init__(self, schema: Any, batches: Iterable[Any]) -> None:
        self._schema, self._batches, self._begun = schema, batches, False

    @property
    def name(self) -> str:
        """What a message calls it."""
        return "the stream"

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self._schema

    def fold(self, work: Any, columns: Sequence[str]) -> NoReturn:
        """Refused: nothing would be left to learn from."""
        raise ValueError(READ_ONCE)

    def head(self, columns: Sequence[str], n: int) -> NoReturn:
        """Refused: these rows would be missing later."""
        raise ValueError(READ_ONCE)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows, the first time that they are asked for."""
        if self._begun:
            raise ValueError("the stream was read before, and has no rows left; open it again")
        self._begun = True
        yield from even_batches(self._selected(list(columns)))

    def _selected(self, columns: list[str]) -> Iterator[Any]:
        try:
            for number, batch in enumerate(self._batches):
                if not batch.schema.equals(self._schema):
                    raise FragmentError(
                        f"batch {number} of the stream has the columns {_described(batch.schema)}, and the "
                        f"first one {_described(self._schema)}; all batches must have the same"
                    )
                yield batch.select(columns)
        except (OSError, pa.ArrowException) as error:
            raise FragmentError(f"the stream cannot be read: {error}") from error


def opened(source: Any, table: str | None = None, query: str | None = None, engine: Any = None) -> Engine:
    """The engine of a table, data set, stream or iterator of batches of Arrow."""
    if table is not None or query is not None:
        raise ValueError("table and query are for databases; of an Arrow stream choose columns")
    if engine is not None:
        raise ValueError(f"engine={engine!r} reads files; an Arrow stream is read by this process")
    if isinstance(source, pa.RecordBatch):
        source = pa.Table.from_batches([source])
    if isinstance(source, pa.Table | ds.Dataset):
        return ArrowTableEngine(source, "the data set" if isinstance(source, ds.Dataset) else "the table")
    if isinstance(source, pa.RecordBatchReader):
        return StreamEngine(source.schema, source)
    if hasattr(source, "__arrow_c_stream__"):
        if hasattr(source, "__len__"):  # a data frame: its rows are in memory
            return ArrowTableEngine(pa.table(source), "the table")
        return opened(pa.RecordBatchReader.from_stream(source))
    return _of_iterator(iter(source))


def _of_iterator(batches: Iterator[Any]) -> Engine:
    """The engine of an iterator, whose first batch says what its columns are."""
    parts = (part for each in batches for part in _parts(each))
    first = next(parts, None)
    if first is None:
        raise ValueError("the iterator gives no batches of Arrow; it may have been read before")
    return StreamEngine(first.schema, chain([first], parts))


def _parts(batch: Any) -> Sequence[Any]:
    if isinstance(batch, pa.RecordBatch):
        return [batch]
    if hasattr(batch, "__arrow_c_stream__"):
        found: list[Any] = pa.table(batch).to_batches()
        return found
    raise TypeError(
        f"an iterator to scan gives batches of Arrow, or data frames, found {type(batch).__name__}"
    )


def _described(schema: Any) -> str:
    return ", ".join(f"{field.name}: {field.type}" for field in schema)
