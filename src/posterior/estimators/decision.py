"""Decisions from the probabilities of any classifier: costs, rejecting, priors, outliers, calibration."""

import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from functools import partial
from typing import Any, Literal, Self, Unpack

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.bayes import decision_scores, given_priors
from posterior.decision.costs import incurred
from posterior.decision.explanation import Explanation
from posterior.decision.outliers import refuse_rate
from posterior.decision.reject import LearntRejectRule, read_reject
from posterior.decision.reliability import CalibrationTest
from posterior.decision.rule import as_labels
from posterior.decision.scaling import CalibrationMap
from posterior.decision.shift import PriorEstimate, estimate_priors
from posterior.engines import ScannedTable
from posterior.estimators.callbacks import with_callbacks
from posterior.estimators.classifiers import log_posterior_of
from posterior.estimators.decider import Decider, DecisionChanges, DecisionSettings
from posterior.estimators.decision_explanations import explanations
from posterior.estimators.device import DeviceTable, is_device_array, on_the_host, predicted
from posterior.estimators.device_decisions import (
    answers_there,
    device_answer,
    device_average,
    in_parts,
)
from posterior.estimators.fitted_classifier import FittedClassifier, fit_classifier
from posterior.estimators.meta_estimator import MetaClassifier
from posterior.estimators.outliers import OutlierRule
from posterior.estimators.parameters import (
    AnyRows,
    Classifier,
    ClassPriors,
    CostsLike,
    FoldsLike,
    Label,
    Labels,
    Reject,
    Weights,
)
from posterior.estimators.scanned_prediction import Writing, scores_scans, summed_answers
from posterior.estimators.state import RefusedError, install
from posterior.estimators.target import read_labels, read_weights
from posterior.notices import CalibrationWarning, DataWarning, warn
from posterior.schema import LabelledTable
from posterior.schema.classes import known_codes

SETTINGS = tuple(field.name for field in fields(DecisionSettings))

REWEIGHTED = (
    " (the classifier was trained with other class frequencies than these rows have, which "
    'priors="observed" undoes)'
)


def refused(read: Callable[[], Any]) -> Any:
    """What a property shows, or the reason why there is none, for which `hasattr` says False."""
    try:
        return read()
    except ValueError as error:
        raise RefusedError(str(error)) from error


class DecisionClassifier(MetaClassifier):
    """Decide for each row by costs, a reject rule, priors and outliers, around any classifier.

    The steps are always taken in this order: posteriors of the classifier, scaled to be calibrated
    (`calibration`), brought to other class frequencies (`priors`); rows that look like nothing seen
    before are set apart (`outliers`); of the others, the action of least expected cost (`costs`), unless
    that is too uncertain (`reject`). Costs, priors and rejecting are changed without training by
    `set_decision`; so are calibration, coverage and outliers where `fit` was asked to prepare them, by `cv`
    and `outlier_rule`. What is not asked for is not done: with a threshold alone, `fit` fits the classifier.

    Parameters
    ----------
    estimator : classifier with `predict_proba` or `predict_log_proba`
        Ours or any of scikit-learn's conventions. One that is fitted already decides at once, without
        `fit`; to let `fit` calibrate it without training it again, wrap it in
        `sklearn.frozen.FrozenEstimator`: the rows of `fit` are then rows it has not seen.
    costs : array of shape (n_classes, n_actions), mapping or data frame, default=None
        Cost of each action (column) where each class (row) is the truth. The actions of an array are the
        classes; {class: {action: cost}} and a data frame with the classes as index name theirs: "refer",
        "test again". None costs 1 for every wrong class. A negative cost is a gain. A number added to all
        costs of a class changes no decision, but the cost of rejecting is held against them as they are. An
        action called as `reject_label` is the same answer as rejecting.
    reject : mapping, default=None
        When not to answer: {"threshold": 0.9} if the largest posterior is below 0.9 (Chow 1970),
        {"cost": 0.1} if every action is expected to cost more, {"coverage": 0.9} to answer nine of ten
        rows, those with the least expected cost, by a limit set on held-out rows. That is at least so with a
        frozen classifier, and about so otherwise: models that saw fewer rows are surer of themselves, so that
        with few rows and many columns fewer are answered. Or an object with the method `rejects`
        (`posterior.decision.RejectRule`), or the key of a rule that `register_reject_rule` has added.
    priors : "uniform", "observed", array of shape (n_classes,) or mapping, default=None
        Class frequencies where the model is used, if they differ from training. "observed" are those of the
        training rows, which undoes `class_weight` and priors of the estimator.
    outliers : float or OutlierRule, default=None
        False alarm rate at which a row is called an outlier, by `outlier_rule`; or a rule with its own rate.
    calibration : {"temperature", "vector"} or the name of a registered calibrator, default=None
        Calibrate the posteriors on held-out rows. With None they are not changed, and a warning is given if
        rows were held out (`cv`) and show that calibration would help.
    training_priors : array of shape (n_classes,), "uniform" or mapping, default=None
        The class frequencies that are in the posteriors; None asks the estimator, or counts the classes in
        training with its `class_weight`.
    cv : int, splitter or array of shape (n_samples,), default=None
        How rows are held out for calibration, coverage, the check of calibration and `estimate_priors`: the
        estimator is fitted once more for each fold (ours that are generative are not). None holds rows out
        only where `calibration` or `reject` must be learnt from them, in five folds.
    outlier_rule : OutlierRule, default=None
        What is fitted to find outliers, now or after `set_decision(outliers=…)`. None is a rule around the
        estimator, which must have `score_samples`, where `outliers` is a rate.
    reject_label : label, default="reject"
        What `predict` answers where it rejects.
    outlier_label : label, default="outlier"
        What `predict` answers for an outlier.

    Attributes
    ----------
    estimator_ : classifier
        The fitted classifier.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    actions_ : ndarray
        Everything that `predict` may answer.
    training_priors_ : ndarray of shape (n_classes,)
        The class frequencies that are in the posteriors of the classifier.
    priors_ : ndarray of shape (n_classes,)
        The class frequencies that the posteriors of this estimator are under.
    scaling_ : Scaling (or what another calibrator learns) or None
        How posteriors are scaled.
    calibration_test_ : CalibrationTest or None
        What held-out rows say about the posteriors, scaled if they are.
    outlier_rule_ : OutlierRule or None
        What finds outliers.
    learnt_ : object
        The classifier of all rows, with what was learnt from the rows held out.
    n_features_in_ : int
        Number of columns, where the classifier tells.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Column names, where the table had any.

    Examples
    --------
    >>> from posterior import DecisionClassifier, NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> costs = {
    ...     "Adelie": {"Adelie": 0, "Chinstrap": 1, "Gentoo": 1, "weigh again": 0.2},
    ...     "Chinstrap": {"Adelie": 5, "Chinstrap": 0, "Gentoo": 1, "weigh again": 0.2},
    ...     "Gentoo": {"Adelie": 1, "Chinstrap": 1, "Gentoo": 0, "weigh again": 0.2},
    ... }
    >>> model = DecisionClassifier(NaiveBayes(kinds={"year": "categorical"}), costs=costs)
    >>> model.fit(penguins.X, penguins.y).predict(penguins.X[97:100]).tolist()
    ['weigh again', 'Adelie', 'weigh again']
    >>> model.set_decision(costs=None, reject={"threshold": 0.9}).predict(penguins.X[97:100]).tolist()
    ['Adelie', 'Adelie', 'reject']
    >>> print(model.explain(penguins.X[99:100])[0])
    reject
      posterior: Adelie 0.607, Chinstrap 0.393, Gentoo 7.62e-08
        log odds of Adelie against Chinstrap, by feature: island -0.82, bill_length_mm +0.27, ...
      expected cost: Adelie 0.393, Chinstrap 0.607, Gentoo 1
      rejected: the largest posterior is below 0.9

    """

    learnt_: FittedClassifier

    def __init__(
        self,
        estimator: Classifier,
        *,
        costs: CostsLike | None = None,
        reject: Reject | None = None,
        priors: ClassPriors | Literal["observed"] | PriorEstimate | None = None,
        outliers: float | OutlierRule | None = None,
        calibration: str | None = None,
        training_priors: ClassPriors | None = None,
        cv: FoldsLike | None = None,
        outlier_rule: OutlierRule | None = None,
        reject_label: Label | None = "reject",
        outlier_label: Label | None = "outlier",
    ) -> None:
        self.estimator = estimator
        self.costs = costs
        self.reject = reject
        self.priors = priors
        self.outliers = outliers
        self.calibration = calibration
        self.training_priors = training_priors
        self.cv = cv
        self.outlier_rule = outlier_rule
        self.reject_label = reject_label
        self.outlier_label = outlier_label

    # -- learning ---------------------------------------------------------------------------------

    @with_callbacks
    def fit(
        self, X: AnyRows, y: Labels | None = None, sample_weight: Weights | None = None, **fit_params: Any
    ) -> Self:
        """Fit the classifier, and learn from held-out rows what the rules need to know.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), or scan
            Whatever the estimator takes. All rows of a scan, or on a device, train the classifier; rows are
            held out of a sample of 100,000.
        y : array-like of shape (n_samples,)
            The class of each row; a scan names its class column.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, passed on to the estimator.
        **fit_params : dict
            Passed on to the `fit` of the estimator.

        Returns
        -------
        self : object
            The fitted estimator.

        """
        rows = self._rows(X, y, sample_weight, fit_params)
        needed = self.calibration is not None or isinstance(read_reject(self.reject), LearntRejectRule)
        learnt = fit_classifier(
            self.estimator,
            *rows,
            priors=self.training_priors,
            needs_held_out=needed,
        )
        learnt = replace(learnt, outliers=self._fitted_outlier_rule(rows[0]), asked=self.outliers)
        settings = self._settings()
        decider = Decider.of(learnt, settings)
        learnt.calibration_test(self.calibration, as_trained=self.priors is None)
        install(self, learnt_=learnt, _read=(settings, decider))
        self._report_calibration()
        decider.report_outliers()
        return self

    def _fitted_outlier_rule(self, table: LabelledTable) -> OutlierRule | None:
        """The rule that was asked for, fitted; None where none was."""
        rule, outliers = self.outlier_rule, self.outliers
        if isinstance(outliers, OutlierRule):
            if rule is not None:
                raise ValueError(
                    "outliers and outlier_rule are both rules; give a rate and a rule, or one rule"
                )
            rule = outliers
        elif rule is None and outliers is not None:
            rule = OutlierRule(self.estimator, alpha=refuse_rate(outliers, "outliers"))
        fitted: OutlierRule | None = rule
        if rule is not None:
            # A class that was derived elsewhere may do more with a table, and gets the user's own.
            rows = table if type(rule) is OutlierRule else table.native
            with warnings.catch_warnings():
                # Whether p-values are fine enough is a question for the rate that is asked for.
                warnings.filterwarnings("ignore", "no row can be called an outlier", DataWarning)
                fitted = clone(rule).fit(rows, table.labels, sample_weight=table.weight)
        return fitted

    def _report_calibration(self) -> None:
        """Say that posteriors should not be taken at their word, where rows held out say so."""
        test, scaling = self.calibration_test_, self.scaling_
        if test is None or not test.is_off or (scaling is not None and scaling.by_class):
            return
        undone, remedy = "", test.remedy
        if self.calibration is not None:
            undone, remedy = f" even with calibration={self.calibration!r}", 'try calibration="vector"'
        elif self.priors is None and self._learnt.is_reweighted:
            undone = REWEIGHTED
        warn(
            f"held-out rows say that the posteriors {test.fault}{undone}, and decisions take them at their "
            f"word: {remedy}. See calibration_test_",
            CalibrationWarning,
        )

    def set_decision(self, **changes: Unpack[DecisionChanges]) -> Self:
        """Change what is done, without training: costs, reject, priors, outliers, calibration, labels.

        What does not fit the classifier is refused, and nothing is changed. Returns the estimator itself.
        """
        unknown = [name for name in changes if name not in SETTINGS]
        if unknown:
            raise TypeError(f"set_decision knows {', '.join(SETTINGS)}; found {', '.join(unknown)}")
        settings = replace(self._settings(), **changes)
        decider = Decider.of(self._learnt, settings)
        self.__dict__.update(changes, _read=(settings, decider))  # all at once, whatever interrupts
        decider.report_outliers()
        return self

    def _settings(self) -> DecisionSettings:
        return DecisionSettings(**{name: getattr(self, name) for name in SETTINGS})

    def _decider(self, costs: CostsLike | None = None) -> Decider:
        """The settings as they were read last, or read again if there are others now or costs of a call."""
        settings, learnt = self._settings(), self._learnt
        read: tuple[DecisionSettings, Decider] | None = vars(self).get("_read")
        if costs is None and read is not None and read[0].same_as(settings) and read[1].learnt is learnt:
            return read[1]
        decider = Decider.of(learnt, settings, costs)
        if costs is None and hasattr(self, "learnt_"):
            self._read = settings, decider
        return decider

    def _restored(self) -> str:
        """Refuse settings in a model file that do not go together, or not with what was learnt."""
        self._decider()
        return ""

    # -- what was learnt --------------------------------------------------------------------------

    @property
    def _learnt(self) -> FittedClassifier:
        if hasattr(self, "learnt_"):
            return self.learnt_
        try:
            check_is_fitted(self.estimator)
        except NotFittedError as error:
            raise NotFittedError(
                f"This {type(self).__name__} instance is not fitted yet: call fit, or pass an estimator that "
                "is fitted"
            ) from error
        given = self.training_priors
        priors = None if given is None else given_priors(given, self.estimator.classes_)
        return FittedClassifier(self.estimator, priors)

    def __sklearn_is_fitted__(self) -> bool:
        try:
            return self._learnt is not None
        except NotFittedError:
            return False

    @property
    def estimator_(self) -> Any:
        """The fitted classifier."""
        return self._learnt.model

    @property
    def classes_(self) -> AnyArray:
        """Class labels."""
        return self._learnt.classes

    @property
    def actions_(self) -> AnyArray:
        """Everything that `predict` may answer."""
        labels = refused(self._decider).rule.labels
        return as_labels(tuple(dict.fromkeys(labels)), self.classes_)

    @property
    def training_priors_(self) -> Floats:
        """The class frequencies that are in the posteriors of the classifier."""
        return self._learnt.training_priors()

    @property
    def priors_(self) -> Floats:
        """The class frequencies that the posteriors of this estimator are under."""
        new = refused(self._decider).priors
        return np.asarray(self._learnt.priors_after(self.calibration) if new is None else new)

    @property
    def calibration_test_(self) -> CalibrationTest | None:
        """What held-out rows say about the posteriors; None where no rows were held out."""
        return self._learnt.calibration_test(self.calibration, as_trained=self.priors is None)

    @property
    def scaling_(self) -> CalibrationMap | None:
        """How posteriors are scaled."""
        scaling: CalibrationMap | None = refused(
            lambda: self._learnt.adjustment(self.calibration)
        ).calibration
        return scaling

    @property
    def outlier_rule_(self) -> OutlierRule | None:
        """What finds outliers, or would if it was asked to."""
        rule = refused(self._decider).outlier_rule
        return self._learnt.outliers if rule is None else rule

    # -- deciding ---------------------------------------------------------------------------------

    @scores_scans
    def predict(self, X: AnyRows, costs: CostsLike | None = None, **writing: Unpack[Writing]) -> AnyArray:
        """What to do with each row: an action, or the label of rejecting or of an outlier.

        `costs` replaces the costs for this call; an array of shape (n_samples, n_classes, n_actions) gives
        each row its own. The columns of an array are in the order of `actions_`: the actions that are classes
        first, in the order of `classes_`, then the others as they were named.
        """
        decider = self._decider(costs)
        return np.asarray(decider.labels.take(decider.decide(X)))

    @scores_scans
    def predict_log_proba(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Log posterior of each class, scaled and under the class frequencies asked for."""
        return self._decider().log_posterior(X)

    @scores_scans
    def decision_function(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Log posteriors; with two classes the log odds of the second against the first, (n_samples,)."""
        return decision_scores(self.predict_log_proba(X))

    @scores_scans
    def predict_proba(self, X: AnyRows, **writing: Unpack[Writing]) -> Floats:
        """Posterior of each class, scaled and under the class frequencies asked for."""
        return np.exp(self.predict_log_proba(X))

    def expected_cost(self, X: AnyRows, costs: CostsLike | None = None) -> Floats:
        """Expected cost of each action for each row; these actions come first in `actions_`."""
        decider = self._decider(costs)
        if is_device_array(X) and answers_there(self.estimator_):
            there: Floats = decider.device_expected_cost(DeviceTable(X))
            return there
        return decider.rule.expected_cost(decider.log_posterior(X))

    def _device_scores(self, method: str, table: DeviceTable, costs: CostsLike | None = None) -> Any:
        """What a method says of rows on a device."""
        if not answers_there(self.estimator_):
            given = {} if costs is None else {"costs": costs}
            return getattr(self, method)(on_the_host(table.table), **given)
        decider = self._decider(costs)
        if method == "predict":
            return predicted(table, decider.labels, decider.device_decide(table))
        answer = partial(device_answer, method)
        return in_parts(table, len(self.classes_), lambda part: answer(part, decider.device_logs(part)))

    def score(
        self,
        X: AnyRows,
        y: Labels | None = None,
        sample_weight: Weights | None = None,
        costs: CostsLike | None = None,
    ) -> float:
        """Minus the average cost of what `predict` does with each row; without costs the accuracy.

        With costs, a row that is rejected, or an outlier, costs what reject={"cost": …} says, and nothing
        else says it: it is a price, and not to be searched for. In the accuracy it is a wrong answer.
        A scan has its own classes and weights.
        """
        if isinstance(X, ScannedTable):
            answer = partial(self.score, costs=costs)
            total, weight = summed_answers(self, "MeanScores", answer, X, y, sample_weight)
            return float(total / weight)
        decider = self._decider(costs)
        if is_device_array(X) and answers_there(self.estimator_):
            table = DeviceTable(X)
            codes, who = decider.device_decide(table), type(self).__name__
            return device_average(table, decider.rule, self.classes_, codes, y, sample_weight, who)
        codes = decider.decide(X)
        true = known_codes(read_labels(y, len(codes), type(self).__name__), self.classes_)
        weight = read_weights(sample_weight, true)
        if decider.rule.costs is None:
            return float(np.average(codes == true, weights=weight))
        return -float(np.average(incurred(decider.rule.priced(), true, codes), weights=weight))

    def estimate_priors(self, X: AnyRows, method: str = "em", **settings: Any) -> PriorEstimate:
        """The class frequencies among rows without labels, with intervals, and whether they have changed.

        `method` and `settings` are those of `posterior.decision.estimate_priors`, which is given the
        held-out rows of `fit`, if there are any (`cv=5`). Pass the result on:
        `set_decision(priors=estimate.priors)`.
        """
        learnt, rows = self._learnt, self._learnt.held_out
        adjustment, held_out = learnt.adjustment(self.calibration), None
        if rows is not None:
            held_out = adjustment.apply(rows.log_posterior), self.classes_[rows.y], rows.weight
        return estimate_priors(
            adjustment.apply(log_posterior_of(learnt.model, X)),
            learnt.priors_after(self.calibration),
            method=method,
            held_out=held_out,
            classes=self.classes_,
            **settings,
        )

    # -- words ------------------------------------------------------------------------------------

    def explain(self, X: AnyRows, costs: CostsLike | None = None) -> list[Explanation]:
        """Each row's answer in words: what is believed and why, what each action would cost, what was done.

        One `Explanation` for each row; print it.
        """
        return explanations(self._decider(costs), X)
