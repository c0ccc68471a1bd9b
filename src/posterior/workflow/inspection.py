"""What is in a fitted model: columns, parameters, coefficients, and what is done with its probabilities."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from inspect import signature
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from posterior._plain import plain, setting, some
from posterior.estimators import (
    AdditiveClassifier,
    FusionClassifier,
    LinearRegression,
    LogisticRegression,
    PoolClassifier,
)
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.linear import LinearEstimator
from posterior.families import Parameter
from posterior.schema import Column, Schema
from posterior.workflow.coefficients import Coefficients, coefficients_of, is_changed
from posterior.workflow.inspection_text import text_of
from posterior.workflow.layers import peeled

# Lines of each table that are printed.
MOST = 40
# Settings that hold other models, which are inspected themselves.
MODELS = ("estimator", "estimators", "steps")


@dataclass(frozen=True, eq=False)
class Inspection:
    """All that can be read off a fitted model, as plain data; print it.

    `around` names what was around the model, the outermost first, and `decision` says what is done there:
    costs, reject, priors, outliers, calibration. `settings` are those that are not the defaults, `chosen`
    those that were left to the data. `n_rows` counts rows with their weights. `parameters` are those of
    p(row | class), their values in the order of `classes`, and `coefficients` those of linear scores. What a
    model does not have is None or empty. `members` are the models that a fusion is made of, by name.

    >>> from posterior import GaussianNB
    >>> from posterior.workflow import inspect
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = inspect(GaussianNB().fit(X, y))
    >>> found.title, found.classes
    ('GaussianNB', (0, 1, 2))
    """

    title: str
    classes: tuple[Any, ...] = ()
    priors: tuple[float, ...] | None = None
    schema: Schema | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    chosen: Mapping[str, Any] = field(default_factory=dict)
    n_parameters: int | None = None
    n_rows: float | None = None
    log_likelihood: float | None = None
    parameters: tuple[Parameter, ...] = ()
    coefficients: Coefficients | None = None
    notes: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    decision: Mapping[str, Any] = field(default_factory=dict)
    members: Mapping[str, "Inspection"] = field(default_factory=dict)

    def as_dict(self) -> dict[str, Any]:
        """The same as JSON can write it: lists, strings and numbers, None for those that are not finite."""
        table, schema = self.coefficients, self.schema
        return {
            "title": self.title,
            "around": list(self.around),
            "classes": plain(self.classes),
            "priors": plain(self.priors),
            "columns": None if schema is None else [_column(c) for c in schema.columns],
            "settings": {name: setting(value) for name, value in self.settings.items()},
            "chosen": {name: setting(value) for name, value in self.chosen.items()},
            "n_parameters": self.n_parameters,
            "n_rows": plain(self.n_rows),
            "log_likelihood": plain(self.log_likelihood),
            "parameters": [
                {"columns": list(p.columns), "name": p.name, "values": plain(p.values)}
                for p in self.parameters
            ],
            "coefficients": None
            if table is None
            else {
                "title": table.title,
                "columns": plain(table.columns),
                "figures": plain(table.figures),
                "aliased": plain(table.aliased),
                "why_no_errors": table.why_no_errors,
            },
            "notes": list(self.notes),
            "decision": plain(self.decision),
            "members": {name: member.as_dict() for name, member in self.members.items()},
        }

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return self.text()

    def text(self, most: int | None = MOST) -> str:
        """Everything in words and tables, of each table at most so many lines; None is all."""
        return "\n".join(text_of(self, most))


def inspect(model: Any) -> Inspection:
    """What is in a fitted model of this library, whatever decides, calibrates or finds outliers around it.

    Of other estimators only classes and settings are known. A summary with standard errors that has to be
    worked out, since rows are still at hand, is remembered by the model.

    >>> from posterior import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [5.0], [8.0]], ["low", "low", "high", "high"])
    >>> print(inspect(model))
    GaussianNB
      classes         2: high, low
      rows            4
      parameters      5
      log-likelihood  -7.87
    <BLANKLINE>
    columns
      column  kind        levels  why
      x0      continuous          declared
    <BLANKLINE>
    parameters by class
                                     high     low
      (class)  prior               0.5000  0.5000
      x0       mean                 6.500   1.500
               standard deviation   1.500  0.5000
    """
    if not hasattr(model, "get_params") or isinstance(model, type):
        raise TypeError(f"inspect takes a fitted model, such as NaiveBayes().fit(X, y); found {model!r}")
    check_is_fitted(model)
    bare, around, decision = peeled(model)
    return replace(_inspected(bare), around=around, decision=decision)


def _inspected(model: Any) -> Inspection:
    labels = getattr(model, "classes_", None)
    found = Inspection(
        title=type(model).__name__,
        classes=tuple(labels.tolist()) if isinstance(labels, np.ndarray) else (),
        settings=_changed(model),
    )
    if isinstance(model, GenerativeEstimator):
        return _generative(found, model)
    if isinstance(model, LinearEstimator):
        return _linear(found, model)
    return _fusion(found, model) if isinstance(model, FusionClassifier) else found


def _changed(model: Any) -> dict[str, Any]:
    """The settings of an estimator that are not the defaults; other models among them are left out."""
    defaults = {name: p.default for name, p in signature(type(model)).parameters.items()}
    given = model.get_params(deep=False)
    return {
        name: value
        for name, value in given.items()
        if name not in MODELS and not _same(value, defaults.get(name))
    }


def _same(value: Any, default: Any) -> bool:
    try:
        return value is default or bool(value == default)
    except (TypeError, ValueError):  # arrays and data frames compare cell by cell
        return False


def _generative(found: Inspection, estimator: GenerativeEstimator) -> Inspection:
    model, schema = estimator.model_, estimator.schema_
    parameters: list[Parameter] = []
    notes = [note.text for note in estimator.notes_]
    for block, distribution in model.distributions:
        columns = [schema.columns[j] for j in block.columns]
        names = [c.name for c in columns]
        listed = distribution.parameters(names, [c.levels for c in columns])
        if distribution.n_events > len(listed):
            notes.append(
                f"{some([repr(name) for name in names], 5)}: {len(listed)} of {distribution.n_events:,} "
                "probabilities are listed, those that differ most between classes"
            )
        parameters += listed
    n_parameters = None
    try:
        n_parameters = estimator.n_parameters_
    except ValueError as error:  # shrunk ones are not counted
        notes.append(str(error))
    if model.log_likelihood is None:
        notes.append(model.why_no_likelihood)
    return replace(
        found,
        priors=tuple(np.exp(model.log_prior).tolist()),
        schema=schema,
        chosen={} if model.tuning is None else dict(model.tuning.choice),
        n_parameters=n_parameters,
        n_rows=model.weight or None,
        log_likelihood=model.log_likelihood,
        parameters=tuple(parameters),
        coefficients=coefficients_of(estimator),
        notes=tuple(notes),
    )


def _linear(found: Inspection, model: Any) -> Inspection:
    table, fit = coefficients_of(model), getattr(model, "fit_", None)
    free = max(len(found.classes) - 1, 1) * (len(model.terms_) + bool(model.fit_intercept))
    rank = None if table is None else table.figures.get("coefficients")
    curved = isinstance(model, AdditiveClassifier)
    notes = []
    if fit is not None and fit.separation is not None:
        notes.append(fit.separation.message(found.classes))
    elif fit is not None and not fit.solution.converged:
        notes.append(f"the solver stopped before the optimum; {fit.solution.certificate}")
    return replace(
        found,
        schema=model.schema_,
        chosen=_chosen(model),
        n_parameters=round(model.n_parameters_) if curved else free if rank is None else int(rank),
        n_rows=model.stream_.weight if hasattr(model, "stream_") else getattr(model, "weight_", None),
        log_likelihood=_log_likelihood(model),
        coefficients=table,
        notes=tuple(notes),
    )


def _chosen(model: Any) -> dict[str, Any]:
    """The settings of a linear model that were left to the data."""
    if not isinstance(model, AdditiveClassifier):
        return {"C": model.C_} if getattr(model, "choice_", None) is not None else {}
    left_out = [name for name, strength in model.strengths_.items() if np.isinf(strength)]
    found = {"pairs": [":".join(pair) for pair in model.pairs_], "left out": left_out}
    return {name: ", ".join(terms) for name, terms in found.items() if terms}


def _log_likelihood(model: Any) -> float | None:
    """That of the training rows, where the coefficients are still those that were fitted to them."""
    if not hasattr(model, "fit_") or is_changed(model):
        return None
    if isinstance(model, LinearRegression):
        return model.log_likelihood_
    if isinstance(model, LogisticRegression) and model.class_weight is not None:
        return None
    if not isinstance(model, LogisticRegression | AdditiveClassifier):
        return None
    point = model.fit_.solution.point
    return -point.loss * point.weight


def _fusion(found: Inspection, model: FusionClassifier) -> Inspection:
    weights = dict(zip(model.named_estimators_, model.weights_.tolist(), strict=True))
    members = {}
    for member in model.members_:
        inside = inspect(member.model)
        told = f"{type(model).__name__}, weight {weights[member.name]:.3g}"
        if not isinstance(model, PoolClassifier):  # whose members read all columns
            told += f", columns {some([model._table.names[j] for j in member.columns], 5)}"
        members[member.name] = replace(inside, around=(told, *inside.around))
    return replace(
        found,
        priors=tuple(model.priors_.tolist()),
        chosen={"weights": weights} if isinstance(model.weights, str) else {},
        members=members,
    )


def _column(column: Column) -> dict[str, Any]:
    return {
        "name": column.name,
        "kind": column.kind,
        "why": column.reason,
        "levels": plain(column.levels),
        "declared": column.declared,
        "used": not column.ignored,
        "hint": column.hint,
    }
