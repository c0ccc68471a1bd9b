"""What an engine is: rows that live somewhere, read in fragments, and sums over them."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol, TypeVar

from posterior.stats.adding import added_or_none

S = TypeVar("S")

# Rows of a batch: few enough to stay in a core's cache with their sums, enough to pay for Python.
BATCH_ROWS = 1 << 16
# Rows that are summed up at a time at most, where a fragment has them at once.
SUM_ROWS = 1 << 18


class Place(NamedTuple):
    """Where the rows of a batch stand: the number of their fragment, and that of the first one in it."""

    fragment: int
    first: int


Work = Callable[[Any, Place], S | None]


class Fragment(Protocol):
    """A part of a table that one worker reads: small, and it can be sent to another process."""

    @property
    def name(self) -> str:
        """What a message calls it, such as a file."""

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Record batches of Arrow, with these columns, in order; of so many rows at most."""


class FragmentError(ValueError):
    """What went wrong with the rows of a part of a table, which it names."""


def unreadable(name: str, error: Exception) -> FragmentError:
    """The error of a part that cannot be read."""
    told = " ".join(str(error).split())
    if "CSV conversion error" in told:
        told += (
            "; the types of a CSV file that is scanned are those of its first rows: write it as Parquet, or "
            "read it as a whole (posterior.files.read)"
        )
    return FragmentError(f"{name} cannot be read: {told}")


@dataclass(frozen=True)
class FragmentSum:
    """Adds up `work(batch, place)` over the batches of a fragment. Small, and it can be sent away."""

    work: Work[Any]
    columns: tuple[str, ...]

    def __call__(self, fragment: Fragment, number: int) -> Any:
        """The sum over one fragment; None where no row counts."""
        return added_or_none(self._sums(fragment, number))

    def _sums(self, fragment: Fragment, number: int) -> Iterator[Any]:
        first = 0
        batches = fragment.batches(self.columns, SUM_ROWS)
        batch = None
        while True:
            del batch  # before the next is read, which may then lie where it lay
            try:
                batch = next(batches, None)
            except (OSError, ValueError) as error:
                raise unreadable(fragment.name, error) from error
            if batch is None:
                return
            try:
                part = self.work(batch, Place(number, first))
            except FragmentError:
                raise
            except (ValueError, TypeError, NotImplementedError) as error:
                raise FragmentError(f"{fragment.name}, from row {first:,} on: {error}") from error
            first += batch.num_rows
            yield part


class Engine(ABC):
    """Where rows live. It gives sums over them and, in order, the rows themselves.

    A new engine says what its columns are (`schema`, Arrow's), and how `fold` adds up; models never see it.
    """

    # Whether the rows can be read more than once.
    rereads: ClassVar[bool] = True
    # Whether rows have the same places in every reading; a query may give them in another order each time.
    keeps_places: bool = True
    # Whether `scored` gives a lazy frame of the library that reads the rows.
    is_lazy: ClassVar[bool] = False

    @property
    @abstractmethod
    def name(self) -> str:
        """What a message calls the table."""

    @property
    @abstractmethod
    def schema(self) -> Any:
        """Names and types of the columns, a schema of Arrow."""

    def would_read(self, path: Path) -> bool:
        """Whether a file at this path would be read the next time."""
        return False

    @abstractmethod
    def fold(self, work: Work[S], columns: Sequence[str]) -> S:
        """Add up `work(batch, place)` over all rows, with the same bits however many workers there are."""

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order, as record batches of Arrow, few of them in memory."""

    @property
    def paths(self) -> Sequence[str]:
        """The files that are read, which nothing may be written to."""
        return ()

    @property
    def counted_rows(self) -> int | None:
        """The number of all rows, where it is known without reading them."""
        return None

    def scored(self, columns: Sequence[str], score: Callable[[Any], Any], schema: Any) -> Any:
        """A lazy frame of what `score` makes of each record batch of these columns, with this schema.

        `score` can be pickled and sent to where the rows are.
        """
        raise ValueError(
            f"the scores of {self.name} do not fit in memory; write them to a file: out='scores.parquet'"
        )

    def head(self, columns: Sequence[str], n: int) -> Any:
        """A few rows that show what columns look like, a table of Arrow."""
        return taken(self.batches(columns), self.empty(columns), n)

    def survey(self, work: Any) -> Any:
        """The `Survey` that this work makes of all rows, if the engine has it without reading them."""
        return None

    def class_sums(self, reader: Any, moments: Sequence[int], values: Sequence[int]) -> Any:
        """`ClassSums` of columns of the reader's schema, if the engine has them without reading the rows."""
        return None

    def empty(self, columns: Sequence[str]) -> Any:
        """A table of Arrow without rows."""
        from pyarrow import schema  # noqa: PLC0415  (only where rows are elsewhere)

        return schema([self.schema.field(name) for name in columns]).empty_table()


class ScannedTable:
    """A table that is read where it lives, as `posterior.scan` returns it.

    >>> import numpy as np, pyarrow as pa
    >>> from posterior import scan
    >>> table = scan(pa.table({"x": [1.0, 2.0]}))
    >>> isinstance(table, ScannedTable)
    True
    """

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refused: what asks for an array needs the rows in memory."""
        raise TypeError(
            "this reads rows in memory, and those of a scan are elsewhere; pass some of them: "
            "X, y, weight = scan.sample(100_000)"
        )


def taken(batches: Iterator[Any], empty: Any, n: int) -> Any:
    """The first rows of some batches as one table of Arrow."""
    from pyarrow import Table  # noqa: PLC0415  (only where rows are elsewhere)

    found, left = [], n
    for batch in batches:
        if left <= 0:
            break
        found.append(batch.slice(0, left))
        left -= found[-1].num_rows
    return Table.from_batches(found) if found else empty
