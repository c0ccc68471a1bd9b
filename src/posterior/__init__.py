"""Probabilities you can act on, from a table of data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from posterior import datasets, decision, families, linear, math
from posterior.engines import threads
from posterior.estimators import (
    BernoulliNB,
    CalibratedClassifier,
    CategoricalNB,
    DecisionClassifier,
    FusionClassifier,
    GaussianDiscriminantAnalysis,
    GaussianNB,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminantAnalysis,
    LinearRegression,
    LogisticRegression,
    MultinomialNB,
    NaiveBayes,
    OutlierRule,
    QuadraticDiscriminantAnalysis,
    SoftmaxRegression,
)

if TYPE_CHECKING:
    from posterior import files, plot, report, workflow
    from posterior.comparison import Comparison, LearningCurve, Robustness, compare, side_by_side
    from posterior.persistence import load, save

LDA = LinearDiscriminantAnalysis
QDA = QuadraticDiscriminantAnalysis

__version__ = "0.1.0"

# What is not needed to fit and predict is imported when it is asked for: `import posterior` stays quick.
_LATER = {
    "Comparison": "posterior.comparison",
    "LearningCurve": "posterior.comparison",
    "Robustness": "posterior.comparison",
    "compare": "posterior.comparison",
    "side_by_side": "posterior.comparison",
    "load": "posterior.persistence",
    "save": "posterior.persistence",
    "files": "",
    "plot": "",
    "report": "",
    "workflow": "",
}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'posterior' has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name) if _LATER[name] else import_module(f"posterior.{name}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})


__all__ = [
    "LDA",
    "QDA",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "Comparison",
    "DecisionClassifier",
    "FusionClassifier",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LearningCurve",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "OutlierRule",
    "QuadraticDiscriminantAnalysis",
    "Robustness",
    "SoftmaxRegression",
    "compare",
    "datasets",
    "decision",
    "families",
    "files",
    "linear",
    "load",
    "math",
    "plot",
    "report",
    "save",
    "side_by_side",
    "threads",
    "workflow",
]
