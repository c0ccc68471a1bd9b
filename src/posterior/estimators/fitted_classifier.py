"""A fitted classifier, with its class priors and what it says of rows that it was not trained with."""

from dataclasses import dataclass, field
from typing import Annotated, Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Floats
from posterior.bayes import given_priors, impossible_priors
from posterior.decision.cost_table import Costs
from posterior.decision.priors import PriorShift
from posterior.decision.reject import HeldOutDecisions, LearntRejectRule, RejectRule, least_expected_cost
from posterior.decision.reliability import CalibrationTest, calibration_test
from posterior.decision.scaling import CALIBRATORS, CalibrationMap
from posterior.estimators.callbacks import fit_inside
from posterior.estimators.classifiers import (
    classes_of,
    impossible_model,
    is_frozen,
    training_priors,
    weight_taken,
)
from posterior.estimators.held_out import HeldOutRows, hold_out
from posterior.estimators.outliers import OutlierRule
from posterior.estimators.state import RefusedError
from posterior.estimators.table_estimator import rows_for
from posterior.estimators.training_rows import fit_elsewhere
from posterior.schema import LabelledTable
from posterior.schema.classes import refuse_one_class

ENOUGH = 50_000  # rows to check calibration with


@dataclass(frozen=True, eq=False)
class Adjustment:
    """The steps from the posteriors of a classifier to those that are acted on; any may be left out.

    They are brought to the class frequencies of the held-out rows, calibrated there, and brought to the
    class frequencies asked for.
    """

    to_observed: PriorShift | None = None
    calibration: CalibrationMap | None = None
    to_new: PriorShift | None = None

    def apply(self, logs: Floats) -> Floats:
        """Adjusted log posteriors from checked ones, (n, K)."""
        if self.calibration is not None:
            logs = logs if self.to_observed is None else self.to_observed.apply(logs)
            logs = self.calibration.calibrated(logs)
        return logs if self.to_new is None else self.to_new.apply(logs)


def impossible_scaling(scaling: Any, n_classes: int) -> str:
    """What is no calibration of so many classes, in words."""
    own = len(getattr(scaling, "weight", range(n_classes)))
    known = isinstance(scaling, CalibrationMap) and own == n_classes
    return "" if known else "a scaling of other classes"


@dataclass(frozen=True, eq=False)
class LearntRule:
    """A rule for rejecting as it was learnt, with what it was `asked` as and the settings that it is for."""

    learnt: Any
    asked: Any
    costs: Annotated[Floats | None, "K A finite"] = None
    calibration: str | None = None
    priors: Annotated[Floats | None, "K share"] = None

    def impossible(self) -> str:
        """What no rule is, in words; empty if all is well."""
        return "" if hasattr(self.learnt, "rejects") else "a rule for rejecting that rejects nothing"

    def is_for(
        self, asked: Any, costs: Floats | None, calibration: str | None, priors: Floats | None
    ) -> bool:
        """Whether it would be learnt in the same way."""
        return (
            bool(self.asked == asked)
            and self.calibration == calibration
            and _same(self.costs, costs)
            and _same(self.priors, priors)
        )


def _same(a: Floats | None, b: Floats | None) -> bool:
    return a is b if a is None or b is None else np.array_equal(a, b)


@dataclass(frozen=True, eq=False)
class FittedClassifier:
    """A fitted classifier, with what held-out rows told about it, as far as there were any.

    `priors` are the class frequencies in its posteriors, None where they are not known (`why_no_priors`);
    `observed` those of the rows of fit. `outliers` was fitted to the same rows, and is what `asked`, the
    setting of the time, asked for.
    """

    model: Any
    priors: Annotated[Floats | None, "K share"] = None
    observed: Annotated[Floats | None, "K share"] = None
    held_out: HeldOutRows | None = None
    outliers: OutlierRule | None = None
    asked: Any = None
    why_no_priors: str = ""
    _scalings: dict[str, Any] = field(default_factory=dict)
    _tests: dict[Any, CalibrationTest] = field(default_factory=dict)
    _rules: list["LearntRule"] = field(default_factory=list)

    @property
    def classes(self) -> AnyArray:
        """Class labels."""
        return classes_of(self.model)

    def impossible(self) -> str:
        """What was learnt by no fit, in words: priors, rows held out and scalings of other classes."""
        if wrong := impossible_model(self.model):
            return wrong
        n_classes = len(self.classes)
        unknown = [method for method in self._scalings if method not in CALIBRATORS]
        return (
            impossible_priors(self.priors, n_classes)
            or impossible_priors(self.observed, n_classes)
            or ("" if self.held_out is None else self.held_out.misfit(n_classes))
            or (f"calibration by {unknown[0]!r:.40}, which is not registered" if unknown else "")
            or next(filter(None, (impossible_scaling(s, n_classes) for s in self._scalings.values())), "")
        )

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

    # -- from the posteriors of the model to those that are acted on ------------------------------

    def adjustment(self, method: str | None = None, new: Floats | None = None) -> Adjustment:
        """Calibration by a method and new class frequencies, as far as they are asked for."""
        to_new = None if new is None else PriorShift.between(self.priors_after(method), new, self.classes)
        if method is None:
            return Adjustment(to_new=to_new)
        return Adjustment(self.to_observed(), self.scaling_by(method), to_new)

    def to_observed(self) -> PriorShift | None:
        """From the class frequencies of training, where they are known, to those of the rows of fit."""
        if self.priors is None or self.observed is None:
            return None
        return PriorShift.between(self.priors, self.observed, self.classes)

    def priors_after(self, method: str | None) -> Floats:
        """The class frequencies that posteriors are under after calibration: of the rows held out, if any."""
        return self.training_priors() if method is None or self.observed is None else self.observed

    def scaling_by(self, method: str) -> CalibrationMap:
        """How the posteriors are calibrated by a method, learnt from the rows held out."""
        if method not in CALIBRATORS:
            raise ValueError(f"calibration must be None or one of {sorted(CALIBRATORS)}, found {method!r}")
        if method not in self._scalings:
            rows = self.rows_held_out(f"calibration={method!r}")
            self._refuse_absent(f"calibration={method!r}", np.ones(len(self.classes)))
            logs = self._as_observed(rows.log_posterior)
            priors = None if self.priors is None else self.observed
            self._scalings[method] = CALIBRATORS[method](
                logs, rows.y, priors=priors, classes=None, sample_weight=rows.weight
            )
        scaling: CalibrationMap = self._scalings[method]
        return scaling

    def _as_observed(self, logs: Floats) -> Floats:
        shift = self.to_observed()
        return logs if shift is None else shift.apply(logs)

    # -- what held-out rows tell ------------------------------------------------------------------

    def rows_held_out(self, what: str) -> HeldOutRows:
        """Rows that the model has not seen, or the error that `what` needs them."""
        if self.held_out is None:
            raise ValueError(
                f"{what} is learnt from rows that the classifier has not seen, and there are none; call fit "
                "with cv=5, or with a FrozenEstimator around a fitted classifier and rows it has not seen"
            )
        return self.held_out

    def _refuse_absent(self, what: str, priors: Floats) -> None:
        """Refuse a class that may occur and of which no row was held out."""
        if self.observed is None or not ((self.observed == 0) & (priors > 0)).any():
            return
        k = int(((self.observed == 0) & (priors > 0)).argmax())
        raise ValueError(
            f"{what} is learnt from rows of every class, and those of fit show none of class "
            f"{self.classes.tolist()[k]!r}; pass rows of it too"
        )

    def learnt_rule(
        self, rule: LearntRejectRule, costs: Costs | None, method: str | None, new: Floats | None
    ) -> RejectRule:
        """A rule for rejecting, learnt from held-out rows as they are decided.

        Under new class frequencies each of them counts as often as its class will be met, and a new row, of
        which the class is not known, as the class that gains most.
        """
        if costs is not None and costs.matrix.ndim == 3:
            raise ValueError(
                f"{_called(rule)} is learnt from held-out rows, whose costs are those of the estimator, not "
                'of the rows to be predicted; with costs of each row use reject={"cost": …}'
            )
        rows = self.rows_held_out(_called(rule))
        table = None if costs is None else costs.matrix
        for known in self._rules:
            if known.is_for(rule, table, method, new):
                return known.learnt  # type: ignore[no-any-return]  # a rule
        weight, observed, largest = rows.weight, self.observed, 1.0
        if new is not None and observed is not None:
            self._refuse_absent(f"{_called(rule)} under these priors", new)
            likelier = np.divide(new, observed, where=observed > 0, out=np.zeros(len(new)))
            weight, largest = likelier[rows.y] * (1.0 if weight is None else weight), float(likelier.max())
        logs = self.adjustment(method, new).apply(rows.log_posterior)
        risk = least_expected_cost(logs, costs)
        learnt = rule.learnt_from(HeldOutDecisions(logs, rows.y, risk, weight, largest))
        self._rules[:] = [LearntRule(learnt, rule, table, method, new)]  # a model file keeps it
        return learnt

    def calibration_test(self, method: str | None, *, as_trained: bool) -> CalibrationTest | None:
        """Whether rows held out say that the posteriors are calibrated; None where there are none.

        As trained or under the class frequencies of these rows, or after calibration by a method. Some of
        very many rows are enough.
        """
        rows, key = self.held_out, (method, as_trained)
        if rows is None:
            return None
        if key not in self._tests:
            rows = rows.every(-(-len(rows.y) // ENOUGH))
            logs, priors = self.adjustment(method).apply(rows.log_posterior), self.priors
            if method is None and not as_trained and priors is not None:
                logs, priors = self._as_observed(logs), self.observed
            test = calibration_test(rows.y, logs, priors=priors, sample_weight=rows.weight)
            if method is not None or not test.is_off:
                # A temperature does not tell that one class is made too likely, as class weights do.
                by_class = calibration_test(rows.y, logs, method="vector", sample_weight=rows.weight)
                test = by_class if by_class.is_off else test
            self._tests[key] = test
        return self._tests[key]


def _called(rule: LearntRejectRule) -> str:
    """A rule in a message."""
    return getattr(rule, "name", "") or f"the reject rule {rule!r}"


def fit_classifier(
    estimator: Any,
    table: LabelledTable,
    fit_params: dict[str, Any],
    cv: Any,
    elsewhere: Any = None,
    *,
    priors: Any = None,
    needs_held_out: bool,
) -> FittedClassifier:
    """Fit a classifier to all rows, and hold rows out where that was asked for, or is needed.

    Rows `elsewhere`, of a scan or on a device, stay where they are; the table is then a sample of them, and
    those that are held out are scored by classifiers of the others in the sample.
    """
    frozen = is_frozen(estimator)
    if frozen:
        check_is_fitted(estimator)
    labels = table.labels
    model = estimator
    if not frozen and elsewhere is not None:
        model = fit_elsewhere(estimator, elsewhere)
    elif not frozen:
        model = fit_inside(clone(estimator), rows_for(estimator, table), labels, **fit_params)
    classes = classes_of(model)
    table = table.among(classes)
    refuse_one_class(classes)
    count = np.bincount(table.codes, table.weight, len(classes)).astype(np.float64)
    weight = weight_taken(estimator, fit_params)
    if elsewhere is not None and not frozen:
        count = elsewhere.class_weights
        labels, weight = classes, count  # the classes of all rows, not of a sample
    why = ""
    if priors is not None:
        priors = given_priors(priors, classes)
    else:
        try:
            priors = training_priors(model, None if frozen else labels, weight, classes)
        except RefusedError as error:  # said when they are needed
            why = str(error)
    held_out = hold_out(estimator, model, table, fit_params, cv, needed=needs_held_out)
    return FittedClassifier(model, priors, count / count.sum(), held_out, why_no_priors=why)
