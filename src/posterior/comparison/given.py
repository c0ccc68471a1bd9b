"""Estimators that a user gives to be compared."""

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone


def is_estimator(given: Any) -> bool:
    """Whether something is an estimator that can be trained and asked for classes.

    >>> from posterior import LDA
    >>> is_estimator(LDA()), is_estimator(LDA), is_estimator("lda")
    (True, False, False)
    """
    return not isinstance(given, type) and hasattr(given, "fit") and hasattr(given, "predict")


def named_estimators(models: Any) -> dict[str, Any]:
    """The estimators of a mapping from names to estimators, checked.

    >>> from posterior import LDA
    >>> named_estimators({"one covariance": LDA()})
    {'one covariance': LinearDiscriminantAnalysis()}
    """
    if not isinstance(models, Mapping) or not models:
        raise ValueError(
            "models must be a mapping from names to estimators, such as "
            f'{{"naive Bayes": NaiveBayes(), "logistic": LogisticRegression()}}, found {models!r}'
        )
    for name, estimator in models.items():
        if not is_estimator(estimator):
            raise ValueError(f"models[{name!r}] is {estimator!r}; pass an estimator with fit and predict")
    named = {str(name): estimator for name, estimator in models.items()}
    if len(named) < len(models):
        raise ValueError(f"models has names that are written alike: {list(models)}; give each its own")
    return named


def told_kinds(estimator: Any, kinds: Any) -> Any:
    """A copy that reads the columns as the whole table shows them, unless it says itself how it reads them.

    >>> from posterior import NaiveBayes
    >>> told_kinds(NaiveBayes(), {"year": "categorical"})
    NaiveBayes(kinds={'year': 'categorical'})
    """
    copy = clone(estimator)
    if kinds and "kinds" in copy.get_params() and copy.kinds is None:
        copy.set_params(kinds=kinds)
    return copy
