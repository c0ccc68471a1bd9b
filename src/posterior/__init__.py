"""Probabilities you can act on, from a table of data."""

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

LDA = LinearDiscriminantAnalysis
QDA = QuadraticDiscriminantAnalysis

__version__ = "0.1.0"

__all__ = [
    "LDA",
    "QDA",
    "BernoulliNB",
    "CalibratedClassifier",
    "CategoricalNB",
    "DecisionClassifier",
    "FusionClassifier",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GenerativeClassifier",
    "LeastSquaresClassifier",
    "LinearDiscriminantAnalysis",
    "LinearRegression",
    "LogisticRegression",
    "MultinomialNB",
    "NaiveBayes",
    "OutlierRule",
    "QuadraticDiscriminantAnalysis",
    "SoftmaxRegression",
    "datasets",
    "decision",
    "families",
    "linear",
    "math",
    "threads",
]
