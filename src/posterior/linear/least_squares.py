"""Least squares used as a classifier: a regression of the class indicators on the columns."""

from dataclasses import dataclass

import numpy as np

from posterior import kernels
from posterior._types import Floats
from posterior.linear.basis import Basis, moments
from posterior.linear.model import LinearModel
from posterior.linear.scan import RowBlock, Scan
from posterior.stats.base import FieldSums

WIDEST = 5000


@dataclass(frozen=True, eq=False)
class _ClassSums(FieldSums):
    """Weight of each class (K,), and sums of its rows less the centre, (K, d)."""

    weight: Floats
    total: Floats


def indicator_regression(scan: Scan, n_classes: int, intercept: bool = True) -> LinearModel:
    """The least-squares fit of the indicators 1[class = k], the shortest where columns depend on others.

    Duda & Hart (1973). In whitened coordinates the coefficients are the covariances with the indicators.
    """
    if scan.n_features > WIDEST:
        raise ValueError(
            f"least squares factors the covariance of all columns, {WIDEST} at most; found "
            f"{scan.n_features}: use LogisticRegression, or fewer columns"
        )
    basis = Basis.whitened(moments(scan), scan.n_rows, intercept)

    def summed(block: RowBlock) -> _ClassSums:
        X = block.matrix if kernels.is_sparse(block.matrix) else block.matrix - basis.centre
        size = np.bincount(block.target, block.weights, minlength=n_classes).astype(np.float64)
        total = kernels.class_sums(X, block.target, block.weight, n_classes)
        if kernels.is_sparse(block.matrix):
            total = total - np.outer(size, basis.centre)
        return _ClassSums(size, total)

    sums = scan.fold(summed)
    whole = float(sums.weight.sum())
    coef = basis.shown_coef(basis.pulled(sums.total / whole))
    level = sums.weight / whole if intercept else np.zeros(n_classes)
    return LinearModel(coef, level, basis.centre, basis.far)
