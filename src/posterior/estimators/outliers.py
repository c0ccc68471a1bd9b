"""Outliers by log p(row), at a rate of false alarms that is kept."""

from dataclasses import replace
from typing import Any, Literal, Self, Unpack

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import get_tags, indexable
from sklearn.utils.validation import check_is_fitted

from posterior._types import Floats, Ints
from posterior.bayes import given_priors
from posterior.decision.outliers import chi2_margin, chi2_p_values, refuse_rate, rows_needed
from posterior.engines import ScannedTable
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.callbacks import CallbackSupport, with_callbacks
from posterior.estimators.classifiers import bare, is_frozen
from posterior.estimators.device import (
    DeviceTable,
    host_array,
    is_device_array,
    on_the_host,
    rows_on_the_host,
)
from posterior.estimators.odd_features import OddFeatures, TypicalRows, read_cells
from posterior.estimators.outlier_calibration import (
    CalibrationScores,
    distances,
    refuse_other_models,
    split,
    trained,
    unwrapped,
)
from posterior.estimators.parameters import ClassPriors, DensityModel, Labels, RandomState, TableLike, Weights
from posterior.estimators.precision import in_double
from posterior.estimators.scanned_prediction import Writing, scores_scans
from posterior.estimators.state import RefusedError, install, own_copy
from posterior.estimators.table_estimator import rows_for
from posterior.estimators.target import read_labels, read_weights, scanned_table
from posterior.estimators.training_rows import HELD_OUT_ROWS, refuse_one_reading
from posterior.math import log_sum_exp
from posterior.notices import DataWarning, warn
from posterior.schema import LabelledTable

METHODS = ("conformal", "chi2")
LEAST = float(np.finfo(np.float64).tiny)
# How much log densities of a device may differ from those of the host, relative to 1 + |value|.
SINGLE_ROUNDING, DOUBLE_ROUNDING = 2e-5, 1e-10


class OutlierRule(CallbackSupport, BaseEstimator):
    """Outlier detection by the density p(row), with a guaranteed false alarm rate.

    A generative model knows how likely a row is in every class, and so how likely it is at all. Some of the
    rows are held out of training; the p-value of a row is the share of these, itself included, whose log
    density is as low or lower. For a new row like them P(p ≤ α) ≤ α holds for any number of rows and however
    wrong the model is (split conformal prediction: Vovk, Gammerman & Shafer 2005). Rows are held out at
    random and not by class, for the bound to be exact; only a class that training would lack keeps a row.

    Parameters
    ----------
    estimator : estimator with `score_samples`
        A generative classifier of this library, or a pipeline that ends in one; other density models serve
        too, without priors and features. Inside scikit-learn's `FrozenEstimator` it is taken as it is, and
        all rows of `fit` calibrate: pass rows that it was not trained with.
    alpha : float, default=0.05
        The rate of false alarms: rows with p ≤ alpha are called outliers. May be changed after `fit`.
    method : {"conformal", "chi2"}, default="conformal"
        "chi2" holds no rows out: for models whose columns are all Gaussian, the p-value is that of the
        squared Mahalanobis distance from the nearest class. It trusts the model, and holds for known
        parameters; with few rows to estimate them from there are more false alarms (at alpha=0.01 with
        four columns and 30 rows a class, three times as many).
    calibration : float, default=0.25
        Share of the rows that is held out.
    random_state : int or numpy Generator, default=0
        Which rows are held out.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    classes_ : ndarray of shape (n_classes,)
        Class labels, where the model has any.
    calibration_scores_ : ndarray of shape (n_calibration,)
        Log densities of the rows held out.
    threshold_ : float
        Rows with a log density below this are outliers; −inf where alpha is too small for any to be.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

    Examples
    --------
    >>> from posterior import NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> rule = OutlierRule(NaiveBayes(), alpha=0.02).fit(penguins.X, penguins.y)
    >>> odd = penguins.X.iloc[:1].assign(flipper_length_mm=120.0)
    >>> rule.predict(odd)
    array([-1])
    >>> print(rule.odd_features(odd, n_features=1))
    row 0: p = 0.011, log p(row) = −72.1 (threshold −24.6), most like Adelie
      flipper_length_mm  −54.5  120 (usually 178 to 199)

    """

    _typical: TypicalRows | None
    _calibration: CalibrationScores | None

    def __init__(
        self,
        estimator: DensityModel,
        *,
        alpha: float = 0.05,
        method: Literal["conformal", "chi2"] = "conformal",
        calibration: float = 0.25,
        random_state: RandomState | None = 0,
    ) -> None:
        self.estimator = estimator
        self.alpha = alpha
        self.method = method
        self.calibration = calibration
        self.random_state = random_state

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Train on some rows and calibrate on the others; a frozen model is only calibrated.

        Parameters
        ----------
        X : array, sparse matrix, list or data frame of shape (n_samples, n_features), or scan
            The rows, as the estimator takes them; of a scan a sample of 100,000.
        y : array-like of shape (n_samples,), default=None
            The class of each row; not needed for a frozen model, unless priors are to change.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight 2 is the row twice, both in training or both held out; weight 0 the row not at all.

        Returns
        -------
        self : object
            The fitted rule.

        """
        self._refuse_settings()
        table = self._rows(X, y, sample_weight)
        if is_frozen(self.estimator):
            check_is_fitted(self.estimator)
            self._install(self.estimator, table)
        elif self.method == "chi2":
            self._install(trained(self.estimator, table), table)
        else:
            rng = np.random.default_rng(self.random_state)
            train, held = split(table, self.calibration, rng)
            self._install(trained(self.estimator, table.part(train)), table.part(held), drawn_from=table)
        return self

    def calibrate(self, X: TableLike, y: Labels | None = None, sample_weight: Weights | None = None) -> Self:
        """Calibrate a fitted rule anew with rows that the model has not seen; the model stays as it is."""
        check_is_fitted(self, "estimator_")
        self._refuse_settings()
        table = self._rows(X, y, sample_weight, needs_classes=False)
        self._install(self.estimator_, table, calibrates=True)
        return self

    def _rows(self, X: Any, y: Any, sample_weight: Any, needs_classes: bool = True) -> LabelledTable:
        """The rows that count; their classes are needed where the model learns them."""
        if isinstance(X, ScannedTable):
            scan = scanned_table(X, y, sample_weight, type(self).__name__)
            refuse_one_reading(scan, type(self).__name__)
            X, y, sample_weight = scan.sample(HELD_OUT_ROWS)
        if isinstance(X, LabelledTable):
            return X if X.weight is None or X.weight.all() else X.part(np.flatnonzero(X.weight))
        if is_device_array(X):
            X, y, sample_weight = rows_on_the_host(X, y, sample_weight, HELD_OUT_ROWS, type(self).__name__)
        table = LabelledTable.unlabelled(*indexable(X))
        n = len(table)
        if y is not None or (
            needs_classes and is_classifier(self.estimator) and not is_frozen(self.estimator)
        ):
            table = LabelledTable.of(table.X, read_labels(y, n, type(self).__name__))
        weight = read_weights(sample_weight, np.empty(n), classes=False)
        table = replace(table, weight=weight)
        return table if weight is None or weight.all() else table.part(np.flatnonzero(weight))

    def _restored(self) -> str:
        """Set what follows from the attributes in a model file; what is impossible about them, in words."""
        self.__dict__.update(_known_columns(self.estimator_))
        inner, rows = bare(self.estimator_), self._calibration
        if not (isinstance(inner, GenerativeEstimator) and hasattr(inner, "model_")):
            return "an outlier rule around no generative model"
        self._refuse_settings()
        if self._typical is None:
            return "typical rows of other columns"
        if wrong := self._typical.misfit(inner.model_):
            return wrong
        if rows is None:
            return "" if self.method == "chi2" else "no rows that were held out"
        if wrong := rows.misfit(inner.model_.n_classes):
            return wrong
        rows.threshold(self.alpha)  # refuses scores that are NaN
        return ""

    def _install(
        self,
        model: Any,
        table: LabelledTable,
        *,
        calibrates: bool = False,
        drawn_from: LabelledTable | None = None,
    ) -> None:
        """Take over a trained model and its calibration rows; fitted state is set here only."""
        inner, rows = unwrapped(model, rows_for(model, table))
        typical, found = None, None
        if isinstance(inner, GenerativeEstimator):
            # That rows held out show categories which training has not is what they are for.
            data = inner._dataset(rows, reports_unseen=drawn_from is None)
            codes, seen = None, None
            if table.is_labelled:
                codes, every = table.among(inner.classes_).codes, (drawn_from or table).among(inner.classes_)
                seen = np.bincount(every.codes, every.weight, len(every.classes)).astype(np.float64)
            typical = TypicalRows.of(inner.model_, data, codes, table.weight)
            if calibrates or self.method == "conformal":
                logs = inner.model_.log_density(data)
                score = log_sum_exp(logs + inner.model_.log_prior)
                found = CalibrationScores(score, own_copy(table.weight), logs, own_copy(codes), seen)
        elif self.method == "conformal":
            with in_double():
                score = np.asarray(model.score_samples(rows_for(model, table)), dtype=np.float64)
            found = CalibrationScores(score, own_copy(table.weight))
        if self.method == "chi2":
            distances(model, rows_for(model, table.part([0])), None)  # refuses what is not Gaussian
        if found is not None:
            found.threshold(self.alpha)  # refuses scores that are NaN
        install(self, estimator_=model, _typical=typical, _calibration=found, **_known_columns(model))
        self.warn_of_too_few(self.alpha, None)

    def _refuse_settings(self) -> None:
        refuse_rate(self.alpha)
        if self.method not in METHODS:
            raise ValueError(f"method must be one of {list(METHODS)}, found {self.method!r}")
        if isinstance(self.calibration, bool | str) or not 0 < self.calibration < 1:
            raise ValueError(
                f"calibration is the share of rows that is held out, between 0 and 1, found "
                f"{self.calibration!r}"
            )
        if not hasattr(self.estimator, "score_samples"):
            raise TypeError(
                f"{type(self.estimator).__name__} does not say how likely a row is (no score_samples); use a "
                "generative classifier, such as NaiveBayes() or LDA(), beside it if need be"
            )

    # -- prediction -------------------------------------------------------------------------------

    def _device_scores(self, method: str, table: DeviceTable, **given: Any) -> Any:
        """What a method says of rows on a device; one number of each comes to the host."""
        of_rows = getattr(type(self), method).__wrapped__
        return table.library.to_device(of_rows(self, table.table, **given))

    @scores_scans
    def score_samples(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Log density of each row, ln p(row); `priors` replaces the class priors for this call."""
        return self._scores(X, priors)

    def _scores(self, X: TableLike, priors: ClassPriors | None, *, reports_unseen: bool = True) -> Floats:
        check_is_fitted(self, "estimator_")
        model, rows = unwrapped(self.estimator_, X)
        if is_device_array(rows) and isinstance(model, GenerativeEstimator):
            return np.asarray(host_array(model.score_samples(rows, priors)), dtype=np.float64)
        if priors is not None or isinstance(model, GenerativeEstimator):
            known = refuse_other_models(model, "priors=…")
            data = known._dataset(rows, reports_unseen=reports_unseen)
            return known.model_.log_evidence(data, known._log_prior(priors))
        with in_double():
            return np.asarray(self.estimator_.score_samples(on_the_host(X)), dtype=np.float64)

    @scores_scans
    def p_values(self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]) -> Floats:
        """How rare a row this odd is among rows like those of calibration, (n_samples,).

        `priors` are class priors of the rows asked about, where they differ from those of the calibration
        rows: log densities are taken under them, and calibration rows count as much more or less as their
        class has become likelier. A new row counts as the class that gains most, since its class is not
        known; that keeps the rate of false alarms.
        """
        return self._p_values(X, priors)

    def _p_values(self, X: TableLike, priors: ClassPriors | None, *, reports_unseen: bool = True) -> Floats:
        check_is_fitted(self, "estimator_")
        self._refuse_settings()
        if self.method == "chi2":
            return chi2_p_values(*distances(self.estimator_, X, priors, reports_unseen=reports_unseen))
        score = self._compared(X, self._scores(X, priors, reports_unseen=reports_unseen))
        return self._calibration_rows(priors).p_values(score)

    def _compared(self, X: TableLike, score: Floats) -> Floats:
        """Scores as they are held against those of the calibration rows, which were scored on the host.

        Those of a device differ from them by rounding. They are raised by as much: a row that is as odd as
        some of the calibration rows is not taken for one that is odder than all of these.
        """
        if not is_device_array(X):
            return score
        rounding = SINGLE_ROUNDING if DeviceTable(X).source.single else DOUBLE_ROUNDING
        size = np.where(np.isfinite(score), np.maximum(1.0, np.abs(score)), 0.0)
        return np.asarray(score + rounding * size)

    @scores_scans
    def predict(self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]) -> Ints:
        """−1 for an outlier, a row with p ≤ alpha, and +1 for any other."""
        p = self._p_values(X, priors)
        self.warn_of_too_few(self.alpha, priors)
        return np.where(p <= self.alpha, -1, 1)

    @scores_scans
    def decision_function(
        self, X: TableLike, priors: ClassPriors | None = None, **writing: Unpack[Writing]
    ) -> Floats:
        """Log density above the threshold, negative for outliers and for no other row.

        With "chi2" half the squared distance that is left until the row is one.
        """
        check_is_fitted(self, "estimator_")
        self._refuse_settings()
        if self.method == "conformal":
            threshold = self._calibration_rows(priors).threshold(self.alpha)
            score = self._compared(X, self._scores(X, priors))
            return np.full(len(score), np.inf) if np.isneginf(threshold) else score - threshold
        squared, cells = distances(self.estimator_, X, priors)
        margin = chi2_margin(squared, cells, self.alpha)
        # Rounding may not put a row on the other side than its p-value.
        is_odd = chi2_p_values(squared, cells) <= self.alpha
        return np.where(is_odd, np.minimum(margin, -LEAST), np.maximum(margin, 0.0))

    def odd_features(
        self, X: TableLike, n_features: int = 3, priors: ClassPriors | None = None
    ) -> OddFeatures:
        """The features that make each row odd, the log density that each costs; print it.

        `n_features` is how many of a row are listed.
        """
        return self._odd_features(X, priors, n_features)

    def _odd_features(
        self, X: TableLike, priors: ClassPriors | None, n_features: int = 3, *, reports_unseen: bool = True
    ) -> OddFeatures:
        p = self._p_values(X, priors, reports_unseen=reports_unseen)
        model, rows = unwrapped(self.estimator_, X)
        model = refuse_other_models(model, "odd_features")
        data = model._dataset(rows, reports_unseen=False)  # the p-values have reported them
        log_prior = model._log_prior(priors)
        codes = model.model_.best(data, log_prior)
        typical: Any = self._typical
        values, cells = typical.oddness(model.model_, data, codes), read_cells(model.model_, data)
        log_density = model.model_.log_evidence(data, log_prior)
        chosen = None if self.method == "chi2" else self._calibration_rows(priors).threshold(self.alpha)
        return OddFeatures(typical, values, cells, codes, p, log_density, chosen, n_features)

    @property
    def calibration_scores_(self) -> Floats:
        """Log densities of the calibration rows."""
        check_is_fitted(self, "estimator_")
        return self._calibration_rows(None).score

    @property
    def threshold_(self) -> float:
        """The log density below which rows are outliers at the present alpha."""
        check_is_fitted(self, "estimator_")
        if self.method == "chi2":
            raise RefusedError(
                "with chi2, outliers are told by their distance: no log density is a threshold"
            )
        return self._calibration_rows(None).threshold(self.alpha)

    def _calibration_rows(self, priors: ClassPriors | None) -> CalibrationScores:
        if self._calibration is None:
            raise RefusedError("no row was held out with method='chi2'; call calibrate(X, y) with new rows")
        if priors is None:
            return self._calibration
        if not hasattr(self, "classes_"):
            raise ValueError(
                f"{type(self.estimator_).__name__} knows no classes, and so no priors of them; leave priors "
                "out, or use a generative classifier"
            )
        return self._calibration.under(given_priors(priors, self.classes_), self.classes_)

    def smallest_p_value(self, priors: ClassPriors | None = None) -> float:
        """The p-value of the oddest row there can be: with an alpha below it no row is called an outlier."""
        check_is_fitted(self, "estimator_")
        return 0.0 if self.method == "chi2" else self._calibration_rows(priors).smallest_p_value()

    def warn_of_too_few(self, alpha: float, priors: ClassPriors | None) -> None:
        """Say that too few rows were held out for any row to be called an outlier, where that is so."""
        least = self.smallest_p_value(priors)
        if least <= alpha:
            return
        rows = self._calibration_rows(priors)
        held = f"{rows.total:,.0f}" if rows.total >= 10 else f"{rows.total:.2g}"  # priors weigh rows anew
        needed = f"alpha={alpha:g} takes {rows_needed(alpha)} rows or more"
        if rows.likelier is not None:
            label = self.classes_[int(np.argmax(rows.likelier))]
            needed = f"few of them are of class {label}, which is more frequent under the priors given"
        warn(
            f"no row can be called an outlier: {held} calibration rows give p-values of {least:.2g} "
            f"or more, and {needed}",
            DataWarning,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.required = is_classifier(self.estimator) and not is_frozen(self.estimator)
        return tags


def _known_columns(model: Any) -> dict[str, Any]:
    """What scikit-learn asks of an estimator that a model says for the rule around it."""
    names = ("classes_", "n_features_in_", "feature_names_in_")
    return {name: getattr(model, name) for name in names if hasattr(model, name)}
