"""Rows in this process's memory, folded chunk by chunk on a pool of threads."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np

from posterior._blas import one_blas_thread
from posterior._pool import each, n_threads
from posterior._types import AnyArray, Floats, Ints
from posterior.dataset import Chunk
from posterior.engines.workers import in_order
from posterior.kernels import NumberTable
from posterior.kernels.choice import FROM_ROWS
from posterior.schema import Codes, Encoded, Mixed, Schema
from posterior.stats.adding import TreeSum

S = TypeVar("S")
S_co = TypeVar("S_co", covariant=True)
A = TypeVar("A", bound=AnyArray)

# Chunk boundaries depend on the shape of the data alone, so that sums have the same bits on any machine.
CHUNK_ROWS = 65_536
CHUNK_CELLS = 1 << 21
# What is made of a chunk may be larger than that: then the chunk has so many times its cells.
SIZES = 2
# Rows are scored in smaller chunks, which stay in the cache of a core with their scores.
FILL_ROWS = 16_384
FILL_CELLS = 1 << 19
TILE_ROWS = 64
# Threads that share out chunks keep the sums of each, if they have few cells, and only so many cells in all.
FEW_CELLS, KEPT_CELLS = 1 << 17, 1 << 22
# From so many chunks on there are a multiple of 16 of them, of about the same size: threads end together.
SEVERAL, TEAM = 8, 16


@dataclass(frozen=True)
class LocalChunk:
    """A range of rows of an encoded table."""

    data: Encoded
    rows: slice
    all_y: AnyArray | None
    all_weight: Floats | None
    all_folds: Ints | None = None

    @property
    def n_rows(self) -> int:
        """How many rows these are."""
        return len(range(*self.rows.indices(self.data.n_rows)))

    @property
    def y(self) -> AnyArray:
        """Class codes of the rows, or the numbers that a regression predicts."""
        if self.all_y is None:
            raise ValueError("these rows have no classes")
        return self.all_y[self.rows]

    @property
    def weight(self) -> Floats | None:
        """Weights of the rows; None where all are 1."""
        return None if self.all_weight is None else self.all_weight[self.rows]

    @property
    def fold(self) -> Ints:
        """In which part of a cross-validation each row is held out."""
        if self.all_folds is None:
            raise ValueError("these rows have no folds")
        return self.all_folds[self.rows]

    def row(self, i: int) -> int:
        """The number in the table of row `i` of these."""
        return range(*self.rows.indices(self.data.n_rows))[i]

    def values(self, columns: tuple[int, ...]) -> Floats:
        """Numbers, NaN for missing."""
        return self.data.values(self.rows, columns)

    def table(self, columns: tuple[int, ...]) -> NumberTable:
        """Numbers as they lie in memory, NaN for missing; infinity is not looked for."""
        return self.data.table(self.rows, columns)

    def is_in_place(self, columns: tuple[int, ...]) -> bool:
        """Whether `table` gives these columns without a copy."""
        return self.data.is_in_place(columns)

    def codes(self, columns: tuple[int, ...]) -> Codes:
        """Category codes, −1 for missing."""
        return self.data.codes(self.rows, columns)

    def mixed(self, columns: tuple[int, ...]) -> Mixed:
        """Numbers and category codes side by side."""
        return self.data.mixed(self.rows, columns)

    def matrix(self, columns: tuple[int, ...], *, check: bool = True) -> Any:
        """A sparse matrix where the rows are sparse, else the values; or, unchecked, the table."""
        return self.data.matrix(self.rows, columns, check=check)

    def precision(self, columns: tuple[int, ...]) -> "np.dtype[Any]":
        """The type of float of all these columns if it is less precise than double, else double."""
        return self.data.precision(columns)

    def texts(self, columns: tuple[int, ...]) -> AnyArray:
        """Strings, None for missing."""
        return np.stack([self.data.texts(self.rows, j) for j in columns], axis=1)


class ChunkSums(Protocol[S_co]):
    """Sums of many chunks, which several threads work out."""

    def run(self, workers: int) -> None:
        """Work out all chunks by so many threads."""

    def total(self) -> S_co | None:
        """The sum over the chunks, as `added` has it, if it is to be had."""


def _even(n_rows: int, most: int) -> int:
    """Rows of each chunk but the last, which is not much smaller, so that none has more than `most`."""
    n_chunks = -(-n_rows // most)
    if n_chunks >= SEVERAL:
        n_chunks = -(-n_chunks // TEAM) * TEAM
    tiles = -(-n_rows // (max(n_chunks, 1) * TILE_ROWS))
    return min(most, max(tiles, 1) * TILE_ROWS)


def _scored_rows(n_rows: int, most: int) -> int:
    """Rows of each chunk that is scored: about as many of all, at most `most`.

    The last one is large enough for compiled code, if that can be: the reference would keep all threads
    waiting for it.
    """
    tiles = most // TILE_ROWS
    n_chunks = max(1, -(-n_rows // (tiles * TILE_ROWS)))
    even = max(1, -(-n_rows // (n_chunks * TILE_ROWS)))
    for size in range(even * TILE_ROWS, even * TILE_ROWS // 2, -TILE_ROWS):
        if (n_rows - 1) % size + 1 >= min(FROM_ROWS, size):
            return size
    return even * TILE_ROWS


@dataclass(frozen=True)
class LocalDataset:
    """An encoded table with class codes, weights and, for a cross-validation, fold numbers.

    With a `step` it stands for the first of every `step` rows.

    >>> from posterior.schema import Schema, read_table
    >>> X = [[1.0, 2.0], [3.0, 4.0]]
    >>> source = read_table(X)
    >>> schema = Schema.infer(source)
    >>> LocalDataset(schema, schema.encode(source)).n_rows
    2
    """

    schema: Schema
    data: Encoded
    y: AnyArray | None = None
    weight: Floats | None = None
    folds: Ints | None = None
    step: int = 1
    costly: ClassVar[bool] = False

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return -(-self.data.n_rows // self.step)

    def every(self, step: int) -> "LocalDataset":
        """The first of every `step` rows, read where they are."""
        return replace(self, step=self.step * step)

    def chunks(self, dense: int, size: int = 0) -> list[LocalChunk]:
        """The rows in fixed ranges, as `reduce` takes them."""
        n = self._chunk_rows(dense, size)
        return [self._part(i, n) for i in range(-(-self.n_rows // n))]

    def _chunk_rows(self, dense: int, size: int = 0) -> int:
        """Rows of a chunk: few enough for `dense` columns to be read as values.

        Enough, though, for few chunks to be added up where what is made of one takes `size` cells.
        """
        cells = max(self.data.cells_per_row(dense), 1)
        few = SIZES * size // cells if size > CHUNK_CELLS else 0
        most = max(256, few, min(CHUNK_ROWS, CHUNK_CELLS // cells))
        return most if few else _even(self.n_rows, most)

    def _part(self, i: int, size: int) -> LocalChunk:
        """The i-th of chunks of so many rows."""
        n, step = self.data.n_rows, self.step
        return self.chunk(slice(i * size * step, min((i + 1) * size * step, n), step))

    def chunk(self, rows: slice) -> LocalChunk:
        """Some of the rows."""
        return LocalChunk(self.data, rows, self.y, self.weight, self.folds)

    def reduce(self, summarize: Callable[[Chunk], S], *, dense: int, size: int = 0) -> S:
        """Add up `summarize(chunk)` in a fixed pairwise tree, whatever the number of threads.

        A `summarize` that has `of_parts` is asked for the sums of many chunks at a time: between two calls of
        compiled code, threads wait for each other. One that `shares_out` each chunk gets them one by one.
        """
        n = self._chunk_rows(dense, size)
        n_chunks = -(-self.n_rows // n)
        if n_chunks == 1:
            with one_blas_thread:
                return summarize(self._part(0, n))
        total: TreeSum[S] = TreeSum()
        if getattr(summarize, "shares_out", False):
            for i in range(n_chunks):
                total.put(i, summarize(self._part(i, n)))
            return total.whole()
        done = 0
        if n_chunks and self.step == 1 and hasattr(summarize, "of_parts"):
            done = self._put_parts(summarize, n, n_chunks, total)
        each(lambda i: total.put(done + i, summarize(self._part(done + i, n))), n_chunks - done)
        return total.whole()

    def _put_parts(self, summarize: Any, n: int, n_chunks: int, total: TreeSum[S]) -> int:
        """Put sums of many chunks of n rows at a time into a tree; how many chunks are in it at the end."""
        if summarize.cells > FEW_CELLS:
            return 0
        together = 1 << (KEPT_CELLS // summarize.cells).bit_length() - 1  # a node of the tree
        for first in range(0, n_chunks, together):
            end = min(first + together, n_chunks)
            rows = slice(first * n, min(end * n, self.n_rows))
            parts: ChunkSums[S] | None = summarize.of_parts(self.chunk(rows), n)
            if parts is None:
                return first
            parts.run(n_threads())
            found = parts.total()
            if found is None:
                return first
            level = (end - first).bit_length() - 1  # of the last group, which is not added to any after it
            total.put(first >> level, found, level)
        return n_chunks

    def map(self, score: Callable[[Chunk], A], *, dense: int) -> A:
        """`score(chunk)` of all rows, in their order."""
        chunks = self.chunks(dense)
        if len(chunks) == 1:
            with one_blas_thread:
                return score(chunks[0])
        parts = in_order(score, chunks)
        first = next(parts)
        out: Any = np.empty((self.n_rows, *first.shape[1:]), dtype=first.dtype)
        out[: len(first)] = first
        done = len(first)
        for part in parts:
            out[done : done + len(part)] = part
            done += len(part)
        result: A = out
        return result

    def fill(self, write: Callable[[Chunk, A], None], out: A, *, dense: int) -> A:
        """Let `write(chunk, part)` write all rows of `out`, each chunk its own part.

        A `write` that has `of_parts` is asked to write many chunks at a time, and then to settle those in
        which some rows are odd.
        """
        most = max(TILE_ROWS, min(FILL_ROWS, FILL_CELLS // max(self.data.cells_per_row(dense), 1)))
        size, done = _scored_rows(self.n_rows, most), 0
        n_chunks = -(-self.n_rows // size)
        if n_chunks == 1:
            with one_blas_thread:
                self._write_part(write, out, size, 0)
            return out
        if n_chunks and self.step == 1 and hasattr(write, "of_parts"):
            done = self._fill_parts(write, out, size)
        each(lambda i: self._write_part(write, out, size, done + i), n_chunks - done)
        return out

    def _write_part(self, write: Callable[[Chunk, A], None], out: Any, size: int, i: int) -> None:
        write(self._part(i, size), out[i * size : (i + 1) * size])

    def _fill_parts(self, write: Any, out: Any, size: int) -> int:
        """Let threads share out chunks, if they can; how many are done.

        The last one may be smaller. It is among them if compiled code answers it in any case, since bits must
        be those of rows that lie otherwise, which threads do not share out.
        """
        last, left = divmod(self.n_rows - 1, size)
        n_chunks = last + 1 if left + 1 >= min(FROM_ROWS, size) else last
        n_rows = min(n_chunks * size, self.n_rows)
        shared = write.of_parts(self.chunk(slice(0, n_rows)), size, out[:n_rows])
        if shared is None:
            return 0
        shared.run(n_threads())
        odd = shared.odd_parts()

        def settle(i: int) -> None:
            at = odd[i]
            write.settle(self._part(at, size), out[at * size : (at + 1) * size], shared.odd_of(at))

        each(settle, len(odd))
        return n_chunks
