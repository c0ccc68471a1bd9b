"""What discriminant functions, discriminative and generative models can do, asked of the classes themselves.

Each line of the table is an attempt: a model can do it if it does it. `python examples/capabilities.py`
prints the table of docs/acting.md.
"""

import warnings

import numpy as np
from sklearn.datasets import load_iris

from posterior import (
    LDA,
    DecisionClassifier,
    FusionClassifier,
    LeastSquaresClassifier,
    LogisticRegression,
    NaiveBayes,
    OutlierRule,
)

X, Y = load_iris(return_X_y=True)
COSTS = np.array([[0, 1, 2], [2, 0, 1], [1, 9, 0]])
KINDS = {
    "discriminant function": LeastSquaresClassifier(),
    "discriminative": LogisticRegression(),
    "generative": NaiveBayes(),
    "generative, shared covariance": LDA(),
}


def fitted(model, **rules):
    """A decision around the model, which needs probabilities."""
    return DecisionClassifier(model, cv=None, **rules).fit(X, Y).predict(X)


def with_gap(model):
    """Predict a row of which one cell is missing."""
    row = X[:1].copy()
    row[0, 2] = np.nan
    return model.fit(X, Y).predict(row)


def standard_errors(model):
    """Two classes that overlap, without a penalty where there is one."""
    free = model.set_params(C=np.inf) if "C" in model.get_params() else model
    return free.fit(X[50:, :2], Y[50:]).summary()


ATTEMPTS = {
    "a class for each row": lambda m: m.fit(X, Y).predict(X),
    "p(class | row)": lambda m: m.fit(X, Y).predict_proba(X),
    "costs that change after training": lambda m: fitted(m, costs=COSTS),
    "rejecting unsure rows": lambda m: fitted(m, reject={"threshold": 0.9}),
    "class priors that change after training": lambda m: fitted(m, priors=[0.1, 0.1, 0.8]),
    "combining models of different columns": lambda m: FusionClassifier(
        [("sepals", m, [0, 1]), ("petals", m, [2, 3])]
    ).fit(X, Y),
    "p(row), and so outliers": lambda m: OutlierRule(m).fit(X, Y).predict(X),
    "new rows of a class": lambda m: m.fit(X, Y).sample(5, random_state=0),
    "rows with gaps, without being told how": with_gap,
    "two fitted models added": lambda m: m.fit(X[::2], Y[::2]) + type(m)().fit(X[1::2], Y[1::2]),
    "standard errors of its parameters": standard_errors,
    "a boundary that is a line": lambda m: (
        m.fit(X, Y).linear_form() if isinstance(m, LDA) else m.fit(X, Y).coef_
    ),
}


def can(attempt, model):
    """Whether an attempt succeeds."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            attempt(model)
        except (AttributeError, TypeError, ValueError):
            return False
    return True


def answers():
    """What was tried, with a yes or no for each kind of model."""
    return {
        what: ["yes" if can(attempt, type(m)(**m.get_params())) else "no" for m in KINDS.values()]
        for what, attempt in ATTEMPTS.items()
    }


def table():
    """The answers as a table in Markdown."""
    lines = ["| | " + " | ".join(KINDS) + " |", "|---|" + "---|" * len(KINDS)]
    names = (f"`{type(m).__name__}`" for m in KINDS.values())
    lines.append("| for example | " + " | ".join(names) + " |")
    for what, marks in answers().items():
        lines.append(f"| {what.replace('|', chr(92) + '|')} | " + " | ".join(marks) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(table())
