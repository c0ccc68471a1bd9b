"""How odd the rows of a page are: log densities of theirs and of calibration rows, rounded."""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.estimators import DecisionClassifier
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.outlier_calibration import CalibrationScores, unwrapped
from posterior.studio.families import numbers
from posterior.studio.held_rows import packed

# Log densities are kept in thousandths of a nat, as 32-bit integers.
STEPS = 1000
IMPOSSIBLE, LOWEST, HIGHEST = -(2**31), -(2**31) + 1, 2**31 - 1


def outlier_data(fitted: DecisionClassifier, X: Any) -> dict[str, Any]:
    """What the page needs to call rows outliers at any rate and under any priors; or why it cannot.

    Under priors π the score of a row is ln Σ_k π_k p(row | k), and calibration rows of class k count
    π_k N / N_k times (`CalibrationScores.under`); both follow from log densities by class.
    """
    rule = fitted.outlier_rule_
    if rule is None:
        return {"why": "the model has learnt no rule for outliers"}
    rows = rule._calibration
    if rule.method != "conformal" or rows is None or rows.log_density is None or rows.y is None:
        return {"why": "the rule for outliers keeps no calibration rows by class"}
    inner, seen = unwrapped(rule.estimator_, X)
    if not isinstance(inner, GenerativeEstimator):
        return {"why": "the rule for outliers has no densities by class"}
    logs = inner.model_.log_density(inner._dataset(seen, reports_unseen=False))
    few = rounded_scores(rows.summarized())
    return {
        "logs": packed(thousandths(logs), "<i4"),
        "logPrior": numbers(inner.model_.log_prior),
        "calibration": {
            "logs": numbers(few.log_density if few.log_density is not None else np.zeros((0, 0))),
            "codes": [] if few.y is None else few.y.tolist(),
            "weight": [] if few.weight is None else few.weight.tolist(),
            "count": [] if few.count is None else few.count.tolist(),
        },
    }


def thousandths(logs: Floats) -> Any:
    """Log densities in thousandths of a nat, 32-bit integers; −inf is the smallest of them.

    >>> thousandths(np.array([-1.23456, -np.inf])).tolist()
    [-1235, -2147483648]
    """
    steps = np.clip(np.round(STEPS * np.nan_to_num(logs, neginf=0.0)), LOWEST, HIGHEST)
    return np.where(np.isneginf(logs), IMPOSSIBLE, steps).astype(np.int64).astype(np.int32)


def read_back(steps: Any) -> Floats:
    """Log densities from thousandths, as the page reads them."""
    return np.where(steps == IMPOSSIBLE, -np.inf, steps / STEPS)


def rounded_scores(rows: CalibrationScores) -> CalibrationScores:
    """Calibration rows with their log densities rounded."""
    if rows.log_density is None:
        return rows
    return CalibrationScores(
        rows.score, rows.weight, read_back(thousandths(rows.log_density)), rows.y, rows.count
    )
