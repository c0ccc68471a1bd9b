"""Any classifier of scikit-learn's conventions: its log posteriors, class priors and sample weights."""

from collections.abc import Callable, Mapping
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import FixedThresholdClassifier, TunedThresholdClassifierCV
from sklearn.naive_bayes import ComplementNB
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.validation import has_fit_parameter

from posterior._types import AnyArray, Floats
from posterior.decision.posteriors import checked, log_probabilities
from posterior.decision.priors import effective_priors
from posterior.estimators._sklearn import routing_enabled
from posterior.estimators.device import host_array, is_device_array
from posterior.estimators.generative_prediction import GenerativePrediction
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.precision import in_double
from posterior.estimators.state import RefusedError
from posterior.estimators.table_estimator import takes_tables

# Fitted attributes in which classifiers tell their class priors.
PRIORS = ("priors_", "class_prior_", "class_log_prior_")


def impossible_model(classifier: Any) -> str:
    """What is no classifier that has learnt something and gives probabilities, in words."""
    fitted = isinstance(classifier, BaseEstimator) and hasattr(classifier, "classes_")
    gives = fitted and hasattr(classifier, "predict_log_proba")
    return "" if gives else "no classifier where one belongs"


def log_posterior_of(estimator: Any, X: Any) -> Floats:
    """Log posteriors of a fitted classifier, ours or not, (n, K); zeros are −inf.

    Those of other libraries are checked: probabilities that are negative, or do not sum to one, are refused.
    """
    if takes_tables(estimator) and hasattr(estimator, "predict_log_proba"):
        with in_double():
            logs = estimator.predict_log_proba(X)
            return np.asarray(host_array(logs) if is_device_array(logs) else logs, dtype=np.float64)
    n_classes = len(classes_of(estimator))
    read: Callable[[Any], Floats] = checked
    if hasattr(estimator, "predict_log_proba"):
        with in_double(), np.errstate(divide="ignore"):  # a forest takes the log of zero, rightly
            given = estimator.predict_log_proba(X)
    elif hasattr(estimator, "predict_proba"):
        with in_double():
            given, read = estimator.predict_proba(X), log_probabilities
    else:
        raise TypeError(
            f"{model_name(estimator)} gives no probabilities (no predict_proba), and decisions are made from "
            "probabilities; use another classifier, or put scikit-learn's CalibratedClassifierCV around it"
        )
    try:
        logs = read(given)
    except ValueError as error:
        raise ValueError(f"{model_name(estimator)} gives no proper probabilities: {error}") from error
    if logs.shape[1] != n_classes:
        raise ValueError(
            f"{model_name(estimator)} has {n_classes} classes and gives {logs.shape[1]} probabilities a row"
        )
    return logs


def model_name(estimator: Any) -> str:
    """What the model inside pipelines and the like is called in messages."""
    return type(bare(estimator)).__name__


def classes_of(estimator: Any) -> AnyArray:
    """The class labels of a fitted classifier; anything else is refused."""
    if not hasattr(estimator, "classes_"):
        raise TypeError(
            f"{model_name(estimator)} is not a classifier (it has no classes_); pass one, such as "
            "LogisticRegression() or NaiveBayes()"
        )
    return np.asarray(estimator.classes_)


def training_priors(
    estimator: Any, y: AnyArray | None = None, sample_weight: Any = None, classes: Any = None
) -> Floats:
    """The class priors that are in the posteriors of a fitted classifier.

    Those it says it has (`priors_`, `class_prior_`, `class_log_prior_`), else the frequencies of the
    classes in training with the sample weights and its `class_weight`.
    """
    model = bare(estimator)
    if isinstance(model, ComplementNB):
        raise RefusedError("the posteriors of ComplementNB are under no class priors that could be changed")
    if isinstance(model, GenerativePrediction):  # which may show them in single precision
        return np.exp(model.model_.log_prior)
    for name in PRIORS:
        if hasattr(model, name):
            told = np.asarray(host_array(getattr(model, name)), dtype=np.float64)
            return np.asarray(np.exp(told) if "log" in name else told)
    within = [name for name, value in _parameters(model).items() if name.endswith("__class_weight") and value]
    if y is None or within:
        why = f", whose {within[0]} is set," if within else ""
        raise RefusedError(
            f"the class priors that {type(model).__name__}{why} was trained with are not known; pass "
            "training_priors=…, for example posterior.decision.effective_priors(y)"
        )
    class_weight = getattr(model, "class_weight", None)
    if isinstance(class_weight, str) and class_weight.startswith("balanced"):
        class_weight = "balanced"  # forests also have balanced_subsample
        if sample_weight is not None and not isinstance(model, LinearEstimator):
            raise RefusedError(
                f"whether {type(model).__name__} balances classes before or after rows are weighted is not "
                "known, and so its class priors are not; pass training_priors=…"
            )
    return effective_priors(y, class_weight=class_weight, sample_weight=sample_weight, classes=classes)


def _parameters(estimator: Any) -> dict[str, Any]:
    return dict(estimator.get_params()) if hasattr(estimator, "get_params") else {}


def bare(estimator: Any) -> Any:
    """The model itself: the last step of a pipeline, the best of a search, what was frozen."""
    while (within := inside(estimator)) is not None:
        estimator = within
    return estimator


def inside(estimator: Any) -> Any:
    """The estimator one layer further in, None where there is none: that is the model itself."""
    if isinstance(estimator, FrozenEstimator):
        return estimator.estimator
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if isinstance(estimator, FixedThresholdClassifier | TunedThresholdClassifierCV):
        return estimator.estimator_
    return getattr(estimator, "best_estimator_", None)


def routed(owner: Any, estimator: Any, sample_weight: Any, fit_params: Mapping[str, Any]) -> dict[str, Any]:
    """The keyword arguments for the fit of an estimator inside another.

    With scikit-learn's metadata routing switched on, those it asked for; else all, the weights of rows
    going to the last step of a pipeline.
    """
    if "costs" in fit_params:
        raise TypeError(
            "costs go to predict and score, not to fit; to carry costs of rows through a cross-validation, "
            "switch on metadata routing: sklearn.set_config(enable_metadata_routing=True) and "
            "set_score_request(costs=True)"
        )
    given = dict(fit_params) | ({} if sample_weight is None else {"sample_weight": sample_weight})
    if routing_enabled():
        return dict(process_routing(owner, "fit", **given).estimator.fit)
    weight = given.pop("sample_weight", None)
    return given | ({} if weight is None or is_frozen(estimator) else weighting(estimator, weight))


def weighting(estimator: Any, weight: Any) -> dict[str, Any]:
    """The keyword argument by which an estimator takes weights of rows; of a pipeline, its last step."""
    if isinstance(estimator, Pipeline) and not routing_enabled():
        name, last = estimator.steps[-1]
        return {f"{name}__{key}": value for key, value in weighting(last, weight).items()}
    takes_any = any(p.kind is p.VAR_KEYWORD for p in signature(estimator.fit).parameters.values())
    if not takes_any and not has_fit_parameter(estimator, "sample_weight"):
        raise TypeError(
            f"{type(estimator).__name__} takes no sample_weight; leave it out, or use another classifier"
        )
    return {"sample_weight": weight}


def weight_taken(estimator: Any, fit_params: Mapping[str, Any]) -> Any:
    """The weights of rows that reach an estimator, or the last step of a pipeline, by its `fit`."""
    while isinstance(estimator, Pipeline) and "sample_weight" not in fit_params:
        name, estimator = estimator.steps[-1]
        own = {k: v for k, v in fit_params.items() if k.startswith(f"{name}__")}
        fit_params = {key.removeprefix(f"{name}__"): value for key, value in own.items()}
    return fit_params.get("sample_weight")


def is_frozen(estimator: Any) -> bool:
    """Whether an estimator is fitted already and shall stay as it is."""
    return isinstance(estimator, FrozenEstimator)
