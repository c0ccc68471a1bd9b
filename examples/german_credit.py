"""What a loan decision costs: argmax, expected cost, and a tuned threshold, on the German credit table.

The table (Statlog, Hofmann 1994) comes with costs: a bad applicant who gets a loan costs 5, a good one who
is refused costs 1. Ten-fold, ten times over: each row's class is predicted by a model that has not seen it,
and what it costs is averaged. `python examples/german_credit.py german_credit.csv [repeats]`, where the file
has a column `class` with 1 for good and 2 for bad.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone
from sklearn.metrics import make_scorer
from sklearn.model_selection import StratifiedKFold, TunedThresholdClassifierCV

from posterior import DecisionClassifier, LogisticRegression, NaiveBayes
from posterior.decision import Costs, average_cost

CLASSES = ["bad", "good"]
COSTS = {"bad": {"bad": 0, "good": 5}, "good": {"bad": 1, "good": 0}}
MATRIX = np.array([[COSTS[true][said] for said in CLASSES] for true in CLASSES], dtype=float)
MODELS = {"logistic regression": LogisticRegression(), "naive Bayes": NaiveBayes()}


def read(path):
    """The applicants, with their numbers and categories as they are, and which of them were bad."""
    table = pd.read_csv(path)
    return table.drop(columns="class"), table["class"].map({1: "good", 2: "bad"}).to_numpy()


def rivals(model):
    """Three ways to decide by the same model."""
    cost = make_scorer(average_cost, greater_is_better=False, costs=Costs(MATRIX), classes=CLASSES)
    return {
        "argmax": model,
        "DecisionClassifier": DecisionClassifier(model, costs=COSTS, cv=None),
        "TunedThresholdClassifierCV": TunedThresholdClassifierCV(model, scoring=cost),
    }


def costs_paid(X, y, model, repeats):
    """Cost of each decision, (rivals, repeats, rows)."""
    paid = np.zeros((len(rivals(model)), repeats, len(y)))
    for repeat in range(repeats):
        for train, test in StratifiedKFold(10, shuffle=True, random_state=repeat).split(X, y):
            for i, rival in enumerate(rivals(model).values()):
                said = clone(rival).fit(X.iloc[train], y[train]).predict(X.iloc[test])
                rows, columns = (np.searchsorted(CLASSES, labels) for labels in (y[test], said))
                paid[i, repeat, test] = MATRIX[rows, columns]
    return paid


def report(path, repeats=10):
    """Average costs by model and rival, with the paired differences from expected cost."""
    X, y = read(path)
    lines = [f"{'cost a row':<28}{'average':>8}  less DecisionClassifier's (standard error)"]
    for name, model in MODELS.items():
        paid = costs_paid(X, y, model, repeats)
        lines.append(name)
        ours = paid[list(rivals(model)).index("DecisionClassifier")]
        for rival, cost in zip(rivals(model), paid, strict=True):
            # Rows are the sample; repeats only take out what the folds add.
            difference = (cost - ours).mean(axis=0)
            error = difference.std(ddof=1) / np.sqrt(len(y))
            beside = "" if rival == "DecisionClassifier" else f"  {difference.mean():+.3f} ({error:.3f})"
            lines.append(f"  {rival:<26}{cost.mean():8.3f}{beside}")
    return "\n".join(lines)


if __name__ == "__main__":
    if len(sys.argv) < 2 or not Path(sys.argv[1]).exists():
        sys.exit("usage: python examples/german_credit.py german_credit.csv [repeats]")
    print(report(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 10))
