"""The rows of a table as a matrix, a target and weights, block by block."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from scipy import sparse

from posterior import kernels
from posterior._blas import one_blas_thread
from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.dataset import KEPT_CELLS, Chunk, Dataset
from posterior.linear.design import Design, Matrix
from posterior.linear.extremes import Ranges
from posterior.schema import Encoded

S = TypeVar("S")
A = TypeVar("A", bound=AnyArray)

# Cells that a sparse row counts for, whatever its width: some thousands of rows are read at a time.
SPARSE_CELLS = 256
# Cells that a row counts for at least in sums over parts: a row is much work, and with many parts threads end
# together.
WORK_CELLS = 64


class RowBlock(NamedTuple):
    """Some rows: numbers (m, d), dense or sparse; targets (m,); weights, None where all are 1.

    The numbers may lie as they do in the table, of any type and apart from each other, where `fold` was asked
    for them so.

    >>> import numpy as np
    >>> block = RowBlock(np.array([[1.0], [2.0]]), np.array([0, 1]), None)
    >>> block.weights, block.total
    (array([1., 1.]), 2.0)
    """

    matrix: Matrix
    target: AnyArray
    weight: Floats | None

    @property
    def weights(self) -> Floats:
        """The weights, of ones where all are 1."""
        return np.ones(len(self.target)) if self.weight is None else self.weight

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return float(len(self.target) if self.weight is None else self.weight.sum())

    def some(self, rows: slice | Ints) -> "RowBlock":
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return RowBlock(self.matrix[rows], self.target[rows], weight)

    def counted(self) -> "RowBlock":
        """The rows whose weight is not zero."""
        return self if self.weight is None or self.weight.all() else self.some(np.flatnonzero(self.weight))

    def packed(self, use: str | None = None) -> "RowBlock":
        """The same rows, sparse or as a float64 array, which is `scratch` if a use is named."""
        X = self.matrix
        if kernels.is_sparse(X) or (isinstance(X, np.ndarray) and X.dtype == np.float64):
            return self
        return self._replace(matrix=kernels.in_rows(X, use))

    def in_one_piece(self) -> "RowBlock":
        """The same rows in one array, in single precision if the table is: parts are `packed` as used."""
        return self if isinstance(self.matrix, np.ndarray) else self.packed()

    def __add__(self, other: Any) -> "RowBlock":
        """Both blocks' rows, one after the other."""
        stack = sparse.vstack if kernels.is_sparse(self.matrix) else np.vstack
        weight = None
        if self.weight is not None and other.weight is not None:
            weight = np.concatenate([self.weight, other.weight])
        return RowBlock(
            stack([self.matrix, other.matrix]), np.concatenate([self.target, other.target]), weight
        )


@dataclass(frozen=True)
class Scan:
    """A data set read through a design. Everything that learns from rows asks for sums over its blocks.

    `ranges` are those of the numbers of the design over all rows, where they are known.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(C=1.0, solver="newton").fit(X[50:], y[50:])
    >>> scan = model.fit_.objective.scan
    >>> scan.n_rows, scan.n_features
    (100, 4)
    """

    # Whether it leaves out rows of the data set.
    selective: ClassVar[bool] = False
    # Whether blocks of its rows can be read here.
    reads_rows: ClassVar[bool] = True
    dataset: Dataset
    design: Design
    sparse: bool = False
    ranges: Ranges | None = field(default=None, kw_only=True, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(self)}  # without what is kept

    @classmethod
    def of(cls, dataset: Dataset, design: Design) -> "Scan":
        """The rows of a data set as a design reads them."""
        data = getattr(dataset, "data", None)
        if type(data) is Encoded and design.as_it_is and data.is_in_place(design.numbers):
            return cls(dataset, design)  # numbers as they lie: nothing is to be found out by reading a row
        first = dataset.every(dataset.n_rows).map(
            lambda chunk: np.array([kernels.is_sparse(design.matrix(chunk))]), dense=design.dense
        )
        return cls(dataset, design, bool(first[0]))

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return self.dataset.n_rows

    @property
    def costly(self) -> bool:
        """Whether reading the rows costs more than most sums over them."""
        return self.dataset.costly

    @property
    def within(self) -> Ranges | None:
        """The ranges of the features, where they are known and save a reading of the rows."""
        return self.ranges if self.design.as_it_is and not (self.sparse or self.selective) else None

    @property
    def n_features(self) -> int:
        """How many numbers a row has."""
        return self.design.n_features

    def every(self, step: int) -> "Scan":
        """The first of every `step` rows."""
        return replace(self, dataset=self.dataset.every(step))

    def fold(self, work: Callable[[RowBlock], S], *, as_stored: bool = False) -> S:
        """Add up `work(block)` over all rows, with the same bits whatever the number of threads.

        `as_stored` leaves out the packing of columns, and the look for infinity that some earlier pass had.
        """
        if self._is_small:
            with one_blas_thread:
                return work(self._stored if as_stored else self._packed)
        if as_stored and hasattr(work, "of_parts") and not (self.sparse or self.selective):
            found: S = self.dataset.reduce(_OfChunks(self, work), dense=max(self._dense, WORK_CELLS))
            return found
        block = self._block_as_stored if as_stored else self._block
        return self.dataset.reduce(lambda chunk: work(block(chunk)), dense=self._dense)

    @cached_property
    def _is_small(self) -> bool:
        """Whether all rows are one block, which is kept: a solver asks for it again and again."""
        return self.n_rows * max(self._dense, len(self.design.schema)) <= KEPT_CELLS

    @cached_property
    def _packed(self) -> RowBlock:
        return self.dataset.reduce(self._block, dense=self._dense)

    @cached_property
    def _stored(self) -> RowBlock:
        return self.dataset.reduce(self._block_as_stored, dense=self._dense)

    def each(self, work: Callable[[RowBlock], A]) -> A:
        """`work(block)`, an array with one entry a row, of all rows in their order."""
        return self.dataset.map(lambda chunk: work(self._block(chunk)), dense=self._dense)

    def fill(self, write: Callable[[RowBlock, A], None], out: A) -> A:
        """Let `write(block, part)` write all rows of `out`; blocks are small, in the table's layout."""
        if hasattr(write, "of_parts") and not (self.sparse or self.selective):
            return self.dataset.fill(_ToChunks(self, write), out, dense=self._dense)
        return self.dataset.fill(
            lambda chunk, part: write(self._block_as_stored(chunk), part), out, dense=self._dense
        )

    def collected(self) -> RowBlock:
        """All rows in one block."""
        return self.fold(lambda block: block)

    @property
    def _dense(self) -> int:
        """What a row takes while it is read: sparse ones little, but they are copied."""
        return SPARSE_CELLS if self.sparse else self.design.dense

    def _block(self, chunk: Chunk) -> RowBlock:
        return RowBlock(self.design.matrix(chunk), chunk.y, chunk.weight)

    def _block_as_stored(self, chunk: Chunk) -> RowBlock:
        if self.sparse or not self.design.as_it_is:
            return self._block(chunk)
        return RowBlock(chunk.table(self.design.numbers), chunk.y, chunk.weight)

    def _block_in_place(self, chunk: Chunk) -> RowBlock | None:
        """The rows where they lie; None where reading them would be a copy."""
        if not self.design.as_it_is or not chunk.is_in_place(self.design.numbers):
            return None
        return self._block_as_stored(chunk)


class _OfChunks:
    """Work on blocks as work on the chunks that they are read from, of one or of many at a time."""

    def __init__(self, scan: Scan, work: Any) -> None:
        self._scan, self._work, self.cells = scan, work, work.cells

    def __call__(self, chunk: Chunk) -> Any:
        return self._work(self._scan._block_as_stored(chunk))

    def of_parts(self, chunk: Chunk, size: int) -> Any:
        """What sums up every `size` rows, if they lie where compiled code reads them."""
        block = self._scan._block_in_place(chunk)
        return None if block is None else self._work.of_parts(block, size)


class _ToChunks:
    """Writing for blocks as writing for the chunks that they are read from, of one or of many at a time."""

    def __init__(self, scan: Scan, write: Any) -> None:
        self._scan, self._write = scan, write

    def __call__(self, chunk: Chunk, out: AnyArray) -> None:
        self._write(self._scan._block_as_stored(chunk), out)

    def of_parts(self, chunk: Chunk, size: int, out: AnyArray) -> Any:
        """What answers every `size` rows, if they lie where compiled code reads them."""
        block = self._scan._block_in_place(chunk)
        return None if block is None else self._write.of_parts(block, size, out)

    def settle(self, chunk: Chunk, out: AnyArray, odd: Bools) -> None:
        """Write what is missing of a chunk in which some rows are odd."""
        self._write.settle(self._scan._block_as_stored(chunk), out, odd)
