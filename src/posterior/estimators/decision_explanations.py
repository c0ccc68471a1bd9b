"""Explanations of decisions: what the classifier and the outlier rule say of each row, and what was done."""

from typing import Any

import numpy as np

from posterior._types import Floats
from posterior.decision.explanation import Explanation
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.classifiers import bare, log_posterior_of
from posterior.estimators.contributions import log_odds
from posterior.estimators.decider import Decider
from posterior.estimators.fitted_classifier import FittedClassifier

FEW = 5  # features named for a row


def explanations(decider: Decider, X: Any) -> list[Explanation]:
    """One explanation for each row."""
    rule, learnt = decider.rule, decider.learnt
    given, p_values = log_posterior_of(learnt.model, X), decider.p_values(X)
    logs = decider.adjustment.apply(given)
    raw, expected = np.exp(given), rule.expected_cost(logs)
    because, odd = _evidence(learnt, X, logs), _odd_features(decider, X, p_values)
    return [
        Explanation(
            rule.labels[code],
            rule.classes,
            posterior=np.exp(logs[i]),
            as_trained=raw[i],
            actions=rule.actions,
            costs=expected[i],
            new=decider.priors,
            p_value=None if p_values is None else float(p_values[i]),
            alpha=decider.alpha,
            odd="" if odd is None else odd[i],
            rejected=str(rule.reject) if rule.reject is not None and code == len(rule.actions) else "",
            because=because[i],
        )
        for i, code in enumerate(decider.codes(logs, p_values))
    ]


def _evidence(learnt: FittedClassifier, X: Any, logs: Floats) -> list[str]:
    """What the features say for the likeliest class against the next, where the model can tell."""
    model = learnt.model
    if not isinstance(model, GenerativeEstimator) or logs.shape[1] < 2:
        return [""] * len(logs)
    names, terms = model.model_.log_terms(model._dataset(X))
    first, second = np.argsort(-logs, axis=1, kind="stable").T[:2]
    lead = 1 + names.index("baseline") if "baseline" in names else 1
    odds = log_odds(terms[:, lead:], first, second)
    told = []
    for i, row in enumerate(odds):
        order = np.argsort(-np.abs(row), kind="stable")
        parts = [f"{names[lead + j]} {row[j]:+.2f}" for j in order[:FEW]] + ["…"] * (len(order) > FEW)
        pair = f"{model.classes_[first[i]]} against {model.classes_[second[i]]}"
        told.append(f"log odds of {pair}, by feature: {', '.join(parts)}")
    return told


def _odd_features(decider: Decider, X: Any, p_values: Floats | None) -> list[str] | None:
    """What makes an outlier odd, where the model can tell."""
    rule = decider.outlier_rule
    if rule is None or p_values is None or not isinstance(bare(rule.estimator_), GenerativeEstimator):
        return None
    lines = rule._odd_features(X, decider.priors, reports_unseen=False).in_lines()
    return [line if p <= decider.alpha else "" for line, p in zip(lines, p_values, strict=True)]
