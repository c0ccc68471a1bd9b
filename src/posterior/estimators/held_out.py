"""Log posteriors of rows by classifiers that were not trained with these rows."""

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone

from posterior._types import AnyArray, Floats, Ints
from posterior.estimators._sklearn import check_method_params, safe_indexing
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.classifiers import is_frozen, log_posterior_of
from posterior.estimators.meta_estimator import TrainingRows
from posterior.estimators.splits import read_folds
from posterior.notices import DataWarning, warn

FOLDS = 5  # where rows must be held out and nobody said how


@dataclass(frozen=True, eq=False)
class HeldOutRows:
    """Log posteriors (n, K) of rows that the classifier was not trained with, class codes and weights."""

    log_posterior: Annotated[Floats, "n K log"]
    y: Annotated[Ints, "n code"]
    weight: Annotated[Floats | None, "n >=0"]

    def every(self, step: int) -> "HeldOutRows":
        """Each `step`-th of the rows."""
        weight = None if self.weight is None else self.weight[::step]
        return HeldOutRows(self.log_posterior[::step], self.y[::step], weight)


def hold_out(
    estimator: Any, model: Any, rows: TrainingRows, codes: Ints, *, needed: bool
) -> HeldOutRows | None:
    """Rows that the classifier has not seen, by the folds of `rows.cv`; all rows where it is frozen.

    Without `cv` nothing is held out unless it is `needed`; then there are five folds. Where it is not
    needed and fails, a warning says why there are no such rows.
    """
    if is_frozen(estimator):
        return HeldOutRows(log_posterior_of(model, rows.X), codes, rows.weight)
    if rows.cv is None and not needed:
        return None
    cv = FOLDS if rows.cv is None else rows.cv
    read_folds(cv, codes)  # refuses what does not say how to hold rows out
    try:
        logs = held_out_log_posterior(estimator, rows.X, rows.y, model.classes_, cv, rows.fit_params)
    except (ValueError, IndexError) as error:
        if needed:
            raise
        warn(
            f"whether the posteriors are calibrated could not be checked, because no rows could be held out "
            f"({error}); cv=None asks for no check",
            DataWarning,
        )
        return None
    return HeldOutRows(logs, codes, rows.weight)


def held_out_log_posterior(
    estimator: Any, X: Any, y: AnyArray, classes: AnyArray, cv: Any, fit_params: Mapping[str, Any]
) -> Floats:
    """Log posteriors of each row by a clone of the classifier that has not seen it, (n, K).

    `cv` is a number of folds, a splitter, or the fold of each row. A class that the other folds lack gets
    −inf. Our generative models need one reading for all folds; others are fitted once for each.
    """
    weight = fit_params.get("sample_weight")
    if isinstance(estimator, GenerativeEstimator) and set(fit_params) <= {"sample_weight"}:
        return estimator.k_fold_log_proba(X, y, cv, weight)
    folds, n_folds = read_folds(cv, np.searchsorted(classes, y))
    out = np.full((len(y), len(classes)), -np.inf)
    for fold in range(n_folds):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        params = check_method_params(X, dict(fit_params), indices=train)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # the fit to all rows has said it already
            model = clone(estimator).fit(safe_indexing(X, train), y[train], **params)
        logs = log_posterior_of(model, safe_indexing(X, test))
        out[np.ix_(test, np.searchsorted(classes, model.classes_))] = logs
    return out
