"""A lazy frame of polars, streamed by its own engine."""

import tempfile
from collections.abc import Generator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq

from posterior.engines import streams
from posterior.engines.base import BATCH_ROWS, Engine, FragmentError
from posterior.engines.batches import BatchEngine


class PolarsEngine(BatchEngine):
    """A lazy frame, which is worked out anew at each reading, a few batches of it in memory."""

    keeps_places = False

    def __init__(self, frame: pl.LazyFrame) -> None:
        self._frame = frame

    @property
    def name(self) -> str:
        """What a message calls it."""
        return "the lazy frame"

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as Arrow has them."""
        try:
            return _to_arrow(pl.DataFrame(schema=self._frame.collect_schema())).schema
        except pl.exceptions.PolarsError as error:
            raise FragmentError(f"{self.name} has no columns that can be told: {error}") from error

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows in order."""
        chosen = self._frame.select(list(columns))
        streamed = _in_batches if hasattr(chosen, "collect_batches") else _by_file
        try:
            yield from streamed(chosen)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows, of which polars need not work out more."""
        try:
            return _to_arrow(self._frame.select(list(columns)).head(n).collect(engine="streaming"))
        except (OSError, pl.exceptions.PolarsError) as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error


def _in_batches(frame: pl.LazyFrame) -> Generator[Any, None, None]:
    for part in frame.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True, lazy=True):
        yield _to_arrow(part)


def _by_file(frame: pl.LazyFrame) -> Generator[Any, None, None]:
    """Versions before 1.34 stream into files only."""
    with tempfile.TemporaryDirectory(prefix="posterior-") as folder:
        path = Path(folder) / "rows.parquet"
        frame.sink_parquet(path, maintain_order=True, compression="uncompressed", row_group_size=BATCH_ROWS)
        with pq.ParquetFile(path, pre_buffer=False) as file:
            yield from file.iter_batches(BATCH_ROWS, use_threads=False)


def _to_arrow(frame: pl.DataFrame) -> Any:
    # Oldest: without string views, of which Arrow compares few.
    return frame.to_arrow(compat_level=pl.CompatLevel.oldest())


def opened(source: Any, table: str | None = None, query: str | None = None, engine: Any = None) -> Engine:
    """The engine of a lazy frame; a data frame is read as Arrow's tables are."""
    if not isinstance(source, pl.LazyFrame):
        return streams.opened(source, table, query, engine)
    if table is not None or query is not None:
        raise ValueError("table and query are for databases; say it in polars, as by .filter(…)")
    if engine is not None:
        raise ValueError(f"engine={engine!r} reads files; a lazy frame is read by polars")
    return PolarsEngine(source)
