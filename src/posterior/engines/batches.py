"""Rows that come as one ordered stream of batches, from a database or a lazy frame."""

from abc import abstractmethod
from collections.abc import Generator, Iterable, Sequence
from contextlib import closing
from typing import Any, TypeVar

import pyarrow as pa

from posterior.engines.arrow import batch_work
from posterior.engines.base import BATCH_ROWS, Engine, Place, Work, taken
from posterior.engines.workers import in_order
from posterior.stats.adding import added

S = TypeVar("S")


class BatchEngine(Engine):
    """Rows that are read one after the other by one reader, and summed up by the threads of this process.

    A new engine of this kind says what its columns are, and how they are read.
    """

    @abstractmethod
    def read(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """Record batches or tables of Arrow with these columns, in order and of any size: a generator.

        It is closed where a reading ends early, so that what it holds is let go of by `finally`.
        """

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over batches, which have the same rows whenever they are read."""
        with closing(self._placed(columns)) as pieces:
            total: S = added(in_order(batch_work(work), pieces, ahead=1))
        return total

    def _placed(self, columns: Sequence[str]) -> Generator[tuple[str, Any, Place], None, None]:
        with closing(self.batches(columns)) as batches:
            for number, batch in enumerate(batches):
                yield self.name, batch, Place(0, number * BATCH_ROWS)

    def batches(self, columns: Sequence[str]) -> Generator[Any, None, None]:
        """All rows in order, in batches of the same size but for the last."""
        with closing(self.read(columns)) as found:
            yield from even_batches(found)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows."""
        with closing(self.batches(columns)) as batches:
            return taken(batches, self.empty(columns), n)


def even_batches(batches: Iterable[Any], size: int = BATCH_ROWS) -> Generator[Any, None, None]:
    """The same rows, so many in each batch and the rest in the last one.

    A database cuts its batches where its threads happen to be, and sums would have other bits each time.

    >>> rows = pa.table({"x": range(7)})
    >>> [batch.num_rows for batch in even_batches(rows.to_batches(max_chunksize=2), 3)]
    [3, 3, 1]
    """
    held: list[Any] = []
    n = 0
    for found in batches:
        for batch in found.to_batches() if isinstance(found, pa.Table) else [found]:
            start = 0
            while n + batch.num_rows - start >= size:
                part = batch.slice(start, size - n)
                start += part.num_rows
                yield _joined([*held, part])
                held, n = [], 0
            if start < batch.num_rows:
                held.append(batch.slice(start))
                n += held[-1].num_rows
    if held:
        yield _joined(held)


def _joined(parts: Sequence[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    return pa.Table.from_batches(parts).unify_dictionaries().combine_chunks().to_batches()[0]
