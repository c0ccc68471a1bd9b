"""A model of a table by its name, with all that it takes to act on it later."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import StratifiedKFold

from posterior.comparison import model_for
from posterior.comparison.sampling import MAX_ROWS
from posterior.comparison.scanned import DrawnScan
from posterior.engines import ScannedTable
from posterior.estimators import DecisionClassifier, NaiveBayes, OutlierRule
from posterior.estimators.table_estimator import fit_table
from posterior.estimators.target import labelled_table, scanned_table
from posterior.notices import DataWarning, UnseenCategoryWarning

# The rate of false alarms that a rule is made with; what is done at which rate is said when predicting.
ALPHA = 0.01
FOLDS = 5


def train(
    X: Any,
    y: Any = None,
    model: Any = "naive-bayes",
    *,
    kinds: Any = None,
    calibration: str | None = None,
    seed: int = 0,
) -> Any:
    """Fit a model, and learn from held-out rows what acting on its probabilities takes.

    The model is given by its name, or as an unfitted estimator. Of a scan all rows train it; what a name
    stands for, and what held-out rows tell, comes from a sample.

    The result is a `DecisionClassifier` around the model: `set_decision` changes costs, priors, rejecting
    and outliers without training. What rows usually look like is learnt too, from the model itself where it
    is generative and else from naive Bayes beside it. Which rows are held out follows from the seed. A
    discriminant, which has no probabilities, comes as it is.

    >>> from posterior.datasets import load_penguins
    >>> penguins = load_penguins()
    >>> model = train(penguins.X, penguins.y, "naive-bayes")
    >>> model.set_decision(reject={"threshold": 0.99}).predict(penguins.X[:3]).tolist()
    ['Adelie', 'Adelie', 'Adelie']
    """
    rows: Any
    if isinstance(X, ScannedTable):
        rows, table = scanned_table(X, y, None, "train"), DrawnScan.of(X, y, MAX_ROWS, kinds=kinds).table
    else:
        rows = table = labelled_table(X, y, who="train", kinds=kinds)
    estimator = model_for(model, table, None) if isinstance(model, str) else clone(model)
    if not hasattr(estimator, "predict_proba"):
        if calibration is not None:
            raise ValueError(f"{model!s} has no probabilities to calibrate; leave calibration out")
        return estimator.fit(rows) if isinstance(rows, ScannedTable) else fit_table(estimator, table)
    labels = {str(label) for label in table.classes.tolist()}
    folds = max(2, min(FOLDS, int(np.bincount(table.codes).max())))
    decision = DecisionClassifier(
        estimator,
        outlier_rule=OutlierRule(_density(estimator, table.kinds), alpha=ALPHA, random_state=seed),
        calibration=calibration,
        cv=StratifiedKFold(folds, shuffle=True, random_state=seed),
        reject_label=_unlike(labels, "reject"),
        outlier_label=_unlike(labels, "outlier"),
    )
    with warnings.catch_warnings():
        # It is no news that a part of the rows, trained without the others, does not show all that they do.
        warnings.filterwarnings("ignore", ".*which had none in training", DataWarning)
        warnings.filterwarnings("ignore", ".*not seen in training", UnseenCategoryWarning)
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        decision.fit(rows, None if isinstance(rows, ScannedTable) else table.labels)
    return decision


def _unlike(classes: set[str], word: str) -> str:
    """A label that is none of the classes.

    >>> _unlike({"reject", "no"}, "reject")
    '(reject)'
    """
    while word in classes:
        word = f"({word})"
    return word


def _density(estimator: Any, kinds: Any) -> BaseEstimator:
    """A model of p(row): the estimator where it is one."""
    return clone(estimator) if hasattr(estimator, "score_samples") else NaiveBayes(kinds=kinds)
