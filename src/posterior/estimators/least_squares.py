"""Least squares as a classifier: a baseline to see fail."""

from typing import Any, Self, Unpack

import numpy as np
from sklearn.base import ClassifierMixin

from posterior._over_rows import taken
from posterior._types import AnyArray, Floats
from posterior.engines import ScannedTable
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.parameters import Degree, Kinds, Labels, Missing, TableLike, Weights
from posterior.estimators.scanned_prediction import ScoresScans, Writing, scores_scans
from posterior.estimators.state import RefusedError
from posterior.estimators.target import labelled_table, scanned_table
from posterior.estimators.training_rows import RowsElsewhere, TrainingRows, refuse_one_reading
from posterior.linear.least_squares import indicator_regression
from posterior.schema.classes import refuse_one_class
from posterior.schema.select import ColumnSelection


class LeastSquaresClassifier(ScoresScans, ClassifierMixin, LinearEstimator):
    """Least squares as a classifier: predicts the class whose 0/1 indicator has the largest regression value.

    A discriminant without probabilities: its scores sum to 1 but leave [0, 1], and points far on the right
    side of a boundary drag it towards them, because their large scores count as errors. Kept as the baseline
    that logistic regression and LDA are compared with (Bishop, 2006, section 4.1.3).

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether the scores have an intercept.
    missing : {"error", "indicator"}, default="error"
        Raise an error for missing values, or replace them by the training mean and add an indicator column.
    degree : {1, 2}, default=1
        With 2, squares and products of the numeric columns (less their means) join in.
    kinds : dict, default=None
        Kinds of columns that are not what they look like.
    columns : selection of columns, default=None
        Which columns to learn from, by name, position, pattern or selector; the others are not read, and may
        be absent in prediction. None is all.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted.
    coef_, intercept_ : ndarray of shape (n_scores, n_terms), ndarray of shape (n_scores,)
        Coefficients of the scores, in the order of `terms_`, and their intercepts.
    terms_ : tuple of str
        The term of each coefficient: `age`, `state[CA]`, `age[missing]`, `age^2`, `age:income`.
    model_, design_ : LinearModel, Design
        The scores as a function, and which numbers are made of a row.
    schema_, n_features_in_ : Schema, int
        How each column was read, and their number.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from posterior import LeastSquaresClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> LeastSquaresClassifier().fit(X, y).score(X, y)
    0.8466666666666667

    """

    approach = "discriminant"

    def __init__(
        self,
        *,
        fit_intercept: bool = True,
        missing: Missing = "error",
        degree: Degree = 1,
        kinds: Kinds | None = None,
        columns: ColumnSelection | None = None,
    ) -> None:
        self.fit_intercept = fit_intercept
        self.missing = missing
        self.degree = degree
        self.kinds = kinds
        self.columns = columns

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Learn from a table and its class column.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features)
            Numbers and categories.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        who = type(self).__name__
        if isinstance(X, ScannedTable):
            table = scanned_table(X, y, sample_weight, who)
            refuse_one_class(table.classes)
            refuse_one_reading(table, who)
            rows: TrainingRows = RowsElsewhere.scanned(table)
        else:
            table = labelled_table(X, y, sample_weight, who)
            rows = TrainingRows.of(table)
        scan = self._learning(rows, reference=True)
        model = indicator_regression(scan, len(table.classes), bool(self.fit_intercept))
        fitted = {"classes_": table.classes, "coef_": model.coef.copy(), "intercept_": model.intercept}
        self._install(scan.design, model, **fitted)
        return self

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file: one score for each class."""
        return super()._restored() or self._impossible_classifier(self.classes_, len(self.classes_))

    @scores_scans
    def decision_function(self, X: TableLike, **writing: Unpack[Writing]) -> Floats:
        """The predicted indicators: their difference (n,) for two classes, else one a class, (n, K)."""
        scan = self._reading(X, scored=True)
        scores = self._current.read(scan, self._answer_type(scan))
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    @scores_scans
    def predict(self, X: TableLike, **writing: Unpack[Writing]) -> AnyArray:
        """The class with the highest predicted indicator; the first of equals."""
        scores = self.decision_function(X)
        best = (scores > 0).astype(np.int64) if scores.ndim == 1 else scores.argmax(axis=1)
        return taken(self.classes_, best)

    @property
    def predict_proba(self) -> Any:
        """There is none, and why."""
        raise RefusedError(
            "least squares gives no probabilities: its scores leave [0, 1]; use LogisticRegression or LDA, "
            "whose boundaries are linear too"
        )

    predict_log_proba = predict_proba
