"""Counts and their scores, dense and sparse: compiled code for many cells, the reference for few."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats, Ints
from posterior.kernels import reference
from posterior.kernels.choice import FROM_CELLS, compiled
from posterior.kernels.layouts import NumberTable, SeparateColumns, in_precision_of, in_rows, tiles_as_stored
from posterior.kernels.memory import MATRIX_CLASSES, codes_of, weights_of, writable
from posterior.kernels.reference import is_sparse

MANY_CLASSES = 8  # for fewer, but for two, scipy's product of sparse rows is as fast


def category_tables(
    codes: AnyArray, sizes: Sequence[int], y: Ints, weight: Floats | None, n_classes: int
) -> tuple[Floats, ...]:
    """Weight of every (class, category) pair, a table (K, V) for each column of codes."""
    kernel = compiled("categories", codes.size)
    if kernel is None:
        columns = zip(codes.T, sizes, strict=True)
        return tuple(reference.category_counts(c, size, y, weight, n_classes) for c, size in columns)
    codes = writable(np.ascontiguousarray(codes, dtype=np.int32))
    w = np.ones(len(y), dtype=np.int64) if weight is None else weights_of(weight)
    counted: tuple[Floats, ...] = kernel.category_tables(
        codes, np.asarray(sizes, dtype=np.int64), codes_of(y), w, n_classes
    )
    return counted


class LookUps:
    """Log probabilities of the codes of several columns, to be added up over the columns.

    For each column a table (V + 2, K): the last line but one is of unseen codes, the last of missing cells.

    >>> out = np.zeros((2, 1))
    >>> LookUps([np.array([[-1.0], [-2.0], [-9.0], [0.0]])]).add(np.array([[1], [-1]]), out)
    >>> out.T
    array([[-2.,  0.]])
    """

    def __init__(self, tables: Sequence[Floats]) -> None:
        self.tables = tuple(tables)
        self._blocks: tuple[Ints, Ints, Floats] | None = None

    def __reduce__(self) -> Any:
        return LookUps, (self.tables,)  # without what was cached

    def add(self, codes: AnyArray, out: Floats) -> None:
        """Add the log probabilities (n, K) of rows of codes to `out`."""
        kernel = compiled("categories", codes.size * out.shape[1] // 4)
        if kernel is None or not self.tables:
            for column, table in zip(codes.T, self.tables, strict=True):
                out += table[column]
            return
        if self._blocks is None:
            lengths = np.array([len(table) for table in self.tables])
            starts = np.cumsum(lengths) - lengths
            lines = np.concatenate([np.roll(table, 1, axis=0) for table in self.tables])
            self._blocks = starts, lengths - 1, in_blocks(lines)
        kernel.add_lines(writable(np.ascontiguousarray(codes, dtype=np.int32)), *self._blocks, out)


class LongLookUps:
    """Log probabilities (K, V) of the codes of several columns for many classes, read where they lie.

    Codes from V on have the log probabilities `unseen` (K,); a missing cell, −1, adds nothing.

    >>> out = np.zeros((3, 1))
    >>> LongLookUps([np.array([[-1.0, -2.0]])], [np.array([-9.0])]).add(np.array([[1], [2], [-1]]), out)
    >>> out.T
    array([[-2., -9.,  0.]])
    """

    def __init__(self, tables: Sequence[Floats], unseen: Sequence[Floats]) -> None:
        self._tables, self._unseen = tables, unseen
        self._lines: tuple[Floats, ...] | None = None

    def __reduce__(self) -> Any:
        return LongLookUps, (self._tables, self._unseen)  # without what was cached

    def add(self, codes: AnyArray, out: Floats) -> None:
        """Add the log probabilities (n, K) of rows of codes to `out`."""
        if self._lines is None:  # which takes a copy of tables whose categories do not lie side by side
            self._lines = tuple(writable(np.ascontiguousarray(table.T)) for table in self._tables)
        kernel = compiled("categories", codes.size * out.shape[1] // 4)
        if kernel is not None:
            codes = writable(np.ascontiguousarray(codes, dtype=np.int32))
        for j, (lines, unseen) in enumerate(zip(self._lines, self._unseen, strict=True)):
            if kernel is not None:
                kernel.add_long_lines(codes, j, lines, writable(unseen), out)
                continue
            known = (codes[:, j] >= 0) & (codes[:, j] < len(lines))
            out[known] += lines[codes[known, j]]
            out[codes[:, j] >= len(lines)] += unseen


def ones_by_class(
    table: NumberTable, threshold: float, y: Ints, weight: Floats | None, n_classes: int
) -> tuple[Floats, Floats]:
    """Weight of the cells above a threshold, and of missing cells, by class and column (K, d).

    NaN in place of all weights where a cell is infinite.
    """
    kernel, threshold = compiled("binary", table.size), in_precision_of(table, threshold)
    if kernel is None:
        return reference.ones_by_class(in_rows(table), threshold, y, weight, n_classes)
    on, gap = (np.zeros((n_classes, table.shape[1])) for _ in range(2))
    y, w = codes_of(y), weights_of(weight)
    if isinstance(table, SeparateColumns):
        addresses = compiled("columns", FROM_CELLS).addresses_of(table)
        finite = kernel.add_columns(addresses, table.start, threshold, y, w, on)
    else:
        check = np.zeros(table.shape[1])
        for rows, values in tiles_as_stored(table):
            kernel.add_complete(values, threshold, y[rows], w[rows], on, check)
        finite = not check.any()
    if not finite:
        on[:] = 0.0
        for rows, values in tiles_as_stored(table):
            kernel.add_ones(values, threshold, y[rows], w[rows], on, gap)
            if np.isinf(values).any():
                on[:] = np.nan
    return on, gap


class BinaryLookUps:
    """Log probabilities (K, d) of features that are on above a threshold, and off otherwise.

    >>> out = np.zeros((3, 1))
    >>> coin = BinaryLookUps(np.array([[-1.0]]), np.array([[-2.0]]), 0.5)
    >>> coin.add(np.array([[1.0], [0.0], [np.nan]]), out)
    >>> out.T
    array([[-1., -2.,  0.]])
    """

    def __init__(self, log_on: Floats, log_off: Floats, threshold: float) -> None:
        self.log_on, self.log_off, self.threshold = log_on, log_off, threshold
        self._blocks: Floats | None = None
        self._logs: reference.BinaryLogs | None = None

    def __reduce__(self) -> Any:
        return BinaryLookUps, (self.log_on, self.log_off, self.threshold)  # without what was cached

    def add(self, table: NumberTable, out: Floats) -> None:
        """Add the log probabilities (n, K) of the rows to `out`; a missing cell adds nothing."""
        few, threshold = out.shape[1] <= MATRIX_CLASSES, in_precision_of(table, self.threshold)
        kernel = compiled("binary", table.size * out.shape[1] // 4) if few else None
        if kernel is None:
            if self._logs is None:
                self._logs = reference.BinaryLogs.of(self.log_on, self.log_off)
            out += reference.binary_sums(in_rows(table), threshold, self._logs)
            return
        if self._blocks is None:
            missing = np.zeros_like(self.log_on)
            lines = np.stack([missing.T, self.log_off.T, self.log_on.T], axis=1)
            self._blocks = in_blocks(lines.reshape(-1, len(missing)))
        for rows, values in tiles_as_stored(table):
            kernel.add_lines(values, threshold, self._blocks, out[rows])


def column_marks(cells: Any, weight: Floats | None) -> Floats:
    """A number for each column that two columns share, in practice, only if all their cells agree."""
    if is_sparse(cells):
        return reference.sparse_column_marks(cells, weight)
    kernel = compiled("sums", cells.size)
    if kernel is None:
        return reference.column_marks(cells, weight)
    mark = np.zeros(cells.shape[1])
    kind = np.int32 if cells.dtype == np.int32 else np.float64
    numbers = writable(np.ascontiguousarray(cells, dtype=kind))
    kernel.add_marks(numbers, weights_of(weight), reference.mixture(cells.shape[1]), mark)
    return mark


def class_sums(matrix: Any, y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """Weighted column sums by class, (K, d), of a dense or sparse matrix without missing cells."""
    sparse = is_sparse(matrix)
    kernel = compiled("sums", matrix.nnz if sparse else matrix.size)
    if kernel is None or (sparse and matrix.format != "csr"):
        return reference.class_sums(matrix, y, weight, n_classes)
    sums = np.zeros((n_classes, matrix.shape[1]))
    y, w = codes_of(y), weights_of(weight)
    if sparse:
        kernel.add_sums(*csr_parts(matrix), y, w, sums)
        return sums
    for rows, values in tiles_as_stored(matrix):
        kernel.add_dense_sums(values, y[rows], w[rows], sums)
    return sums


class LinearSums:
    """Sums of counts (n, d) times logarithms (K, d), `counts @ log_table.T` where 0 × −inf = 0.

    >>> LinearSums(np.array([[-1.0, -np.inf]])).of(np.array([[2.0, 0.0], [0.0, 1.0]])).T
    array([[ -2., -inf]])
    """

    def __init__(self, log_table: Floats) -> None:
        self.log_table = log_table
        self._lines: tuple[Floats, Floats, Floats | None] | None = None

    def __reduce__(self) -> Any:
        return LinearSums, (self.log_table,)  # without what was cached

    def of(self, counts: Any) -> Floats:
        """The sums (n, K) of counts that are not negative, dense or sparse."""
        out = np.zeros((counts.shape[0], len(self.log_table)))
        self.add(counts, out)
        return out

    def add(self, counts: Any, out: Floats) -> None:
        """Add the sums to `out` (n, K)."""
        if self._lines is None:
            lines = writable(np.ascontiguousarray(self.log_table.T))
            impossible = np.isneginf(lines)
            some = bool(impossible.any())
            finite = np.where(impossible, 0.0, lines) if some else lines
            self._lines = lines, finite, impossible.astype(np.float64) if some else None
        lines, finite, hits = self._lines
        kernel = None
        n_classes = lines.shape[1]
        if is_sparse(counts) and counts.format == "csr" and (n_classes == 2 or n_classes >= MANY_CLASSES):
            kernel = compiled("sums", counts.nnz * n_classes // 2)
        if kernel is None:
            out += reference.linear_sums(counts, finite, hits)
            return
        if hits is not None and not counts.data.all():
            counts = counts.copy()
            counts.eliminate_zeros()  # which would be multiplied by −inf
        kernel.add_scores(*csr_parts(counts), lines, out)

    def add_relative(self, counts: Any, out: Floats) -> None:
        """Add the sums to `out` (n, K), up to a term of the row: of two classes how far they are apart."""
        sparse = is_sparse(counts) and counts.format == "csr" and len(self.log_table) == 2
        kernel = compiled("sums", counts.nnz) if sparse and self._apart is not None else None
        if kernel is None:
            self.add(counts, out)
        else:
            kernel.add_apart(*csr_parts(counts), self._apart, out)

    @cached_property
    def _apart(self) -> Floats | None:
        """The logarithms of the second of two classes less those of the first; None where one is infinite."""
        first, second = self.log_table
        with np.errstate(invalid="ignore"):
            apart = np.asarray(second - first)
        return apart if np.isfinite(apart).all() else None


def csr_parts(matrix: Any) -> tuple[Floats, AnyArray, AnyArray]:
    """Data, column numbers and bounds of the rows of a CSR array."""
    same = matrix.indices.dtype == matrix.indptr.dtype == np.int32
    bounds, columns = (
        writable(np.ascontiguousarray(part, dtype=np.int32 if same else np.int64))
        for part in (matrix.indptr, matrix.indices)
    )
    return writable(np.ascontiguousarray(matrix.data, dtype=np.float64)), columns, bounds


def in_blocks(lines: Floats) -> Floats:
    """Lines (R, K) as (B, R, width), filled up with zeros: blocks of up to 16 classes side by side."""
    n_lines, n_classes = lines.shape
    width = 4 if n_classes <= 4 else 8 if n_classes <= 8 else 16
    n_blocks = -(-n_classes // width)
    padded = np.zeros((n_lines, n_blocks * width))
    padded[:, :n_classes] = lines
    return np.ascontiguousarray(padded.reshape(n_lines, n_blocks, width).transpose(1, 0, 2))
