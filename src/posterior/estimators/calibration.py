"""Any classifier, with its probabilities calibrated on held-out rows."""

from typing import Any, Self, Unpack

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.bayes import decision_scores
from posterior.decision.scaling import CALIBRATORS
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.classifiers import is_frozen, log_posterior_of
from posterior.estimators.device import DeviceTable, on_the_host, predicted
from posterior.estimators.device_decisions import adjusted_logs, answers_there, device_answer, in_parts
from posterior.estimators.fitted_classifier import (
    Adjustment,
    FittedClassifier,
    fit_classifier,
    impossible_scaling,
)
from posterior.estimators.meta_estimator import MetaClassifier
from posterior.estimators.parameters import AnyRows, Classifier, FoldsLike, Labels, Weights
from posterior.estimators.scanned_prediction import ScoresScans, Writing, scores_scans
from posterior.estimators.state import install


class CalibratedClassifier(ScoresScans, MetaClassifier):
    """Temperature or vector scaling of the log posteriors of any classifier (Guo et al. 2017).

    The scaling is fitted to rows held out, each scored by a clone of the classifier that was trained without
    it; the classifier itself is then trained on all rows. A probability of zero stays zero. A classifier
    that was trained with other class frequencies than the rows have (by class weights, or priors it was
    given) is first brought to theirs.

    Parameters
    ----------
    estimator : classifier with `predict_proba` or `predict_log_proba`
        Ours or any of scikit-learn's conventions. Wrapped in `sklearn.frozen.FrozenEstimator` it stays as
        it is: the rows of `fit` are then rows it has not seen.
    method : {"temperature", "vector"} or the name of a registered calibrator, default="temperature"
        One number for all classes, which makes all posteriors more or less sure and leaves the most probable
        class what it is; or a weight and a bias for each class, which need more rows.
    cv : int, splitter or array-like of shape (n_samples,), default=5
        A number of folds (by class, in shuffled order, always the same), a scikit-learn splitter that
        holds out each row once, or the fold of each row.

    Attributes
    ----------
    estimator_ : classifier
        The classifier, trained on all rows.
    scaling_ : Scaling
        Weights and biases of the log posteriors; print it.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    priors_ : ndarray of shape (n_classes,)
        The class frequencies that the posteriors are under.
    n_features_in_ : int
        Number of columns, where the classifier tells.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the classifier tells.
    learnt_ : object
        The classifier of all rows, with the posteriors of the rows held out.

    Examples
    --------
    >>> from posterior import CalibratedClassifier, GaussianNB
    >>> rng = np.random.default_rng(0)
    >>> y = rng.integers(2, size=500)
    >>> X = (y + rng.normal(size=500))[:, None] + 0.1 * rng.normal(size=(500, 4))  # the same, four times
    >>> model = CalibratedClassifier(GaussianNB()).fit(X, y)
    >>> print(model.scaling_)
    temperature 4.04
    >>> GaussianNB().fit(X, y).predict_proba(X[:1]).round(2), model.predict_proba(X[:1]).round(2)
    (array([[0.07, 0.93]]), array([[0.32, 0.68]]))

    """

    learnt_: FittedClassifier

    def __init__(
        self, estimator: Classifier, *, method: str = "temperature", cv: FoldsLike | None = 5
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv

    @with_callbacks
    def fit(
        self, X: AnyRows, y: Labels | None = None, sample_weight: Weights | None = None, **fit_params: Any
    ) -> Self:
        """Fit the classifier, and the scaling to rows it has not seen.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or scan
            Whatever the estimator takes. All rows of a scan, or on a device, train the classifier; rows are
            held out of a sample of 100,000.
        y : array-like of shape (n_samples,)
            The class of each row; a scan names its class column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, for the estimator and for the scaling; weight 0 is the row not at all.
        **fit_params : dict
            Passed on to the `fit` of the estimator.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        if self.method not in CALIBRATORS:
            raise ValueError(f"method must be one of {sorted(CALIBRATORS)}, found {self.method!r}")
        if self.cv is None and not is_frozen(self.estimator):
            raise ValueError("cv=None holds out no rows to calibrate with; pass a number of folds")
        rows = self._rows(X, y, sample_weight, fit_params)
        learnt = fit_classifier(self.estimator, *rows, needs_held_out=True)
        install(self, learnt_=learnt, scaling_=learnt.scaling_by(self.method))
        return self

    def _restored(self) -> str:
        """What is impossible about the attributes in a model file, in words."""
        return impossible_scaling(self.scaling_, len(self.learnt_.classes))

    @property
    def estimator_(self) -> Any:
        """The classifier, trained on all rows."""
        check_is_fitted(self, "learnt_")
        return self.learnt_.model

    @property
    def classes_(self) -> AnyArray:
        """Class labels, sorted."""
        check_is_fitted(self, "learnt_")
        return self.learnt_.classes

    @property
    def priors_(self) -> Floats:
        """The class frequencies that the posteriors are under: those of the rows held out."""
        check_is_fitted(self, "learnt_")
        return self.learnt_.priors_after(self.method)

    @scores_scans
    def predict_log_proba(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Log posterior of each class, scaled."""
        check_is_fitted(self)
        return self._adjustment.apply(log_posterior_of(self.estimator_, X))

    @property
    def _adjustment(self) -> Adjustment:
        return Adjustment(self.learnt_.to_observed(), self.scaling_)

    def _device_scores(self, method: str, table: DeviceTable) -> Any:
        """What a method says of rows on a device."""
        if not answers_there(self.estimator_):
            return getattr(self, method)(on_the_host(table.table))
        if method == "predict":
            return predicted(table, self.classes_, self._device_codes(table))
        return in_parts(table, len(self.classes_), lambda part: device_answer(method, part, self._logs(part)))

    def _device_codes(self, table: DeviceTable) -> Any:
        """The code of the most probable class of each row on a device."""
        if not answers_there(self.estimator_):
            logs = self.predict_log_proba(on_the_host(table.table))
            return table.library.to_device(logs.argmax(axis=1))
        xp = table.library.xp
        return in_parts(table, len(self.classes_), lambda part: xp.argmax(self._logs(part), axis=1))

    def _logs(self, part: DeviceTable) -> Any:
        return adjusted_logs(self.estimator_, self._adjustment, part)

    @scores_scans
    def decision_function(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Log posteriors; with two classes the log odds of the second against the first, (n_samples,)."""
        return decision_scores(self.predict_log_proba(X))

    @scores_scans
    def predict_proba(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Posterior of each class, scaled."""
        return np.exp(self.predict_log_proba(X))

    @scores_scans
    def predict(self, X: AnyRows, **writing: Unpack[Writing]) -> AnyArray:
        """The most probable class of each row."""
        logs = self.predict_log_proba(X)
        return np.asarray(self.classes_[logs.argmax(axis=1)])
