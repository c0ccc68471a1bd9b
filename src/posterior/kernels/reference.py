"""The maths of one chunk of rows in a few NumPy lines each: the truth that faster kernels are held to.

Kernels take clean input (checked at the edge): `y` holds codes 0…K−1, weights are finite and positive.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.math import log_sum_exp

is_sparse: Callable[[Any], bool] = sparse.issparse  # whether a block is a sparse matrix


class ClassMoments(NamedTuple):
    """Weight, pivot, mean − pivot and centred sum of squares, each (K, d).

    `mark` (d,) is a number that two columns share, in practice, only if all their cells agree.
    """

    weight: Floats
    pivot: Floats
    remainder: Floats
    scatter: Floats
    mark: Floats


def rows_by_class(y: Ints, n_classes: int) -> list[Ints]:
    """Row numbers of each class, in their order."""
    order = np.argsort(y, kind="stable")
    bounds = np.searchsorted(y[order], np.arange(n_classes + 1))
    return [order[bounds[k] : bounds[k + 1]] for k in range(n_classes)]


def class_moments(values: Floats, y: Ints, weight: Floats | None, n_classes: int) -> ClassMoments:
    """Moments by class and column over the cells that are not missing.

    Each class and column is centred at its first observed value before anything is summed, so that an
    offset of the column, even one of its own for each class, costs no digits.
    """
    d = values.shape[1]
    zeros = np.zeros((4, n_classes, d))
    out = ClassMoments(zeros[0], zeros[1], zeros[2], zeros[3], column_marks(values, weight))
    complete = not has_missing(values)
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        if len(rows) == 0:
            continue
        x = values.take(rows, axis=0)  # in C order, whatever came: the same bits from any table
        if complete:
            w = np.ones(len(rows)) if weight is None else weight[rows]
            out.weight[k], out.pivot[k] = w.sum(), x[0]
            z = x - x[0]
            out.remainder[k] = (w @ z) / out.weight[k]
            z -= out.remainder[k]
            z *= np.sqrt(w)[:, None]
            out.scatter[k] = np.einsum("ij,ij->j", z, z)
            continue
        observed = ~np.isnan(x)
        w = observed.astype(np.float64) if weight is None else observed * weight[rows, None]
        pivot = np.where(observed.any(axis=0), x[observed.argmax(axis=0), np.arange(d)], 0.0)
        z = np.where(observed, x - pivot, 0.0)
        total = w.sum(axis=0)
        remainder = np.divide((w * z).sum(axis=0), total, out=np.zeros(d), where=total > 0)
        z = np.where(observed, z - remainder, 0.0)
        out.weight[k], out.pivot[k], out.remainder[k] = total, pivot, remainder
        out.scatter[k] = (w * z * z).sum(axis=0)
    return out


class ClassScatter(NamedTuple):
    """Weight (K,), pivot and remainder (K, d), scatter (K or 1, d, d), mixed moments of order 3 and 4."""

    weight: Floats
    pivot: Floats
    remainder: Floats
    scatter: Floats
    third: Floats | None
    fourth: Floats | None


def class_scatter(
    values: Floats, y: Ints, weight: Floats | None, n_classes: int, *, pooled: bool, fourth: bool
) -> ClassScatter:
    """Scatter about the class means; on request also Σ w z_j² z_l (third) and Σ w z_j² z_l² (fourth)."""
    d = values.shape[1]
    groups = 1 if pooled else n_classes
    total = np.zeros(n_classes)
    pivot, remainder = np.zeros((n_classes, d)), np.zeros((n_classes, d))
    scatter = np.zeros((groups, d, d))
    cubes, quarts = (np.zeros((groups, d, d)) if fourth else None for _ in range(2))
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        if len(rows) == 0:
            continue
        x = values.take(rows, axis=0)  # in C order, whatever came: the same bits from any table
        w = np.ones(len(rows)) if weight is None else weight[rows]
        total[k], pivot[k] = w.sum(), x[0]
        z = x - pivot[k]
        remainder[k] = (w @ z) / total[k]
        z -= remainder[k]
        g = 0 if pooled else k
        root = z * np.sqrt(w)[:, None]
        scatter[g] += root.T @ root
        if cubes is not None and quarts is not None:
            square = z * z
            cubes[g] += (square * w[:, None]).T @ z
            root = square * np.sqrt(w)[:, None]
            quarts[g] += root.T @ root
    return ClassScatter(total, pivot, remainder, scatter, cubes, quarts)


def class_sums(matrix: Any, y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """Weighted column sums by class, (K, d), of a dense or sparse matrix without missing cells."""
    m, d = matrix.shape
    if is_sparse(matrix):
        rows = matrix.tocsr()
        cells = np.diff(rows.indptr)
        line = np.repeat(y, cells) * np.int64(d) + rows.indices
        each = rows.data if weight is None else rows.data * np.repeat(weight, cells)
        return np.asarray(np.bincount(line, each, n_classes * d).reshape(n_classes, d), dtype=np.float64)
    data = np.ones(m) if weight is None else weight
    indicator = sparse.csr_array((data, (y, np.arange(m))), shape=(n_classes, m))
    return np.asarray(indicator @ matrix, dtype=np.float64)


def category_counts(codes: AnyArray, size: int, y: Ints, weight: Floats | None, n_classes: int) -> Floats:
    """Weight of every (class, category) pair, (K, V); codes outside 0…V−1 are missing and not counted."""
    known = (codes >= 0) & (codes < size)
    cell = y[known] * size + codes[known]
    counted = np.bincount(cell, None if weight is None else weight[known], minlength=n_classes * size)
    return counted.astype(np.float64).reshape(n_classes, size)


WIDEST_SPAN = 1 << 16


def distinct_whole(column: Floats) -> Ints | None:
    """The sorted values of a column; None where they are other than whole numbers close together."""
    known = column[~np.isnan(column)]
    if not len(known):
        return np.zeros(0, dtype=np.int64)
    low, high = float(known.min()), float(known.max())
    if max(-low, high) >= 2.0**31 or high - low >= WIDEST_SPAN or (known != np.rint(known)).any():
        return None
    return np.flatnonzero(np.bincount((known - low).astype(np.int64))) + int(low)


def whole_places(values: Floats, low: Floats, span: Ints) -> NDArray[np.int32]:
    """Values less the lowest of their column; −1 for missing, the span for what is none of them."""
    place = values - low
    fits = (place >= 0) & (place < span) & (np.floor(values) == values)  # x − low may round to a whole number
    other = np.where(np.isnan(place), -1.0, span)
    return np.where(fits, place, other).astype(np.int32)


def ones_by_class(
    values: Floats, threshold: float, y: Ints, weight: Floats | None, n_classes: int
) -> tuple[Floats, Floats]:
    """Weight of the cells above a threshold, and of missing cells, by class and column (K, d).

    NaN in place of all weights where a cell is infinite.
    """
    on = class_sums((values > threshold).astype(np.float64), y, weight, n_classes)
    if np.isfinite(values.sum()):
        return on, np.zeros_like(on)
    if np.isinf(values).any():
        return np.full_like(on, np.nan), np.zeros_like(on)
    return on, class_sums(np.isnan(values).astype(np.float64), y, weight, n_classes)


def column_marks(cells: AnyArray, weight: Floats | None) -> Floats:
    """A number for each column that two columns share, in practice, only if all their cells agree.

    Σ w·u·x, where u in [0, 1) is a fixed irrational mixture of the whole row: columns with the same
    counts but other rows get other sums. Marks add up over rows.
    """
    x = np.asarray(cells, dtype=np.float64)
    if has_missing(x):
        x = np.where(np.isnan(x), -1.0, x)
    row = np.modf(np.abs(x @ mixture(x.shape[1])) + 0.5)[0]
    return np.asarray(((row if weight is None else row * weight)[:, None] * (x + 2.0)).sum(axis=0))


def sparse_column_marks(rows: Any, weight: Floats | None) -> Floats:
    """The marks of the columns of sparse rows: 2 Σ w·u, which all have, and w·u·x of the stored cells.

    The cells of a column are added in the order of the rows, so that equal columns have the same bits.
    """
    missing = np.isnan(rows.data)
    if missing.any():
        rows = with_data(rows, np.where(missing, -1.0, rows.data))
    row = np.modf(np.abs(rows @ mixture(rows.shape[1])) + 0.5)[0]
    row = row if weight is None else row * weight
    return np.asarray(rows.T @ row + 2.0 * row.sum())


def mixture(n_columns: int) -> Floats:
    """The irrational numbers by which the cells of a row are mixed."""
    return np.asarray(np.sqrt(2.0 + np.arange(n_columns)) * np.pi)


def rounding_of(values: Floats) -> Floats:
    """The largest rounding error that a value of each column may carry, (d,): ε·max|x|.

    A column whose values are all single-precision numbers was rounded to single precision before it came
    here, unless they are all multiples of 1/1024, as whole numbers, halves and quarters are.
    """
    with np.errstate(over="ignore"):  # beyond the range of single precision nothing equals its cast
        grid = values * 1024
        single = (values.astype(np.float32) == values).all(axis=0) & (grid != np.floor(grid)).any(axis=0)
    epsilon = np.where(single, np.finfo(np.float32).eps, np.finfo(np.float64).eps)
    return np.asarray(epsilon * np.abs(values).max(axis=0, initial=0.0))


def linear_sums(counts: Any, logs: Floats, impossible: Floats | None) -> Floats:
    """`counts @ logs` of (n, d) counts ≥ 0 and (d, K) logs; −inf where something impossible was counted."""
    sums = np.asarray(counts @ logs)
    if impossible is not None:
        sums = np.where(np.asarray(counts @ impossible) > 0, -np.inf, sums)
    return sums


def _finite(logs: Floats) -> tuple[Floats, Floats | None]:
    """Logs with 0 for −inf, and 1 where that was, transposed; None where it is nowhere."""
    if np.isfinite(logs.min(initial=0.0)):
        return logs, None
    impossible = np.isneginf(logs)
    return np.where(impossible, 0.0, logs), impossible.T.astype(np.float64)


class BinaryLogs(NamedTuple):
    """Log probabilities of features as products of matrices take them, (d, K).

    `off` with 0 for −inf, `gain` of being on instead; where that is −inf: `never` on, and `certain` to be on.
    """

    off: Floats
    gain: Floats
    never: Floats | None
    certain: Floats | None

    @classmethod
    def of(cls, log_on: Floats, log_off: Floats) -> "BinaryLogs":
        """Those of log probabilities (K, d) of being on and off."""
        (on, never), (off, certain) = (_finite(logs) for logs in (log_on, log_off))
        return cls(off.T, (on - off).T, never, certain)


def binary_sums(values: Floats, threshold: float, logs: BinaryLogs) -> Floats:
    """Σ ln p of features (n, d) that are on above a threshold, (n, K); a missing cell adds nothing."""
    missing = np.isnan(values)
    on = (values > threshold).astype(np.float64)
    out = linear_sums(on, logs.gain, logs.never)
    out += logs.off.sum(axis=0)
    if missing.any():
        out -= missing.astype(np.float64) @ logs.off
    if logs.certain is not None:
        out[(logs.certain.sum(axis=0) - (on + missing) @ logs.certain) > 0.5] = -np.inf
    return np.asarray(out)


def with_data(matrix: Any, data: AnyArray) -> Any:
    """The sparse matrix with the same cells and other numbers in them."""
    return csr(data.astype(np.float64), matrix.indices, matrix.indptr, matrix.shape)


def rows_times(matrix: Any, factor: Floats) -> Any:
    """The sparse matrix with each row multiplied by a number."""
    return with_data(matrix, matrix.data * np.repeat(factor, np.diff(matrix.indptr)))


def csr(data: AnyArray, indices: AnyArray, indptr: AnyArray, shape: tuple[int, int]) -> Any:
    """A CSR array of these parts, none of which is copied; scipy would copy views of larger arrays."""
    matrix = sparse.csr_array(shape, dtype=data.dtype)
    matrix.data, matrix.indices, matrix.indptr = data, indices, indptr
    return matrix


def has_missing(values: Floats) -> bool:
    """Whether a cell is NaN; one sum settles the usual case, for it is NaN if any cell is."""
    with np.errstate(invalid="ignore", over="ignore"):
        total = values.sum()
    return bool(np.isnan(total) and np.isnan(values).any())


def missing_patterns(missing: Bools) -> list[tuple[Ints, Bools]]:
    """Rows grouped by which of their cells are missing: (row numbers, pattern) of each group."""
    if not missing.any():
        return [(np.arange(len(missing)), np.zeros(missing.shape[1], dtype=np.bool_))]
    patterns, group = np.unique(missing, axis=0, return_inverse=True)
    group = group.reshape(-1)
    return [(np.flatnonzero(group == g), pattern) for g, pattern in enumerate(patterns)]


def ratio(top: Floats, bottom: Floats) -> Floats:
    """The quotient, 0 where the divisor is not positive."""
    shape = np.broadcast_shapes(top.shape, bottom.shape)
    bottom = np.broadcast_to(bottom, shape)
    return np.asarray(np.divide(top, bottom, out=np.zeros(shape), where=bottom > 0))


def one_hot(places: AnyArray, n_levels: int) -> Floats:
    """Rows (n, V) with a one at the level of each column; −1 is a missing cell, which has none."""
    hot = np.zeros((len(places), n_levels + 1))
    hot[np.arange(len(places))[:, None], places] = 1.0
    return hot[:, :-1]


def level_pair_counts(
    places: AnyArray, n_levels: int, y: Ints, weight: Floats | None, n_classes: int
) -> Floats:
    """Weight of the rows of each class that have two levels together, (K, V, V)."""
    counts = np.zeros((n_classes, n_levels, n_levels))
    for k, rows in enumerate(rows_by_class(y, n_classes)):
        hot = one_hot(places[rows], n_levels)
        counts[k] = hot.T @ (hot if weight is None else hot * weight[rows][:, None])
    return counts


def parent_sums(places: AnyArray, allowed: Bools, log_level: Floats, log_given: Floats) -> Floats:
    """Logs of Σ_u p(u) Π_j p(x_j | u) over the parent levels u that each row allows, (n, K)."""
    hot = one_hot(places, log_given.shape[2])
    out = np.empty((len(places), len(log_level)))
    for k in range(len(log_level)):
        scores = hot @ log_given[k].T + log_level[k]
        out[:, k] = log_sum_exp(np.where(allowed, scores, -np.inf), axis=1)
    return out
