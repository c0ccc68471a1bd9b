"""A table of Ibis, streamed by the database that it is in."""

from collections.abc import Generator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import pyarrow as pa
from ibis.common.exceptions import IbisError

from posterior.engines.base import BATCH_ROWS, Engine, FragmentError
from posterior.engines.batches import BatchEngine


class IbisEngine(BatchEngine):
    """An expression of Ibis, which its backend works out at each reading."""

    name = "the Ibis table"
    keeps_places = False

    def __init__(self, expression: Any) -> None:
        self._expression = expression

    @cached_property
    def schema(self) -> Any:
        """Names and types of the columns, as Arrow has them."""
        return self._expression.schema().to_pyarrow()

    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """The rows in the order that the backend gives them."""
        reader = None
        try:
            reader = self._expression.select(*columns).to_pyarrow_batches(chunk_size=BATCH_ROWS)
            yield from reader
        except (OSError, IbisError, pa.ArrowException) as error:
            raise FragmentError(f"{self.name} cannot be read: {error}") from error
        finally:
            with suppress(Exception):  # of a connection that broke
                if reader is not None:
                    reader.close()


def opened(source: Any, table: str | None = None, query: str | None = None, engine: Any = None) -> Engine:
    """The engine of an Ibis table."""
    if table is not None or query is not None:
        raise ValueError("an Ibis table says which rows are meant; leave out table and query")
    if engine is not None:
        raise ValueError(f"engine={engine!r} reads files; Ibis asks its own database")
    return IbisEngine(source)
