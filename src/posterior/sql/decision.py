"""What is done with a row, in SQL: other priors, calibration, costs, rejecting."""

from functools import singledispatch
from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.decision.priors import PriorShift
from posterior.decision.reject import CLOSE, SAME, Limit, RejectionCost, Threshold
from posterior.decision.rule import DecisionRule
from posterior.decision.scaling import Scaling
from posterior.estimators.fitted_classifier import Adjustment
from posterior.sql.expressions import (
    Expression,
    above,
    at_most,
    below,
    case,
    equal,
    every,
    exponential,
    number,
    times,
    total,
    whole,
)
from posterior.sql.normalizing import LogPosterior, affine, log_posterior
from posterior.sql.steps import Steps


def adjusted(adjustment: Adjustment, logs: LogPosterior, steps: Steps) -> LogPosterior:
    """Log posteriors as they are acted on: calibrated, and under other priors."""
    changes = []
    if adjustment.calibration is not None:
        changes = [adjustment.to_observed, adjustment.calibration]
    for change in (*changes, adjustment.to_new):
        if change is not None:
            logs = changed(change, logs, steps)
    return logs


@singledispatch
def changed(change: Any, logs: LogPosterior, steps: Steps) -> LogPosterior:
    """Log posteriors after a change of priors or a calibration."""
    raise ValueError(
        f'calibration by {type(change).__name__} is not written in SQL; use calibration="temperature" or '
        '"vector", or set_decision(calibration=None)'
    )


@changed.register
def _(change: PriorShift, logs: LogPosterior, steps: Steps) -> LogPosterior:
    scores = affine(steps, logs, np.ones(len(change.log_old)), change.log_new - change.log_old)
    return log_posterior(steps, scores, change.log_new)


@changed.register
def _(change: Scaling, logs: LogPosterior, steps: Steps) -> LogPosterior:
    return log_posterior(steps, affine(steps, logs, change.weight, change.bias))


def decided(rule: DecisionRule, logs: LogPosterior, steps: Steps) -> Expression:
    """The position in `labels` of what is done with a row, the first of equals, named."""
    if rule.finds_outliers:
        raise ValueError(
            "outliers are rows of a small p-value among those held out, which is not written in SQL; "
            "set_decision(outliers=None) leaves them to predict"
        )
    costs = None if rule.costs is None else np.asarray(rule.costs.matrix)
    action, risk = (logs.best, None) if costs is None else _cheapest(costs, logs, steps)
    if rule.reject is None:
        return action
    if risk is None:
        others = [
            case((equal(logs.best, whole(k)), number(0.0)), otherwise=exponential(log_p))
            for k, log_p in enumerate(logs.by_class)
        ]
        risk = steps.let("risk", total(others))
    too_unsure = rejects(rule.reject, logs, risk)
    return steps.let("action", case((too_unsure, whole(len(rule.actions))), otherwise=action))


def _cheapest(costs: Floats, logs: LogPosterior, steps: Steps) -> tuple[Expression, Expression]:
    """The action of least expected cost and that cost, by regrets, of which no digits cancel."""
    shares = [steps.let("posterior", exponential(log_p)) for log_p in logs.by_class]

    def expected(table: Floats) -> list[Expression]:
        return [
            steps.let("cost", total([times(number(c), p) for c, p in zip(column, shares, strict=True) if c]))
            for column in table.T.tolist()
        ]

    regrets = expected(costs - costs.min(axis=1, keepdims=True))
    pairs = (
        [
            (every([at_most(regret, other) for other in regrets if other is not regret]), whole(j))
            for j, regret in enumerate(regrets)
        ]
        if len(regrets) > 1
        else []
    )
    action = steps.let("action", case(*pairs) if pairs else whole(0))
    prices = expected(costs)
    risk = case(*((equal(action, whole(j)), price) for j, price in enumerate(prices)))
    return action, steps.let("risk", risk)


@singledispatch
def rejects(rule: Any, logs: LogPosterior, risk: Expression) -> Expression:
    """Whether a rule rejects a row of these log posteriors and this risk."""
    raise ValueError(
        f"the reject rule {rule!r} is not written in SQL; use a threshold or a cost, or "
        "set_decision(reject=None)"
    )


@rejects.register
def _(rule: Threshold, logs: LogPosterior, risk: Expression) -> Expression:
    return every([below(log_p, number(np.log(rule.theta))) for log_p in logs.by_class])


@rejects.register
def _(rule: RejectionCost, logs: LogPosterior, risk: Expression) -> Expression:
    return above(risk, number(rule.cost + SAME * abs(rule.cost)))


@rejects.register
def _(rule: Limit, logs: LogPosterior, risk: Expression) -> Expression:
    return above(risk, number(rule.risk + CLOSE * abs(rule.risk)))
