"""Quadratic discriminant analysis under scikit-learn's name and with its attributes."""

from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.estimators.device import DeviceTable, answer
from posterior.estimators.discriminant import (
    GaussianEstimator,
    refuse_both,
    refuse_solver,
    sklearn_shrinkage,
)
from posterior.estimators.parameters import Auto, ClassPriors, CovarianceEstimator, TableLike
from posterior.estimators.penalty import is_number
from posterior.estimators.precision import shown
from posterior.estimators.scanned_prediction import Writing, scores_scans
from posterior.families import Family, MultivariateNormal
from posterior.families.mending import OnSingular
from posterior.families.plug_in import PlugInNormal
from posterior.families.shrinkage import RawIdentity
from posterior.math import LOG_2PI


class QuadraticDiscriminantAnalysis(GaussianEstimator):
    """Quadratic discriminant analysis with scikit-learn's interface: a covariance for each class.

    Parameters
    ----------
    solver : {"svd", "eigen"}, default="svd"
        Accepted for compatibility; every solver gives the same answer.
    shrinkage : "auto", float or None, default=None
        As in scikit-learn: Ledoit-Wolf, or an amount on the raw scale; with any solver.
    priors : array-like of shape (n_classes,), default=None
        Class priors; None uses the class frequencies in training.
    reg_param : float, default=0.0
        As in scikit-learn: (1−reg_param)·Σ + reg_param·I in the units of the data.
    store_covariance : bool, default=False
        Accepted for compatibility; `covariance_` is always there.
    tol : float, default=1e-4
        Accepted for compatibility; what the data do not determine is repaired by a stated rule.
    covariance_estimator : object, default=None
        An estimator with `fit` and `covariance_`, used for each class instead.
    bias : bool, default=True
        Divide by N (maximum likelihood, as scikit-learn); False by N − 1 (as R's MASS).
    on_singular : {"shrink", "pool", "error"}, default="shrink"
        What to do with a class that has too few rows for its covariance: average it with the pooled
        covariance, replace it by that, or raise an error.

    Attributes
    ----------
    covariance_ : list of ndarray of shape (n_features, n_features)
        Class covariances.
    means_ : ndarray of shape (n_classes, n_features)
        Class means.
    priors_ : ndarray of shape (n_classes,)
        Class priors.
    rotations_, scalings_ : list of ndarray
        Principal axes of each class and the variances along them.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    log_likelihood_, aic_, bic_ : float
        Joint log-likelihood of the training rows, Σ ln p(row, class), and Akaike's and Schwarz's
        criteria.
    n_parameters_ : int
        Number of free parameters.
    n_iter_, log_likelihood_path_ : int, ndarray of shape (n_iter_ + 1,)
        Iterations of EM (0 without missing values), and the log-likelihood before and after each.
    schema_, notes_ : Schema, tuple of Note
        How each column was read, and what was noticed about the columns; print them.
    model_, statistics_ : GenerativeModel, ClassStatistics or None
        The model itself, and the sums it was estimated from, to which more rows can be added.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

    Examples
    --------
    >>> from posterior import QuadraticDiscriminantAnalysis
    >>> X = [[-1, -1], [-2, -1], [-3, -2], [1, 1], [2, 1], [3, 2]]
    >>> model = QuadraticDiscriminantAnalysis().fit(X, [1, 1, 1, 2, 2, 2])
    >>> model.predict([[-0.8, -1]])
    array([1])

    """

    def __init__(
        self,
        *,
        solver: Literal["svd", "eigen"] = "svd",
        shrinkage: float | Auto | None = None,
        priors: ClassPriors | None = None,
        reg_param: float = 0.0,
        store_covariance: bool = False,
        tol: float = 1e-4,
        covariance_estimator: CovarianceEstimator | None = None,
        bias: bool = True,
        on_singular: OnSingular = "shrink",
    ) -> None:
        self.solver = solver
        self.shrinkage = shrinkage
        self.priors = priors
        self.reg_param = reg_param
        self.store_covariance = store_covariance
        self.tol = tol
        self.covariance_estimator = covariance_estimator
        self.bias = bias
        self.on_singular = on_singular

    def _family(self) -> Family[Any]:
        refuse_solver(self.solver, ("svd", "eigen"))
        if not (is_number(self.reg_param) and 0 <= self.reg_param <= 1):
            raise ValueError(f"reg_param must lie between 0 and 1, found {self.reg_param!r}")
        if self.covariance_estimator is not None:
            refuse_both(self.shrinkage)
            refuse_both(not self.bias, "bias=False")
            refuse_both(self.reg_param, "reg_param")
            return PlugInNormal(self.covariance_estimator, tied=False)
        if self.shrinkage is not None and self.reg_param > 0:
            raise ValueError("reg_param and shrinkage are both set; use one of the two")
        shrink = RawIdentity(self.reg_param) if self.reg_param > 0 else sklearn_shrinkage(self.shrinkage)
        return MultivariateNormal(tied=0.0, shrinkage=shrink, bias=self.bias, on_singular=self.on_singular)

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """Quadratic scores: log posteriors up to a term that all classes share.

        With two classes the log odds of the second against the first, shape (n_samples,).
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            return super().decision_function(X)
        data = self._dataset(X)
        shift = self.model_.log_prior + 0.5 * LOG_2PI * len(self._kept()[0])
        return self.model_.log_kept_joint(data, shift, self._answer_type(data))

    def _device_decision(self, table: DeviceTable) -> Any:
        """Quadratic scores of rows on a device."""
        if len(self.classes_) == 2:
            return super()._device_decision(table)
        kept = replace(self.model_, blocks=tuple(replace(b, plan=None) for b in self.model_.blocks))
        scores = answer(kept, self._device_rows(table), "joint")  # whatever the columns left out say
        return scores + 0.5 * LOG_2PI * len(self._kept()[0])

    @property
    def covariance_(self) -> list[Floats]:
        """Class covariances; zero in columns that were left out."""
        columns, distribution = self._kept()
        d = len(self.schema_)
        if distribution is None:
            return [np.zeros((d, d)) for _ in self.classes_]
        own = (self._embedded(c, columns, axes=2) for c in distribution.covariance)
        return [shown(covariance, self.schema_) for covariance in own]

    def _axes(self) -> list[tuple[AnyArray, AnyArray]]:
        columns, distribution = self._kept()
        if distribution is None:
            return [(np.zeros(0), np.zeros((len(self.schema_), 0))) for _ in self.classes_]
        pairs = [np.linalg.eigh(c) for c in distribution.covariance]
        return [(s[::-1], self._embedded(r[:, ::-1].T, columns).T) for s, r in pairs]

    @property
    def rotations_(self) -> list[Floats]:
        """Principal axes of each class, the widest first."""
        return [shown(rotation, self.schema_) for _, rotation in self._axes()]

    @property
    def scalings_(self) -> list[Floats]:
        """Variances along the principal axes."""
        return [shown(scaling, self.schema_) for scaling, _ in self._axes()]
