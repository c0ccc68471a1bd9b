"""What is done about a covariance that the rows do not determine. Never an inverse of rubbish."""

import numpy as np

from posterior._linalg import dependent_columns, is_positive_definite
from posterior._types import Floats
from posterior.families.base import Repair
from posterior.stats import Scatter


def mend_pooled(pooled: Floats, s: Scatter, floor: float) -> tuple[Floats, Repair | None]:
    """The covariance within classes, blended with its diagonal where it is deficient.

    A column that is constant within every class but not over all (a perfect separator) gets `floor`
    times its total variance.
    """
    total = float(s.weight.sum())
    variance = np.diagonal(pooled)
    least = floor * np.diagonal(s.total()) / total
    lifted = np.where(variance > 0, variance, np.where(least > 0, least, 1.0))
    flat = np.flatnonzero(lifted != variance).tolist()
    pooled = pooled + np.diag(lifted - variance)
    found = _undetermined(pooled, s.rounding)
    if not found and not flat:
        return pooled, None
    blend = len(pooled) / (total + len(pooled)) if found else 0.0
    mended = (1 - blend) * pooled + blend * np.diag(lifted)
    return mended, _repair(None, sorted({*flat, *found}), "its diagonal", blend)


def mend_own(raw: Floats, pooled: Floats, s: Scatter, k: int) -> tuple[Floats, Repair | None]:
    """The covariance of class k, blended with the pooled one where its rows do not determine it.

    Without correlations only the columns at fault are blended.
    """
    weight = float(s.weight[k])
    if weight <= 0:
        return pooled, None
    found = _undetermined(raw, s.rounding)
    if not found:
        return raw, None
    d = len(pooled)
    blend = d / (weight + d) if raw.any() else 1.0
    mended = (1 - blend) * raw + blend * pooled
    if _is_diagonal(raw) and _is_diagonal(pooled):
        variance = np.diagonal(raw).copy()
        variance[found] = np.diagonal(mended)[found]
        mended = np.diag(variance)
    return mended, _repair(k, found, "the pooled covariance", blend)


def _is_diagonal(matrix: Floats) -> bool:
    return bool(np.count_nonzero(matrix - np.diag(np.diagonal(matrix))) == 0)


def _undetermined(covariance: Floats, rounding: Floats) -> list[int]:
    """Columns that the ones before them determine; all, should the matrix resist factoring all the same."""
    found = [j for j, _ in dependent_columns(covariance, 1.0, rounding)]
    return found if found or is_positive_definite(covariance) else list(range(len(covariance)))


def _repair(k: int | None, columns: list[int], towards: str, blend: float) -> Repair:
    return Repair(
        k,
        tuple(columns),
        "covariance",
        "is not determined by its rows",
        f"blended with {towards}, weight {blend:.3g}",
    )
