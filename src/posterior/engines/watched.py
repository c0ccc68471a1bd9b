"""An engine whose readings are told to a person who waits."""

import threading
from collections.abc import Iterator, Sequence
from time import perf_counter
from typing import Any, TypeVar

from posterior._types import Progress
from posterior.engines.base import Engine, Place, Work
from posterior.engines.scoring import rate_words

S = TypeVar("S")


class WatchedEngine(Engine):
    """The rows of another engine, which threads of this process read; each batch is told.

    `progress(rows, all_rows, what)` is called after a batch, by whichever thread read it, one at a time.
    """

    def __init__(self, engine: Engine, progress: Progress) -> None:
        self.engine, self.progress = engine, progress
        self._n_readings = 0
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """What a message calls the table."""
        return self.engine.name

    @property
    def schema(self) -> Any:
        """Names and types of the columns."""
        return self.engine.schema

    @property
    def paths(self) -> Sequence[str]:
        """The files that are read."""
        return self.engine.paths

    @property
    def counted_rows(self) -> int | None:
        """The number of all rows, where it is known without reading them."""
        return self.engine.counted_rows

    def __getattr__(self, name: str) -> Any:
        """What else the engine has, such as its fragments."""
        return getattr(self.engine, name)

    @property
    def rereads(self) -> bool:  # type: ignore[override]
        """Whether the rows can be read more than once."""
        return self.engine.rereads

    @property
    def keeps_places(self) -> bool:  # type: ignore[override]
        """Whether rows have the same places in every reading."""
        return self.engine.keeps_places

    def survey(self, work: Any) -> Any:
        """What the engine counts where the rows are."""
        return self.engine.survey(work)

    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up over all rows, and tell how many have been read."""
        self._n_readings += 1
        which, all_rows, began, done = self._n_readings, self.counted_rows or 0, perf_counter(), 0

        def told(batch: Any, place: Place) -> S | None:
            nonlocal done
            found = work(batch, place)
            with self._lock:
                done += batch.num_rows
                self.progress(done, all_rows, f"reading {which}, {rate_words(done, perf_counter() - began)}")
            return found

        return self.engine.fold(told, columns)

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order."""
        return self.engine.batches(columns)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """A few rows."""
        return self.engine.head(columns, n)
