"""Rows wherever they live: what a model may ask of a data set, and nothing about where the rows are."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from posterior._blas import one_blas_thread
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.kernels import NumberTable
from posterior.schema import Codes, Mixed, Schema

__all__ = ["Chunk", "Dataset", "ReadOnce", "Rows", "Selection", "SomeRows", "as_stored", "in_memory", "read"]

S = TypeVar("S")
A = TypeVar("A", bound=AnyArray)


class Chunk(Protocol):
    """Some rows, with their columns in the forms in which families read them."""

    @property
    def n_rows(self) -> int:
        """How many rows these are."""

    @property
    def y(self) -> AnyArray:
        """Class codes of the rows, or the numbers that a regression predicts."""

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows; None where all are 1."""

    @property
    def fold(self) -> Ints:
        """In which part of a cross-validation each row is held out."""

    def row(self, i: int) -> int:
        """The number in the table of row `i` of these."""

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers, (m, b), NaN for missing."""

    def table(self, columns: tuple[int, ...]) -> NumberTable:
        """Numbers as they lie in memory, NaN for missing; infinity is not looked for, which `values` does."""

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Whether `table` gives these columns without a copy, however many rows there are."""

    def codes(self, columns: tuple[int, ...]) -> Codes:
        """Category codes, −1 for missing."""

    def mixed(self, columns: tuple[int, ...]) -> Mixed:
        """Numbers as they are and category codes side by side, NaN for missing and unseen."""

    def matrix(self, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """A sparse matrix where the rows are sparse, else the values; or, unchecked, the table."""

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """The type of float of all these columns if it is less precise than double, else double."""

    def texts(self, columns: tuple[int, ...]) -> AnyArray:
        """Strings, (m, b), None for missing."""


def read(chunk: Chunk, form: str, columns: tuple[int, ...]) -> Any:
    """Columns of a chunk in the form that a family reads: "values", "codes", "mixed", "matrix", "texts"."""
    return getattr(chunk, form)(columns)


def as_stored(cells: Any, chunk: Chunk, columns: tuple[int, ...]) -> Any:
    """Cells that were read of a chunk, dense or sparse, in the precision in which the table has them."""
    kind = chunk.precision(columns)
    return cells if kind in (np.float64, cells.dtype) else cells.astype(kind)


@dataclass(frozen=True)
class SomeRows:
    """Some rows of a chunk, by their numbers."""

    chunk: Chunk
    rows: Ints

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return len(self.rows)

    @property
    def y(self) -> AnyArray:
        """Class codes of the rows, or the numbers that a regression predicts."""
        return self.chunk.y[self.rows]

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows; None where all are 1."""
        weight = self.chunk.weight
        return None if weight is None else weight[self.rows]

    @property
    def fold(self) -> Ints:
        """In which part of a cross-validation each row is held out."""
        return self.chunk.fold[self.rows]

    def row(self, i: int) -> int:
        """The number in the table of row `i` of these."""
        return self.chunk.row(int(self.rows[i]))

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers, NaN for missing."""
        return self.chunk.values(columns)[self.rows]

    def table(self, columns: tuple[int, ...]) -> NumberTable:
        """Numbers, NaN for missing."""
        return self.values(columns)

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Whether `table` gives these columns without a copy: never."""
        return False

    def codes(self, columns: tuple[int, ...]) -> Codes:
        """Category codes, −1 for missing."""
        codes = self.chunk.codes(columns)
        return Codes(codes.array[self.rows], codes.sizes)

    def mixed(self, columns: tuple[int, ...]) -> Mixed:
        """Numbers and category codes side by side."""
        mixed = self.chunk.mixed(columns)
        return Mixed(mixed.array[self.rows], mixed.sizes)

    def matrix(self, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """A sparse matrix where the rows are sparse, else the values."""
        return self.chunk.matrix(columns)[self.rows]

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """The type of float of all these columns if it is less precise than double, else double."""
        return self.chunk.precision(columns)

    def texts(self, columns: tuple[int, ...]) -> AnyArray:
        """Strings, None for missing."""
        return self.chunk.texts(columns)[self.rows]


class ReadOnce:
    """A chunk that keeps what was read of it, for those who ask again."""

    def __init__(self, chunk: Chunk) -> None:
        self.chunk, self.n_rows, self.y, self.weight = chunk, chunk.n_rows, chunk.y, chunk.weight
        self._kept: list[tuple[str, tuple[int, ...], Any]] = []

    @property
    def fold(self) -> Ints:
        """In which part of a cross-validation each row is held out."""
        return self.chunk.fold

    def row(self, i: int) -> int:
        """The number in the table of row `i` of these."""
        return self.chunk.row(i)

    def _read(self, form: str, columns: tuple[int, ...]) -> Any:
        # One or two, mostly asked for by the same tuple; to hash one of thousands of places costs more.
        for known, places, found in self._kept:
            if known == form and (places is columns or places == columns):
                return found
        found = read(self.chunk, form, columns)
        self._kept.append((form, columns, found))
        return found

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers, NaN for missing."""
        return np.asarray(self._read("values", columns))

    def table(self, columns: tuple[int, ...]) -> NumberTable:
        """Numbers, NaN for missing."""
        return self.values(columns)

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Whether `table` gives these columns without a copy: never."""
        return False

    def codes(self, columns: tuple[int, ...]) -> Codes:
        """Category codes, −1 for missing."""
        codes: Codes = self._read("codes", columns)
        return codes

    def mixed(self, columns: tuple[int, ...]) -> Mixed:
        """Numbers and category codes side by side."""
        mixed: Mixed = self._read("mixed", columns)
        return mixed

    def matrix(self, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """A sparse matrix where the rows are sparse, else the values."""
        return self._read("matrix", columns)

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """The type of float of all these columns if it is less precise than double, else double."""
        return self.chunk.precision(columns)

    def texts(self, columns: tuple[int, ...]) -> AnyArray:
        """Strings, None for missing."""
        return np.asarray(self._read("texts", columns))


class Rows(Protocol):
    """A table with classes and weights whose rows can be summed up."""

    @property
    def schema(self) -> Schema:
        """What the columns are."""

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int, size: int = 0) -> S:
        """Add up `summarize(chunk)` over all rows, with the same bits whatever the number of threads.

        `dense` is the number of columns that are read as values, which sets the size of a chunk. A chunk has
        more cells than a sum, whose `size` may be given where it is large.
        """


class Dataset(Rows, Protocol):
    """Rows that can also be scored one by one."""

    @property
    def costly(self) -> bool:
        """Whether reading the rows costs more than most sums over them: they are not in memory."""

    @property
    def n_rows(self) -> int:
        """How many rows there are."""

    def map(self, score: Callable[[Chunk], A], *, dense: int) -> A:
        """`score(chunk)` of all rows, in their order."""

    def fill(self, write: Callable[[Chunk, A], None], out: A, *, dense: int) -> A:
        """Let `write(chunk, part)` write all rows of `out`, each chunk its own part; returns `out`."""

    def every(self, step: int) -> "Dataset":
        """The first of every `step` rows."""


# Cells of a table whose rows are kept as they were read, half a megabyte; they are one chunk of any data set.
KEPT_CELLS = 1 << 16


@dataclass(frozen=True)
class Selection:
    """The rows of a data set that `keep` says true of."""

    dataset: Rows
    keep: Callable[[Chunk], Bools]

    @property
    def schema(self) -> Schema:
        """What the columns are."""
        return self.dataset.schema

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int, size: int = 0) -> S:
        """Add up `summarize(chunk)` over the rows that are kept."""
        if self._small is not None and self._small.n_rows * max(dense, self._n_columns) <= KEPT_CELLS:
            with one_blas_thread:
                return summarize(self._small)

        def kept(chunk: Chunk) -> S:
            return summarize(SomeRows(chunk, np.flatnonzero(self.keep(chunk))))

        return self.dataset.reduce(kept, dense=dense, size=size)

    @cached_property
    def _n_columns(self) -> int:
        return len(self.schema)

    @cached_property
    def _small(self) -> ReadOnce | None:
        """The rows that are kept, read once for all sums over them; None where all rows are many."""
        chunks = self.dataset.reduce(lambda chunk: [chunk], dense=1)
        if len(chunks) > 1 or chunks[0].n_rows * self._n_columns > KEPT_CELLS:
            return None
        return ReadOnce(SomeRows(chunks[0], np.flatnonzero(self.keep(chunks[0]))))


def in_memory(rows: Rows, n: int) -> Rows:
    """The rows themselves where they are in memory; of rows that are elsewhere about n, by their places.

    For what is learnt of single values, such as quantiles, which no sum gives.
    """
    if isinstance(rows, Selection):
        return Selection(in_memory(rows.dataset, n), rows.keep)
    sample = getattr(rows, "sample", None)
    found: Rows = rows if sample is None else sample(n)
    return found
