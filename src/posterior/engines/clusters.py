"""What engines of clusters share: the task of a fragment, rows as Arrow in batches of one size, and files."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from posterior._blas import one_blas_thread
from posterior.engines.arrow import FileEngine
from posterior.engines.base import BATCH_ROWS, Engine, Fragment, FragmentSum
from posterior.engines.batches import even_batches
from posterior.engines.workers import threads

# Sums that one task adds up. A power of two: the sum of a block is then a node of the tree of `added`, and
# the total has the bits that it has in one process.
BLOCK = 32


def fragment_sum(one: FragmentSum, fragment: Fragment, number: int) -> Any:
    """The sum over a fragment with one thread, as a task of a cluster; None where no row counts."""
    with one_blas_thread, threads(1):
        return one(fragment, number)


@dataclass(frozen=True)
class ArrivedRows:
    """The rows of a partition of a data frame, in the process that they are in, as a fragment."""

    name: str
    parts: Iterable[Any]

    def batches(self, columns: Sequence[str], rows: int = BATCH_ROWS) -> Iterator[Any]:
        """Record batches of one size, however the rows arrived."""
        return even_batches(self.parts, min(rows, BATCH_ROWS))


class FilesOnCluster(Engine):
    """Files that the workers of a cluster read, each fragment by a task; `fold` is the cluster's.

    What is not a sum, such as the first rows, is read by this process.
    """

    def __init__(self, files: FileEngine) -> None:
        self.files = files

    @property
    def name(self) -> str:
        """The files."""
        return self.files.name

    def would_read(self, path: Path) -> bool:
        """Whether a scan of the same folders and patterns would read a file at this path."""
        return self.files.would_read(path)

    @property
    def schema(self) -> Any:
        """The columns of all files."""
        return self.files.schema

    @property
    def paths(self) -> Sequence[str]:
        """The paths of all files."""
        return self.files.paths

    @property
    def counted_rows(self) -> int | None:
        """The number of all rows, where the files tell."""
        return self.files.counted_rows

    @property
    def fragments(self) -> Sequence[Fragment]:
        """The parts that tasks read."""
        return self.files.fragments

    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """All rows in order."""
        return self.files.batches(columns)

    def head(self, columns: Sequence[str], n: int) -> Any:
        """The first rows of fragments that lie apart."""
        return self.files.head(columns, n)
