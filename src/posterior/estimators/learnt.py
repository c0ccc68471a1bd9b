"""What a decision needs to know of a classifier, and of rows that the classifier has not seen."""

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats, Ints
from posterior.bayes import given_priors
from posterior.decision.cost_table import Costs
from posterior.decision.priors import effective_priors, shift_priors
from posterior.decision.reject import Coverage, Rule, least_expected_cost
from posterior.decision.reliability import CalibrationTest, calibration_test
from posterior.decision.scaling import SCALINGS, Scaling
from posterior.estimators.around import TrainingRows
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.classifiers import (
    bare,
    classes_of,
    held_out_log_posterior,
    is_frozen,
    log_posterior_of,
    training_priors,
    weight_taken,
)
from posterior.estimators.outliers import OutlierRule
from posterior.estimators.reading import RefusedError
from posterior.estimators.splits import read_folds
from posterior.estimators.target import known_codes, refuse_one_class
from posterior.notices import DataWarning, warn

ENOUGH = 50_000  # rows to check calibration with


@dataclass(frozen=True, eq=False)
class UnseenRows:
    """What a classifier says of rows it has not seen, and the class codes and weights of these rows."""

    log_posterior: Floats
    y: Ints
    weight: Floats | None

    def every(self, step: int) -> "UnseenRows":
        """Each `step`-th of the rows."""
        weight = None if self.weight is None else self.weight[::step]
        return UnseenRows(self.log_posterior[::step], self.y[::step], weight)


@dataclass(frozen=True, eq=False)
class Learnt:
    """A fitted classifier, with what held-out rows told about it, as far as there were any.

    `outliers` was fitted to the same rows, and is what `asked`, the setting of the time, asked for.
    """

    model: Any
    priors: Floats | None = None
    observed: Floats | None = None
    held_out: UnseenRows | None = None
    outliers: OutlierRule | None = None
    asked: Any = None
    why_no_priors: str = ""
    _scalings: dict[str, Scaling] = field(default_factory=dict)
    _limits: dict[Any, Rule] = field(default_factory=dict)
    _tests: dict[Any, CalibrationTest] = field(default_factory=dict)

    @property
    def classes(self) -> AnyArray:
        """Class labels."""
        return classes_of(self.model)

    def training_priors(self) -> Floats:
        """The class frequencies in the posteriors of the model."""
        if self.why_no_priors:
            raise RefusedError(self.why_no_priors)
        return training_priors(self.model) if self.priors is None else self.priors

    @property
    def is_reweighted(self) -> bool:
        """Whether the model was trained with other class frequencies than the rows of fit have."""
        if self.priors is None or self.observed is None:
            return False
        return not np.allclose(self.priors, self.observed)

    def adjusted(self, logs: Floats, method: str | None, new: Floats | None) -> Floats:
        """Log posteriors after scaling and under new class frequencies, as far as they are asked for."""
        scaled = self.scaled(logs, method)
        return scaled if new is None else shift_priors(scaled, self.priors_after(method), new)

    def answering(self, rule: Coverage, costs: Costs | None, method: str | None, new: Floats | None) -> Rule:
        """The limit on the expected cost by which a share of the rows is answered, set on rows held out.

        Under new class frequencies each of them counts as often as its class will be met, and a new row, of
        which the class is not known, as the class that gains most.
        """
        if costs is not None and costs.matrix.ndim == 3:
            raise ValueError(
                "a coverage is reached by a limit set on held-out rows, whose costs are those of the "
                'estimator, not of the rows to be predicted; with costs of each row use reject={"cost": …}'
            )
        rows = self.rows_held_out(f"a coverage of {rule.share:g}")
        weight, observed, own = rows.weight, self.observed, 1.0
        if new is not None and observed is not None:
            self._refuse_absent("a coverage under these priors", new)
            likelier = np.divide(new, observed, where=observed > 0, out=np.zeros(len(new)))
            weight, own = likelier[rows.y] * (1.0 if weight is None else weight), float(likelier.max())
        matrix = None if costs is None else costs.matrix
        key = (rule, method, *(None if a is None else a.tobytes() for a in (matrix, new)))
        if key not in self._limits:
            logs = self.adjusted(rows.log_posterior, method, new)
            self._limits.clear()
            self._limits[key] = rule.calibrated(least_expected_cost(logs, costs), weight, own_weight=own)
        return self._limits[key]

    def scaled(self, logs: Floats, method: str | None) -> Floats:
        """Log posteriors after scaling, if any: learnt, and left, under the frequencies of rows held out."""
        scaling = self.scaling(method)
        return logs if scaling is None else scaling.apply(self.as_observed(logs))

    def priors_after(self, method: str | None) -> Floats:
        """The class frequencies that posteriors are under after scaling: of the rows held out, if any."""
        return self.training_priors() if method is None or self.observed is None else self.observed

    def scaling(self, method: str | None) -> Scaling | None:
        """How the posteriors are scaled; None where no method was asked for."""
        return None if method is None else self.scaling_by(method)

    def scaling_by(self, method: str) -> Scaling:
        """How the posteriors are scaled by a method, learnt from the rows held out."""
        if method not in SCALINGS:
            raise ValueError(f"calibration must be None or one of {sorted(SCALINGS)}, found {method!r}")
        if method not in self._scalings:
            rows = self.rows_held_out(f"calibration={method!r}")
            self._refuse_absent(f"calibration={method!r}", np.ones(len(self.classes)))
            logs = self.as_observed(rows.log_posterior)
            priors = None if self.priors is None else self.observed
            self._scalings[method] = SCALINGS[method](logs, rows.y, priors=priors, sample_weight=rows.weight)
        return self._scalings[method]

    def _refuse_absent(self, what: str, priors: Floats) -> None:
        """Refuse a class that may occur and of which no row was held out."""
        if self.observed is None or not ((self.observed == 0) & (priors > 0)).any():
            return
        k = int(((self.observed == 0) & (priors > 0)).argmax())
        raise ValueError(
            f"{what} is learnt from rows of every class, and those of fit show none of class "
            f"{self.classes.tolist()[k]!r}; pass rows of it too"
        )

    def as_observed(self, logs: Floats) -> Floats:
        """Log posteriors under the frequencies of the rows held out, if those of training are known."""
        if self.priors is None or self.observed is None:
            return logs
        return shift_priors(logs, self.priors, self.observed)

    def rows_held_out(self, what: str) -> UnseenRows:
        """Rows that the model has not seen, or the error that `what` needs them."""
        if self.held_out is None:
            raise ValueError(
                f"{what} is learnt from rows that the classifier has not seen, and there are none; call fit "
                "with cv=5, or with a FrozenEstimator around a fitted classifier and rows it has not seen"
            )
        return self.held_out

    def calibration_test(self, method: str | None, *, as_trained: bool) -> CalibrationTest | None:
        """Whether rows held out say that the posteriors are calibrated.

        As trained or under the class frequencies of these rows, or after scaling by a method. Some of very
        many rows are asked: they tell as much as anybody wants to know.
        """
        rows, key = self.held_out, (method, as_trained)
        if rows is None:
            return None
        if key not in self._tests:
            rows = rows.every(-(-len(rows.y) // ENOUGH))
            logs, priors = rows.log_posterior, self.priors
            if method is not None:
                logs = self.scaled(logs, method)
            elif not as_trained and priors is not None:
                logs, priors = self.as_observed(logs), self.observed
            test = calibration_test(rows.y, logs, priors=priors, sample_weight=rows.weight)
            if method is not None or not test.is_off:
                # A temperature does not tell that one class is made too likely, as class weights do.
                by_class = calibration_test(rows.y, logs, method="vector", sample_weight=rows.weight)
                test = by_class if by_class.is_off else test
            self._tests[key] = test
        return self._tests[key]


def learn(estimator: Any, rows: TrainingRows, priors: Any = None, *, needed: bool) -> Learnt:
    """Fit a classifier to all rows and hold rows out; `needed` says that there must be such rows."""
    frozen = is_frozen(estimator)
    if frozen:
        check_is_fitted(estimator)
    model = estimator if frozen else clone(estimator).fit(rows.X, rows.y, **rows.fit_params)
    classes = classes_of(model)
    known_codes(rows.y, classes)
    refuse_one_class(classes)
    observed = effective_priors(rows.y, sample_weight=rows.weight, classes=classes)
    why = ""
    if priors is not None:
        priors = given_priors(priors, classes)
    else:
        try:
            weight = weight_taken(estimator, rows.fit_params)
            priors = training_priors(model, None if frozen else rows.y, weight, classes)
        except RefusedError as error:  # said when they are needed
            why = str(error)
    held_out = _hold_out(estimator, model, rows, needed)
    return Learnt(model, priors, observed, held_out, why_no_priors=why)


def _hold_out(estimator: Any, model: Any, rows: TrainingRows, needed: bool) -> UnseenRows | None:
    codes = known_codes(rows.y, model.classes_)
    if is_frozen(estimator):
        return UnseenRows(log_posterior_of(model, rows.X), codes, rows.weight)
    if rows.cv is None:
        return None
    read_folds(rows.cv, codes)  # refuses what does not say how to hold rows out
    try:
        logs = held_out_log_posterior(estimator, rows.X, rows.y, model.classes_, rows.cv, rows.fit_params)
    except (ValueError, IndexError) as error:
        if needed:
            raise
        warn(
            f"whether the posteriors are calibrated could not be checked, because no rows could be held out "
            f"({error}); cv=None asks for no check",
            DataWarning,
        )
        return None
    return UnseenRows(logs, codes, rows.weight)


def outlier_rule(estimator: Any, rows: TrainingRows, outliers: Any) -> OutlierRule | None:
    """The rule that was asked for, or one that may be asked for later and costs little."""
    if isinstance(outliers, OutlierRule):
        rule: OutlierRule = clone(outliers).fit(rows.X, rows.y, sample_weight=rows.weight)
        return rule
    if outliers is not None:
        return OutlierRule(estimator, alpha=outliers).fit(rows.X, rows.y, sample_weight=rows.weight)
    if rows.cv is None or not isinstance(bare(estimator), GenerativeEstimator):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        try:
            return OutlierRule(estimator).fit(rows.X, rows.y, sample_weight=rows.weight)
        except (TypeError, ValueError):  # no rows to hold out, or no weights: nothing to be asked for later
            return None
