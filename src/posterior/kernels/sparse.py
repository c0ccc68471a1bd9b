"""Cells of sparse rows: each distinct one once, and rows made dense where nothing else serves."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from posterior._pool import n_threads
from posterior._types import AnyArray, Floats, Ints
from posterior.kernels.choice import compiled
from posterior.kernels.discrete import csr_parts
from posterior.kernels.memory import codes_of, weights_of, writable
from posterior.kernels.reference import csr, is_sparse, mixture, with_data

# A flag for every pair of a column and a count is cheaper than a sort, while there are no more of them.
MOST_FLAGS = 1 << 24
LARGEST_COUNT = 1 << 31


class DistinctCells(NamedTuple):
    """The distinct (column, value) pairs among stored cells, in order, and which of them each cell is."""

    columns: Ints
    values: Floats
    place: Ints


def dense(block: Any) -> AnyArray:
    """Rows as an array; sparse ones are made dense, so that they had better be few."""
    return np.asarray(block.toarray()) if is_sparse(block) else block


def without_zeros(block: Any) -> Any:
    """The same sparse rows without zeros among the stored cells."""
    if bool(block.data.all()):
        return block
    block = with_data(block, block.data)
    # New ones, for a matrix without its zeros is written in place of the one with them.
    block.indices, block.indptr = block.indices.copy(), block.indptr.copy()
    block.eliminate_zeros()
    return block


def some_columns(rows: Any, columns: Sequence[int]) -> Any:
    """Some columns of sparse rows (CSR) whose cells are sorted.

    >>> from scipy import sparse
    >>> some_columns(sparse.csr_array([[0.0, 2.0, 5.0], [3.0, 2.0, 0.0]]), [0, 2]).toarray()
    array([[0., 5.],
           [3., 0.]])
    """
    place = _places(tuple(columns), rows.shape[1], rows.indices.dtype.char)
    if place is None:
        part = rows[:, list(columns)]
        part.sum_duplicates()  # which sorts them
        return part
    kernel = compiled("stored_cells", rows.nnz)
    data, bounds = rows.data, rows.indptr
    if kernel is None:
        found = np.take(place, rows.indices, mode="clip")
        all_kept = bool((found >= 0).all())
    else:
        found = np.empty_like(rows.indices)
        all_kept = kernel.renumber(writable(np.ascontiguousarray(rows.indices)), place, found)
    if not all_kept:  # columns without a cell, as constants are, leave all cells where they were
        kept = found >= 0
        before = np.concatenate([[0], np.cumsum(kept)])
        found, data, bounds = found[kept], data[kept], before[bounds].astype(bounds.dtype)
    part = csr(data, found, bounds, (rows.shape[0], len(columns)))
    part.has_canonical_format = True
    return part


@lru_cache(maxsize=8)
def _places(columns: tuple[int, ...], n_columns: int, kind: str) -> Any:
    """The place of each column among some of them, −1 for others; None where they are not in order."""
    keep = np.array(columns, dtype=np.int64)
    if (np.diff(keep) <= 0).any():
        return None
    place = np.full(n_columns, -1, dtype=kind)
    place[keep] = np.arange(len(keep))
    return place


def distinct_cells(block: Any) -> DistinctCells:
    """The distinct (column, value) pairs that sparse rows (CSR) store; a missing cell, NaN, is a value too.

    >>> from scipy import sparse
    >>> distinct_cells(sparse.csr_array([[0.0, 2.0], [3.0, 2.0]])).values
    array([3., 2.])
    """
    columns, values = block.indices, np.asarray(block.data, dtype=np.float64)
    if not len(values):
        return DistinctCells(np.zeros(0, np.int64), values, np.zeros(0, np.int64))
    if values.min() >= 0 and values.max() < LARGEST_COUNT:
        counts = values.astype(np.int64)
        if (counts == values).all():
            return _of_counts(columns, counts, block.shape[1])
    order = np.lexsort((values, columns))
    j, x = columns[order], values[order]
    new = np.ones(len(x), dtype=np.bool_)
    new[1:] = (j[1:] != j[:-1]) | ((x[1:] != x[:-1]) & ~(np.isnan(x[1:]) & np.isnan(x[:-1])))
    place = np.empty(len(x), dtype=np.int64)
    place[order] = np.cumsum(new) - 1
    return DistinctCells(j[new].astype(np.int64), x[new], place)


def _of_counts(columns: AnyArray, counts: Ints, n_columns: int) -> DistinctCells:
    """The distinct pairs of columns and whole numbers that are not negative."""
    width = int(counts.max()) + 1
    key = columns * np.int64(width)
    key += counts
    if n_columns * width <= min(MOST_FLAGS, 16 * len(counts) + (1 << 16)):
        seen = np.zeros(n_columns * width, dtype=np.bool_)
        seen[key] = True
        found = np.flatnonzero(seen)
        place = (np.cumsum(seen) - 1)[key]
    else:
        found, place = np.unique(key, return_inverse=True)
    return DistinctCells(found // width, (found % width).astype(np.float64), place.reshape(-1))


def largest_count(cells: AnyArray) -> float:
    """The largest of whole numbers from 0 on; −1 where one is something else, infinite or missing.

    >>> largest_count(np.array([0.0, 3.0])), largest_count(np.array([0.5])), largest_count(np.array([-1]))
    (3.0, -1.0, -1.0)
    """
    if not cells.size:
        return 0.0
    if cells.dtype.kind in "iub":
        return float(cells.max()) if cells.min() >= 0 else -1.0
    kernel = compiled("stored_cells", cells.size)
    if kernel is not None and cells.dtype in (np.float64, np.float32):
        return float(kernel.largest_by_threads(np.ascontiguousarray(cells), n_threads()))
    largest = float(cells.max())
    whole = cells.min() >= 0 and np.isfinite(largest) and bool((np.floor(cells) == cells).all())
    return largest if whole else -1.0


def mark_counts(block: Any, largest: float) -> Any:
    """Sparse rows whose stored cells are known to be counts, none above `largest`: nobody looks again."""
    block.posterior_counts = largest
    return block


def known_counts(block: Any) -> bool:
    """Whether these are sparse rows of which it is known that all stored cells are counts."""
    return hasattr(block, "posterior_counts")


def are_counts(block: Any) -> bool:
    """Whether all stored cells of sparse rows are whole numbers from 0 on."""
    return known_counts(block) or largest_count(block.data) >= 0


class CountSums(NamedTuple):
    """Sums of counts and of what logarithms say of them, by class (K, d), and marks of the columns (d,)."""

    total: Floats
    logs: Floats
    mark: Floats


def count_sums(block: Any, logs: Floats, y: Ints, weight: Floats | None, n_classes: int) -> CountSums | None:
    """Sums over sparse rows (CSR) of counts and of the logarithm of each; None unless all have one in `logs`.

    None also of so few cells that compiled code is not worth its wait.
    """
    kernel = compiled("stored_cells", block.nnz)
    if kernel is None or block.format != "csr":
        return None
    largest = block.posterior_counts if known_counts(block) else largest_count(block.data)
    if not 0 <= largest < len(logs):
        return None
    d = block.shape[1]
    rows = csr_parts(block), codes_of(y), weights_of(weight), mixture(d), writable(logs)
    sums, shared = kernel.count_sums(*rows, (n_classes, d), n_threads())
    total, log_sums = (np.ascontiguousarray(sums[:, :, i]) for i in range(2))
    return CountSums(total, log_sums, sums[:, :, 2].sum(axis=0) + 2.0 * shared)
