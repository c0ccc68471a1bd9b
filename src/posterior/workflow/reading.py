"""What can be read off any fitted model of ours, whatever is around it."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.estimators import FusionClassifier, LinearRegression, LogisticRegression, PoolClassifier
from posterior.estimators.base import GenerativeEstimator
from posterior.estimators.contributions import Contributions, NumberContributions
from posterior.estimators.precision import in_double
from posterior.schema import Column, Schema, read_table
from posterior.workflow.layers import peeled

# Coefficients whose standard errors are worked out while a model is fitted.
MOST_COEFFICIENTS = 500
# Log odds that differ by less are the same.
SAME = 1e-9


def schema_of(model: Any) -> Schema:
    """The columns of training, and how they were read.

    >>> from posterior import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
    >>> [column.kind for column in schema_of(model).columns]
    ['continuous']
    """
    found = peeled(model).model
    names_only = isinstance(found, FusionClassifier) and not hasattr(found, "schema_")
    schema: Schema = found._table if names_only else found.schema_
    return schema


def needed_columns(model: Any) -> set[str]:
    """The columns of the user's table that a model looks at: not those that it left out in training.

    >>> from posterior import NaiveBayes
    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     model = NaiveBayes().fit(penguins.X.assign(same=1), penguins.y)
    >>> needed_columns(model) == set(penguins.X.columns)
    True
    """
    schema = schema_of(model)
    notes = getattr(peeled(model).model, "notes_", ())
    gone = {name for note in notes if note.left_out for name in note.columns}
    return {schema.input_of(j) for j, c in enumerate(schema.columns) if not c.ignored and c.name not in gone}


def columns_read(model: Any) -> dict[str, Column]:
    """The columns of the user's table that a model, or what finds outliers beside it, reads by their type.

    >>> from posterior import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [3.0], [5.0]], [0, 0, 1, 1])
    >>> list(columns_read(model))
    ['x0']
    """
    beside = getattr(model, "outlier_rule_", None)
    schemas = [schema_of(part) for part in (beside, model) if part is not None]
    return {
        schema.input_of(j): column
        for schema in schemas
        for j, column in enumerate(schema.columns)
        if not column.ignored
    }


ADJUSTED = "priors and calibration"


def contributions_of(model: Any, X: Any, *, words: bool = False) -> Contributions | NumberContributions:
    """Log odds of a row's class against the runner-up by feature, or the number that is predicted for it.

    With `words` a text has a term for each of its words; linear models read no texts.

    What is around the model (other class frequencies, calibration) adds a term of its own, so that the terms
    add up to the log odds that are acted on.

    >>> from posterior import DecisionClassifier, GaussianNB
    >>> nb = GaussianNB().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> found = contributions_of(DecisionClassifier(nb, priors={"a": 0.01, "b": 0.99}), [[1.5]])
    >>> found.terms, found.values.round(2).tolist(), found.total.round(2).tolist()
    (('prior', 'x0', 'priors and calibration'), [[0.0, 8.0, -4.6]], [3.4])
    """
    found = peeled(model).model
    is_regression = isinstance(found, LinearRegression)
    if not hasattr(found, "contributions") or not (is_regression or hasattr(model, "predict_log_proba")):
        raise ValueError(
            f"{type(model).__name__} cannot be split by feature; naive Bayes, LDA, QDA, block models, "
            "logistic, softmax and linear regression and pools of them can"
        )
    if (n_rows := read_table(X).n_rows) != 1:
        raise ValueError(f"one row is explained at a time; found {n_rows}")
    if is_regression:
        numbers: NumberContributions = found.contributions(X)
        return numbers
    with in_double():
        logs = np.asarray(model.predict_log_proba(X))
    first, second = np.argsort(-logs[0], kind="stable")[:2]
    of, against = model.classes_[first], model.classes_[second]
    by_word = {"words": True} if words and isinstance(found, GenerativeEstimator | PoolClassifier) else {}
    parts: Contributions = found.contributions(X, of=of, against=against, **by_word)
    total = logs[:, first] - logs[:, second]
    rest = total - parts.total
    if abs(rest[0]) < SAME:
        return parts
    values = np.column_stack([parts.values, rest])
    return replace(parts, terms=(*parts.terms, ADJUSTED), values=values, total=total, there=None)


def coefficient_table(model: Any, X: Any, y: Any) -> dict[str, Any] | None:
    """Coefficients with standard errors of a logistic model, as plain columns; None where there are none.

    A penalty leaves no standard errors: they are those of the same model without one, or with Firth's where
    classes are separated.

    >>> from posterior import LogisticRegression
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> table = coefficient_table(LogisticRegression().fit(X[50:], y[50:]), X[50:], y[50:])
    >>> sorted(table)
    ['columns', 'how', 'text']
    """
    found = peeled(model).model
    if not isinstance(found, LogisticRegression) or found.coef_.size > MOST_COEFFICIENTS:
        return None
    plain, how = clone(found).set_params(penalty=None, C=np.inf, l1_ratio=0.0), "without a penalty"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            plain.fit(X, y)
            if plain.separation_ is not None:
                how = "with Firth's penalty, since classes are separated"
                plain.set_params(penalty="firth").fit(X, y)
            summary = plain.summary()
        except ValueError:  # there is none, and the model is as good without
            return None
    columns = {name: np.asarray(values).tolist() for name, values in summary.columns.items()}
    return {"how": how, "columns": columns, "text": str(summary)}
