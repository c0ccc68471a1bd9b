"""Cholesky factors and rank, always on the correlation scale."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import lapack

from posterior._types import Floats

EPSILON = float(np.finfo(np.float64).eps)
NEGLIGIBLE = 1e-9
# Residuals above this are no rounding, and one factorisation settles the matter.
CLEAR = 1e-6
# Beyond this many standard deviations between class means one common centre would cost digits.
FAR_APART = 1e3
# Cells of several matrices that are worked on at once.
AT_ONCE = 1 << 20


@np.errstate(over="ignore", invalid="ignore")  # rounding beyond all bounds leaves a column undetermined
def dependent_columns(scatter: Floats, weight: float, rounding: Floats) -> list[tuple[int, tuple[int, ...]]]:
    """Columns that are linear combinations of the columns before them, and of which.

    Cholesky from left to right on the correlation scale; a column whose residual is no more than
    rounding is skipped. Going from left to right, instead of pivoting, keeps the columns that a user
    reads first and makes the answer equal that of the table without the named ones. The threshold is
    `200·d·ε + 4ε(Σ|β|)²` for the arithmetic, which nearly collinear columns before it make worse, plus
    `4·noise` for the rounding of the data themselves, where noise = u_j² + Σ β_i² u_i²,
    u = rounding/sd, β the regression on the kept columns.
    """
    d = len(scatter)
    sd = np.sqrt(np.diagonal(scatter) / weight)
    sd = np.where(sd > 0, sd, 1.0)
    correlation = scatter / weight / sd[:, None] / sd
    rounding = rounding / sd
    if (rounding < CLEAR).all() and _smallest_residual(correlation) > CLEAR:
        return []
    inverse = np.zeros((d, d))  # of the factor of the kept columns, which grows by a row with each
    kept: list[int] = []
    found = []
    for j in range(d):
        r = len(kept)
        row = inverse[:r, :r] @ correlation[kept, j]
        residual = correlation[j, j] - row @ row
        beta = row @ inverse[:r, :r]
        noise = rounding[j] ** 2 + (beta**2) @ rounding[kept] ** 2
        arithmetic = (200 * d + 4 * np.abs(beta).sum() ** 2) * EPSILON
        if residual <= arithmetic + 4 * noise:
            of = np.flatnonzero(np.abs(beta) > NEGLIGIBLE).tolist()
            found.append((j, tuple(kept[i] for i in of)))
            continue
        root = np.sqrt(residual)
        inverse[r, :r], inverse[r, r] = -beta / root, 1 / root
        kept.append(j)
    return found


def are_clear(covariances: Floats, rounding: Floats) -> bool:
    """Whether no column of any of these covariances (g, d, d) is anywhere near a combination of others."""
    variance = np.diagonal(covariances, axis1=1, axis2=2)
    if not (variance > 0).all():
        return False
    sd = np.sqrt(variance)
    if not (rounding < CLEAR * sd).all():
        return False
    return all(
        _smallest_residual(covariances[some] / sd[some, :, None] / sd[some, None, :]) > CLEAR
        for some in _parts(covariances)
    )


def are_symmetric(covariances: Floats) -> bool:
    """Whether these (g, d, d) are symmetric, but for rounding."""
    sd = np.sqrt(np.abs(np.diagonal(covariances, axis1=1, axis2=2)))
    for some in _parts(covariances):
        skew = np.abs(covariances[some] - covariances[some].transpose(0, 2, 1))
        if (skew > 1e-8 * sd[some, :, None] * sd[some, None, :]).any():
            return False
    return True


def _parts(matrices: Floats) -> Iterator[slice]:
    """Ranges of as many matrices (g, d, d) as are worth working on at once."""
    at_once = max(1, AT_ONCE * len(matrices) // max(matrices.size, 1))
    return (slice(at, at + at_once) for at in range(0, len(matrices), at_once))


def _smallest_residual(correlation: Floats) -> float:
    """The smallest share of a column's variance that the columns before it leave; 0 where there is none."""
    try:
        factor = np.linalg.cholesky(correlation)
        return float((np.diagonal(factor, axis1=-2, axis2=-1) ** 2).min(initial=1.0))
    except np.linalg.LinAlgError:
        return 0.0


def determination(covariance: Floats, rounding: Floats) -> float:
    """By what factor the most dependent column stays clear of the threshold of `dependent_columns`.

    Meant for a covariance none of whose columns depends on others; 0 where it cannot be factored.
    """
    sd = np.sqrt(np.diagonal(covariance))
    try:
        factor = np.linalg.cholesky(covariance / sd[:, None] / sd)
    except np.linalg.LinAlgError:
        return 0.0
    root = np.diagonal(factor)
    # Row j: what is left of column j after its regression on those before it, 1 and −β.
    left = _lower_inverse(factor) * root[:, None]
    beta = np.abs(left).sum(axis=1) - 1
    threshold = (200 * len(sd) + 4 * beta**2) * EPSILON + 4 * (left**2 @ (rounding / sd) ** 2)
    return float((root**2 / threshold).min(initial=np.inf))


def is_positive_definite(covariance: Floats) -> bool:
    """Whether the covariance can be factored on the correlation scale."""
    return smallest_residual(covariance) > 0


def smallest_residual(covariance: Floats) -> float:
    """The smallest share of a column's variance that the columns before it leave; 0 for a singular matrix."""
    variance = np.diagonal(covariance)
    if not (variance > 0).all():
        return 0.0
    sd = np.sqrt(variance)
    return _smallest_residual(covariance / sd[:, None] / sd)


def whitener(covariance: Floats) -> tuple[Floats, float]:
    """`(B, ln|Σ|)` with `B` upper triangular and `‖(x−μ) B‖² = (x−μ)'Σ⁻¹(x−μ)`, for a positive definite Σ."""
    return next(whiteners(covariance[None]))


def whiteners(covariances: Floats) -> Iterator[tuple[Floats, float]]:
    """What `whitener` gives of each covariance (g, d, d)."""
    for some in _parts(covariances):
        yield from _whiteners(covariances[some])


def _whiteners(covariances: Floats) -> Iterator[tuple[Floats, float]]:
    variance = np.diagonal(covariances, axis1=1, axis2=2)
    if not (variance > 0).all():
        raise np.linalg.LinAlgError("a variance is not positive")
    sd = np.sqrt(variance)
    factors = np.linalg.cholesky(covariances / sd[:, :, None] / sd[:, None, :])
    log_dets = 2 * np.log(np.diagonal(factors, axis1=1, axis2=2)).sum(axis=1) + np.log(variance).sum(axis=1)
    for factor, scale, log_det in zip(factors, sd, log_dets.tolist(), strict=True):
        yield np.ascontiguousarray(_lower_inverse(factor).T / scale[:, None]), log_det


def _lower_inverse(factor: Any) -> Floats:
    """The inverse of a lower triangular matrix, without the threads that a general solver would start."""
    return np.asarray(lapack.dtrtri(factor, lower=1)[0] if len(factor) else factor)
