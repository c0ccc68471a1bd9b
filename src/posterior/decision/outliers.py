"""Rows like nothing seen before: p-values of log densities and of distances, with a bound on false alarms."""

from math import ceil
from numbers import Real
from typing import Any

import numpy as np
from scipy.special import gammaincc, gammainccinv

from posterior._types import Floats, Ints
from posterior.decision.posteriors import same_rows


def conformal_p_values(
    score: Any, calibration: Any, *, weight: Any = None, test_weight: Any = None
) -> Floats:
    """Conformal p-values: the share of calibration scores, the row included, that are as small or smaller.

    p = (1 + #{calibration scores ≤ score}) / (n + 1). If a row and the n calibration rows are exchangeable,
    and none of them had a part in making the score, then P(p ≤ α) ≤ α for every α and n, whatever the score
    is (Vovk, Gammerman & Shafer 2005; Bates, Candès, Lei, Romano & Sesia 2023). Low scores are odd.

    Where calibration rows come from another population, row i counts `weight` w_i, how many times likelier
    it is in the one that is asked about: p = (Σ w_i [s_i ≤ s] + w) / (Σ w_i + w), with w the weight of the
    row itself (Tibshirani, Foygel Barber, Candès & Ramdas 2019). The larger w, the larger p.

    Parameters
    ----------
    score : array of shape (n,)
        Scores of the rows, such as log densities; −inf is allowed.
    calibration : array of shape (m,)
        Scores of the calibration rows.
    weight : array of shape (m,), default=None
        Weights of the calibration rows; None counts each once. A weight of 2 is also the row twice.
    test_weight : float or array of shape (n,), default=1
        Weights of the rows themselves.

    >>> conformal_p_values([-9.0, -3.0, 0.0], calibration=[-4.0, -3.0, -2.0, -1.0])
    array([0.2, 0.6, 1. ])

    """
    scores, known = _numbers("score", score), _numbers("calibration", calibration)
    order = np.argsort(known, kind="stable")
    as_odd = np.searchsorted(known[order], scores, side="right")
    own = _weights("test_weight", 1.0 if test_weight is None else test_weight, len(scores))
    if not own.all():
        raise ValueError("test_weight must be positive: a row that cannot occur has no p-value")
    if weight is None:
        below, total = as_odd.astype(np.float64), float(len(known))
    else:
        counted = np.concatenate([[0.0], np.cumsum(_weights("weight", weight, len(known))[order])])
        below, total = counted[as_odd], counted[-1]
    return np.asarray((below + own) / (total + own), dtype=np.float64)


def conformal_threshold(
    calibration: Any, alpha: float, *, weight: Any = None, test_weight: float | None = None
) -> float:
    """The score below which, and only below which, `conformal_p_values` are α or less; −inf where none are.

    >>> conformal_threshold(np.arange(19), alpha=0.1)
    1.0
    >>> conformal_threshold(np.arange(19), alpha=0.01)
    -inf
    """
    known = np.sort(_numbers("calibration", calibration))
    total = float(len(known)) if weight is None else float(_weights("weight", weight, len(known)).sum())
    own = 1.0 if test_weight is None else test_weight
    if own / (total + own) > refuse_rate(alpha):
        return -np.inf
    # p rises at calibration scores only; at the largest it is 1.
    p = conformal_p_values(known, calibration, weight=weight, test_weight=test_weight)
    return float(known[np.argmax(p > alpha)])


def chi2_p_values(squared_distance: Any, degrees: Any) -> Floats:
    """χ² p-values of the squared Mahalanobis distance to the nearest class.

    For rows of a Gaussian class the squared Mahalanobis distance from that class is χ² with as many degrees
    of freedom as the row has cells. The largest p-value over the classes is never less than that of the
    true one: P(p ≤ α) ≤ α, with equality where classes are far apart. This holds for known means and
    covariances; with estimated ones only as the rows of training become many.

    Parameters
    ----------
    squared_distance : array of shape (n, K)
        Squared Mahalanobis distances from each class; infinity is allowed.
    degrees : int or array of shape (n,)
        Number of cells that each row has; a row without any gets 1.

    >>> chi2_p_values([[0.0, 9.0], [9.2103, 30.0]], degrees=2).round(4)
    array([1.  , 0.01])

    """
    squared, cells = _distances(squared_distance, degrees)
    some = np.maximum(cells, 1)
    return np.where(cells > 0, gammaincc(some / 2, squared.min(axis=1) / 2), 1.0)


def chi2_margin(squared_distance: Any, degrees: Any, alpha: float) -> Floats:
    """Half of how much farther a row could be from its nearest class until `chi2_p_values` gives α.

    In nats of log density; negative for rows that are farther.

    >>> chi2_margin([[0.0, 9.0], [9.2103, 30.0]], degrees=2, alpha=0.01).round(3)
    array([4.605, 0.   ])
    """
    squared, cells = _distances(squared_distance, degrees)
    limit = gammainccinv(np.maximum(cells, 1) / 2, refuse_rate(alpha))
    return np.where(cells > 0, limit - squared.min(axis=1) / 2, 0.0)


def smallest_p_value(n_calibration: float) -> float:
    """The smallest p-value that `conformal_p_values` can give with so many calibration rows, 1 / (n + 1).

    >>> smallest_p_value(99)
    0.01
    """
    if not n_calibration >= 0:
        raise ValueError(f"the number of calibration rows must not be negative, found {n_calibration!r}")
    return 1 / (n_calibration + 1)


def rows_needed(alpha: float) -> int:
    """How many calibration rows it takes for a p-value of `alpha` or less.

    >>> rows_needed(0.05), rows_needed(0.01)
    (19, 99)
    """
    n = ceil(1 / refuse_rate(alpha)) - 1
    return n if smallest_p_value(n) <= alpha else n + 1


SMALLEST_RATE = 1e-15  # smaller ones are lost in the rounding of a probability


def refuse_rate(alpha: Any, name: str = "alpha") -> float:
    """A rate of false alarms; anything but a number between 0 and 1 is refused."""
    if isinstance(alpha, bool) or not isinstance(alpha, Real) or not 0 < float(alpha) < 1:
        raise ValueError(f"{name} is a rate of false alarms, between 0 and 1, found {alpha!r}")
    if float(alpha) < SMALLEST_RATE:
        raise ValueError(
            f"{name} is a rate of false alarms, and no number of rows shows one as small as {alpha!r}; use "
            f"{SMALLEST_RATE:g} or more, such as 0.01"
        )
    return float(alpha)


def _numbers(name: str, values: Any) -> Floats:
    array = np.asarray(values)
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise ValueError(
            f"{name} must be numbers, one for each row, found {array.dtype} values of shape {array.shape}"
        )
    array = array.astype(np.float64, copy=False)
    if np.isnan(array).any():
        rows = np.flatnonzero(np.isnan(array))
        raise ValueError(
            f"{name} must not be NaN: {len(rows)} of {len(array)} rows are, first row {rows[0]}; "
            "see why the model gives no score there"
        )
    return array


def _weights(name: str, values: Any, n_rows: int) -> Floats:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        array = np.full(n_rows, float(array))
    same_rows(n_rows, **{name: array})
    if array.ndim != 1 or not ((array >= 0) & (array < np.inf)).all():
        raise ValueError(
            f"{name} must be finite and not negative, one number for each row, found {values!r:.60}"
        )
    return array


def _distances(squared_distance: Any, degrees: Any) -> tuple[Floats, Ints]:
    squared = np.asarray(squared_distance, dtype=np.float64)
    if squared.ndim != 2 or squared.shape[1] < 1:
        raise ValueError(f"squared distances must have shape (rows, classes), found {squared.shape}")
    if not (squared >= 0).all():
        row, k = np.argwhere(~(squared >= 0))[0].tolist()
        raise ValueError(
            f"squared distances are not negative, found {squared[row, k]:g} in row {row}, column {k}"
        )
    cells = np.asarray(degrees)
    if cells.ndim == 0:
        cells = np.full(len(squared), cells)
    same_rows(len(squared), degrees=cells)
    if cells.ndim != 1 or cells.dtype.kind not in "iu" or (cells < 0).any():
        raise ValueError(f"degrees counts the cells of each row, 0 or more, found {degrees!r:.60}")
    return squared, cells.astype(np.int64)
