"""Estimators in model files: their settings, and what they have learnt.

What follows from something else is not written but made again by the estimator's own code (`install`).
"""

from collections.abc import Callable
from contextlib import suppress
from functools import reduce
from inspect import Parameter, signature
from operator import or_
from types import UnionType
from typing import Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.utils.validation import check_is_fitted

from posterior import estimators as e
from posterior._types import AnyArray, Floats
from posterior.estimators.device import host_array, is_device_array
from posterior.estimators.fitted_classifier import FittedClassifier
from posterior.estimators.linear import LinearEstimator
from posterior.estimators.members import FittedMember
from posterior.estimators.odd_features import TypicalRows
from posterior.estimators.outlier_calibration import CalibrationScores
from posterior.families import (
    BernoulliDistribution,
    CategoricalDistribution,
    MultinomialDistribution,
    MultivariateNormalDistribution,
    NormalDistribution,
)
from posterior.generative import GenerativeModel
from posterior.linear import Design, Fit, LinearModel
from posterior.linear.additive_design import AdditiveDesign
from posterior.linear.effect_errors import EffectCovariance
from posterior.linear.incremental import IncrementalFit
from posterior.linear.penalty_strength import StrengthChoice
from posterior.persistence.checks.generative import impossible_density
from posterior.persistence.errors import ModelFileError, refuse, refuse_unless
from posterior.persistence.records import Record
from posterior.schema import Schema

# What estimators have as attributes because something else says so.
FOLLOWING = ("classes_", "n_features_in_", "feature_names_in_")
# What is made again when it is asked for: the settings of a decision as they were read.
MADE_AGAIN = ("_read",)
# Who watches a fit has no place in a model file: scikit-learn's callbacks.
CALLBACKS = ("_skl_callbacks",)
# Settings that are declared as anything, and of which more is known.
NARROWER = {"random_state": int | None, "estimator": BaseEstimator}
# How scikit-learn notes set_output(transform="pandas").
OUTPUT = "_sklearn_output_config"
# Of more coefficients than this no summary is made for the file: its covariances would be most of it.
SUMMARISED = 1000


def record_of_estimator(
    tag: str,
    kind: type[BaseEstimator],
    learnt: dict[str, Any],
    perhaps: dict[str, Any] | None = None,
    restored: Callable[[Any], str] = lambda estimator: estimator._restored(),
) -> Record:
    """The record of an estimator: its settings, what it has `learnt`, and what it has perhaps.

    An estimator inside another one may not have learnt anything. What has is `restored`: it sets what follows
    from the rest, and says what is impossible about it. A setting that is not in a file, which is older than
    the setting then, is as it comes.
    """
    settings = types_of_settings(kind)
    perhaps = (perhaps or {}) | {OUTPUT: dict[str, str]}
    hints = settings | learnt | perhaps

    def apart(estimator: Any) -> dict[str, Any]:
        remember_summary(estimator)
        found = {name: getattr(estimator, name) for name in settings}
        for name, value in vars(estimator).items():
            if name in learnt or name in perhaps:
                found[name] = host_array(value) if is_device_array(value) else value
            elif name not in settings and name not in FOLLOWING + MADE_AGAIN + CALLBACKS:
                raise ModelFileError(
                    f"has an attribute {name!r} that is none of {kind.__name__}'s, and no place in a model "
                    f"file; delete it first: del model.{name}"
                )
        return found

    def together(**parts: Any) -> Any:
        estimator = kind(**{name: parts.pop(name) for name in settings if name in parts})
        for name, value in parts.items():
            setattr(estimator, name, value)
        if parts.keys() - {OUTPUT} or is_fitted(estimator):
            refuse_unless(learnt.keys() <= parts.keys(), f"a {tag!r} that has not learnt all there is")
            refuse(restored(estimator))
        return estimator

    as_it_comes = {name for name in settings if name in default_settings(kind)}
    return Record(tag, kind, apart, together, lambda: hints, frozenset({*learnt, *perhaps, *as_it_comes}))


def is_fitted(estimator: Any) -> bool:
    """Whether an estimator has learnt something, or is around one that has."""
    try:
        check_is_fitted(estimator)
    except NotFittedError:
        return False
    return True


def types_of_settings(kind: Any) -> dict[str, Any]:
    """The types of an estimator's settings, as its constructor declares them; a number may say yes or no."""
    declared = get_type_hints(kind.__init__)
    types = {name: in_a_file(declared.get(name, Any)) for name in kind._get_param_names()}
    return types | {name: hint for name, hint in NARROWER.items() if name in types}


def default_settings(kind: Any) -> dict[str, Any]:
    """The settings of an estimator that nobody has to give, as they come."""
    parameters = signature(kind.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not Parameter.empty}


def in_a_file(hint: Any) -> Any:
    """What a model file is held to of the type that a setting is declared as: the classes of values only.

    Which strings a setting may be, and what is in a sequence, its estimator checks; it takes more than a type
    checker is told, such as lists for tuples. What a value can do, a protocol, cannot be told of a file.

    >>> in_a_file(Literal["a", "b"] | float), in_a_file(dict[str, int] | None), in_a_file(list[int] | Any)
    (str | float, dict | None, typing.Any)
    """
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        parts = [in_a_file(part) for part in get_args(hint)]
        return Any if Any in parts else reduce(or_, parts)
    if origin is Literal:
        return reduce(or_, (type(value) for value in get_args(hint)))
    if origin is not None:
        return origin
    if hint is Any or getattr(hint, "_is_protocol", False):
        return Any
    return bool | int if hint is bool else hint


def remember_summary(estimator: Any) -> None:
    """Have a linear model make the table that `summary()` gives, and count its parameters, with its rows."""
    fit = vars(estimator).get("fit_") if isinstance(estimator, LinearEstimator) else None
    if fit is None or fit.objective is None or fit.objective.size > SUMMARISED:
        return
    # Nobody needs the posterior of a ridge who has not asked for it: most of a file would be its covariance.
    free = fit.objective.penalty.free
    for name in ("summary", "n_parameters_") if free else ("n_parameters_",):
        with suppress(ValueError, AttributeError):  # there is none: no optimum, or the rows have changed
            found = getattr(estimator, name)
            if callable(found):
                found()


def _generative(tag: str, kind: Any, density: Any = None) -> Record:
    """The record of a generative estimator that has one density of a given class, or any densities."""

    def restored(estimator: Any) -> str:
        model = estimator.model_
        estimator._install(model)
        if wrong := impossible_density(model, density):
            return wrong
        if model.spec is not None:  # the settings make a composition of families, for `partial_fit`
            estimator._spec(model.schema, None)  # no selector in a file needs the table
        shared = kind is e.LinearDiscriminantAnalysis
        several = shared and any(len(each.covariance) != 1 for _, each in model.distributions)
        return "a covariance for each class where one is for all" if several else ""

    return record_of_estimator(tag, kind, {"model_": GenerativeModel}, restored=restored)


def _frozen(estimator: Any) -> FrozenEstimator:
    refuse_unless(isinstance(estimator, BaseEstimator), "something frozen that is no estimator")
    return FrozenEstimator(estimator)


LINEAR = {"model_": LinearModel, "design_": Design}
# Coefficients are shown in the precision of the table.
Shown: TypeAlias = Floats | NDArray[np.float32]
ADDITIVE: dict[str, Any] = {
    "model_": LinearModel,
    "design_": AdditiveDesign,
    "priors_": Floats,
    "term_strengths_": Floats,
    "term_worth_": Floats,
    "effect_covariances_": tuple[EffectCovariance, ...],
}
SCORES = {"classes_": AnyArray, "coef_": Shown | sparse.csr_array, "intercept_": Shown}
FITTED = {"fit_": Fit, "n_iter_": Any, "weight_": float, "target_name_": str | None}
CHOSEN = {"choice_": StrengthChoice | None, "degree_": int, "degree_losses_": Floats | None}
STREAMED = CHOSEN | {"C_": Any, "stream_": IncrementalFit, "priors_": Floats}

CALIBRATED = {"learnt_": FittedClassifier, "scaling_": Any}
RULE = {"estimator_": Any, "_typical": TypicalRows | None, "_calibration": CalibrationScores | None}
FUSION = {
    "members_": list[FittedMember],
    "_table": Schema,
    "classes_": AnyArray,
    "priors_": Floats,
    "weights_": Floats,
}
REGRESSION = FITTED | {"coef_": Shown, "intercept_": float, "noise_scale_": float}
NORMAL = MultivariateNormalDistribution

ESTIMATOR_RECORDS = (
    _generative("generative-classifier", e.GenerativeClassifier),
    _generative("naive-bayes", e.NaiveBayes),
    _generative("one-dependence", e.OneDependence),
    _generative("tree-augmented", e.TreeAugmented),
    _generative("gaussian-nb", e.GaussianNB, NormalDistribution),
    _generative("bernoulli-nb", e.BernoulliNB, BernoulliDistribution),
    _generative("multinomial-nb", e.MultinomialNB, MultinomialDistribution),
    _generative("categorical-nb", e.CategoricalNB, CategoricalDistribution),
    _generative("gaussian-discriminant-analysis", e.GaussianDiscriminantAnalysis, NORMAL),
    _generative("quadratic-discriminant-analysis", e.QuadraticDiscriminantAnalysis, NORMAL),
    _generative("linear-discriminant-analysis", e.LinearDiscriminantAnalysis, NORMAL),
    record_of_estimator("logistic-regression", e.LogisticRegression, LINEAR | SCORES, FITTED | STREAMED),
    record_of_estimator("softmax-regression", e.SoftmaxRegression, LINEAR | SCORES, FITTED | STREAMED),
    record_of_estimator("additive-classifier", e.AdditiveClassifier, ADDITIVE | SCORES | FITTED),
    record_of_estimator("least-squares-classifier", e.LeastSquaresClassifier, LINEAR | SCORES),
    record_of_estimator(
        "linear-regression", e.LinearRegression, LINEAR | REGRESSION, CHOSEN | {"alpha_": float}
    ),
    record_of_estimator("decision-classifier", e.DecisionClassifier, {}, {"learnt_": FittedClassifier}),
    record_of_estimator("calibrated-classifier", e.CalibratedClassifier, CALIBRATED),
    record_of_estimator("outlier-rule", e.OutlierRule, RULE),
    record_of_estimator("fusion-classifier", e.FusionClassifier, FUSION),
    record_of_estimator("pool-classifier", e.PoolClassifier, FUSION),
    Record(
        "frozen-estimator",
        FrozenEstimator,
        lambda f: {"estimator": f.estimator},
        _frozen,
        lambda: {"estimator": Any},
    ),
)
# What is saved and loaded; also a FrozenEstimator of scikit-learn around one, which has no types.
Estimator: TypeAlias = (
    e.AdditiveClassifier
    | e.BernoulliNB
    | e.CalibratedClassifier
    | e.CategoricalNB
    | e.DecisionClassifier
    | e.FusionClassifier
    | e.GaussianDiscriminantAnalysis
    | e.GaussianNB
    | e.GenerativeClassifier
    | e.LeastSquaresClassifier
    | e.LinearDiscriminantAnalysis
    | e.LinearRegression
    | e.LogisticRegression
    | e.MultinomialNB
    | e.NaiveBayes
    | e.OneDependence
    | e.OutlierRule
    | e.PoolClassifier
    | e.QuadraticDiscriminantAnalysis
    | e.TreeAugmented
)
ESTIMATORS: dict[str, Any] = {record.tag: record.kind for record in ESTIMATOR_RECORDS}
