"""What can be read off any fitted model of ours, whatever is around it."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from posterior.estimators import LogisticRegression
from posterior.estimators.explanation import Contributions
from posterior.notices import PosteriorWarning
from posterior.schema import Schema
from posterior.workflow.layers import peeled

# Coefficients whose standard errors are worked out while a model is fitted.
MOST_COEFFICIENTS = 500


def schema_of(model: Any) -> Schema:
    """The columns of training, and how they were read."""
    schema: Schema = peeled(model).model.schema_
    return schema


def contributions_of(model: Any, X: Any) -> Contributions:
    """Log odds of each row's class against the runner-up by feature, of any model that can tell.

    >>> from posterior import DecisionClassifier, GaussianNB
    >>> nb = GaussianNB().fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "b", "b"])
    >>> contributions_of(DecisionClassifier(nb), [[1.5]]).total.round(2)
    array([8.])
    """
    found = peeled(model).model
    if not hasattr(found, "contributions"):
        raise ValueError(
            f"{type(found).__name__} cannot be split by feature; naive Bayes, LDA, QDA, block models, "
            "logistic and softmax regression can"
        )
    contributions: Contributions = found.contributions(X)
    return contributions


def coefficient_table(model: Any, X: Any, y: Any) -> dict[str, Any] | None:
    """Coefficients with standard errors of a logistic model, as plain columns; None where there are none.

    A penalty leaves no standard errors: they are those of the same model without one, or with Firth's where
    classes are separated.
    """
    found = peeled(model).model
    if not isinstance(found, LogisticRegression) or found.coef_.size > MOST_COEFFICIENTS:
        return None
    plain, how = clone(found).set_params(penalty=None, C=np.inf, l1_ratio=0.0), "without a penalty"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PosteriorWarning)
        plain.fit(X, y)
        if plain.separation_ is not None:
            plain, how = (
                plain.set_params(penalty="firth").fit(X, y),
                "with Firth's penalty, since classes are separated",
            )
        try:
            summary = plain.summary()
        except ValueError:
            return None
    columns = {name: np.asarray(values).tolist() for name, values in summary.columns.items()}
    return {"how": how, "columns": columns, "text": str(summary)}
