"""A model of a table by its name, with all that it takes to act on it later."""

import warnings
from typing import Any

from sklearn.base import BaseEstimator, clone

from posterior.comparison import model_for
from posterior.estimators import DecisionClassifier, NaiveBayes, OutlierRule
from posterior.notices import DataWarning, UnseenCategoryWarning

# The rate of false alarms that a rule is made with; what is done at which rate is said when predicting.
ALPHA = 0.01


def train(
    X: Any, y: Any, model: str = "naive-bayes", *, kinds: Any = None, calibration: str | None = None
) -> Any:
    """Fit a model by its name, and learn from held-out rows what acting on its probabilities takes.

    The result is a `DecisionClassifier` around the model: `set_decision` changes costs, priors, rejecting
    and outliers without training. What rows usually look like is learnt too, from the model itself where it
    is generative and else from naive Bayes beside it. A discriminant, which has no probabilities, comes as
    it is.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> model = train(penguins.X, penguins.y, "naive-bayes")
    >>> model.set_decision(reject={"threshold": 0.99}).predict(penguins.X[:3]).tolist()
    ['Adelie', 'Adelie', 'Adelie']
    """
    estimator = model_for(model, X, y, kinds=kinds)
    if not hasattr(estimator, "predict_proba"):
        return estimator.fit(X, y)
    rule = OutlierRule(_density(estimator, kinds), alpha=ALPHA)
    decision = DecisionClassifier(estimator, outliers=rule, calibration=calibration)
    with warnings.catch_warnings():
        # Whether p-values are fine enough is a question for the rate that is asked for.
        warnings.filterwarnings("ignore", "no row can be called an outlier", DataWarning)
        # Nor is it news that a part of the rows, trained without the others, does not show all that they do.
        warnings.filterwarnings("ignore", ".*which had none in training", DataWarning)
        warnings.filterwarnings("ignore", ".*not seen in training", UnseenCategoryWarning)
        decision.fit(X, y)
    return decision.set_decision(outliers=None)


def _density(estimator: Any, kinds: Any) -> BaseEstimator:
    """A model of p(row): the estimator where it is one."""
    return clone(estimator) if hasattr(estimator, "score_samples") else NaiveBayes(kinds=kinds)
