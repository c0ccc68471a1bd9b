"""The settings of a decision, read once and checked against each other and the classifier."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._types import AnyArray, Bools, Floats, Ints
from posterior.bayes import given_priors
from posterior.decision.cost_table import Costs, read_costs
from posterior.decision.outliers import refuse_rate
from posterior.decision.reject import LearntRejectRule, read_reject
from posterior.decision.rule import DecisionRule, as_labels
from posterior.decision.shift import PriorEstimate
from posterior.estimators.classifiers import log_posterior_of
from posterior.estimators.device import DeviceTable
from posterior.estimators.device_decisions import (
    adjusted_logs,
    device_decisions,
    device_expected_cost,
    in_parts,
)
from posterior.estimators.fitted_classifier import Adjustment, FittedClassifier
from posterior.estimators.outliers import OutlierRule
from posterior.estimators.parameters import ClassPriors, CostsLike, Label, Reject


class DecisionChanges(TypedDict, total=False):
    """Some of the settings of a decision."""

    costs: CostsLike | None
    reject: Reject | None
    priors: ClassPriors | Literal["observed"] | PriorEstimate | None
    outliers: float | OutlierRule | None
    calibration: str | None
    reject_label: Label | None
    outlier_label: Label | None


@dataclass(frozen=True, eq=False)
class DecisionSettings:
    """The settings of a decision as a user writes them."""

    costs: CostsLike | None
    reject: Reject | None
    priors: ClassPriors | Literal["observed"] | PriorEstimate | None
    outliers: float | OutlierRule | None
    calibration: str | None
    reject_label: Label | None
    outlier_label: Label | None

    def same_as(self, other: "DecisionSettings") -> bool:
        """Whether these are the same objects, so that nothing has to be read again."""
        return all(value is getattr(other, name) for name, value in vars(self).items())


@dataclass(frozen=True, eq=False)
class Decider:
    """A classifier with all that is done about its posteriors: adjustment, outliers, costs, rejecting.

    `priors` are new class frequencies, if any; `labels` everything that may be answered.
    """

    learnt: FittedClassifier
    adjustment: Adjustment
    rule: DecisionRule
    labels: AnyArray
    priors: Floats | None = None
    alpha: float | None = None
    outlier_rule: OutlierRule | None = None

    @classmethod
    def of(cls, learnt: FittedClassifier, settings: DecisionSettings, costs: Any = None) -> "Decider":
        """Check everything against everything; `costs` of a call stand in for those of the settings."""
        priors = _new_priors(learnt, settings.priors, settings.calibration)
        adjustment = learnt.adjustment(settings.calibration, priors)
        table = _costs(learnt, settings.costs, costs)
        reject = read_reject(settings.reject)
        if isinstance(reject, LearntRejectRule):
            reject = learnt.learnt_rule(reject, table, settings.calibration, priors)
        rule = DecisionRule(
            tuple(learnt.classes.tolist()),
            table,
            reject,
            settings.reject_label,
            settings.outlier_label,
            finds_outliers=settings.outliers is not None,
        )
        labels, asked = as_labels(rule.labels, learnt.classes), settings.outliers
        if asked is None:
            return cls(learnt, adjustment, rule, labels, priors)
        alpha = refuse_rate(asked.alpha if isinstance(asked, OutlierRule) else asked, "outliers")
        used = _outlier_rule(learnt, asked)
        used.smallest_p_value(priors)  # refuses priors of classes that it knows nothing of
        return cls(learnt, adjustment, rule, labels, priors, alpha, used)

    def log_posterior(self, X: Any) -> Floats:
        """Log posteriors by which rows are decided, (n, K)."""
        return self.adjustment.apply(log_posterior_of(self.learnt.model, X))

    def p_values(self, X: Any) -> Floats | None:
        """How odd each row is, where outliers are looked for."""
        # The rule was trained with fewer rows; the classifier reports unseen categories itself.
        rule = self.outlier_rule
        return None if rule is None else rule._p_values(X, self.priors, reports_unseen=False)

    def report_outliers(self) -> None:
        """Say that no row can be called an outlier, where that is so."""
        if self.alpha is not None and self.outlier_rule is not None:
            self.outlier_rule.warn_of_too_few(self.alpha, self.priors)

    def codes(self, log_posterior: Floats, p_values: Floats | None) -> Ints:
        """Positions in `labels` of what is done with each row."""
        return self.rule.codes(log_posterior, self._outlying(p_values))

    def _outlying(self, p_values: Floats | None) -> Bools | None:
        return None if p_values is None or self.alpha is None else p_values <= self.alpha

    def decide(self, X: Any) -> Ints:
        """Positions in `labels` of what is done with the rows of a table."""
        return self.codes(self.log_posterior(X), self.p_values(X))

    # -- rows on a device -------------------------------------------------------------------------

    def device_logs(self, table: DeviceTable) -> Any:
        """Log posteriors by which rows on a device are decided, (n, K), there."""
        return adjusted_logs(self.learnt.model, self.adjustment, table)

    def device_decide(self, table: DeviceTable) -> Any:
        """Positions in `labels` of what is done with the rows on a device, there."""

        def decided(part: DeviceTable) -> Any:
            outlying = self._outlying(self.p_values(part.table))
            there = None if outlying is None else part.library.to_device(outlying)
            return device_decisions(part, self.rule, self.device_logs(part), there)

        return self._in_parts(table, decided)

    def device_expected_cost(self, table: DeviceTable) -> Any:
        """Expected cost of each action for each row on a device, there."""
        return self._in_parts(
            table, lambda part: device_expected_cost(part, self.rule, self.device_logs(part))
        )

    def _in_parts(self, table: DeviceTable, answer: Callable[[DeviceTable], Any]) -> Any:
        costs = self.rule.costs
        if costs is not None and costs.matrix.ndim == 3:  # of all rows
            return answer(table)
        return in_parts(table, len(self.learnt.classes), answer)


def _new_priors(learnt: FittedClassifier, priors: Any, method: str | None) -> Floats | None:
    """The class frequencies asked for; None where those of training stay."""
    if priors is None:
        return None
    learnt.priors_after(method)  # refuses where they are not known
    if isinstance(priors, PriorEstimate):
        priors = priors.priors
    if not isinstance(priors, str) or priors != "observed":
        return given_priors(priors, learnt.classes, "None, 'observed', ")
    if learnt.observed is None:
        raise ValueError(
            'priors="observed" are the class frequencies of the rows of fit, and fit was not called; '
            "pass numbers"
        )
    return learnt.observed


def _outlier_rule(learnt: FittedClassifier, outliers: Any) -> OutlierRule:
    """What finds outliers: the rule of fit, or a fitted one that was given since."""
    rule = learnt.outliers
    if isinstance(outliers, OutlierRule) and outliers is not learnt.asked:
        check_is_fitted(outliers)
        _refuse_other_table(learnt, outliers)
        rule = outliers
    if rule is None:
        raise ValueError(
            "outliers are rows of a small density p(row), and no model of it was learnt: pass "
            "outlier_rule=OutlierRule(LDA()) before fit, or a rule that is fitted as outliers=…"
        )
    return rule


def _refuse_other_table(learnt: FittedClassifier, rule: OutlierRule) -> None:
    """Refuse a rule that was fitted to other classes or columns than the classifier."""
    for name in ("classes_", "n_features_in_"):
        mine, theirs = getattr(learnt.model, name, None), getattr(rule, name, None)
        if mine is not None and theirs is not None and not np.array_equal(mine, theirs):
            raise ValueError(
                f"the outlier rule was fitted to another table: its {name} is {np.asarray(theirs).tolist()}, "
                f"and that of the classifier {np.asarray(mine).tolist()}"
            )


def _costs(learnt: FittedClassifier, costs: Any, of_the_call: Any) -> Costs | None:
    """The costs of the settings, or those of a call, which have the same actions."""
    classes = learnt.classes.tolist()
    own = None if costs is None else _classes_first(read_costs(costs, len(classes), classes), classes)
    if own is not None and own.matrix.ndim != 2:
        raise ValueError("costs of each row are passed to predict(X, costs=…), not to the estimator")
    if of_the_call is None:
        return own
    read = _classes_first(read_costs(of_the_call, len(classes), classes), classes)
    if own is None or own.actions is None or read.actions is not None:
        return read
    if read.n_actions != own.n_actions:
        raise ValueError(f"costs has {read.n_actions} columns, expected one for each of {list(own.actions)}")
    return replace(read, actions=own.actions)


def _classes_first(costs: Costs, classes: list[Any]) -> Costs:
    """Costs whose actions that are classes come first, in the order of the classes, and by their labels.

    So that an array, whose columns are the classes, and a table that names them mean the same. The columns
    of some tables are always strings: "1" is class 1.
    """
    if costs.actions is None:
        return costs
    known = {str(label): label for label in classes} if len({str(c) for c in classes}) == len(classes) else {}
    actions = [classes[classes.index(a)] if a in classes else known.get(str(a), a) for a in costs.actions]
    if len(set(actions)) != len(actions):
        raise ValueError(f"costs names an action twice: {list(costs.actions)} for the classes {classes}")
    rank = {label: k for k, label in enumerate(classes)}
    order = sorted(range(len(actions)), key=lambda j: rank.get(actions[j], len(classes)))
    return Costs(costs.matrix[..., order], tuple(actions[j] for j in order))
