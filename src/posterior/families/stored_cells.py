"""Log densities of sparse rows, from the cells that are stored.

Σ_j ln p(x_j | k) = Σ_j ln p(0 | k) + Σ_{x_j ≠ 0} (ln p(x_j | k) − ln p(0 | k)): the first sum is that of a
row of zeros, and of the second each distinct pair of a column and a value is worked out once.
"""

from typing import Any

import numpy as np

from posterior import kernels
from posterior._types import Bools, Floats


def sum_over_stored(distribution: Any, block: Any, weight: Floats | None = None) -> Floats:
    """Σ_j w_j ln p(x_j | class) of sparse rows, (n, K), for columns that are independent given the class.

    A stored NaN is a missing cell. A column of weight 0 adds nothing, whatever it holds.
    """
    n_rows, d = block.shape
    w = np.ones(d) if weight is None else weight
    zero = distribution.log_terms(np.zeros((1, d)))[0]
    never = np.isneginf(zero) & (w > 0)[:, None]  # classes in which a column cannot be zero
    zero = np.where(np.isneginf(zero), 0.0, zero) * w[:, None]
    pairs = kernels.distinct_cells(block)
    added = np.zeros((len(pairs.columns), distribution.n_classes))
    if len(pairs.columns):
        added = distribution.marginal(pairs.columns.tolist()).log_terms(pairs.values[None])[0]
        own = w[pairs.columns][:, None]
        added = np.where(own > 0, added, 0.0) * own - zero[pairs.columns]
    shape = n_rows, len(pairs.columns)
    rows = kernels.csr(np.ones(len(pairs.place)), pairs.place, block.indptr.astype(np.int64), shape)
    out = zero.sum(axis=0) + kernels.LinearSums(np.ascontiguousarray(added.T)).of(rows)
    if never.any():
        stored = kernels.with_data(block, np.ones(len(block.data)))
        out[never.sum(axis=0) - stored @ never.astype(np.float64) > 0.5] = -np.inf
    return np.asarray(out)


def not_counts(block: Any) -> Any:
    """Cells that are no whole number from 0 on, and not missing: true or false, sparse where the block is."""
    if not kernels.is_sparse(block):
        return np.asarray((block < 0) | (~np.isnan(block) & (block != np.floor(block))))
    cells = block.data
    if kernels.are_counts(block):
        return type(block)(block.shape, dtype=np.bool_)
    wrong: Bools = (cells < 0) | (~np.isnan(cells) & (cells != np.floor(cells)))
    return kernels.csr(wrong, block.indices, block.indptr, block.shape)


def with_gaps(block: Any, outside: Any) -> Any:
    """The block with gaps in place of the cells that are outside; itself where none is."""
    if kernels.is_sparse(block):
        some = outside.data.any()
        return kernels.with_data(block, np.where(outside.data, np.nan, block.data)) if some else block
    return np.where(outside, np.nan, block) if outside.any() else block
