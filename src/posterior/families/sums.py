"""What the families share whose statistics are plain sums."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import gammaln

from posterior import kernels
from posterior._types import Floats, Ints
from posterior.families.base import is_open
from posterior.stats import Totals

# Share of a mean up to which a number is close to it.
CLOSE = 0.5
# Smoothing to choose from, the heaviest and therefore simplest first.
ALPHAS = (100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 0.001)


def safe_log(p: Floats) -> Floats:
    """Logarithm with ln 0 = −inf and no warning: a probability of zero is meant."""
    with np.errstate(divide="ignore"):
        return np.log(p)


def about_mean(p: Floats) -> tuple[Floats, Floats]:
    """Logarithms of numbers (K, d) over the mean of their column, and what they exceed it by.

    Posteriors need no more of ln p, and numbers that are almost alike keep their digits: a large count times
    two logarithms would cancel. A number of zero has the logarithm −inf.

    >>> logs, excess = about_mean(np.array([[1e7], [1e7 + 2]]))
    >>> logs[1], excess[1]
    (array([9.9999985e-08]), array([1.]))
    """
    mean = (p / len(p)).sum(axis=0)
    mean = np.where(mean > 0, mean, p.max(axis=0))  # where all are too small to be divided
    excess = p - mean
    return log_ratio(p, mean, excess), excess


def log_ratio(p: Floats, mean: Floats, excess: Floats) -> Floats:
    """Logarithms of numbers over their means, −inf of zero; `excess` is p − mean, with digits of its own."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = excess / mean
        logs = np.where(np.abs(share) < CLOSE, np.log1p(share), np.log(p) - np.log(mean))
    logs[p == 0] = -np.inf
    return logs


# Tables from so many cells on are not copied.
LARGE = 1 << 17

# Logarithms of the factorials of small counts, which most counts are, are looked up.
SMALL = 256
SMALL_LOGS = gammaln(np.arange(SMALL) + 1.0)


def log_factorial(x: Floats) -> Floats:
    """Logarithm of x!, NaN for a missing count.

    >>> log_factorial(np.array([0.0, 1.0, 4.0])).round(3)
    array([0.   , 0.   , 3.178])
    """
    if x.size and x.min() >= 0 and x.max() < SMALL:
        whole = x.astype(np.intp)
        if (whole == x).all():
            return np.asarray(SMALL_LOGS[whole])
    return np.asarray(gammaln(x + 1))


def column_totals(block: Any, log_base: Any, y: Ints, weight: Floats | None, n_classes: int) -> Totals:
    """Totals by class and column over the cells that are not missing, of dense or sparse rows.

    The log base of a zero is zero.
    """
    mark = kernels.column_marks(block, weight)
    sparse = kernels.is_sparse(block)
    if not kernels.has_missing(block.data if sparse else block):
        rows = np.bincount(y, weight, n_classes).astype(np.float64)
        there = np.tile(rows[:, None], block.shape[1])
        total, base = (kernels.class_sums(cells, y, weight, n_classes) for cells in (block, log_base))
        return Totals(there, total, base, mark)
    if sparse:
        missing = np.isnan(block.data)
        rows = np.bincount(y, weight, n_classes).astype(np.float64)
        cells = (missing, np.where(missing, 0.0, block.data), np.where(missing, 0.0, log_base.data))
        gone, total, base = (
            kernels.class_sums(kernels.with_data(block, each), y, weight, n_classes) for each in cells
        )
        return Totals(np.maximum(rows[:, None] - gone, 0.0), total, base, mark)
    observed = ~np.isnan(block)
    return Totals(
        kernels.class_sums(observed.astype(np.float64), y, weight, n_classes),
        kernels.class_sums(np.where(observed, block, 0.0), y, weight, n_classes),
        kernels.class_sums(np.where(observed, log_base, 0.0), y, weight, n_classes),
        mark,
    )


def overall_mean(statistics: Totals) -> Floats:
    """Mean of each column over all classes."""
    weight = statistics.weight.sum(axis=0)
    return np.asarray(
        np.divide(statistics.total.sum(axis=0), weight, out=np.zeros_like(weight), where=weight > 0)
    )


def check_alpha(alpha: Any) -> None:
    """Smoothing is a number, or one for each column, not negative; or "auto"."""
    if isinstance(alpha, str) or alpha is None:
        if not is_open(alpha):
            raise ValueError(f"alpha must be a number or 'auto', found {alpha!r}")
        return
    if not (np.asarray(alpha, dtype=np.float64) >= 0).all():
        raise ValueError(f"alpha must not be negative, found {alpha!r}; 0 is maximum likelihood")


def alphas(alpha: Any) -> Any:
    """Smoothing as a hashable value: a number, or a tuple with one for each column."""
    check_alpha(alpha)
    return alpha if np.ndim(alpha) == 0 else tuple(np.asarray(alpha, dtype=np.float64).tolist())


def alphas_of(alpha: Any, columns: Sequence[int]) -> Any:
    """The smoothing of some of the columns."""
    return tuple(alpha[j] for j in columns) if isinstance(alpha, tuple) else alpha


def log_times(count: Floats, log_p: Floats) -> Floats:
    """`count · ln p` with 0 × −inf = 0."""
    if np.isfinite(log_p.min(initial=0.0)):
        return np.asarray(count * log_p)
    some = count > 0
    return np.where(some, count * np.where(some, log_p, 0.0), 0.0)


def sum_of_products(count: Floats, log_p: Floats) -> float:
    """Σ count · ln p with 0 × −inf = 0; of large tables without a copy."""
    if log_p.size < LARGE or count.strides != log_p.strides or not np.isfinite(log_p.min()):
        return float(log_times(count, log_p).sum())
    return float(np.vdot(count.ravel(order="K"), log_p.ravel(order="K")))


def shares(part: Floats, whole: Floats, otherwise: float) -> Floats:
    """Parts of a whole; what there is otherwise where the whole is nothing."""
    if (whole > 0).all():
        return np.asarray(part / whole)
    return np.asarray(np.divide(part, whole, out=np.full(part.shape, otherwise), where=whole > 0))
