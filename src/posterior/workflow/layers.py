"""What is around a model, and what it does to the probabilities."""

from typing import Any, NamedTuple

from posterior.decision.cost_table import Costs
from posterior.estimators import CalibratedClassifier, DecisionClassifier, OutlierRule
from posterior.estimators.classifiers import inside


class Layers(NamedTuple):
    """A model, the names of what is around it, the outermost first, and what is decided there."""

    model: Any
    around: tuple[str, ...]
    decision: dict[str, Any]


def peeled(model: Any) -> Layers:
    """The model itself: what decides, calibrates, finds outliers, prepares or chose around it is taken off.

    >>> from posterior import DecisionClassifier, GaussianNB
    >>> nb = GaussianNB().fit([[1.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"])
    >>> model, around, decision = peeled(DecisionClassifier(nb, reject={"threshold": 0.9}))
    >>> model is nb, around, decision["reject"]
    (True, ('DecisionClassifier',), 'the largest posterior is below 0.9')
    """
    around: list[str] = []
    decision: dict[str, Any] = {}
    while (within := _inside(model)) is not None:
        around.append(type(model).__name__)
        decision = _decided(model) | decision
        model = within
    return Layers(model, tuple(around), decision)


def _inside(model: Any) -> Any:
    if isinstance(model, DecisionClassifier | CalibratedClassifier | OutlierRule):
        return model.estimator_
    return inside(model)


def _decided(model: Any) -> dict[str, Any]:
    """What a layer decides, as plain data."""
    if isinstance(model, CalibratedClassifier):
        return {"calibration": str(model.scaling_)}
    if isinstance(model, OutlierRule):
        return {"outliers": _outliers(model, model.alpha)}
    if not isinstance(model, DecisionClassifier):
        return {}
    decider = model._decider()
    rule, classes, scaling = decider.rule, decider.learnt.classes.tolist(), model.scaling_
    usual = model.outlier_rule_
    told = {
        "costs": None if rule.costs is None else _costs(rule.costs, classes, rule.actions),
        "reject": None if rule.reject is None else str(rule.reject),
        "priors": None
        if decider.priors is None
        else dict(zip(classes, decider.priors.tolist(), strict=True)),
        "outliers": None if usual is None else _outliers(usual, decider.alpha),
        "calibration": None if scaling is None else str(scaling),
    }
    return {name: value for name, value in told.items() if value is not None}


def _costs(costs: Costs, classes: list[Any], actions: tuple[Any, ...]) -> dict[Any, dict[Any, float]]:
    rows = zip(classes, costs.matrix.tolist(), strict=True)
    return {label: dict(zip(actions, row, strict=True)) for label, row in rows}


def _outliers(rule: OutlierRule, alpha: float | None) -> dict[str, Any]:
    """At which rate of false alarms rows are called outliers (None: not at all), and by what."""
    told: dict[str, Any] = {"alpha": alpha, "method": rule.method, "model": type(rule.estimator_).__name__}
    if hasattr(rule, "calibration_scores_"):
        told["held_out_rows"] = len(rule.calibration_scores_)
    return told
