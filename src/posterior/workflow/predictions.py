"""What a model says of each row of a table, as columns."""

from typing import Any

import numpy as np

from posterior._types import AnyArray, Floats
from posterior.comparison.regression.result import LEVEL
from posterior.estimators import DecisionClassifier, LinearRegression
from posterior.estimators.precision import in_double
from posterior.estimators.scanned_prediction import class_column, plain_labels
from posterior.notices import gathered

PREDICTED, ACTION, OUTLIER = "predicted", "action", "outlier_p"
LOW, HIGH = "low_90", "high_90"


def predictions(model: Any, X: Any, log_posterior: Floats | None = None) -> dict[str, AnyArray]:
    """The predicted class, the posterior of each class, the action and the outlier p-value of each row.

    There is an action where the model is a `DecisionClassifier` that was told about costs, rejecting or
    outliers, and a p-value where it learnt what usual rows look like; a discriminant has no posteriors. A
    regression has a number and a 90 % interval, `low_90` to `high_90`.
    `log_posterior` is what the model says of these rows, for those who know it already.

    >>> from posterior import NaiveBayes
    >>> model = NaiveBayes().fit([[1.0], [2.0], [5.0], [6.0]], ["low", "low", "high", "high"])
    >>> columns = predictions(model, [[1.5]])
    >>> list(columns), columns["predicted"].tolist()
    (['predicted', 'p_high', 'p_low'], ['low'])
    """
    if isinstance(model, LinearRegression):
        return _numbers(model, X)
    if not hasattr(model, "predict_log_proba"):
        return {PREDICTED: np.asarray(model.predict(X))}
    with in_double():
        logs = np.asarray(model.predict_log_proba(X) if log_posterior is None else log_posterior)
    columns: dict[str, AnyArray] = {PREDICTED: model.classes_[logs.argmax(axis=1)]}
    # All at once: of a column alone, the bits of `exp` depend on where NumPy happens to put the result.
    proba = np.exp(logs)
    columns |= {posterior_name(label): proba[:, k] for k, label in enumerate(model.classes_)}
    if isinstance(model, DecisionClassifier):
        if any(knob is not None for knob in (model.costs, model.reject, model.outliers)):
            columns[ACTION] = plain_labels(model.predict(X), model)
        p_values = outlier_p_values(model, X)
        if p_values is not None:
            columns[OUTLIER] = p_values
    return columns


def _numbers(model: LinearRegression, X: Any) -> dict[str, AnyArray]:
    """The number of each row, and its 90 % interval where the noise is known."""
    middle = np.asarray(model.predict(X))
    if not model.noise_scale_ > 0:  # NaN where the loss declares no noise
        return {PREDICTED: middle}
    low, high = model._noise.distribution(middle, model.noise_scale_).interval(LEVEL)
    return {PREDICTED: middle, LOW: low, HIGH: high}


def posterior_name(label: Any) -> str:
    """The name of the column that holds the posterior of a class."""
    return class_column("p", label)


def outlier_p_values(model: DecisionClassifier, X: Any) -> Floats | None:
    """How odd each row is: the share of usual rows that are as odd, or None where nobody learnt that."""
    rule = model.outlier_rule_
    if rule is None:
        return None
    with gathered():  # what the rule has not seen, the model says itself
        return rule.p_values(X, priors=None if model.priors is None else model.priors_)
